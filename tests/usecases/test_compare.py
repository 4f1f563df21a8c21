"""Comparing two domains: limits and stops of what follows the verdict."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace
from reference.recording_link import RecordingLink

from engine import equivalence
from engine.records.comparison import CompareOptions, Comparison
from engine.records.inputs import File
from engine.usecases.compare import NOT_VERIFIED, compare

HEAD = "(define (domain lamp) (:predicates (lit ?x))"
ON = "(:action on :parameters (?x) :precondition () :effect (lit ?x))"
OFF = "(:action off :parameters (?x) :precondition (lit ?x) :effect (not (lit ?x)))"
A = File("a.pddl", f"{HEAD} {ON} {OFF})".encode(), "a.pddl")
B = File("b.pddl", f"{HEAD} {ON})".encode(), "b.pddl")
OPTIONS = CompareOptions(verify=True)


@pytest.fixture
def after_comparing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lets something happen between the verdicts and their verification."""

    def patch(happen: Callable[[Comparison], Comparison]) -> None:
        real = equivalence.compare_domains
        monkeypatch.setattr(
            equivalence, "compare_domains", lambda *arguments: happen(real(*arguments))
        )

    return patch


def test_evidence_is_verified() -> None:
    comparison = compare(RecordingLink(), A, B, OPTIONS)
    assert [reading.objections for reading in comparison.readings] == [(), ()]


@pytest.mark.parametrize(("other", "verdict"), [(B, "not-equivalent"), (A, "equivalent")])
def test_verifying_has_only_the_time_that_is_left(
    after_comparing: Callable[..., None], other: File, verdict: str
) -> None:
    after_comparing(lambda comparison: replace(comparison, seconds=OPTIONS.seconds))
    comparison = compare(RecordingLink(), A, other, OPTIONS)
    for reading in comparison.readings:
        assert reading.verdict == verdict
        assert reading.objections is None
        assert NOT_VERIFIED in reading.notes
    assert not comparison.stopped


def test_a_stop_while_verifying_keeps_the_verdicts(after_comparing: Callable[..., None]) -> None:
    stopped: list[bool] = []

    def stop(comparison: Comparison) -> Comparison:
        stopped.append(True)
        return comparison

    after_comparing(stop)
    comparison = compare(RecordingLink(cancelled=lambda: bool(stopped)), A, B, OPTIONS)
    assert comparison.stopped
    assert {reading.verdict for reading in comparison.readings} == {"not-equivalent"}
    assert {reading.objections for reading in comparison.readings} == {None}
