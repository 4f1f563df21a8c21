"""`plumbline test`: let oracles examine the states of a pool.

Every oracle has a session of its own, so that its flags are its own; the runs of the policy and
of a portfolio are shared.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from engine.commands.arguments import add_task_argument, load_task_argument
from engine.commands.console import Console
from engine.errors import ExitCode
from engine.fuzzing.pool_file import PoolEntry, read_pool
from engine.oracles.objective import OBJECTIVES
from engine.oracles.pco import Contest, contest_of
from engine.oracles.registry import ORACLES, make_oracle
from engine.oracles.session import OracleSession, Origin
from engine.policies.policy import close_policy, open_policy
from engine.policies.portfolio import named_policies, open_portfolio
from engine.policies.runs import STEP_LIMIT, PolicyRuns
from engine.records.codec import to_json
from engine.records.finding import Finding, RunOutcome
from engine.task.states import StateTable


def configure(parser: argparse.ArgumentParser) -> None:
    add_task_argument(parser)
    parser.add_argument("--policy", required=True, metavar="POLICY", help="policy to test")
    parser.add_argument("--pool", required=True, type=Path, metavar="POOL", help="pool file")
    parser.add_argument(
        "--oracle",
        action="append",
        required=True,
        metavar="NAME[:option=value,...]",
        help=f"one of {', '.join(ORACLES)}; may be repeated",
    )
    parser.add_argument(
        "--portfolio",
        action="append",
        default=[],
        metavar="DIR|POLICY",
        help="policies to compare with (for pco-p, pco-e and composite); may be repeated",
    )
    parser.add_argument(
        "--objective",
        choices=list(OBJECTIVES),
        default="any",
        help="what counts as a bug (default: %(default)s)",
    )
    parser.add_argument(
        "--step-limit",
        type=int,
        default=STEP_LIMIT,
        metavar="N",
        help="stop a run after N steps (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of policies and oracles")
    parser.add_argument(
        "--fail-on-bugs", action="store_true", help="exit with code 1 if bugs are found"
    )


@dataclass
class _Tested:
    """One oracle's work on the pool, or on a part of it if it was stopped."""

    session: OracleSession
    verdicts: dict[int, str] = field(default_factory=dict)
    contest: Contest | None = None


def run(args: argparse.Namespace, console: Console) -> int:
    task = load_task_argument(args, console)
    entries = read_pool(args.pool, task)
    rivals = named_policies(args.portfolio)
    policy = open_policy(args.policy, task.source.domain if task.source else None, args.seed)
    started = time.monotonic()
    try:
        table = StateTable(task)
        runs = PolicyRuns(policy.bind(task), table)
        ids = table.add([entry.state for entry in entries]).tolist()
        pool = list(zip(ids, entries, strict=True))
        results = runs.run(ids, args.step_limit)
        with closing(open_portfolio(rivals, table, args.seed)) as portfolio:
            make_bench = partial(
                OracleSession,
                runs,
                OBJECTIVES[args.objective],
                args.step_limit,
                portfolio=portfolio if rivals else None,
            )
            stopped = False
            tested: dict[str, _Tested] = {}
            try:
                for name in dict.fromkeys(args.oracle):
                    tested[name] = _Tested(make_bench())
                    _test(name, tested[name], pool, console)
            except KeyboardInterrupt:  # what is known so far is told
                console.message("stopped")
                stopped = True
    finally:
        close_policy(policy)
    document = {
        "pool": [
            {
                "i": index,
                "state": list(entry.state),
                "outcome": results.outcome[index].value,
                "policy_cost": _policy_cost(results.outcome[index], results.cost[index]),
                "flags": _flags(state, tested),
                "verdicts": {
                    name: work.verdicts[state]
                    for name, work in tested.items()
                    if state in work.verdicts
                },
            }
            for index, (state, entry) in enumerate(pool)
        ],
        "nonpool": _by_products(set(ids), tested),
        "portfolio": {
            name: _standings(work.contest, work.session)
            for name, work in tested.items()
            if work.contest is not None
        },
        "seconds": time.monotonic() - started,
    }
    console.result(document, _describe(len(ids), tested))
    if stopped:
        return ExitCode.INTERRUPTED
    found = any(work.session.findings for work in tested.values())
    return ExitCode.ANSWER_IS_NO if found and args.fail_on_bugs else ExitCode.DONE


def _test(
    name: str,
    work: _Tested,
    pool: list[tuple[int, PoolEntry]],
    console: Console,
) -> None:
    session = work.session
    for state, entry in pool:
        if entry.reference >= 0:
            session.origins[state] = Origin(pool[entry.reference][0], entry.operators)
    oracle = make_oracle(name, session)
    work.contest = contest_of(oracle)
    with console.progress(f"Testing with {name}", total=len(pool)) as bar:
        for number, (state, _) in enumerate(pool, 1):
            work.verdicts[state] = session.test(state, oracle).verdict.value
            bar.update(number, f"{len(session.findings)} bugs")


def _policy_cost(outcome: RunOutcome, cost: int) -> int | None:
    return int(cost) if outcome is RunOutcome.SOLVED else None


def _flags(state: int, tested: dict[str, _Tested]) -> dict[str, Any]:
    return {
        name: _flag(work.session.findings[state])
        for name, work in tested.items()
        if state in work.session.findings
    }


def _flag(finding: Finding) -> dict[str, Any]:
    return {"gap": finding.gap, "bound": finding.bound, "evidence": to_json(finding.evidence)}


def _by_products(pool: set[int], tested: dict[str, _Tested]) -> list[dict[str, Any]]:
    """Bugs outside the pool that were found on the way."""
    return [
        {"oracle": name, "state": list(finding.state), **_flag(finding)}
        for name, work in tested.items()
        for state, finding in work.session.findings.items()
        if state not in pool
    ]


def _standings(contest: Contest, session: OracleSession) -> list[dict[str, Any]]:
    """How often each policy was run, where that proved a bug, and how many proofs use its steps."""
    proofs = Counter(
        origin
        for finding in session.findings.values()
        for origin in {step.origin for step in finding.evidence.steps}
    )
    return [
        {
            "policy": score.member.name,
            "runs": score.runs,
            "bugs": len(score.beaten),
            "proofs": proofs[score.member.name],
            "states": [list(session.values(state)) for state in score.beaten],
        }
        for score in contest.scores
    ]


def _describe(size: int, tested: dict[str, _Tested]) -> str:
    lines = [f"{size} states"]
    width = max(len(name) for name in tested)
    for name, work in tested.items():
        bugs = sum(state in work.verdicts for state in work.session.findings)
        optimal = sum(verdict.startswith("no bug") for verdict in work.verdicts.values())
        others = len(work.session.findings) - bugs
        lines.append(
            f"{name:<{width}}  {bugs} bugs, {optimal} proven optimal, "
            f"{len(work.verdicts) - bugs - optimal} not refuted, {others} bugs outside the pool"
        )
        if work.contest is not None:
            lines += [
                f"  {score.member.name}: {len(score.beaten)} bugs in {score.runs} runs"
                for score in work.contest.scores
                if score.runs
            ]
    return "\n".join(lines)
