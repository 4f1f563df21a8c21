"""`plumbline export`: write bugs as bundles that others can reproduce."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.campaign.bundle import write_bundle
from engine.campaign.store import Store
from engine.console import Console
from engine.errors import ExitCode
from engine.task.task import Task


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workspace", type=Path, metavar="W.plumb")
    parser.add_argument("--bug", type=int, nargs="+", action="extend", required=True, metavar="ID")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="gets a folder per bug"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    numbers = list(dict.fromkeys(args.bug))
    bundles = []
    with Store.open(args.workspace) as store:
        problems = {number: store.bug(number).problem_id for number in numbers}
        tasks: dict[int, Task] = {}
        with console.progress("Exporting", total=len(numbers)) as bar:
            for number, problem in problems.items():
                if problem not in tasks:
                    tasks[problem] = store.task(problem)
                bundles.append(write_bundle(store, number, args.out, tasks[problem]))
                bar.update(len(bundles))
    for bundle in bundles:
        if not bundle.has_better_plan:
            console.message(
                f"warning: bug {bundle.bug}: no cheaper plan was found within the limits"
            )
    document = {
        "bundles": [
            {"bug": item.bug, "folder": str(item.folder), "better_plan": item.has_better_plan}
            for item in bundles
        ]
    }
    console.result(document, "\n".join(str(bundle.folder) for bundle in bundles))
    return ExitCode.DONE
