"""Do the losses of steps add up, and what do readers gain by them?

    python benchmarks/losses.py [CONFIG.toml|WORKSPACE.plumb ...] [--published FOLDER]

The campaigns of the five examples unless others are named, or the published satellite policy if
FOLDER has it (`satellite/domain.pddl`, `problems`, a `.policy`). Campaigns run without localizing,
so that stored bounds are those of oracles. Then every bug is localized and, with costs of a search
of its own for every state of its run,

- on a run that reaches the goal all losses together are its gap,
- around a loop from which the goal can be reached they are the cost of a round,
- a bound that an oracle has proven may be above h*; localizing improves it.

Exit code 1: a sum is wrong, or a bound was not improved although h* is known.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from localize import Truth
from measurement import EXAMPLES, Row, Setting, mistakes
from msgspec.structs import replace

from engine.campaign.config_reader import parse_config, read_config
from engine.localize.localizer import Localizer
from engine.localize.run_searches import LocalizationLimits
from engine.records.config import CampaignConfig
from engine.records.finding import INFINITY, RunOutcome
from engine.records.localization import CauseKind, Localization
from engine.task.states import StateTable
from engine.task.successors import successor
from engine.task.task import Task
from engine.usecases.campaign import run as run_campaign
from engine.verify.claims import better_evidence
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

PUBLISHED = """\
domain = "{folder}/domain.pddl"
problems = ["{folder}/problems/pfile[1-7].pddl"]
policies = ["{policy}"]
fuzzing.size = 60
testing.oracles = ["bmo", "aras-ehc", "lookahead:depth=2", "astar:expansions=20000"]
testing.skip_known_bugs = false
"""


@dataclass
class Totals:
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--published", type=Path, help="folder with published ASNets policies")
    parser.add_argument("--expansions", type=int, default=200_000, help="for one search")
    return parser.parse_args(arguments)


def main() -> int:
    args = parse()
    total = Totals()
    for name, found in examine_all(args):
        print(f"{name:18} {report(found)}", flush=True)
        for text in found.wrong[:10]:
            print(f"  WRONG: {text}", flush=True)
        total.counts += found.counts
        total.wrong += found.wrong
    print(f"{'together':18} {report(total)}")
    return int(bool(total.wrong))


def rows(setting: Setting) -> Iterator[Row]:
    names = setting.choose(("crumbling-temple", "ferry"), ("container-yard",))
    paths = [str(EXAMPLES / name / "campaign.toml") for name in names]
    found = [totals for _, totals in examine_all(parse(paths))]
    sums = sum(totals.counts["sums"] + totals.counts["rounds"] for totals in found)
    wrong = sum(len(totals.wrong) for totals in found)
    yield mistakes("losses that do not add up, or bounds that stay too high", wrong, sums)


def examine_all(args: argparse.Namespace) -> Iterator[tuple[str, Totals]]:
    examples = sorted(EXAMPLES.glob("*/campaign.toml"))
    with tempfile.TemporaryDirectory(prefix="plumbline-benchmark-") as folder:
        for path in args.paths or ([] if args.published else examples):
            if path.suffix == ".toml":
                yield path.parent.name, run_and_examine(read_config(path), Path(folder), args)
            else:
                with Workspace.open(path) as store:
                    yield path.stem, examine(store, args.expansions)
        if args.published is not None:
            place = args.published / "satellite"
            (policy,) = place.glob("*.policy")
            text = PUBLISHED.format(folder=place, policy=policy)
            config = parse_config(text, Path(folder) / "satellite.toml")
            yield "satellite", run_and_examine(config, Path(folder), args)


def run_and_examine(config: CampaignConfig, folder: Path, args: argparse.Namespace) -> Totals:
    quiet = replace(config, localization=replace(config.localization, enabled=False))
    out = folder / f"{len(list(folder.iterdir()))}.plumb"
    with Workspace.create(out) as store:
        assert run_campaign(quiet, store).finished
        return examine(store, args.expansions)


def examine(store: Workspace, expansions: int) -> Totals:
    totals = Totals()
    localizers: dict[int, Localizer] = {}
    truths: dict[int, Truth] = {}
    limits = LocalizationLimits(search_expansions=expansions)
    for row in store.bugs():
        bug = store.bug(row.id)
        if bug.problem_id not in localizers:
            localizers[bug.problem_id] = Localizer(StateTable(store.task(bug.problem_id)))
        localizer = localizers[bug.problem_id]
        task = localizer.table.task
        found = localizer.localize_finding(bug.finding, limits)
        truth = truths.setdefault(bug.problem_id, Truth(task))
        count(totals.counts, found)
        problems = (*check_sums(bug, found, task, truth, totals.counts),)
        totals.wrong += [f"bug {row.id}: {text}" for text in problems]
        totals.wrong += [f"bug {row.id}: {text}" for text in check_bound(bug, found, task, totals)]
    return totals


def count(counts: Counter[str], found: Localization) -> None:
    counts["bugs"] += 1
    counts["undecided"] += bool(found.undecided_steps)
    several = len(found.bad_steps) > 1
    counts["several"] += several
    if found.cause is not None and found.worst_step is not None:
        counts["elsewhere"] += several and found.worst_step != found.cause.index


def check_sums(
    bug: Bug, found: Localization, task: Task, truth: Truth, counts: Counter[str]
) -> Iterator[str]:
    """Every loss is what the costs of both states say, and the sums are right."""
    state, exact = bug.finding.state, []
    for step in found.steps:
        operator = task.operators[step.operator]
        following = successor(task, operator, state)
        before, after = truth.cost(state), truth.cost(following)
        state = following
        if before is None or after is None:
            return
        lost = before == INFINITY
        loss = 0 if lost else INFINITY if after == INFINITY else after + operator.cost - before
        exact.append(loss)
        if not step.loss_low <= loss <= step.loss_high:
            yield f"step {step.index} loses {loss}, not {step.loss_low}..{step.loss_high}"
    if found.undecided_steps:
        return
    run, best = bug.finding.run, truth.cost(bug.finding.state)
    losses = [step.loss_low for step in found.steps]
    if run.outcome is RunOutcome.SOLVED and run.cost is not None and best is not None:
        counts["sums"] += 1
        if sum(losses) != run.cost - best or losses != exact:
            yield f"losses {losses} do not add up to {run.cost} - {best}"
    failure = found.failure
    if found.cause is not None and found.cause.kind is CauseKind.LOOP and failure is not None:
        begin = failure.loop_begin
        if begin is not None:
            counts["rounds"] += 1
            cost = sum(task.operators[step.operator].cost for step in found.steps[begin:])
            if sum(losses[begin:]) != cost:
                yield f"losses of a round {losses[begin:]} do not add up to {cost}"


def check_bound(bug: Bug, found: Localization, task: Task, totals: Totals) -> Iterator[str]:
    if not found.steps or found.steps[0].optimal_low != found.steps[0].optimal_high:
        return
    best, counts = found.steps[0].optimal_low, totals.counts
    solved = bug.finding.run.outcome is RunOutcome.SOLVED
    counts["solved"] += solved
    if bug.finding.bound > best:
        counts["too high"] += 1
        counts["gap too small"] += solved
        better = better_evidence(bug.finding, found, task)
        if better is None or better.bound != best:
            yield f"the bound stays {bug.finding.bound}, though {best} suffices"
        else:
            counts["improved"] += 1


def report(totals: Totals) -> str:
    c = totals.counts
    return (
        f"{c['bugs']} bugs ({c['undecided']} with undecided steps); sums right: "
        f"{c['sums']} runs, {c['rounds']} loops, {len(totals.wrong)} wrong; "
        f"stored gaps too small: {c['gap too small']} of {c['solved']} solved "
        f"({c['too high']} bounds too high, {c['improved']} improved); "
        f"several bad steps: {c['several']}, worst is not the root cause: {c['elsewhere']}"
    )


if __name__ == "__main__":
    sys.exit(main())
