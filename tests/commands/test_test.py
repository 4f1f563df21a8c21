"""`fuzz` and `test` from end to end, on an example with its trained policy."""

import json
from pathlib import Path

import pytest
from reference.evidence_json import evidence_of

from engine import cli
from engine.errors import ExitCode
from engine.fuzzing.pool_file import read_pool
from engine.policies.runs import PolicyRuns
from engine.task.load import load_task
from engine.verify.evidence import verify

FOLDER = Path(__file__).resolve().parents[2] / "resources" / "examples" / "parcel-delivery"
TASK = [str(FOLDER / "domain.pddl"), str(FOLDER / "problems" / "p03.pddl")]
POLICY = ["--policy", str(FOLDER / "policies" / "policy.pt")]


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    path = tmp_path / "pool.txt"
    assert cli.main(["fuzz", *TASK, "--size", "15", "--seed", "2", "--out", str(path)]) == 0
    return path


def run_json(capsys, *words: str) -> tuple[int, dict]:
    capsys.readouterr()
    code = cli.main([*words, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_pool_is_made_and_belongs_to_its_task(pool: Path, capsys) -> None:
    entries = read_pool(pool, load_task(*TASK))
    assert len(entries) == 15
    again = pool.with_name("again.txt")
    words = ["fuzz", *TASK, "--size", "15", "--seed", "2", "--out", str(again)]
    code, document = run_json(capsys, *words)
    assert code == ExitCode.DONE
    assert document["states"] == 15
    assert again.read_text() == pool.read_text()


def test_biases_watch_a_policy(tmp_path: Path, capsys) -> None:
    words = ["fuzz", *TASK, "--size", "6", "--bias", "plan-length", "--out", str(tmp_path / "p")]
    assert cli.main(words) == ExitCode.BAD_INPUT
    assert "--policy" in capsys.readouterr().err
    assert cli.main([*words, *POLICY, "--novelty", "2"]) == ExitCode.DONE
    assert cli.main([*words, *POLICY, "--horizon", "0", "--budget", "0"]) == ExitCode.DONE


def test_flags_carry_evidence_that_verifies(pool: Path, capsys) -> None:
    words = ["test", *TASK, *POLICY, "--pool", str(pool), "--oracle", "astar", "--oracle"]
    code, document = run_json(capsys, *words, "lookahead:depth=1")
    assert code == ExitCode.DONE
    task = load_task(*TASK)
    flagged = 0
    for entry in document["pool"]:
        assert set(entry["verdicts"]) == {"astar", "lookahead:depth=1"}
        for flag in entry["flags"].values():
            evidence = evidence_of(flag["evidence"])
            assert list(evidence.state) == entry["state"]
            assert verify(evidence, task).bound == flag["bound"]
            if entry["policy_cost"] is not None:
                assert flag["gap"] == entry["policy_cost"] - flag["bound"] > 0
            flagged += 1
        if "lookahead:depth=1" in entry["flags"]:
            assert "astar" in entry["flags"]
    assert flagged > 0
    assert cli.main([*words, "gbfs", "--fail-on-bugs"]) == ExitCode.ANSWER_IS_NO


@pytest.mark.parametrize(
    ("oracle", "complaint"),
    [
        ("astra", "did you mean 'astar'"),
        ("astar:depth=2", "astar has no option 'depth'"),
        ("lookahead:depth=x", "'x' is not a positive number"),
        ("lookahead:depth=-1", "'-1' is not a positive number"),
    ],
)
def test_wrong_oracles(oracle: str, complaint: str, pool: Path, capsys) -> None:
    words = ["test", *TASK, *POLICY, "--pool", str(pool), "--oracle", oracle]
    assert cli.main(words) == ExitCode.BAD_INPUT
    assert complaint in capsys.readouterr().err


def test_a_pool_of_another_problem_is_refused(pool: Path, capsys) -> None:
    other = [TASK[0], TASK[1].replace("p03", "p05")]
    words = ["test", *other, *POLICY, "--pool", str(pool), "--oracle", "astar"]
    assert cli.main(words) == ExitCode.BAD_INPUT
    assert "another task" in capsys.readouterr().err


def test_a_portfolio_is_compared_with_and_named(pool: Path, capsys) -> None:
    words = ["test", *TASK, *POLICY, "--pool", str(pool), "--oracle", "pco-e:runs=11"]
    assert cli.main(words) == ExitCode.BAD_INPUT
    assert "--portfolio" in capsys.readouterr().err
    folder = str(FOLDER / "policies" / "checkpoints")
    code, document = run_json(
        capsys, *words, "--portfolio", folder, "--portfolio", "builtin:optimal"
    )
    assert code == ExitCode.DONE
    standings = {row["policy"]: row for row in document["portfolio"]["pco-e:runs=11"]}
    assert len(standings) == 11
    best = standings["builtin:optimal"]
    assert best["runs"] >= best["bugs"] == len(best["states"]) > 0
    task = load_task(*TASK)
    flags = [flag for entry in document["pool"] for flag in entry["flags"].values()]
    assert flags
    for flag in flags:
        evidence = evidence_of(flag["evidence"])
        assert verify(evidence, task).bound == flag["bound"]
        assert {step.origin for step in evidence.steps} <= {"policy", *standings}


def test_what_is_known_at_the_time_limit_is_reported(
    pool: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = PolicyRuns.run
    words = ["test", *TASK, *POLICY, "--pool", str(pool), "--oracle", "astar"]
    assert cli.main([*words, "--time-limit", "0.000001"]) == ExitCode.LIMIT_REACHED
    assert "the time limit was reached" in capsys.readouterr().err
    monkeypatch.setattr(PolicyRuns, "run", lambda runs, ids, limit, _: run(runs, ids, limit))
    code, document = run_json(capsys, *words, "--time-limit", "0.000001")
    assert code == ExitCode.LIMIT_REACHED
    assert all(not state["verdicts"] for state in document["pool"])


DERIVED = """(define (domain lamps) (:requirements :adl :derived-predicates)
  (:predicates (lit ?l) (bright))
  (:derived (bright) (forall (?l) (lit ?l)))
  (:action light :parameters (?l) :precondition (not (lit ?l)) :effect (lit ?l)))
"""
LAMPS = """(define (problem p) (:domain lamps) (:objects a b)
  (:init (lit a)) (:goal (bright)))
"""


def test_what_oracles_cannot_do_on_a_task_is_reported_before_they_begin(
    tmp_path: Path, capsys
) -> None:
    (tmp_path / "domain.pddl").write_text(DERIVED)
    (tmp_path / "p.pddl").write_text(LAMPS)
    task = [str(tmp_path / "domain.pddl"), str(tmp_path / "p.pddl")]
    pool = str(tmp_path / "pool")
    assert cli.main(["fuzz", *task, "--size", "2", "--out", pool]) == ExitCode.DONE
    words = ["test", *task, "--policy", "builtin:gc", "--pool", pool, "--oracle"]
    capsys.readouterr()
    assert cli.main([*words, "bmo"]) == ExitCode.DONE
    assert "dominance is unavailable: axioms depend on all variables" in capsys.readouterr().err
    assert cli.main([*words, "astar"]) == ExitCode.DONE
    assert "no dominance" not in capsys.readouterr().err


BROKEN = """
class Policy:
    def decide(self, states):
        {deed}

def factory(task):
    return Policy()
"""


@pytest.mark.parametrize("mode", ["compare", "hunt"])
@pytest.mark.parametrize(
    ("deed", "words"),
    [("raise RuntimeError('out of order')", "out of order"), ("import os; os._exit(3)", "code 3")],
)
def test_a_policy_that_gives_no_answers_is_not_passed_over(
    mode: str, deed: str, words: str, pool: Path, capsys
) -> None:
    """Otherwise no bugs were found because nothing was tested, and the user would not notice."""
    plugin = pool.with_name("broken.py")
    plugin.write_text(BROKEN.format(deed=deed))
    capsys.readouterr()
    chosen = ["--policy", f"{plugin}:factory", "--oracle", "astar", "--mode", mode]
    cli.main(["test", *TASK, *chosen, "--pool", str(pool)])
    assert words in capsys.readouterr().err


def test_a_policy_of_the_portfolio_that_gives_no_answers_is_named(pool: Path, capsys) -> None:
    plugin = pool.with_name("broken.py")
    plugin.write_text(BROKEN.format(deed="raise RuntimeError('out of order')"))
    capsys.readouterr()
    chosen = ["--portfolio", f"{plugin}:factory", "--oracle", "pco-p"]
    assert cli.main(["test", *TASK, *POLICY, *chosen, "--pool", str(pool)]) == ExitCode.DONE
    text = capsys.readouterr().err
    assert "broken.py:factory of the portfolio failed" in text
    assert "out of order" in text
