"""A* from random states of the examples agrees with h* of the whole state space."""

from pathlib import Path
from random import Random

import pytest

from engine.records.finding import INFINITY
from engine.search.exhaustive import hstar_all
from engine.search.forward import search
from engine.task.load import load_task

EXAMPLES = Path(__file__).resolve().parents[2] / "resources" / "examples"


@pytest.mark.parametrize("problem", ["p01", "p04"])
@pytest.mark.parametrize("example", sorted(p.parent.name for p in EXAMPLES.glob("*/domain.pddl")))
def test_astar_is_optimal_from_anywhere(example: str, problem: str) -> None:
    folder = EXAMPLES / example
    task = load_task(folder / "domain.pddl", folder / "problems" / f"{problem}.pddl")
    table, hstar = hstar_all(task)
    random = Random(example)
    for state in random.choices(range(len(table)), k=12):
        values = table.values([state])[0].tolist()
        expected = None if hstar[state] == INFINITY else int(hstar[state])
        for heuristic in ("blind", "hmax", "lmcut"):
            assert search(task, "astar", heuristic, state=values).cost == expected
