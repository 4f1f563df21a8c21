from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import PddlError, UnreadableFileError, UnsupportedError, UsageError
from engine.task.atoms import state_atoms
from engine.task.load import load_sas, load_task, load_task_files, with_unit_costs
from engine.task.sas import write_sas
from engine.task.successors import is_goal
from engine.task.task import Task


def atoms(task: Task) -> set[str]:
    return {" ".join(atom) for atom in state_atoms(task, task.init)}


def test_a_task_knows_where_it_comes_from(courier) -> None:
    task = load_task(courier.domain, courier.problem)
    assert task.source is not None
    assert task.source.domain.name == "courier"
    assert task.source.problem.name == "morning"
    assert not task.has_costs
    assert {operator.cost for operator in task.operators} == {1}
    assert task.translate_seconds > 0
    assert task.notes == ()


def test_costs(toll) -> None:
    task = load_task(toll.domain, toll.problem)
    costs = {operator.name: operator.cost for operator in task.operators}
    assert task.has_costs
    assert costs["ride a b"] == 3
    assert costs["ride b c"] == 0
    assert costs["look a"] == 2
    assert costs["sing a"] == 0


def test_unit_costs(toll) -> None:
    task = load_task(toll.domain, toll.problem, unit_costs=True)
    assert not task.has_costs
    assert {operator.cost for operator in task.operators} == {1}
    assert task.source is not None
    assert task.source.unit_costs
    assert task.source.problem.metric is not None  # the user's own problem


def test_missing_function_values_are_pointed_out(toll) -> None:
    text = toll.problem.read_text().replace("(= (fee b c) 0)", "")
    toll.problem.write_text(text)
    task = load_task(toll.domain, toll.problem)
    assert "ride b c" not in task.operator_index
    assert any("fee" in note and "--unit-costs" in note for note in task.notes)
    task = load_task(toll.domain, toll.problem, unit_costs=True)
    assert "ride b c" in task.operator_index
    assert task.notes == ()


def test_a_goal_that_cannot_change(courier) -> None:
    text = courier.problem.read_text()
    goal = text[text.index("(:goal") :]
    courier.problem.write_text(text.replace(goal, "(:goal (path home office)))"))
    task = load_task(courier.domain, courier.problem)
    assert is_goal(task, task.init)
    assert "here home" in atoms(task)
    assert len(atoms(task)) == 9
    assert "every reachable state" in task.notes[0]


def test_a_goal_out_of_reach(courier) -> None:
    text = courier.problem.read_text()
    courier.problem.write_text(text.replace("(path office harbor)", ""))
    task = load_task(courier.domain, courier.problem)
    assert not is_goal(task, task.init)
    assert not task.operators
    assert "here home" in atoms(task)
    assert len(atoms(task)) == 8
    assert "no plan" in task.notes[0]


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (":parameters ()", ":parameters (?x - (either place letter))", "either"),
        ("(not (rested))\n", "(exists (?h - (either hand blue)) (empty ?h))\n", "either"),
    ],
)
def test_unsupported_constructs_are_named_with_their_line(
    courier, old: str, new: str, what: str
) -> None:
    text = courier.domain.read_text()
    assert old in text
    line = text[: text.rindex(old)].count("\n") + 1
    start = text.rindex(old)
    courier.domain.write_text(text[:start] + new + text[start + len(old) :])
    with pytest.raises(UnsupportedError, match=what) as caught:
        load_task(courier.domain, courier.problem)
    assert caught.value.location.file == str(courier.domain)
    assert caught.value.location.line == line


def test_errors_in_the_files_come_first(courier) -> None:
    courier.problem.write_text(courier.problem.read_text().replace("(here home)", "(here moon)"))
    with pytest.raises(PddlError, match="moon") as caught:
        load_task(courier.domain, courier.problem)
    assert caught.value.location.line == 6


def test_the_task_argument(courier, toll, tmp_path: Path) -> None:
    task = load_task_files([toll.domain, toll.problem])
    path = tmp_path / "toll.sas"
    path.write_text(write_sas(task))
    bare = load_task_files([path])
    assert bare == load_sas(path)
    assert bare.hash == task.hash
    assert bare.source is None
    assert load_task_files([path], unit_costs=True) == with_unit_costs(bare)
    for wrong in ([toll.domain], [toll.domain, toll.problem, path], []):
        with pytest.raises(UsageError, match="a domain and a problem"):
            load_task_files(wrong)


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFileError, match=r"nothing\.sas: the file does not exist"):
        load_sas(tmp_path / "nothing.sas")
    with pytest.raises((UnreadableFileError, PddlError), match="does not exist"):
        load_task(tmp_path / "d.pddl", tmp_path / "p.pddl")
