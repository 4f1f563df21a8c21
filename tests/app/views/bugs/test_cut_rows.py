"""Rows of plans and states that are cut off look different where they are."""

from __future__ import annotations

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QAbstractItemView
from pytestqt.qtbot import QtBot

from app.models.plan_table import PlanColumn, PlanComparison
from app.models.step_cursor import Side, StepCursor
from app.services.theme import Theme
from app.views.bugs.plan_view import PlanView
from app.views.bugs.state_view import StateView
from engine.report.state_facts import state_facts
from engine.report.trace import plan_trace
from engine.task.task import Operator, Task, Variable

CRANES = [f"crane-beside-the-gate-of-harbor-{number}-to-the-east" for number in "AB"]
END = len(CRANES)
TASK = Task(
    (
        *(Variable(name, (f"Atom at({name})", f"Atom lifted({name})")) for name in CRANES),
        Variable("end", ("Atom open()", "Atom over()")),
    ),
    (
        *(Operator(f"lift {name}", (), ((n, 1),), 1) for n, name in enumerate(CRANES)),
        Operator("end", (), ((END, 1),), 1),
    ),
    (0, 0, 0),
    ((END, 1),),
)


def pictures(view: QAbstractItemView, column: int) -> dict[int, QImage]:
    """Of the cells about cranes, by their row."""
    found = {}
    for row in range(view.model().rowCount()):
        index = view.model().index(row, column)
        if "crane" in str(index.data()):
            found[row] = view.viewport().grab(view.visualRect(index)).toImage()
    return found


def test_actions_of_a_plan(qtbot: QtBot, theme: Theme) -> None:
    long, short = [0, 1, 0, END], [END]
    cursor = StepCursor()
    view = PlanView(theme, cursor)
    qtbot.addWidget(view)
    view.resize(420, 300)
    view.show()
    cursor.show_comparison(
        PlanComparison.of(*(plan_trace(TASK, TASK.init, plan) for plan in (long, short)))
    )
    cursor.move(Side.POLICY, 3)
    first, other, again = pictures(view, PlanColumn.POLICY_ACTION).values()
    assert first != other
    assert first == again


def test_facts_of_a_state(qtbot: QtBot, theme: Theme) -> None:
    view = StateView(theme)
    qtbot.addWidget(view)
    view.resize(180, 400)
    view.show()
    view.show_state("State", state_facts(TASK, TASK.init, None))
    first, other = pictures(view.list, 0).values()
    assert first != other
    assert [first, other] == list(pictures(view.list, 0).values())
