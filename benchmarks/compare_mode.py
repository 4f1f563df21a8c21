"""What oracles say by themselves and as a team, on the pools of a reference tool.

    python benchmarks/compare_mode.py FOLDER [--orders 24]

FOLDER holds one folder per task with `output.sas`, `pool.txt` and `<policy>.table.json`. Compared
oracles must say the same whatever their order; with 720 orders, all of the six are tried. As a team
they must find at least what any of them finds. A*'s flags must be those of the table.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from measurement import Row, Setting, mistakes

from engine.campaign.inputs import read_file
from engine.campaign.unit import run_unit
from engine.records.config import (
    FuzzSettings,
    Mode,
    OracleSettings,
    Unit,
    UnitLimits,
)
from engine.records.events import StateTested, UnitFinished
from engine.records.inputs import PolicyInput, ProblemInput
from engine.workers.link import WorkerLink

ORACLES = ("astar", "ehc", "lookahead:depth=2", "smo", "bmo:lookahead=0", "combined")
Answers = dict[str, list[tuple[int, str, int | None]]]


class Listener(WorkerLink):
    """Keeps what a unit tells, in this process."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[object] = []

    def emit(self, event: object) -> None:
        self.events.append(event)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--orders", type=int, default=24, help="of the oracles, per table")
    options = parser.parse_args()
    found = [compare(path, options.orders) for path in tables(options.folder)]
    wrong = sum(sum(counts) for counts in found)
    print(f"{wrong} mistakes")
    return 1 if wrong else 0


def rows(setting: Setting) -> Iterator[Row]:
    found = [compare(path, setting.choose(24, 3)) for path in tables(setting.published("peer"))]
    for number, what in enumerate(
        (
            "orders of oracles that change what they say",
            "bugs that an oracle finds and the team does not",
            "flags of A* that are not the reference tool's",
        )
    ):
        yield mistakes(what, sum(counts[number] for counts in found), len(found), "tables")


def tables(folder: Path) -> list[Path]:
    return sorted(folder.glob("*/*.table.json"))


def compare(path: Path, orders: int) -> tuple[int, int, int]:
    golden = json.loads(path.read_text())
    first = examined(path, golden, ORACLES, Mode.COMPARE)
    everything = list(itertools.permutations(ORACLES))
    chosen = random.Random(0).sample(everything, min(orders, len(everything)))
    other = sum(examined(path, golden, order, Mode.COMPARE) != first for order in chosen)
    alone = {oracle: flagged(answers) for oracle, answers in first.items()}
    best = set().union(*alone.values())
    together = examined(path, golden, ORACLES, Mode.HUNT)
    team = set().union(*map(flagged, together.values()))
    wanted = {n for n, row in enumerate(golden["pool"]) if row["flags"].get("astar")}
    print(
        f"{golden['task']} {golden['policy']}: {len(chosen)} orders, {other} others; best of "
        f"{len(best)}, team {len(team)}; "
        + ", ".join(f"{oracle} {len(states)}" for oracle, states in alone.items()),
        flush=True,
    )
    return other, len(best - team), len(alone["astar"] ^ wanted)


def flagged(answers: list[tuple[int, str, int | None]]) -> set[int]:
    return {number for number, verdict, _ in answers if verdict in ("bug", "flag")}


def examined(path: Path, golden: Any, oracles: Sequence[str], mode: Mode) -> Answers:
    """What each oracle says of each state of the pool, at once or later."""
    sas = read_file(str(path.parent / "output.sas"))
    pool = read_file(str(path.parent / "pool.txt"))
    policy = golden["policy"]
    unit = Unit(
        1,
        ProblemInput(sas.name, sas, None, False),
        PolicyInput(policy, f"builtin:{policy}", None),
        0,
        FuzzSettings(),
        OracleSettings(tuple(oracles), mode=mode),
        UnitLimits(),
        pool=pool,
    )
    link = Listener()
    run_unit(link, unit)
    assert isinstance(link.events[-1], UnitFinished), link.events[-1]
    found: Answers = {oracle: [] for oracle in sorted(oracles)}
    for event in link.events:
        if isinstance(event, StateTested):
            for answer in event.answers:
                found[answer.oracle].append((event.number, answer.verdict.value, answer.bound))
            for flag in event.flags:
                found[flag.oracle].append((flag.number, "flag", flag.bound))
    return found


if __name__ == "__main__":
    sys.exit(main())
