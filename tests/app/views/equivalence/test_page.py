"""The equivalence screen, used as a person does: slots, comparing, evidence, history, export."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE, answered

from app.models.comparison_tables import (
    Expansion,
    StructureLine,
    answers,
    explain_difference,
    how_covered,
    structure_lines,
    verdicts,
)
from app.services.context import Context
from app.services.folders import EXAMPLES, example_project
from app.views.equivalence.diff_view import diff_texts
from app.views.equivalence.domain_slot import DomainSlot
from app.views.equivalence.page import EXAMPLE, EquivalencePage
from engine.pddl.model import Atom
from engine.records.comparison import (
    Comparison,
    EquivalenceVerdict,
    Macro,
    MacroCase,
    MacroStep,
    OperatorCover,
    Parameters,
    Pattern,
    ReadingResult,
)
from engine.records.events import ComparisonProgress

FORGETFUL = EXAMPLES.parent / "versions" / "ferry-forgetful.pddl"


@pytest.fixture
def page(context: Context, qtbot: QtBot) -> Iterator[EquivalencePage]:
    page = EquivalencePage(context)
    qtbot.addWidget(page)
    page.resize(1180, 760)
    for model in (page.history, page.structure, page.verdict.mapping, page.verdict.operators):
        QAbstractItemModelTester(
            model, QAbstractItemModelTester.FailureReportingMode.Fatal, parent=page
        )
    page.show()
    yield page
    page.close()


def compared(page: EquivalencePage, qtbot: QtBot) -> None:
    qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)
    assert page.may_close()
    assert not page.run_button.isEnabled()
    assert page.ready.title.text() == "Comparing…"
    qtbot.waitUntil(lambda: not page.may_close(), timeout=PATIENCE)
    assert page.ready.title.text() == "Ready to compare"


def drop(slot: DomainSlot, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    slot.dropEvent(QDropEvent(QPointF(5, 5), copy, data, left, Qt.KeyboardModifier.NoModifier))


@pytest.mark.processes
def test_the_example_pair_is_equivalent(page: EquivalencePage, qtbot: QtBot) -> None:
    assert "domain A is missing" in page.run_button.toolTip()
    page.open_example()
    assert page.ready.isVisible()  # the one thing to do next
    assert page.ready.button.isEnabled()
    compared(page, qtbot)
    card = page.verdict.cards["distinct"]
    assert "Equivalent" in card.text()
    page.context.theme.set_point_size(15)
    lines = len(card.text().splitlines()) * card.fontMetrics().height()
    page.resize(900, 300)
    QApplication.processEvents()
    assert card.height() >= lines + 16
    assert "confirmed" in page.verdict.verification.text()
    assert page.verdict.operators.rowCount() == 7
    assert page.verdict.counterexample is None
    answered(qtbot, page.context)
    assert page.history.rowCount() == 1
    assert not page.context.messages.history


def test_the_time_limit_that_is_shown_counts(page: EquivalencePage, qtbot: QtBot) -> None:
    page.open_example()
    page.seconds.setValue(77)
    compared(page, qtbot)
    assert page.context.document.store.comparison(1).row.options.seconds == 77


def test_a_slip_of_the_pen_is_refuted_and_taken_home(
    page: EquivalencePage, qtbot: QtBot, tmp_path: Path
) -> None:
    drop(page.a, EXAMPLE)
    drop(page.b, FORGETFUL)
    compared(page, qtbot)
    assert "Not equivalent" in page.verdict.cards["pddl"].text()
    found = page.verdict.counterexample
    assert found is not None
    assert str(found.step) in page.verdict.plan.text()
    shown = page.verdict.operators.row(page.verdict.operator_table.currentIndex().row())
    assert (shown.domain, shown.covered) == (found.solved_by, False)
    assert "(:goal" in page.verdict.problem_a.toPlainText()
    wanted: list[tuple[str, object]] = []
    page.page_requested.connect(lambda name, item: wanted.append((name, item)))
    page.open_problem_in(tmp_path)
    side = found.solved_by.lower()
    files = [tmp_path / f"domain-{side}.pddl", tmp_path / f"problem-{side}.pddl"]
    assert wanted == [("project", files)]
    page.context.document.store.set_project(example_project("parcel-delivery"))
    page.context.document.notify("project")
    page.open_problem_in(tmp_path)
    assert len(wanted) == 1  # no project is replaced silently
    (_, take), *_ = page.context.messages.history[-1].actions
    take()
    assert wanted == [("project", files)] * 2
    plan = tmp_path / f"plan-{side}.plan"
    from engine.cli import main

    assert main(["validate", *map(str, files), str(plan)]) == 0
    other = "b" if side == "a" else "a"
    unsolvable = [str(tmp_path / f"{kind}-{other}.pddl") for kind in ("domain", "problem")]
    assert main(["search", *unsolvable]) == 1


def test_history_and_export(page: EquivalencePage, qtbot: QtBot, tmp_path: Path) -> None:
    page.open_example()
    compared(page, qtbot)
    qtbot.mouseClick(page.swap_button, Qt.MouseButton.LeftButton)
    assert page.a.file is not None
    assert page.a.file.name == "ferry-renamed.pddl"
    compared(page, qtbot)
    answered(qtbot, page.context)
    assert [row.id for row in page.history.rows] == [2, 1]
    named = [page.history.index(1, column).data() for column in (2, 3)]
    assert named == ["ferry/domain.pddl", "versions/ferry-renamed.pddl"]
    page.tabs.setCurrentWidget(page.history_table)
    page.history_table.select_row(1)
    page.history_table.activated.emit(page.history_table.currentIndex())
    assert page.a.file.name == "domain.pddl"
    assert page.tabs.currentIndex() == 0
    page.export_to(tmp_path / "c.json")
    page.export_to(tmp_path / "c.html")
    assert json.loads((tmp_path / "c.json").read_text())["pddl"]["verdict"] == "equivalent"
    html = (tmp_path / "c.html").read_text()
    assert "(sail ?from ?over) (sail ?over ?to)" in html
    assert "<script" not in html
    page.export_to(tmp_path / "missing" / "c.html")
    assert "cannot be written" in page.context.messages.history[-1].text


def test_an_error_in_a_domain_is_named_with_its_place(
    page: EquivalencePage, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pddl"
    broken.write_text("(define (domain d)\n (:predicates (p ?x))\n (:action a :effect (q ?x)))")
    page.a.load(EXAMPLE)
    assert page.b.folder == str(EXAMPLE.parent)  # where its dialog begins
    page.b.load(broken)
    assert "broken.pddl:3:" in page.b.state.text()
    assert "domain B has an error" in page.run_button.toolTip()
    page.b.load(tmp_path / "nowhere.pddl")
    assert "the file does not exist" in page.b.state.text()


def test_differences_are_walked_by_keyboard(page: EquivalencePage, qtbot: QtBot) -> None:
    page.a.load(EXAMPLE)
    page.b.load(FORGETFUL)
    page.tabs.setCurrentWidget(page.diff)
    page.diff.meaning_only.setChecked(True)
    assert page.diff.differences == 2
    page.diff.left.setFocus()
    places = []
    for _ in range(3):
        qtbot.keyClick(page.diff.left, Qt.Key.Key_F8)
        places.append(page.diff.left.place[0])
    assert places[0] == places[2] != places[1]
    qtbot.keyClick(page.diff.left, Qt.Key.Key_F8, Qt.KeyboardModifier.ShiftModifier)
    assert page.diff.left.place[0] == places[1]
    assert page.diff.left.blockCount() == page.diff.right.blockCount()


def test_a_comparison_without_operators_shows_none_of_the_one_before(
    page: EquivalencePage, qtbot: QtBot
) -> None:
    page.open_example()
    qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.verdict.operators.rowCount() > 0, timeout=PATIENCE)
    assert page.verdict.operator_code.toPlainText()
    assert page.verdict.mapping_table.isVisible()
    reading = ReadingResult(
        Parameters.DISTINCT, EquivalenceVerdict.NOT_EQUIVALENT, "A has more predicates"
    )
    page.verdict.show_comparison(Comparison((reading,), 1.0), "", "")
    assert page.verdict.operators.rowCount() == 0
    assert page.verdict.operator_code.toPlainText() == ""
    assert page.verdict.macro_code.toPlainText() == ""
    for part in (page.verdict.mapping_table, page.verdict.details):
        assert not part.isVisible()  # it would be empty


def test_stopping(page: EquivalencePage, qtbot: QtBot) -> None:
    page.open_example()
    qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(page.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.may_close(), timeout=PATIENCE)
    assert page.run_button.isEnabled()
    assert not page.context.messages.history


@pytest.mark.parametrize("half_done", [False, True])
def test_stopping_keeps_the_verdict_that_was_there(
    page: EquivalencePage, qtbot: QtBot, half_done: bool
) -> None:
    """Compare again, and stop at once or when only half of the answer is there."""
    page.open_example()
    compared(page, qtbot)
    before = page.context.document.store.comparison(1).row.comparison
    assert len(answers(before)) == 4

    def shown() -> list[str]:
        return [card.text() for card in page.verdict.cards.values() if card.isVisible()]

    first = shown()
    assert len(first) == 2
    qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)
    if half_done:
        (job,) = page.context.jobs.running
        undecided = msgspec.structs.replace(
            before.readings[1], verdict=EquivalenceVerdict.UNDECIDED, objections=None
        )
        half = msgspec.structs.replace(
            before, readings=(before.readings[0], undecided), stopped=True
        )
        job.finished.emit(half)
        assert [m.text for m in page.context.messages.history] == [
            "Stopped; the verdict from before is kept."
        ]
        assert shown() == first
    qtbot.mouseClick(page.stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not page.may_close(), timeout=PATIENCE)
    assert shown() == first


def test_lines_of_a_diff_stand_beside_what_they_became() -> None:
    diff = diff_texts("a\nb\nc\nd\n", "a  \nx\nc\ne\nf\n")
    rows = [(line.left, line.right, line.left_number, line.right_number) for line in diff.lines]
    assert rows == [
        ("a", "a", 1, 1),
        ("b", "x", 2, 2),
        ("c", "c", 3, 3),
        ("d", "e", 4, 4),
        ("", "f", None, 5),
    ]
    assert diff.differences == (1, 3)


def test_long_texts_of_equal_lines_are_compared_in_little_time() -> None:
    began = time.process_time()
    diff = diff_texts("a\n" + ";\n" * 20_000 + "c", "b\n" + ";\n" * 20_000 + "c")
    assert time.process_time() - began < 10  # it would be 30
    assert diff.lines[-1].same


def test_macros_are_written_out_with_their_arguments() -> None:
    case = MacroCase((Atom("p"),), (), (MacroStep("sail", ("?to", "?from")),))
    macro = Macro((Pattern((("?from", "?from"), ("?to", "?to")), ()),), (case,))
    operator = OperatorCover("A", "sail", ("?from", "?to"), True, (macro,))
    text = EXAMPLE.read_text()
    written = Expansion(text, text).macro(operator)
    assert "; where (p)" in written
    assert "(and (ferry-at ?to) (lane ?to ?from))" in written
    assert (str(operator), how_covered(operator)) == ("(sail ?from ?to)", "(sail ?to ?from)")


def test_what_changes_within_an_action_is_reported_with_its_kind() -> None:
    text = "domain: a -> b\n~ action go\n    - effect (vacant ?berth)\n+ predicate (p)"
    assert structure_lines(text) == [
        StructureLine("changed", "domain: a -> b"),
        StructureLine("changed", "action go"),
        StructureLine("removed", "    effect (vacant ?berth)"),
        StructureLine("added", "predicate (p)"),
    ]


def test_terms_are_explained(page: EquivalencePage) -> None:
    for table in (page.verdict.mapping, page.verdict.operators):
        for column in range(table.columnCount()):
            role = Qt.ItemDataRole.ToolTipRole
            tip = table.headerData(column, Qt.Orientation.Horizontal, role)
            assert tip != table.headerData(column, Qt.Orientation.Horizontal)
    for tabs in (page.tabs, page.verdict.details):
        assert all(tabs.tabToolTip(number) for number in range(tabs.count()))
    assert "same object" in page.reading.toolTip()


def test_two_readings_are_explained() -> None:
    def found(**verdicts: str) -> Comparison:
        readings = [
            ReadingResult(Parameters(name), EquivalenceVerdict(verdict), "")
            for name, verdict in verdicts.items()
        ]
        return Comparison(tuple(readings), 0.0)

    same = found(distinct="equivalent", pddl="equivalent")
    other = found(distinct="equivalent", pddl="undecided")
    assert "same verdict" in explain_difference(same)
    assert explain_difference(other) == "", "it is unknown whether it depends on the reading"
    assert "depends" in explain_difference(found(distinct="equivalent", pddl="not-equivalent"))
    assert explain_difference(found(pddl="equivalent")) == ""
    assert verdicts(same) == "Equivalent"
    assert verdicts(other) == (
        "Equivalent (parameters are distinct), Undecided (parameters may coincide)"
    )


def test_what_is_going_on_is_counted_and_never_cut_off_in_silence(
    page: EquivalencePage, qtbot: QtBot
) -> None:
    progress = ComparisonProgress(Parameters.DISTINCT, "mappings", 1, 0, 13, 13, 65, 1.0)
    page._on_events([progress])
    assert page.progress.text().endswith("1 mapping tried, 0 conflicts, 65 states")
    assert page.progress.toolTip() == page.progress.text()
    page.resize(900, 700)  # there is no room for all of it, and dots say so
    shown = page.progress.grab().toImage()
    page.progress.setText(f"{page.progress.text()} and more")
    assert page.progress.grab().toImage() == shown
