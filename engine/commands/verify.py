"""`plumbline verify`: check every claim of a workspace with independent code."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from engine.commands.arguments import add_time_limit
from engine.commands.console import Console
from engine.errors import ExitCode
from engine.policies.consent import Consent
from engine.records.verification import CheckedClaim, PolicyAnswer, Verification
from engine.report.verification_text import summary_lines
from engine.usecases.verify import read_given, verify
from engine.verify.cost_to_go import STATES
from engine.verify.stored import VerifyOptions


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
        "--domain", metavar="DOMAIN", help="your domain, to compare with the stored one"
    )
    parser.add_argument("--problem", nargs="+", default=(), metavar="PROBLEM", help="your problems")
    parser.add_argument(
        "--policy",
        nargs="+",
        default=(),
        metavar="POLICY",
        help="your policies; plug-ins and servers that are named here are run",
    )
    parser.add_argument(
        "--states",
        type=int,
        default=STATES,
        metavar="N",
        help="states to search per problem to decide what is optimal (default: %(default)s)",
    )
    parser.add_argument(
        "--trust-policies",
        action="store_true",
        help="also run plug-ins, which are programs, and contact policy servers",
    )
    add_time_limit(parser, "stop after this many seconds; the rest is undecided")
    parser.epilog = "Exit code 1: a claim is false; 3: none is false, but some are undecided."


def run(args: argparse.Namespace, console: Console) -> int:
    options = VerifyOptions(
        None if args.bug is None else tuple(args.bug),
        read_given(args.domain, args.problem, args.policy),
        args.states,
        args.time_limit,
    )
    with console.link("Verifying", seconds=args.time_limit) as link:
        found = verify(link, args.workspace, Consent(to_all=args.trust_policies), options)
    console.result(_document(found), "\n".join(summary_lines(found)))
    if found.failed:
        return ExitCode.ANSWER_IS_NO
    return ExitCode.LIMIT_REACHED if found.undecided else ExitCode.DONE


def _document(found: Verification) -> dict[str, Any]:
    return {
        "verified": len(found.verified),
        "failed": _claims(found.failed),
        "undecided": _claims(found.undecided),
        "unchecked": list(found.unchecked),
        "claims": {count.claim.value: count.held + count.false for count in found.counts},
        "plans_accepted_by_val": sum(plans for _, plans in found.plans),
        "policy": {
            "same": len(_replies(found, PolicyAnswer.SAME)),
            "other": _replies(found, PolicyAnswer.OTHER),
            "not_asked": _replies(found, PolicyAnswer.NOT_ASKED),
        },
    }


def _claims(claims: Iterable[CheckedClaim]) -> list[dict[str, Any]]:
    return [
        {"claim": item.claim.value, "id": item.id, "reason": item.verdict.reason} for item in claims
    ]


def _replies(found: Verification, answer: PolicyAnswer) -> list[dict[str, Any]]:
    return [
        {"bug": reply.bug, "reason": reply.reason}
        for reply in found.replies
        if reply.answer is answer
    ]
