"""Patterns in words: letters in the order of reading, and what they stand for."""

from __future__ import annotations

from msgspec import structs

from engine.campaign.patterns import PatternBugs
from engine.records.localization import CauseKind
from engine.records.pattern import Certificate, Sizes, Witness
from engine.report.pattern_text import distinct_titles, pattern_facts, pattern_title

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
    assert pattern_facts(pattern, pattern_title(certificate, about))[0] == (
        "Policy: (drive t1 p2 p1). Optimal: (drive t1 p2 depot). Here A is t1, B is p2, C is p1."
    )


def test_patterns_with_one_title_are_told_apart_by_what_differs() -> None:
    certificate, about = witness("drive t1 p2 p1", "drive t1 p2 p3")  # A is t1, B, C and D places
    road, box = ("fact", "road", (0, 1)), ("fact", "at", (3, 2))
    parts = {
        1: (("goal", "at", (3, 1)), road, box),
        2: (("goal", "at", (3, 0)), road, box),
        3: (("goal", "at", (3, 0)), road, box, ("value", "length 7", (0, 1))),
        4: (("goal", "at", (3, 0)), road),
    }
    titles = distinct_titles(
        {
            number: (structs.replace(certificate, tuples=found), about)
            for number, found in parts.items()
        }
    )
    same = "drive A B C instead of drive A B D: costs 3 more"
    assert titles == {
        1: f"{same} (goal at parcel C)",
        2: f"{same} (goal at parcel D; at parcel B; without length D C = 7)",
        3: f"{same} (length D C = 7)",
        4: f"{same} (goal at parcel D; without at parcel B; without length D C = 7)",
    }
    assert distinct_titles({1: (certificate, about)}) == {1: same}


def test_letters_of_what_differs_are_explained_too() -> None:
    certificate, about = witness("drive t1 p2 p1", "drive t1 p2 depot")
    pattern = PatternBugs(1, "", "", certificate, 9, about, (1,), (1,), ("p",), ("y",), (1,), 3)
    title = f"{pattern_title(certificate, about)} (goal at parcel D)"
    assert pattern_facts(pattern, title)[0].endswith("C is p1, D is p3, parcel is box.")
