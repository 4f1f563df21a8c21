"""`plumbline run`: outcomes, JSON, exit codes and limits."""

import json
from pathlib import Path

import pytest

from engine.cli import main
from engine.task.load import load_task, load_task_files
from engine.task.sas import write_sas
from engine.usecases import run as use_case

DOMAIN = """\
(define (domain walk)
  (:requirements :strips :action-costs)
  (:predicates (at ?p) (path ?a ?b))
  (:functions (total-cost) (length ?a ?b))
  (:action go
    :parameters (?a ?b) :precondition (and (at ?a) (path ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) (length ?a ?b)))))
"""


def problem_text(goal: str) -> str:
    """A way from a over b and c to e and back, and a blind alley d."""
    paths = [(x, y, cost) for x, y, cost in (("a", "b", 3), ("b", "c", 4), ("c", "e", 2))]
    paths += [(y, x, cost) for x, y, cost in paths] + [("a", "d", 1)]
    facts = " ".join(f"(path {x} {y}) (= (length {x} {y}) {cost})" for x, y, cost in paths)
    return f"""(define (problem p) (:domain walk) (:objects a b c d e)
      (:init (at a) (= (total-cost) 0) {facts})
      (:goal (at {goal})) (:metric minimize (total-cost)))"""


@pytest.fixture
def domain(tmp_path: Path) -> Path:
    path = tmp_path / "domain.pddl"
    path.write_text(DOMAIN)
    return path


@pytest.fixture
def problems(tmp_path: Path) -> list[Path]:
    """For the last one the goal count sees no way: it turns back."""
    paths = []
    for goal in "bde":
        paths.append(tmp_path / f"{goal}.pddl")
        paths[-1].write_text(problem_text(goal))
    return paths


def run_json(capsys: pytest.CaptureFixture[str], *arguments: object, code: int) -> tuple[dict, str]:
    assert main(["run", *map(str, arguments), "--json"]) == code
    output = capsys.readouterr()
    return json.loads(output.out), output.err


def test_all_solved(domain: Path, problems: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    answer, messages = run_json(capsys, "builtin:optimal", domain, *problems, code=0)
    assert messages == ""
    assert answer["solved"] == 3
    assert [item["problem"] for item in answer["runs"]] == [str(path) for path in problems]
    assert [item["cost"] for item in answer["runs"]] == [3, 1, 9]
    last = answer["runs"][2]
    assert last["plan"] == ["(go a b)", "(go b c)", "(go c e)"]
    assert (last["outcome"], last["reason"], last["policy_calls"]) == ("solved", "goal", 3)
    assert last["seconds"] > 0


def test_not_all_solved(
    domain: Path, problems: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    answer, _ = run_json(capsys, "builtin:gc", domain, *problems, code=1)
    assert answer["solved"] == 2
    assert answer["runs"][2] | {"seconds": 0} == {
        "problem": str(problems[2]),
        "outcome": "failed",
        "reason": "loop",
        "cost": None,
        "plan": ["(go a b)"],
        "policy_calls": 2,
        "seconds": 0,
    }


def test_as_text(domain: Path, problems: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "builtin:gc", str(domain), *map(str, problems)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        f"{problems[0]}: solved after 1 steps, cost 3",
        f"{problems[1]}: solved after 1 steps, cost 1",
        f"{problems[2]}: failed (loop) after 1 steps",
        "2 of 3 solved",
    ]


def test_unit_costs(domain: Path, problems: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("builtin:optimal", domain, problems[2], "--unit-costs")
    assert run_json(capsys, *arguments, code=0)[0]["runs"][0]["cost"] == 3


def test_a_sas_file(
    domain: Path, problems: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "task.sas"
    path.write_text(write_sas(load_task(domain, problems[2])))
    assert run_json(capsys, "builtin:hadd", path, code=0)[0]["runs"][0]["cost"] == 9
    unit = run_json(capsys, "builtin:hadd", path, "--unit-costs", code=0)[0]
    assert unit["runs"][0]["cost"] == 3


def test_the_step_limit(
    domain: Path, problems: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("builtin:optimal", domain, problems[2], "--step-limit")
    (run,) = run_json(capsys, *arguments, 1, code=1)[0]["runs"]
    assert (run["outcome"], run["reason"]) == ("aborted", "step-limit")
    assert (run["cost"], run["plan"]) == (None, ["(go a b)"])
    assert run_json(capsys, *arguments, 0, code=0)[0]["solved"] == 1


def test_the_time_limit_keeps_what_was_found(
    domain: Path,
    problems: list[Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times = iter([0.0, *[1.0] * 4])
    monkeypatch.setattr(use_case.time, "monotonic", lambda: next(times, 1000.0))
    arguments = ("builtin:optimal", domain, *problems, "--time-limit", 50)
    answer, messages = run_json(capsys, *arguments, code=3)
    assert "time limit reached" in messages
    assert answer["runs"][-1]["reason"] == "time-limit"
    assert len(answer["runs"]) < 3


def test_ctrl_c_keeps_what_was_found(
    domain: Path,
    problems: list[Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls = []

    def interrupted(*arguments: object, **options: object) -> object:
        calls.append(arguments)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return load_task_files(*arguments, **options)

    monkeypatch.setattr(use_case, "load_task_files", interrupted)
    answer, _ = run_json(capsys, "builtin:optimal", domain, *problems, code=130)
    assert [item["problem"] for item in answer["runs"]] == [str(problems[0])]


def test_a_policy_that_raises(
    domain: Path, problems: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = tmp_path / "broken.py"
    plugin.write_text(
        "class Broken:\n    def decide(self, states):\n        raise KeyError('lost')\n"
        "def make(task):\n    return Broken()\n"
    )
    answer, messages = run_json(capsys, f"{plugin}:make", domain, problems[0], code=1)
    (run,) = answer["runs"]
    assert (run["outcome"], run["reason"]) == ("aborted", "policy-error")
    assert "lost" in messages


@pytest.mark.parametrize(
    "arguments", [["builtin:gc", "domain.pddl"], ["builtin:gc", "none.sas"], ["nothing.pt", "x"]]
)
def test_wrong_input(
    domain: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", arguments[0], str(domain.parent / arguments[1])]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error: ")


def test_a_folder_is_a_portfolio_whose_best_plan_counts(capsys) -> None:
    ferry = Path(__file__).parents[2] / "resources" / "examples" / "ferry"
    checkpoints = str(ferry / "policies" / "checkpoints")
    files = [str(ferry / "domain.pddl"), str(ferry / "problems" / "p01.pddl")]
    assert main(["run", checkpoints, *files, "--json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    members = run["portfolio"]
    assert len(members) == 10
    costs = {item["policy"]: item["cost"] for item in members if item["outcome"] == "solved"}
    assert run["cost"] == min(costs.values()) == costs[run["policy"]]
    assert any(item["outcome"] != "solved" for item in members)
