"""Fuzzing and testing as use cases: what a stop keeps."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from reference.recording_link import RecordingLink

from engine.dominance.checker import DominanceChecker
from engine.errors import UsageError
from engine.fuzzing.fuzzer import BLOCK
from engine.fuzzing.pool_file import read_pool
from engine.records.config import Mode
from engine.records.events import OracleVerdict
from engine.task.load import load_task
from engine.task.task import Task
from engine.usecases.fuzz import BiasOptions, FuzzOptions, fuzz
from engine.usecases.search import PlanOptions
from engine.usecases.test import ExamineOptions, examine_pool
from engine.verify.evidence import verify

DOMAIN = """
(define (domain corridor) (:requirements :strips)
  (:predicates (at ?p) (next ?p ?q) (lit ?p))
  (:action move :parameters (?p ?q)
    :precondition (and (at ?p) (next ?p ?q)) :effect (and (not (at ?p)) (at ?q)))
  (:action light :parameters (?p) :precondition (at ?p) :effect (lit ?p)))
"""


def problem(rooms: int) -> str:
    names = [f"r{number}" for number in range(rooms)]
    ways = " ".join(f"(next {a} {b}) (next {b} {a})" for a, b in pairwise(names))
    goal = " ".join(f"(lit {name})" for name in names)
    return f"""(define (problem p) (:domain corridor) (:objects {" ".join(names)})
      (:init (at r0) {ways}) (:goal (and {goal})))"""


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Task:
    monkeypatch.setenv("PLUMBLINE_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "problem.pddl").write_text(problem(6))
    return load_task(tmp_path / "domain.pddl", tmp_path / "problem.pddl")


class StoppingLink(RecordingLink):
    """Stops the work as soon as it reports this much progress."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self._after = after

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        super().progress(done, total, text)
        if done >= self._after:
            self.stop()


def test_a_stop_keeps_the_states_so_far(task: Task, tmp_path: Path) -> None:
    options = FuzzOptions(size=2 * BLOCK)
    found = fuzz(StoppingLink(3), task, tmp_path / "pool", options, BiasOptions())
    assert found.stopped
    assert 3 <= found.states <= BLOCK + 1
    assert len(read_pool(tmp_path / "pool", task)) == found.states


def test_a_stop_keeps_the_verdicts_so_far(task: Task, tmp_path: Path) -> None:
    pool = tmp_path / "pool"
    fuzz(RecordingLink(), task, pool, FuzzOptions(size=6), BiasOptions())
    options = ExamineOptions(("astar", "gbfs"))
    whole = examine_pool(RecordingLink(), task, "builtin:hadd", pool, options)
    assert not whole.stopped
    assert [len(work.verdicts) for work in whole.oracles] == [6, 6]
    part = examine_pool(StoppingLink(2), task, "builtin:hadd", pool, options)
    assert part.stopped
    (work,) = part.oracles
    assert work.verdicts.items() <= whole.oracles[0].verdicts.items()
    assert len(work.verdicts) == 2
    assert part.states == whole.states


def test_a_team_flags_states_that_it_proves_later(task: Task, tmp_path: Path) -> None:
    """What is learned in one state may prove a bug in another one, examined long before."""
    pool = tmp_path / "pool"
    fuzz(RecordingLink(), task, pool, FuzzOptions(size=20), BiasOptions())
    options = ExamineOptions(("bmo:lookahead=0", "inverse"), mode=Mode.HUNT)
    result = examine_pool(RecordingLink(), task, "builtin:hadd", pool, options)
    bmo, _ = result.oracles
    later = {n: flag for n, flag in bmo.flags.items() if bmo.verdicts[n] is not OracleVerdict.BUG}
    assert later
    for number, flag in later.items():
        tested = result.states[number]
        assert flag.state == tested.state
        assert tested.policy_cost is None or flag.bound < tested.policy_cost
        assert verify(flag.evidence, task, DominanceChecker(task)).bound == flag.bound


def test_options_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(UsageError, match="the bias 'detour' needs a policy"):
        BiasOptions("detour")
    with pytest.raises(UsageError, match="uniform has its own heuristic"):
        PlanOptions("uniform", "lmcut")
