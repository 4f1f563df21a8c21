"""The shipped example problems: they are what the generator says, and they can be solved."""

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.amount import amount

from engine.records.finding import INFINITY
from engine.search.exhaustive import hstar_all
from engine.search.forward import search
from engine.task.load import load_task

DOMAINS = ("container-yard", "crumbling-temple", "ferry", "parcel-delivery", "workshop")


def test_the_shipped_problems_are_what_the_generator_makes(
    generate: ModuleType, examples: Path
) -> None:
    shipped = generate.shipped()
    assert set(shipped) == set(examples.glob("*/problems/*"))
    for path, text in shipped.items():
        assert path.read_text() == text, path


def test_each_domain_has_eight_problems_and_a_readme(examples: Path) -> None:
    assert tuple(sorted(path.parent.name for path in examples.glob("*/domain.pddl"))) == DOMAINS
    for domain in DOMAINS:
        names = sorted(path.name for path in (examples / domain / "problems").iterdir())
        assert names == [f"p{number:02}.pddl" for number in range(1, 9)]
        assert 3 <= len((examples / domain / "README.md").read_text().splitlines()) <= 10


def test_a_problem_names_the_command_that_makes_it(generate: ModuleType, examples: Path) -> None:
    path = examples / "workshop" / "problems" / "p03.pddl"
    command = re.fullmatch(r"; python (\S+) (.*)", path.read_text().splitlines()[0])
    assert command is not None
    assert examples.parents[1] / command[1] == examples / "generate.py"
    made = subprocess.run(
        [sys.executable, examples / "generate.py", *command[2].split()],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert made.stdout == path.read_text()


def test_the_generator_writes_a_file(generate: ModuleType, tmp_path: Path) -> None:
    out = tmp_path / "problem.pddl"
    assert generate.main(["ferry", "--size", "4", "--seed", "9", "--out", str(out)]) == 0
    assert out.read_text() == generate.problem_text("ferry", 4, 9)


@pytest.mark.parametrize("arguments", [[], ["canal"], ["ferry", "--size", "0"]])
def test_the_generator_refuses_what_it_cannot_make(
    generate: ModuleType, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        generate.main(arguments)
    assert stop.value.code == 2
    assert "error:" in capsys.readouterr().err


@pytest.mark.parametrize("domain", DOMAINS)
def test_another_seed_gives_another_problem(generate: ModuleType, domain: str) -> None:
    texts = {generate.problem_text(domain, 5, seed).split("\n", 2)[2] for seed in range(5)}
    assert len(texts) == 5


@settings(max_examples=amount(60, 20), deadline=None)
@given(st.sampled_from(DOMAINS), st.integers(1, 14), st.integers(0, 10**6))
def test_the_goal_is_never_true_at_the_start(
    generate: ModuleType, domain: str, size: int, seed: int
) -> None:
    text = generate.problem_text(domain, size, seed)
    init, goal = (set(re.findall(r"\([a-z][^()=]*\)", part)) for part in text.split("(:goal (and"))
    assert goal - {"(total-cost)"} - init


def optimal_costs(readme: str) -> dict[str, int]:
    """The table of README.md: the cost by `domain/problem`."""
    rows = re.findall(r"^\| (\S+/p\d\d) \| \d+ \| \d+ \| \d+ \| (\d+) \|", readme, re.MULTILINE)
    return {problem: int(cost) for problem, cost in rows}


@pytest.mark.parametrize("domain", DOMAINS)
def test_problems_are_small_and_cost_what_the_readme_says(domain: str, examples: Path) -> None:
    """Costs there are from another planner, so this also checks our search."""
    stated = optimal_costs((examples / "README.md").read_text())
    operators = []
    for problem in sorted((examples / domain / "problems").iterdir()):
        task = load_task(examples / domain / "domain.pddl", problem)
        assert task.notes == ()
        assert search(task, "astar", "blind").cost == stated[f"{domain}/{problem.stem}"]
        operators.append(len(task.operators))
    assert task.source is not None
    assert len(task.source.domain.predicates) <= 10
    assert len(task.source.domain.actions) <= 6
    assert operators[0] < 60
    assert max(operators) < 600


@pytest.mark.parametrize("domain", DOMAINS)
def test_generated_problems_have_a_plan(
    generate: ModuleType, examples: Path, tmp_path: Path, domain: str
) -> None:
    problem = tmp_path / "problem.pddl"
    problem.write_text(generate.problem_text(domain, 10, 100))
    task = load_task(examples / domain / "domain.pddl", problem)
    assert search(task, "gbfs", "ff").plan


def test_the_temple_is_full_of_dead_ends(examples: Path) -> None:
    folder = examples / "crumbling-temple"
    for number in range(2, 6):
        task = load_task(folder / "domain.pddl", folder / "problems" / f"p{number:02}.pddl")
        _, costs = hstar_all(task)
        assert (costs == INFINITY).mean() > 0.5
