"""`python -m tools.screenshots [--folder F] [--scale N] [screens ...]`"""

from __future__ import annotations

import argparse
import os
import pkgutil
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import tools.screenshots

ROOT = Path(__file__).resolve().parents[2]
SCALES = (1, 2)
FRAME = ("__main__", "few_colors", "stage")


def screens() -> list[str]:
    modules = pkgutil.iter_modules(tools.screenshots.__path__)
    return [module.name for module in modules if module.name not in FRAME]


def main() -> int:
    parser = argparse.ArgumentParser(prog="screenshots", description=tools.screenshots.__doc__)
    parser.add_argument("screens", nargs="*", help=f"some of {', '.join(screens())}")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "screenshots")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs" / "images")
    parser.add_argument("--scale", type=int, choices=SCALES, action="append")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    wanted = options.screens or screens()
    if options.here:
        return take_here(wanted, options.folder, options.docs, options.scale[0])
    for scale in options.scale or SCALES:
        with tempfile.TemporaryDirectory(prefix="plumbline-screenshots-") as home:
            folders = ["--folder", str(options.folder), "--docs", str(options.docs)]
            command = [sys.executable, "-m", "tools.screenshots", "--here", "--scale", str(scale)]
            done = subprocess.run(
                [*command, *folders, *wanted],
                cwd=ROOT,
                env=environment(home, scale),
                check=False,
            )
        if done.returncode != 0:
            return done.returncode
    return 0


def environment(home: str, scale: int) -> dict[str, str]:
    """Own settings and data, and a screen in memory; Qt reads the scale when it starts."""
    rest = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    own = {"HOME": home, "QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": str(scale)}
    return {**rest, **own}


def take_here(wanted: list[str], folder: Path, docs: Path, scale: int) -> int:
    from tools.screenshots.stage import Stage

    with Stage(folder, docs, scale) as stage:
        for name in wanted:
            import_module(f"tools.screenshots.{name}").take(stage)
            stage.clear()
    return 0


if __name__ == "__main__":
    sys.exit(main())
