"""Files of the reference tool: imported, tested again, exported and read back equal.

For every task of the folder (output.sas, pool.txt, hadd.astar.bugs) the pool and the bugs file are
given to campaigns with the same policy and oracle; what they export is compared with the originals.

    python benchmarks/exchange.py FOLDER
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measurement import Row, Setting, mistakes

from engine.campaign.exchange import bugs_text, pool_text, unit_called
from engine.cli import main as plumbline
from engine.fuzzing.bugs_file import BugRecord, parse_bugs
from engine.fuzzing.pool_file import read_pool
from engine.task.load import load_sas
from engine.task.task import Task
from engine.workspace.workspace import Workspace

CONFIG = """\
problems = ["{folder}/output.sas"]
policies = ["builtin:hadd"]
pool = "{folder}/{pool}"
[testing]
oracles = ["astar:expansions=10000000"]
skip_known_bugs = false
"""


def exported(
    folder: Path, pool: str, place: Path, task: Task
) -> tuple[list[object], list[BugRecord]]:
    """Pool states and bug records of a campaign over a given pool, through its files."""
    config, out = place / "c.toml", place / f"{pool}.plumb"
    config.write_text(CONFIG.format(folder=folder, pool=pool))
    assert plumbline(["campaign", str(config), "--out", str(out), "--json"]) == 0
    with Workspace.open(out) as store:
        unit = unit_called(store, None)
        (place / "pool").write_text(pool_text(store, unit))
        (place / "bugs").write_text(bugs_text(store, unit))
        states = [row.state for row in store.pool(unit.id)]
    if pool == "pool.txt":
        assert [entry.state for entry in read_pool(place / "pool", task)] == states
    return states, parse_bugs((place / "bugs").read_text(), task)


def compare(folder: Path) -> tuple[int, int]:
    """How many pool states and bugs were compared, and how many of them differ."""
    task = load_sas(folder / "output.sas")
    original_pool = [entry.state for entry in read_pool(folder / "pool.txt", task)]
    bugs_file = folder / "hadd.astar.bugs"
    original = {bug.state: bug for bug in parse_bugs(bugs_file.read_text(), task)}
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        states, found = exported(folder, "pool.txt", Path(name), task)
        wrong += states != list(dict.fromkeys(original_pool))
        in_pool = {bug.state: bug.value for bug in found if bug.in_pool}
        theirs = {bug.state: bug.value for bug in original.values() if bug.in_pool}
        wrong += sum(in_pool.get(state) != value for state, value in theirs.items())
        wrong += sum(state not in theirs for state in in_pool)
        states, found = exported(folder, "hadd.astar.bugs", Path(name), task)
        again = {bug.state: bug.value for bug in found}
        wrong += sum(again.get(state) != bug.value for state, bug in original.items())
    print(
        f"{folder.name}: pool of {len(original_pool)}, {len(original)} bugs; "
        f"{len(in_pool)} pool bugs found again; {wrong} differences",
        flush=True,
    )
    return len(original_pool) + len(original), wrong


def compare_all(folder: Path) -> list[tuple[int, int]]:
    return [compare(path.parent) for path in sorted(folder.resolve().glob("*/hadd.astar.bugs"))]


def rows(setting: Setting) -> Iterator[Row]:
    compared = compare_all(setting.published("peer"))
    yield mistakes(
        "pools and bugs of the reference tool after import, testing and export",
        sum(wrong for _, wrong in compared),
        sum(values for values, _ in compared),
        f"states of {len(compared)} tasks",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    return 1 if any(wrong for _, wrong in compare_all(parser.parse_args().folder)) else 0


if __name__ == "__main__":
    sys.exit(main())
