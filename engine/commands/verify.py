"""`plumbline verify`: check the evidence in a workspace with independent code.

The policies are asked again as well. A policy that has changed says nothing against its bugs, so
the exit code depends on the evidence alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.commands.console import Console
from engine.errors import ExitCode
from engine.policies.consent import Consent
from engine.usecases.verify import verify
from engine.verify.policy_rerun import RerunAnswer
from engine.verify.stored import Verified


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("workspace", type=Path, metavar="W.plumb", help="workspace")
    parser.add_argument(
        "--bug",
        type=int,
        action="append",
        metavar="ID",
        help="verify only this bug; may be repeated",
    )
    parser.add_argument(
        "--trust-policies",
        action="store_true",
        help="also run plug-ins, which are programs, and ask policy servers",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    consent = Consent(to_all=args.trust_policies)
    with console.link("Verifying") as link:
        verdicts = verify(link, args.workspace, args.bug, consent)
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
        f"the policy reproduces {same} runs"
    )
    return "\n".join(lines)
