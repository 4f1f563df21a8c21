"""`plumbline policy`: what a policy is, and whether it fits a domain."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from engine.commands.console import Console
from engine.errors import ExitCode
from engine.pddl import read_domain
from engine.policies.policy import PolicyInfo, close_policy, open_policy
from engine.policies.torch_file import portfolio_files
from engine.records.policy_spec import PolicySpec, SpecKind

SHOWN = 12
"""How many names of a list the text for people shows."""


def configure(parser: argparse.ArgumentParser) -> None:
    add_policy_argument(parser)
    parser.add_argument("--domain", metavar="D", help="check whether the policy fits this domain")
    parser.epilog = "Exit code 1: the policy does not fit the domain."


def add_policy_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "policy",
        metavar="POLICY",
        help="a file (.policy, .ckpt, .pt), grpc://host:port, path/to/file.py:factory, "
        "or builtin:NAME, where NAME is random, gc, hadd, hff or optimal",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    domain = read_domain(args.domain) if args.domain else None
    spec = PolicySpec.parse(args.policy, base="")
    is_folder = spec.kind is SpecKind.FOLDER
    members = [str(path) for path in portfolio_files(Path(spec.place))] if is_folder else []
    infos, misfits = [], dict[str, tuple[str, ...]]()
    for name in members or [args.policy]:
        policy = open_policy(name)
        try:
            infos.append(policy.describe())
            if domain is not None:
                misfits[name] = policy.misfits(domain)
        finally:
            close_policy(policy)
    info = _portfolio(members, infos) if members else infos[0]
    reasons = [
        f"{name}: {reason}" if members else reason
        for name, found in misfits.items()
        for reason in found
    ]
    fits = None if domain is None else not reasons
    document = {
        "kind": info.kind,
        "domain": info.domain,
        "details": dict(info.details),
        "fits": fits,
        "reasons": reasons,
    }
    console.result(document, _text(info, fits, reasons))
    return ExitCode.ANSWER_IS_NO if reasons else ExitCode.DONE


def _portfolio(members: list[str], infos: list[PolicyInfo]) -> PolicyInfo:
    domains = {info.domain for info in infos}
    policies = [
        {"file": name, "kind": info.kind, "domain": info.domain, "details": dict(info.details)}
        for name, info in zip(members, infos, strict=True)
    ]
    return PolicyInfo(
        "portfolio", domains.pop() if len(domains) == 1 else None, {"policies": policies}
    )


def _text(info: PolicyInfo, fits: bool | None, reasons: list[str]) -> str:
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
