import pickle

import pytest

from engine.errors import CancelledError, ExitCode, LimitReachedError, Location, PddlError


def test_an_error_names_place_fault_and_remedy() -> None:
    error = PddlError("unknown predicate 'at'", Location.of("d.pddl", 7, 12), "did you mean 'on'?")
    assert str(error) == "d.pddl:7:12: unknown predicate 'at'; did you mean 'on'?"


def test_parts_that_are_not_known_are_left_out() -> None:
    assert str(PddlError("empty file", Location.of("d.pddl"))) == "d.pddl: empty file"
    assert str(PddlError("no place at all")) == "no place at all"


@pytest.mark.parametrize("kind", [PddlError, LimitReachedError, CancelledError])
def test_errors_cross_process_boundaries_whole(kind: type[PddlError]) -> None:
    error = kind("what", Location.of("f", 1, 2), "hint")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert (copy.message, copy.location, copy.hint) == ("what", Location.of("f", 1, 2), "hint")


def test_exit_codes_are_the_documented_ones() -> None:
    assert {code.name: int(code) for code in ExitCode} == {
        "DONE": 0,
        "ANSWER_IS_NO": 1,
        "BAD_INPUT": 2,
        "LIMIT_REACHED": 3,
        "INTERNAL": 70,
        "INTERRUPTED": 130,
    }
