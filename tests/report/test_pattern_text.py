"""Patterns in words: letters in the order of reading, and what they stand for."""

from __future__ import annotations

from engine.campaign.patterns import PatternBugs
from engine.records.localization import CauseKind
from engine.records.pattern import Certificate, Sizes, Witness
from engine.report.pattern_text import pattern_facts, pattern_title

COLORS = ("place", "place", "place", "parcel", "truck", "truck", "=depot")
ORDER = ("p3", "p1", "p2", "box", "t2", "t1", "depot")
SIZES = Sizes(7, 9, 1, 2)


def witness(action: str, *better: str) -> tuple[Certificate, Witness]:
    certificate = Certificate("", False, CauseKind.DETOUR, COLORS, ())
    return certificate, Witness(
        CauseKind.DETOUR, action, better, SIZES, SIZES, 3, 3, (), order=ORDER
    )


def test_letters_come_in_the_order_of_reading() -> None:
    found = witness("drive t1 p2 p1", "drive t1 p2 p3")
    assert pattern_title(*found) == "drive A B C instead of drive A B D: costs 3 more"


def test_the_only_one_of_a_type_is_called_by_it_and_constants_keep_their_names() -> None:
    found = witness("load box t2 p1", "drive t2 p1 depot")
    assert pattern_title(*found) == "load parcel A B instead of drive A B depot: costs 3 more"


def test_many_better_actions_are_named_by_their_schemas() -> None:
    found = witness("drive t1 p2 p1", "drive t1 p2 p3", "load box t1 p2", "load box t2 p2")
    assert pattern_title(*found) == "drive A B C instead of drive or load: costs 3 more"


def test_the_facts_say_what_the_letters_of_the_title_stand_for() -> None:
    certificate, about = witness("drive t1 p2 p1", "drive t1 p2 depot")
    pattern = PatternBugs(1, "", "", certificate, 9, about, (1,), (1,), ("p",), ("y",), (1,), 3)
    assert pattern_facts(pattern)[0] == (
        "Policy: (drive t1 p2 p1). Optimal: (drive t1 p2 depot). Here A is t1, B is p2, C is p1."
    )
