"""How small do bugs become, how long does it take, and how many patterns are there?

    python benchmarks/witnesses.py [--data FOLDER] [--workspaces FOLDER] [--show PATTERNS]

Campaigns on the five examples, and on the published satellite and transport policies of DATA/asnets
(transport with unit costs), every root cause minimized. Workspaces are kept in a folder, where they
are used again if they hold a campaign. Per domain: sizes before and after, tries and CPU seconds
(the translator's included), patterns and families; causes without a witness with their reason; what
`verify` and VAL say; and whether networkx agrees on what is isomorphic. Exit code 1: a witness that
is not verified or larger than its origin, or a disagreement.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import networkx
from measurement import EXAMPLES, MissingDataError, Row, Setting, mistakes

from engine.campaign.config_reader import read_config
from engine.campaign.patterns import pattern_bugs
from engine.minimize.certificate import certificate
from engine.minimize.situation import Situation
from engine.policies.consent import NO_CONSENT
from engine.records.pattern import Certificate
from engine.report.pattern_text import counts_text, pattern_title
from engine.usecases import campaign
from engine.usecases.localize import localize
from engine.usecases.minimize import VERIFIED_STATES, WitnessResult, minimize
from engine.usecases.verify import verify
from engine.verify.stored import VerifyOptions
from engine.workers.link import NULL_LINK, Link
from engine.workspace.workspace import Workspace

NAMES = ("ferry", "parcel-delivery", "workshop", "container-yard", "crumbling-temple")
PUBLISHED = {"satellite": ("pfile[1-4].pddl", False), "transport": ("opt-p0[1-4].pddl", True)}
SIZES = ("objects", "facts", "goals", "run")
CONFIG = """
domain = "{folder}/domain.pddl"
problems = ["{folder}/problems/{problems}"]
policies = ["{policy}"]
unit_costs = {unit_costs}
seeds = [0]
[fuzzing]
size = 60
bias = "plan-length"
[testing]
oracles = ["bmo", "aras-ehc", "lookahead:depth=2", "astar:expansions=20000"]
skip_known_bugs = false
[localization]
enabled = true
"""


def cpu_seconds() -> float:
    """Of this process, its children, and theirs that have ended."""
    total = time.process_time()
    for tasks in Path("/proc/self/task").iterdir():
        for child in (tasks / "children").read_text().split():
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


@dataclass
class Timed(Link):
    """Notes the CPU seconds of each root cause, with those of the translator."""

    seconds: list[float] = field(default_factory=list)
    before: float = field(default_factory=cpu_seconds)

    def emit(self, event: object) -> None:
        if isinstance(event, WitnessResult):
            now = cpu_seconds()
            self.seconds.append(now - self.before)
            self.before = now


@dataclass(frozen=True)
class Measured:
    name: str
    results: tuple[WitnessResult, ...]
    seconds: tuple[float, ...]
    bugs: int
    patterns: int
    families: int
    failed: int
    undecided: int
    plans: int
    expected_plans: int
    disagreements: int
    compared: int
    certificate_ms: float

    @property
    def found(self) -> list[WitnessResult]:
        return [item for item in self.results if item.witness is not None]

    @property
    def larger(self) -> int:
        """Witnesses that are larger than their origin in what moves make smaller."""
        return self._more(SIZES[:-1])

    @property
    def longer(self) -> int:
        """Witnesses whose run takes more steps: no move is about runs."""
        return self._more(SIZES[-1:])

    def _more(self, names: Sequence[str]) -> int:
        about = [item.attempt.witness for item in self.found]
        return sum(
            any(getattr(one.after, name) > getattr(one.before, name) for name in names)
            for one in about
            if one is not None
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--workspaces", type=Path)
    parser.add_argument("--only", nargs="*", default=())
    parser.add_argument("--show", type=int, default=0, help="patterns to print with their members")
    options = parser.parse_args()
    setting = Setting(options.data)
    wrong = False
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.workspaces or Path(temporary)
        for measured in measure(setting, folder, options.only):
            print(text(measured), flush=True)
            wrong |= is_wrong(measured)
            if options.show:
                show(folder / f"{measured.name}.plumb", options.show)
    return int(wrong)


def rows(setting: Setting) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as temporary:
        only = setting.choose((), ("ferry",))
        for one in measure(setting, Path(temporary), only):
            about = [item.attempt.witness for item in one.found]
            before = median(item.before.objects for item in about if item is not None)
            after = median(item.after.objects for item in about if item is not None)
            remark = f"{one.patterns} patterns, {one.families} families"
            what = f"objects of a witness: {one.name}"
            yield Row(what, after, "objects", "origin", before, instances=len(about), remark=remark)
            yield Row(f"CPU time per root cause: {one.name}", median(one.seconds), "s")
            bad = sum(not item.verified for item in one.found) + one.larger + one.disagreements
            yield mistakes(f"witnesses and patterns: {one.name}", bad, len(one.results))


def measure(setting: Setting, folder: Path, only: Sequence[str]) -> Iterator[Measured]:
    folder.mkdir(parents=True, exist_ok=True)
    for name in (*NAMES, *PUBLISHED):
        if only and name not in only:
            continue
        try:
            config = config_of(name, setting, folder)
        except MissingDataError:
            continue
        yield measure_one(name, config, folder / f"{name}.plumb")


def config_of(name: str, setting: Setting, folder: Path) -> Path:
    if name in NAMES:
        return EXAMPLES / name / "campaign.toml"
    data = setting.published("asnets").resolve() / name
    problems, unit_costs = PUBLISHED[name]
    policy = next(data.glob("*.policy"))
    path = folder / f"{name}.toml"
    path.write_text(
        CONFIG.format(
            folder=data, problems=problems, policy=policy, unit_costs=str(unit_costs).lower()
        )
    )
    return path


def measure_one(name: str, config: Path, workspace: Path) -> Measured:
    with Workspace.create(workspace) as store:
        if not store.campaigns():
            campaign.run(read_config(config), store)
    localize(NULL_LINK, workspace, None)
    with Workspace.open(workspace) as store:
        store.delete_witnesses([row.id for row in store.witnesses()])
    link = Timed()
    results = minimize(link, workspace, None, NO_CONSENT)
    numbers = tuple(item.witness for item in results if item.witness is not None)
    wanted = VerifyOptions(numbers, states=VERIFIED_STATES)
    checked = verify(NULL_LINK, workspace, NO_CONSENT, wanted)
    with Workspace.open(workspace) as store:
        bugs = store.bugs()
        patterns = pattern_bugs(store, bugs)
        disagreements, compared, milliseconds = check_isomorphism(store)
        solved = sum(store.bug(n).finding.run.cost is not None for n in numbers)
    return Measured(
        name,
        results,
        tuple(link.seconds),
        len(bugs),
        len(patterns),
        len({pattern.family for pattern in patterns}),
        len(checked.failed),
        len(checked.undecided),
        sum(plans for _, plans in checked.plans),
        len(numbers) + solved,
        disagreements,
        compared,
        milliseconds,
    )


def check_isomorphism(store: Workspace) -> tuple[int, int, float]:
    """All pairs of witnesses: networkx has to say what their patterns say."""
    graphs, milliseconds = [], []
    for row in store.witnesses():
        if row.finding is None or row.attempt.witness is None:
            continue
        task = store.task(store.bug(row.finding).problem_id)
        assert task.source is not None
        about, source = row.attempt.witness, task.source
        began = time.process_time()
        found, _ = certificate(
            source.domain,
            Situation.of(source.problem),
            about.kind,
            about.action,
            unit_costs=source.unit_costs,
        )
        milliseconds.append(1000 * (time.process_time() - began))
        graphs.append((row.pattern, graph_of(found)))
    wrong = compared = 0
    by_pattern = defaultdict(list)
    for pattern, graph in graphs:
        by_pattern[pattern].append(graph)
    representatives = [(pattern, members[0]) for pattern, members in by_pattern.items()]
    pairs = [(a, b, False) for (_, a), (_, b) in itertools.combinations(representatives, 2)]
    pairs += [(m[0], other, True) for m in by_pattern.values() for other in m[1:]]
    for a, b, expected in pairs:
        compared += 1
        wrong += is_isomorphic(a, b) is not expected
    return wrong, compared, max(milliseconds, default=0.0)


def graph_of(found: Certificate) -> networkx.Graph:
    """Objects, tuples, and positions as nodes; an independent view of the same thing."""
    graph = networkx.Graph()
    for number, color in enumerate(found.colors):
        graph.add_node(("object", number), mark=f"object {color}")
    for number, (kind, label, names) in enumerate(found.tuples):
        graph.add_node(("tuple", number), mark=f"{kind} {label}")
        for position, name in enumerate(names):
            graph.add_node(("place", number, position), mark=f"place {position}")
            graph.add_edge(("tuple", number), ("place", number, position))
            graph.add_edge(("place", number, position), ("object", name))
    return graph


def is_isomorphic(a: networkx.Graph, b: networkx.Graph) -> bool:
    marks = [Counter(mark for _, mark in graph.nodes(data="mark")) for graph in (a, b)]
    if marks[0] != marks[1]:
        return False
    matcher = networkx.algorithms.isomorphism.GraphMatcher(
        a, b, node_match=lambda x, y: x["mark"] == y["mark"]
    )
    return bool(matcher.is_isomorphic())


def is_wrong(one: Measured) -> bool:
    unverified = any(not item.verified for item in one.found)
    return bool(unverified or one.failed or one.larger or one.disagreements)


def text(one: Measured) -> str:
    counts = counts_text(one.bugs, len(one.results), one.patterns, one.families)
    lines = [f"{one.name}: {counts}"]
    about = [item.attempt.witness for item in one.found]
    for name in SIZES:
        before = median(getattr(item.before, name) for item in about if item is not None)
        after = median(getattr(item.after, name) for item in about if item is not None)
        lines.append(f"  {name}: {before:g} -> {after:g}")
    tries = [item.attempt.tries for item in one.found]
    lines += [
        f"  tries: median {median(tries):g}, most {max(tries)}",
        f"  CPU seconds: median {median(one.seconds):.2f}, most {max(one.seconds):.2f}",
        f"  1-minimal: {sum(item.attempt.minimal for item in one.found)} of {len(one.found)}",
        f"  verified: {sum(item.verified for item in one.found)}; false claims {one.failed}, "
        f"undecided {one.undecided}; plans accepted by VAL {one.plans} of {one.expected_plans}",
        f"  larger than their origin: {one.larger}; with a longer run: {one.longer}",
        f"  networkx: {one.disagreements} disagreements in {one.compared} pairs; "
        f"slowest certificate {one.certificate_ms:.1f} ms",
    ]
    lines += [
        f"  root cause {item.root_cause}: {item.attempt.stopped_by}, {item.attempt.reason}"
        for item in one.results
        if item.witness is None or item.attempt.stopped_by is not None
    ]
    return "\n".join(lines)


def show(workspace: Path, most: int) -> None:
    """Patterns with their members, to be compared by eye."""
    with Workspace.open(workspace) as store:
        for pattern in pattern_bugs(store, store.bugs())[:most]:
            title = pattern_title(pattern.certificate, pattern.about)
            print(f"  pattern {pattern.id} ({len(pattern.bugs)} bugs): {title}")
            for number in pattern.witnesses[:3]:
                problem = store.problem(store.bug(number).problem_id).problem.content.decode()
                print("    " + problem.replace("\n", "\n    "))


if __name__ == "__main__":
    sys.exit(main())
