"""`plumbline verify`: check the evidence in a workspace again, independent of who found it."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.campaign.store import Store
from engine.campaign.verification import refuse_damaged, verify_bugs
from engine.console import Console
from engine.errors import ExitCode


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workspace", type=Path, metavar="W.plumb")
    parser.add_argument(
        "--bug", type=int, action="append", metavar="ID", help="only this one; may be repeated"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    with Store.open(args.workspace) as store:
        refuse_damaged(store)
        rows = [store.bug(number).row for number in args.bug] if args.bug else store.bugs()
        verdicts = []
        with console.progress("Verifying", total=len(rows)) as bar:
            for verdict in verify_bugs(store, rows):
                verdicts.append(verdict)
                bar.update(len(verdicts), f"bug {verdict.bug}")
    failed = [verdict for verdict in verdicts if verdict.problem]
    opinions = sum(verdict.opinions for verdict in verdicts)
    document = {
        "verified": len(verdicts) - len(failed),
        "failed": [{"bug": verdict.bug, "reason": verdict.problem} for verdict in failed],
        "plans_accepted_by_val": opinions,
    }
    lines = [f"bug {verdict.bug} does not hold: {verdict.problem}" for verdict in failed]
    lines.append(
        f"{document['verified']} of {len(verdicts)} bugs verified; VAL accepted {opinions} plans"
    )
    console.result(document, "\n".join(lines))
    return ExitCode.ANSWER_IS_NO if failed else ExitCode.DONE
