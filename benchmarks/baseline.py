"""Builds version 0.1 beside this checkout, and measures a command in both.

    python benchmarks/baseline.py                                  build it, once
    python benchmarks/baseline.py [--repeats N] -- COMMAND ...     compare the CPU seconds
    python benchmarks/baseline.py --remove                         delete it again

COMMAND is a program of both environments, such as `plumbline` or `python`. It runs in the current
folder; `{out}` in its arguments is an empty folder, a new one for each run. Caches and settings are
separate for each version. One run of each is not counted, then the versions take turns.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from measurement import ROOT

COMMIT = "9d5476f"  # version 0.1
TREE = ROOT / "build" / "baseline"
BASELINE_PROGRAMS = TREE / ".venv" / "bin"
OUR_PROGRAMS = Path(sys.executable).parent
ANSWERS = (0, 1, 3)
"""Exit codes of a command that did its work: done, the answer is no, a limit was reached."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    if options.remove:
        remove()
        return 0
    build()
    if not options.command:
        print(f"Version 0.1 is ready. Call it as {BASELINE_PROGRAMS / 'plumbline'}, or compare:")
        print("    python benchmarks/baseline.py -- plumbline search DOMAIN PROBLEM")
        return 0
    pairs = measure(options.command, options.repeats)
    ours, theirs = (median(seconds) for seconds in zip(*pairs, strict=True))
    ratios = sorted(now / before for now, before in pairs)
    print(f"{shlex.join(options.command)}\n  now {ours:.3f} s, 0.1 {theirs:.3f} s of CPU time")
    spread = f"{ratios[0]:.3f} to {ratios[-1]:.3f}"
    print(f"  ratio {median(ratios):.3f} ({spread}), {len(pairs)} pairs of runs")
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--remove", action="store_true", help="delete version 0.1 again")
    parser.add_argument("--repeats", type=int, default=5, help="pairs of runs (default: 5)")
    parser.add_argument("command", nargs="*", metavar="COMMAND", help="what to measure in both")
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    return options


def build() -> None:
    """Check version 0.1 out and let its own setup do the rest; a moment if it is there."""
    if not TREE.exists():
        git("worktree", "prune")  # forgets a folder that `make clean` deleted
        git("worktree", "add", "--detach", str(TREE), COMMIT)
    subprocess.run([sys.executable, TREE / "tools" / "setup.py"], check=True)


def remove() -> None:
    shutil.rmtree(TREE, ignore_errors=True)
    git("worktree", "prune")


def git(*arguments: str) -> None:
    subprocess.run(["git", "-C", str(ROOT), *arguments], check=True)


def measure(command: Sequence[str], repeats: int) -> list[tuple[float, float]]:
    """The CPU seconds of a command now and in version 0.1, for each repeat."""
    with tempfile.TemporaryDirectory(prefix="plumbline-baseline-") as folder:

        def pair() -> tuple[float, float]:
            ours = cpu_seconds(command, OUR_PROGRAMS, Path(folder, "now"))
            return ours, cpu_seconds(command, BASELINE_PROGRAMS, Path(folder, "baseline"))

        pair()  # fills the caches
        return [pair() for _ in range(repeats)]


def cpu_seconds(command: Sequence[str], programs: Path, home: Path) -> float:
    """Of one run with all the processes it starts."""
    home.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home) as out, tempfile.TemporaryFile() as output:
        name, *arguments = (word.replace("{out}", out) for word in command)
        environment = {
            **os.environ,
            **{f"XDG_{kind}_HOME": str(home) for kind in ("CONFIG", "DATA", "STATE")},
            "PLUMBLINE_CACHE_DIR": str(home / "cache"),
            "PYTHONSAFEPATH": "1",  # `python -m engine.cli` must not find the current folder
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # what is installed has been compiled
        process = subprocess.Popen(
            [str(programs / name), *arguments], env=environment, stdout=output, stderr=output
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in ANSWERS:
            output.seek(0)
            sys.stderr.write(output.read().decode("utf-8", "replace"))
            sys.exit(f"{programs / name} ended with exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    sys.exit(main())
