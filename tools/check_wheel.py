"""Builds a wheel, installs it into an empty environment, and uses what is there.

    python tools/check_wheel.py [FOLDER]

Outside of any checkout: the doctor, a campaign on the installed example, its report, `integrate`
and its undo, and the window, on a screen in memory (xvfb) whose picture is left in FOLDER. Takes
some minutes, hence not part of `make test`. FOLDER is /tmp/plumbline-wheel if none is named.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = "parcel-delivery"

# Runs beside the window on the same screen, takes its picture when that stays as it is, and quits.
PICTURE = """
import subprocess, sys, time
from PySide6.QtGui import QGuiApplication

program, picture = sys.argv[1:]
window = subprocess.Popen([program])
screen = QGuiApplication([]).primaryScreen()
last, colors, calm = None, set(), 0
for _ in range(90):
    time.sleep(2)
    image = screen.grabWindow(0).toImage()
    colors = {image.pixel(x, y) for x in range(0, image.width(), 5) for y in range(0, 800, 5)}
    calm = calm + 1 if image == last and len(colors) > 20 else 0
    if calm == 5:
        break
    last = image
image.save(picture)
window.terminate()
sys.exit(window.wait(60) or calm < 5)
"""


def main(arguments: Sequence[str]) -> int:
    folder = Path(*arguments or [tempfile.gettempdir(), "plumbline-wheel"]).absolute()
    shutil.rmtree(folder, ignore_errors=True)
    wheel = build(folder / "dist")
    programs = install(wheel, folder / "venv")
    use(programs, folder)
    return 0


def say(text: str) -> None:
    print(f"check_wheel: {text}", file=sys.stderr, flush=True)


def build(folder: Path) -> Path:
    say("building the wheel")
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT)
    (wheel,) = folder.glob("plumbline-*.whl")
    say(f"{wheel.name}, {wheel.stat().st_size / 1e6:.1f} MB")
    return wheel


def install(wheel: Path, venv: Path) -> Path:
    say("installing it into an empty environment")
    run(sys.executable, "-m", "venv", venv)
    constraints = ROOT / "constraints.txt"
    run(venv / "bin" / "pip", "install", "--quiet", "--constraint", constraints, wheel)
    return venv / "bin"


def use(programs: Path, folder: Path) -> None:
    home = folder / "home"
    home.mkdir()
    environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    environment |= {"HOME": str(home), "PLUMBLINE_CACHE_DIR": str(home / "cache")}

    def plumbline(*arguments: str | Path) -> dict[str, Any]:
        say(f"plumbline {' '.join(map(str, arguments))}")
        output = run(programs / "plumbline", *arguments, "--json", cwd=home, env=environment)
        document: dict[str, Any] = json.loads(output)
        return document

    doctor = plumbline("doctor")
    (resources,) = (
        Path(check["found"]) for check in doctor["checks"] if check["name"] == "icons and examples"
    )
    assert resources.is_relative_to(folder), resources
    config = resources / "examples" / EXAMPLE / "campaign.toml"
    campaign = plumbline("campaign", config, "--out", home / "example.plumb")
    assert campaign["bugs"], campaign
    plumbline("report", home / "example.plumb", "--out", folder / "report.html")
    before = sorted(home.rglob("*"))
    assert plumbline("integrate")["files"]
    plumbline("integrate", "--remove")
    assert sorted(home.rglob("*")) == before
    say("the window")
    picture = folder / "window.png"
    screen = ("xvfb-run", "-a", "-s", "-screen 0 1400x900x24")
    command = (programs / "python", "-P", "-c", PICTURE, programs / "plumbline-app", picture)
    run(*screen, *command, cwd=home, env=environment)
    assert (home / f".local/share/plumbline/workspaces/{EXAMPLE}.plumb").exists()
    say(f"everything works; look at {picture}")


def run(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """What a command prints; the end of everything if it fails."""
    words = [str(word) for word in command]
    result = subprocess.run(words, cwd=cwd, env=env, stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{result.stdout}\nthis command failed: {' '.join(words)}")
    return result.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
