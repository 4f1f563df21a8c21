"""`plumbline verify`: check every claim of a workspace with independent code."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode
from engine.policies.consent import Consent
from engine.records.verification import CheckedClaim, PolicyAnswer, Verification
from engine.report.verification_text import summary_lines
from engine.usecases.verify import read_given, verify
from engine.verify.cost_to_go import STATES
from engine.verify.stored import VerifyOptions


def configure(options: Options) -> None:
    options.workspace()
    options.bugs("verify only this bug")
    options.text("--domain", "DOMAIN", "your domain, to compare with the stored one")
    options.text("--problem", "PROBLEM", "your problems", nargs="+", default=())
    options.text(
        "--policy",
        "POLICY",
        "your policies; plug-ins and servers that are named here are run",
        nargs="+",
        default=(),
    )
    options.number("--states", STATES, "states to search per problem to decide what is optimal")
    options.flag(
        "--trust-policies",
        "also run plug-ins, which are programs, and contact policy servers",
    )
    options.time_limit("stop after this many seconds; the rest is undecided")
    options.epilog("Exit code 1: a claim is false; 3: none is false, but some are undecided.")


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
