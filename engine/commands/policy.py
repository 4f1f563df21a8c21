"""`plumbline policy`: what a policy is, and whether it fits a domain."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode
from engine.policies.kinds import kind_named
from engine.records.project import PolicyChecked
from engine.usecases.policy import describe_policies

SHOWN = 12
"""How many names of a list the text output shows."""


def configure(options: Options) -> None:
    options.policy(or_folder=True)
    options.text("--domain", "DOMAIN", "check whether the policy fits this domain")
    options.epilog("Exit code 1: the policy does not fit the domain.")


def run(args: argparse.Namespace, console: Console) -> int:
    with console.link("Reading") as link:
        found = describe_policies(link, args.policy, args.domain)
    is_portfolio = found[0].spec != args.policy
    info = _portfolio(found) if is_portfolio else found[0]
    reasons = [
        f"{policy.spec}: {reason}" if is_portfolio else reason
        for policy in found
        for reason in policy.misfits
    ]
    fits = None if args.domain is None or not all(map(_can_tell, found)) else not reasons
    document = {
        "kind": info.kind,
        "domain": info.domain,
        "details": info.details,
        "fits": fits,
        "reasons": reasons,
    }
    text = _text(info, fits, reasons)
    if fits is None and args.domain is not None:
        text += "whether it fits the domain is checked when it runs\n"
    console.result(document, text)
    return ExitCode.ANSWER_IS_NO if reasons else ExitCode.DONE


def _can_tell(policy: PolicyChecked) -> bool:
    """Whether it shows without asking the policy what it knows: plug-ins are not run here."""
    return policy.kind != "plug-in" and not kind_named(policy.kind).of_task


def _portfolio(found: Sequence[PolicyChecked]) -> PolicyChecked:
    """All policies of a folder as one."""
    domains = {policy.domain for policy in found}
    policies = [
        {
            "file": policy.spec,
            "kind": policy.kind,
            "domain": policy.domain,
            "details": policy.details,
        }
        for policy in found
    ]
    domain = domains.pop() if len(domains) == 1 else None
    return PolicyChecked("", "portfolio", domain, {"policies": policies})


def _text(info: PolicyChecked, fits: bool | None, reasons: list[str]) -> str:
    lines = [f"kind    {info.kind}"]
    if info.domain is not None:
        lines.append(f"domain  {info.domain}")
    lines += [f"{name}  {_shorten(value)}" for name, value in info.details.items()]
    if fits:
        lines.append("fits the domain")
    lines += [f"does not fit: {reason}" for reason in reasons]
    return "\n".join(lines)


def _shorten(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    names = [str(item["file"]) if isinstance(item, dict) else str(item) for item in value]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
