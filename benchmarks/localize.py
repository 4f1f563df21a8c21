"""Localization of all bugs of a campaign: how many searches it takes, and whether it holds.

    python benchmarks/localize.py CONFIG.toml|WORKSPACE.plumb ... [--check] [--algorithm aoca]

A configuration is run first, into a temporary workspace. Every bad step is verified by replay: the
run up to it and then the better plan must be valid and cheaper than the run. `--check` also
searches from every state of every run, one by one, and compares all verdicts with these costs.
Searches are counted with what is known shared by all bugs of a problem, for each bug alone, and
as one search per state would need.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from measurement import EXAMPLES, Row, Setting, mistakes

from engine.campaign.config_reader import read_config
from engine.localize.localizer import ALGORITHMS, BISECTION, Localizer
from engine.localize.run_searches import LocalizationLimits
from engine.native.library import Outcome
from engine.records.finding import INFINITY
from engine.records.localization import Localization, StepVerdict
from engine.search.forward import SearchLimits, search
from engine.task.states import StateTable
from engine.task.successors import State, successor
from engine.task.task import Task
from engine.task.validate import validate_operators
from engine.usecases.campaign import run as run_campaign
from engine.verify.claims import SOLVED
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace


@dataclass
class Totals:
    """What is reported of one workspace and one kind of bugs."""

    bugs: int = 0
    steps: int = 0
    bad: int = 0
    undecided: int = 0
    unexplained: int = 0  # bugs without a root cause
    shared: int = 0
    alone: int = 0
    naive: int = 0
    expanded: int = 0
    seconds: list[float] = field(default_factory=list)
    verified: int = 0
    wrong: list[str] = field(default_factory=list)
    causes: set[tuple[int, State, int | None]] = field(default_factory=set)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--check", action="store_true", help="compare with h* of every state")
    parser.add_argument("--algorithm", choices=ALGORITHMS, default=BISECTION)
    parser.add_argument("--expansions", type=int, default=100_000, help="for one search")
    parser.add_argument("--no-alone", action="store_true", help="leave out bugs on their own")
    return parser.parse_args(arguments)


def main() -> int:
    return 1 if sum(len(totals.wrong) for _, totals in examine_all(parse())) else 0


def rows(setting: Setting) -> Iterator[Row]:
    names = setting.choose(("crumbling-temple", "ferry"), ("container-yard",))
    paths = [str(EXAMPLES / name / "campaign.toml") for name in names]
    found = list(examine_all(parse([*paths, "--check", "--no-alone"])))
    wrong = sum(len(totals.wrong) for _, totals in found)
    steps = sum(totals.steps for _, totals in found)
    yield mistakes("steps with a wrong verdict, a wrong bound or no better plan", wrong, steps)
    for kind in sorted({kind for kind, _ in found}):
        mine = [totals for name, totals in found if name == kind]
        bugs = sum(totals.bugs for totals in mine)
        shared, naive = (sum(getattr(t, name) for t in mine) for name in ("shared", "naive"))
        seconds = [second for totals in mine for second in totals.seconds]
        yield Row(
            f"searches to localize a bug ({kind})",
            shared / bugs,
            "searches",
            "one per state",
            naive / bugs,
            shared / naive,
            instances=bugs,
            remark=f"{1000 * sum(seconds) / bugs:.1f} ms each, {1000 * max(seconds):.0f} at most",
        )


def examine_all(args: argparse.Namespace) -> Iterator[tuple[str, Totals]]:
    """Kinds of bugs with what is reported of them, for each workspace."""
    limits = LocalizationLimits(search_expansions=args.expansions)
    with tempfile.TemporaryDirectory(prefix="plumbline-benchmark-") as name:
        for path in args.paths:
            with Workspace.open(workspace(path, Path(name))) as store:
                for kind, totals in examine(store, limits, args).items():
                    print(f"{path} {kind}: {report(totals)}", flush=True)
                    for text in totals.wrong[:10]:
                        print(f"  WRONG: {text}", flush=True)
                    yield kind, totals


def workspace(path: Path, folder: Path) -> Path:
    if path.suffix != ".toml":
        return path
    out = folder / f"{path.parent.name}-{path.stem}.plumb"
    began = time.monotonic()
    with Workspace.create(out) as store:
        end = run_campaign(read_config(path), store)
        failed = [unit.error for unit in store.units() if unit.error]
    print(f"{path}: campaign in {time.monotonic() - began:.1f} s {failed or ''}", flush=True)
    assert end.finished
    return out


def examine(
    store: Workspace, limits: LocalizationLimits, args: argparse.Namespace
) -> dict[str, Totals]:
    found: dict[str, Totals] = {}
    shared: dict[int, Localizer] = {}
    truths: dict[int, Truth] = {}
    for row in store.bugs():
        bug = store.bug(row.id)
        totals = found.setdefault(row.kind, Totals())
        if bug.problem_id not in shared:
            table = StateTable(store.task(bug.problem_id))
            shared[bug.problem_id] = Localizer(table, algorithm=args.algorithm)
        localizer = shared[bug.problem_id]
        task = localizer.table.task
        began = time.process_time()
        localization = localizer.localize_finding(bug.finding, limits)
        totals.seconds.append(time.process_time() - began)
        add(totals, bug, localization)
        totals.wrong += [f"bug {row.id}: {text}" for text in replay(task, bug, localization)]
        totals.verified += len(localization.bad_steps)
        if not args.no_alone:
            alone = Localizer(StateTable(task), algorithm=args.algorithm).localize_finding(
                bug.finding, limits
            )
            totals.alone += alone.searches
        if args.check:
            truth = truths.setdefault(bug.problem_id, Truth(task))
            totals.wrong += [f"bug {row.id}: {text}" for text in truth.against(bug, localization)]
    return found


def add(totals: Totals, bug: Bug, found: Localization) -> None:
    totals.bugs += 1
    totals.steps += len(found.steps)
    totals.bad += len(found.bad_steps)
    totals.undecided += len(found.undecided_steps)
    totals.unexplained += found.cause is None
    totals.shared += found.searches
    totals.naive += found.naive_searches
    totals.expanded += found.expanded
    if found.cause is not None:
        totals.causes.add((bug.problem_id, found.cause.state, found.cause.operator))


def replay(task: Task, bug: Bug, found: Localization) -> Iterator[str]:
    """The run up to a bad step and then the better plan reaches the goal, and more cheaply."""
    operators = [step.operator for step in found.steps]
    for k in found.bad_steps:
        step = found.steps[k]
        if step.better_plan is None:
            continue  # another algorithm than bisection need not have one
        instead = validate_operators(task, [*operators[:k], *step.better_plan], bug.finding.state)
        most = (
            bug.finding.run.cost
            if bug.finding.run.outcome == SOLVED and bug.finding.run.cost is not None
            else INFINITY
        )
        if not instead.valid or instead.cost is None or step.better_operator == step.operator:
            yield f"step {k}: the better plan is none: {instead}"
        elif instead.cost >= most:
            yield f"step {k}: {instead.cost} is not cheaper than {most}"


class Truth:
    """h* of states, one search each."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._known: dict[State, int | None] = {}

    def against(self, bug: Bug, found: Localization) -> Iterator[str]:
        state = bug.finding.state
        for step in found.steps:
            operator = self._task.operators[step.operator]
            following = successor(self._task, operator, state)
            best, beyond = self.cost(state), self.cost(following)
            if (
                best is not None
                and beyond is not None
                and step.verdict is not StepVerdict.UNDECIDED
            ):
                after = INFINITY if beyond == INFINITY else beyond + operator.cost
                if (best == after) != (step.verdict is StepVerdict.OPTIMAL):
                    yield f"step {step.index}: {step.verdict}, h* = {best}, with it {after}"
            if best is not None and not step.optimal_low <= best <= step.optimal_high:
                yield f"step {step.index}: h* = {best} is not within the bounds"
            state = following

    def cost(self, state: State) -> int | None:
        if state not in self._known:
            limits = SearchLimits(bytes=2**31, expansions=200_000)
            result = search(self._task, "astar", "lmcut", state=state, limits=limits)
            unsolvable = result.outcome is Outcome.UNSOLVABLE
            self._known[state] = INFINITY if unsolvable else result.cost
        return self._known[state]


def report(totals: Totals) -> str:
    seconds = totals.seconds
    lengths = totals.steps / max(totals.bugs, 1)
    part = 100 * totals.shared / max(totals.naive, 1)
    return (
        f"{totals.bugs} bugs, {lengths:.1f} steps each; {totals.bad} bad steps, "
        f"{totals.undecided} undecided of {totals.steps}, {totals.unexplained} bugs unexplained; "
        f"{len(totals.causes)} root causes; searches: {totals.shared} shared ({part:.1f} %), "
        f"{totals.alone} alone, {totals.naive} naive; {totals.expanded:,} expanded; "
        f"{1000 * sum(seconds) / max(len(seconds), 1):.1f} ms per bug, "
        f"{1000 * max(seconds, default=0):.0f} ms at most; {totals.verified} bad steps replayed, "
        f"{len(totals.wrong)} wrong"
    )


if __name__ == "__main__":
    sys.exit(main())
