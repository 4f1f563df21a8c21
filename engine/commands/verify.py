"""`plumbline verify`: check the evidence in a workspace again, independent of who found it.

The policies are asked again as well. That one has changed says nothing against its bugs, so the
exit code speaks of the evidence alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.commands.console import Console
from engine.errors import ExitCode
from engine.policies.consent import Consent
from engine.verify.policy_rerun import RerunAnswer
from engine.verify.stored import Verified, refuse_damaged, verify_bugs
from engine.workspace.workspace import Workspace


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workspace", type=Path, metavar="W.plumb")
    parser.add_argument(
        "--bug", type=int, action="append", metavar="ID", help="only this one; may be repeated"
    )
    parser.add_argument(
        "--trust-policies",
        action="store_true",
        help="also ask plug-ins, which are programs, and servers",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    with Workspace.open(args.workspace) as store:
        refuse_damaged(store)
        rows = [store.bug(number).row for number in args.bug] if args.bug else store.bugs()
        verdicts = []
        with console.progress("Verifying", total=len(rows)) as bar:
            for verdict in verify_bugs(store, rows, consent=Consent(to_all=args.trust_policies)):
                verdicts.append(verdict)
                bar.update(len(verdicts), f"bug {verdict.bug}")
    verdicts.sort(key=lambda verdict: verdict.bug)
    failed = [verdict for verdict in verdicts if verdict.problem]
    document = {
        "verified": len(verdicts) - len(failed),
        "failed": [{"bug": verdict.bug, "reason": verdict.problem} for verdict in failed],
        "plans_accepted_by_val": sum(verdict.opinions for verdict in verdicts),
        "policy": {
            "same": len(_replies(verdicts, RerunAnswer.SAME)),
            "other": _replies(verdicts, RerunAnswer.OTHER),
            "not_asked": _replies(verdicts, RerunAnswer.NOT_ASKED),
        },
    }
    console.result(document, _text(document, verdicts))
    return ExitCode.ANSWER_IS_NO if failed else ExitCode.DONE


def _replies(verdicts: Sequence[Verified], answer: RerunAnswer) -> list[dict[str, Any]]:
    return [
        {"bug": verdict.bug, "reason": verdict.policy.reason}
        for verdict in verdicts
        if verdict.policy is not None and verdict.policy.answer is answer
    ]


def _text(document: dict[str, Any], verdicts: Sequence[Verified]) -> str:
    lines = []
    for verdict in verdicts:
        if verdict.problem:
            lines.append(f"bug {verdict.bug} does not hold: {verdict.problem}")
        elif verdict.policy is not None and verdict.policy.answer is not RerunAnswer.SAME:
            lines.append(f"bug {verdict.bug} holds, but {verdict.policy}")
    plans = document["plans_accepted_by_val"]
    same = document["policy"]["same"]
    lines.append(
        f"{document['verified']} of {len(verdicts)} bugs verified; VAL accepted {plans} plans; "
        f"{same} runs are still those of the policy"
    )
    return "\n".join(lines)
