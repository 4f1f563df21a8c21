"""Policies of the kernels: their runs there are the same as outside."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.amount import amount

from engine.errors import CancelledError
from engine.native import policies as native
from engine.policies.policy import BoundPolicy, open_policy
from engine.policies.runs import PolicyRuns
from engine.records.finding import EndReason, RunOutcome
from engine.task.states import StateTable
from engine.task.task import Task
from tests.reference import fdr
from tests.reference.random_tasks import dials, tasks

NAMES = ["random", "gc", "hadd", "hff"]


@dataclass
class Outside:
    """The same policy, asked by Python."""

    inside: BoundPolicy

    def decide(self, states: np.ndarray) -> np.ndarray:
        return self.inside.decide(states)


@settings(max_examples=amount(40, 12))
@given(tasks(variables=(2, 4), values=(1, 4)), st.sampled_from(NAMES), st.data())
def test_runs_in_the_kernel_are_those_in_lock_step(
    task: Task, name: str, data: st.DataObject
) -> None:
    policy = open_policy(f"builtin:{name}", seed=1)
    table, states = StateTable(task), fdr.all_states(task)
    inside = PolicyRuns(policy.bind(task), table)
    outside = PolicyRuns(Outside(policy.bind(task)), table)
    for _ in range(data.draw(st.integers(1, 4))):
        starts = table.add(data.draw(st.lists(st.sampled_from(states), min_size=1, max_size=8)))
        limit = data.draw(st.sampled_from([None, 0, 1, 2, 5]))
        if data.draw(st.booleans()):
            cutoff = data.draw(st.integers(0, 9))
            answers = [runs.run_bounded(starts, cutoff, limit) for runs in (inside, outside)]
            assert answers[0].tolist() == answers[1].tolist()
        else:
            here, there = (runs.run(starts, limit) for runs in (inside, outside))
            assert here.outcome.tolist() == there.outcome.tolist()
            assert here.reason.tolist() == there.reason.tolist()
            assert here.cost.tolist() == there.cost.tolist()
        for start in starts.tolist():
            assert inside.record(start) == outside.record(start)
            here, there = (runs.native.parents(start) for runs in (inside, outside))
            assert sorted(here) == sorted(there)
    assert (
        inside.decisions(table.add(states)).tolist()
        == outside.decisions(table.add(states)).tolist()
    )
    assert inside.statistics.evaluated == outside.statistics.evaluated


def test_a_state_is_decided_once_and_calls_are_counted() -> None:
    task = dials(3, 6)
    table = StateTable(task)
    runs = PolicyRuns(open_policy("builtin:gc").bind(task), table)
    starts = table.add(fdr.all_states(task)[:50])
    runs.run(starts)
    asked = runs.statistics.evaluated
    assert runs.statistics.calls == 1
    assert asked >= 49  # all but goals
    runs.run(starts)
    runs.run_bounded(starts, 100)
    assert (runs.statistics.calls, runs.statistics.evaluated) == (1, asked)


def test_runs_can_be_cancelled_between_slices_and_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "SLICE_SECONDS", 0.0)
    task = dials(3, 6)
    table = StateTable(task)
    policy = open_policy("builtin:hadd")
    runs, whole = PolicyRuns(policy.bind(task), table), PolicyRuns(policy.bind(task), table)
    starts = table.add(fdr.all_states(task)[:20])
    with pytest.raises(CancelledError):
        runs.run(starts, cancelled=lambda: True)
    with pytest.raises(CancelledError):
        runs.run_bounded(starts, 100, cancelled=lambda: True)
    monkeypatch.undo()
    assert runs.run(starts).cost.tolist() == whole.run(starts).cost.tolist()


def test_outcomes_and_reasons_have_the_kernels_numbers() -> None:
    text = Path(native.__file__).with_name("policies").joinpath("run_graph.hpp").read_text()
    for enumeration, exceptions in ((RunOutcome, 1), (EndReason, 1)):
        found = re.search(rf"enum class {enumeration.__name__} : std::uint8_t \{{ (.*?) \}}", text)
        assert found is not None
        names = [
            re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removeprefix("k")).upper()
            for name in found[1].split(", ")
        ]
        names = ["NO_ACTION" if name == "NOTHING_TO_DO" else name for name in names]
        assert names == [one.name for one in list(enumeration)[:-exceptions]]
