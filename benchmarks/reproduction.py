"""Do exported bugs reproduce: in the exported problem, and with the command of their README?

    python benchmarks/reproduction.py [CONFIG.toml|WORKSPACE.plumb ...] [--bugs 80]

The campaigns of the five examples unless others are named. Of each, bugs at equal distances are
exported as bundles; then the commands of their READMEs run the policy. *Before* is what a reader
saw with the exported problem alone; *now* is the first command: the problem that was tested,
started in the bug state. Exit code 1: a bundle says something else than its commands show, or the
first command does not reproduce.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from localize import workspace
from measurement import EXAMPLES, Row, Setting, mistakes

from engine.cli import main as plumbline
from engine.usecases.export import export_bundles
from engine.workers.link import NULL_LINK
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

_RUN = re.compile(r"^    plumbline (run .*)$", re.MULTILINE)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--bugs", type=int, default=80, help="of each workspace")
    return parser.parse_args(arguments)


def main() -> int:
    wrong = 0
    for name, counts in examine_all(parse()):
        wrong += counts["wrong"]
        print(
            f"{name:18} {counts['bugs']} of {counts['all']} bugs; before: {counts['same']} "
            f"reproduce, {counts['other']} differ ({counts['no bug']} no longer a bug); "
            f"now: {counts['now']} reproduce; {counts['wrong']} bundles say something wrong",
            flush=True,
        )
    return int(bool(wrong))


def rows(setting: Setting) -> Iterator[Row]:
    names = setting.choose(("workshop", "ferry"), ("container-yard",))
    paths = [str(EXAMPLES / name / "campaign.toml") for name in names]
    counts = [item for _, item in examine_all(parse([*paths, "--bugs", "20"]))]
    bugs, wrong = sum(item["bugs"] for item in counts), sum(item["wrong"] for item in counts)
    yield mistakes("exported bugs that do not do what their README says", wrong, bugs)


def examine_all(args: argparse.Namespace) -> Iterator[tuple[str, Counter[str]]]:
    examples = sorted(EXAMPLES.glob("*/campaign.toml"))
    with tempfile.TemporaryDirectory(prefix="plumbline-benchmark-") as name:
        for number, path in enumerate(args.paths or examples):
            out = Path(name) / str(number)
            title = path.parent.name if path.suffix == ".toml" else path.stem
            yield title, examine(workspace(path, Path(name)), out, args.bugs)


def examine(path: Path, out: Path, most: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    with Workspace.open(path) as store:
        every = [row.id for row in store.bugs()]
        chosen = every[:: max(1, -(-len(every) // most))]
        bugs = [store.bug(number) for number in chosen]
        actions = [names(store, bug) for bug in bugs]
    counts["all"], counts["bugs"] = len(every), len(bugs)
    bundles = export_bundles(NULL_LINK, path, chosen, out)
    for bundle, bug, taken in zip(bundles, bugs, actions, strict=True):
        tested, exported = _RUN.findall((bundle.folder / "README.md").read_text())
        first, second = (
            is_same(run(bundle.folder, text), bug, taken) for text in (tested, exported)
        )
        there = bundle.reproduction
        counts["now"] += first
        counts["same" if second else "other"] += 1
        counts["no bug"] += there.is_bug is False
        counts["wrong"] += not first or there.reproduces is not second
    return counts


def names(store: Workspace, bug: Bug) -> list[str]:
    task = store.task(bug.problem_id)
    return [f"({task.operators[number].name})" for number in bug.finding.run.operators]


def run(folder: Path, command: str) -> dict[str, Any]:
    """What a command answers that is typed in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    text = io.StringIO()
    try:
        with redirect_stdout(text), redirect_stderr(io.StringIO()):
            plumbline([*shlex.split(command), "--json"])
    finally:
        os.chdir(before)
    (answer,) = json.loads(text.getvalue())["runs"]
    return dict(answer)


def is_same(answer: dict[str, Any], bug: Bug, actions: list[str]) -> bool:
    run = bug.finding.run
    ends = answer["outcome"], answer["reason"]
    return answer["plan"] == actions and ends == (run.outcome, run.reason)


if __name__ == "__main__":
    sys.exit(main())
