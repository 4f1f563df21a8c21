"""Cut texts: rows that differ look different."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFont, QFontMetrics

from app.views.bugs.painting import elided_action
from app.widgets.elision import DOTS, Elider, end_cut, middle_cut

NAMES = [
    f"satellite-with-a-long-name-{number:02}-of-the-suite-of-a-competition.pddl"
    for number in (1, 2, 12, 20)
]
NAMES += [f"{NAMES[0]}.gz", NAMES[1].removesuffix("l"), "short"]
ACTIONS = [
    f"(transfer-container container-number-{a}-blue crane-at-the-{b}-harbor-gate truck-{a}{b})"
    for a in (101, 201)
    for b in ("eastern", "western")
]


@pytest.mark.parametrize("cut", [middle_cut, end_cut])
@pytest.mark.parametrize("letters", [8, 14, 22, 40])
def test_names_that_differ_anywhere_look_different(qapp: object, cut, letters: int) -> None:
    metrics = QFontMetrics(QFont("DejaVu Sans Mono"))
    width = letters * metrics.horizontalAdvance("m")
    elider = Elider(cut)
    shown = [elider.shown(metrics, name, width, lambda: NAMES) for name in NAMES]
    assert len(set(shown)) == len(NAMES)
    assert shown[-1] == "short"
    assert all(DOTS in text for text in shown[:-1])
    assert max(map(metrics.horizontalAdvance, shown)) <= width


def test_alone_a_text_is_cut_as_ever(qapp: object) -> None:
    metrics = QFontMetrics(QFont())
    for name in NAMES:
        shown = Elider(end_cut).shown(metrics, name, 90, list)
        assert shown == end_cut(metrics, name, 90)


@pytest.mark.parametrize("letters", [26, 34, 50])
def test_actions_that_differ_in_the_middle_of_an_object(qapp: object, letters: int) -> None:
    metrics = QFontMetrics(QFont("DejaVu Sans Mono"))
    width = letters * metrics.horizontalAdvance("m")
    elider = Elider(elided_action)
    shown = [elider.shown(metrics, action, width, lambda: ACTIONS) for action in ACTIONS]
    assert len(set(shown)) == len(ACTIONS)
    assert max(map(metrics.horizontalAdvance, shown)) <= width


def test_objects_with_numbers_are_cut_as_people_cut_them(qapp: object) -> None:
    metrics = QFontMetrics(QFont("DejaVu Sans Mono"))
    action = "(pick-up truck-1 city-loc-12 package-2 tile-3-1 robot)"

    def shown(letters: int) -> str:
        return elided_action(metrics, action, metrics.horizontalAdvance("m" * letters))

    assert shown(len(action)) == action
    assert shown(len(action) - 1) == "(pick-up t1 cl12 p2 t3-1 robot)"
    action = "(load parcel1 truck1 place1 room0 room1)"
    assert shown(33) == "(load pa1 t1 pl1 r0 r1)"
    assert shown(22) == "(load p1 t1 p1 r0 r1)"
    action = "(unload parcel2 truck1 place4 room0 room1)"  # no two have the same initial and number
    assert shown(28) == "(unload pa2 t1 pl4 r0 r1)"
    action = "(pick-up truck-1 city-loc-12 package-2 tile-3-1 robot)"
    assert shown(30) == "(pick-up t1 cl12 p2 t3-1 r…ot)"
    assert shown(28) == "(pick-… t1 cl12 p2 t3-1 …ot)"
