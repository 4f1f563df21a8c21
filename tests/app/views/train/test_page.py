"""The train screen, used as a person does: problems, learning, stopping, going on, using it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE

from app.models.project_files import project_files
from app.models.training import TRAIN, UNUSED, VALIDATE, generator_for
from app.services.context import Context
from app.services.folders import EXAMPLES, example_project
from app.services.jobs import in_words
from app.shell.shortcuts import group_of_page
from app.views.train.page import TrainPage, running_text
from engine.records.training import Training, TrainingStatus
from engine.workers.link import JobProgress


@pytest.fixture
def page(context: Context, qtbot: QtBot) -> Iterator[TrainPage]:
    project = replace(example_project("ferry"), policies=(), portfolio=())
    context.document.store.set_project(project)
    page = TrainPage(context)
    qtbot.addWidget(page)
    page.resize(1180, 760)
    for model in (page.epochs, page.form.problems):
        QAbstractItemModelTester(
            model, QAbstractItemModelTester.FailureReportingMode.Fatal, parent=page
        )
    page.show()
    files = project_files(context)
    qtbot.waitUntil(lambda: not files.is_checking, timeout=PATIENCE)
    yield page
    page.close()


def tiny(page: TrainPage) -> None:
    """One small problem to learn from, a small network, few steps."""
    small = str(EXAMPLES / "ferry" / "problems" / "p01.pddl")
    page.form.problems.set_rows([])
    page.form.add_problems([small], TRAIN)
    for name, value in (("hidden", 4), ("layers", 1), ("epochs", 2), ("steps", 3)):
        page.form.numbers[name].setValue(value)


def test_large_text_cuts_no_button_of_the_form(page: TrainPage, qtbot: QtBot) -> None:
    form = page.form
    page.context.theme.set_point_size(14)
    shown = [form.generate_button, page.run_button, page.resume_button, page.stop_button]
    assert form.generate_button.isVisible()
    qtbot.waitUntil(
        lambda: all(item.width() >= item.sizeHint().width() for item in shown), timeout=PATIENCE
    )
    assert form.teacher.width() >= form.teacher.sizeHint().width()


def test_a_running_training_says_how_long_it_takes(page: TrainPage) -> None:
    assert running_text("epoch 4 of 6", 5.0) == f"Epoch 4 of 6 · {in_words(5.0)} left"
    page._on_progressed(JobProgress(3, 6, "epoch 4 of 6"))
    assert page.state.text() == "Epoch 4 of 6"  # no time is known yet


def ended(page: TrainPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not page.may_close(), timeout=PATIENCE)


def test_a_policy_is_trained_shown_again_continued_and_used(page: TrainPage, qtbot: QtBot) -> None:
    tiny(page)
    qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)
    assert page.may_close()
    ended(page, qtbot)
    assert "all epochs done" in page.state.text()
    assert [epoch.epoch for epoch in page.epochs.rows] == [1, 2]
    assert sum(epoch.best for epoch in page.epochs.rows) == 1
    assert "holds a training" in page.run_button.toolTip()

    page.earlier.setCurrentIndex(0)
    assert page.run_button.isEnabled()
    page.earlier.setCurrentIndex(1)
    assert page.epochs.rowCount() == 2
    assert page.form.numbers["hidden"].value() == 4

    page.form.numbers["epochs"].setValue(3)
    qtbot.mouseClick(page.resume_button, Qt.MouseButton.LeftButton)
    ended(page, qtbot)
    assert [epoch.epoch for epoch in page.epochs.rows] == [1, 2, 3]
    store = page.context.document.store
    (name,) = store.training_folders()
    assert len(store.training(name).epochs) == 3

    files = project_files(page.context)
    page.table.select_row(1)
    qtbot.mouseClick(page.use_button, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(page.portfolio_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not files.is_checking, timeout=PATIENCE)
    checkpoint = page.epochs.row(1).checkpoint
    assert checkpoint in files.project.policies
    assert files.policies[checkpoint].fits
    folder = Path(checkpoint).parent
    assert any(Path(name) in (folder, Path(checkpoint)) for name in files.project.portfolio)
    assert not page.context.messages.history


def test_problems_are_shared_out_by_keyboard(page: TrainPage, qtbot: QtBot) -> None:
    uses = [row.use for row in page.form.problems.rows]
    assert set(uses) == {TRAIN, VALIDATE}
    page.form.table.setFocus()
    page.form.table.select_row(0)
    for key, use in ((Qt.Key.Key_X, UNUSED), (Qt.Key.Key_V, VALIDATE), (Qt.Key.Key_T, TRAIN)):
        qtbot.keyClick(page.form.table, key)
        assert page.form.problems.row(0).use == use
    page.form.table.selectAll()
    qtbot.keyClick(page.form.table, Qt.Key.Key_X)
    assert "select problems to learn from" in page.run_button.toolTip()
    assert not page.run_button.isEnabled()


def test_problems_of_an_example_can_be_generated(page: TrainPage) -> None:
    page.form.generate()
    made = [row for row in page.form.problems.rows if row.use]
    assert len([row for row in made if row.use == TRAIN]) == 9
    assert len([row for row in made if row.use == VALIDATE]) == 6
    assert all(Path(row.path).is_file() for row in made)


def test_a_domain_that_is_a_pipe_does_not_stop_the_window(tmp_path: Path) -> None:
    """A workspace from elsewhere may name anything as its domain."""
    pipe = tmp_path / "domain.pddl"
    os.mkfifo(pipe)
    reader = Thread(target=generator_for, args=(str(pipe),), daemon=True)
    reader.start()
    reader.join(10)
    is_waiting = reader.is_alive()
    with suppress(OSError):  # there is no reader
        os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
    reader.join()
    assert not is_waiting


def test_stopping_and_an_impossible_folder(page: TrainPage, qtbot: QtBot, tmp_path: Path) -> None:
    tiny(page)
    page.form.numbers["epochs"].setValue(9999)
    page.form.numbers["patience"].setValue(9999)
    qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.epochs.rowCount() > 0, timeout=PATIENCE)
    qtbot.mouseClick(page.stop_button, Qt.MouseButton.LeftButton)
    ended(page, qtbot)
    assert page.state.text() == "Stopped"
    assert not page.context.messages.history

    (tmp_path / "file").write_text("")
    page.form.folder.setText(str(tmp_path / "file" / "below"))
    qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)
    ended(page, qtbot)
    assert "cannot be written" in page.context.messages.history[-1].text


def test_without_a_domain_the_way_to_one_is_shown(context: Context, qtbot: QtBot) -> None:
    page = TrainPage(context)
    qtbot.addWidget(page)
    page.show()
    wanted: list[str] = []
    page.page_requested.connect(lambda name, _: wanted.append(name))
    (button,) = (
        button for button in page.findChildren(QPushButton, "empty-action") if button.isVisible()
    )
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert wanted == ["project"]
    assert "add a domain" in page.run_button.toolTip()
    page.close()


def test_a_training_with_numbers_beyond_those_of_the_form(page: TrainPage) -> None:
    plan = replace(page.form.plan(), hidden=2**40, epochs=2**33)
    page.context.document.store.save_training(Training(plan, TrainingStatus.FINISHED))
    page._show_earlier()
    page.earlier.setCurrentIndex(1)
    for name in ("hidden", "epochs"):
        box = page.form.numbers[name]
        assert box.value() == box.maximum()


def test_every_field_is_explained(page: TrainPage) -> None:
    fields = [*page.form.numbers.values(), page.form.teacher, page.form.learning_rate]
    labels = {label.text(): label for label in page.form.findChildren(QLabel)}
    for field in fields:
        assert field.toolTip()
        assert labels[field.accessibleName()].toolTip() == field.toolTip()


def test_its_letters_are_listed_with_the_other_shortcuts(page: TrainPage) -> None:
    title, lines = group_of_page(page)
    assert title == "Train"
    assert {keys for _, keys in lines} >= {"F5", "T", "V", "X"}
    assert not {action.text() for action in page.page_actions()} & {
        action.text() for action in page.table_actions()
    }


def test_another_training_cannot_be_chosen_while_one_runs(page: TrainPage, qtbot: QtBot) -> None:
    """What the running one reports would be stored as epochs of the chosen one."""
    tiny(page)
    page.form.numbers["epochs"].setValue(1)
    qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)
    ended(page, qtbot)
    page.earlier.setCurrentIndex(0)
    page.form.numbers["epochs"].setValue(9999)
    page.form.numbers["patience"].setValue(9999)
    qtbot.mouseClick(page.run_button, Qt.MouseButton.LeftButton)
    qtbot.keyClick(page.earlier, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: page.epochs.rowCount() > 1, timeout=PATIENCE)
    qtbot.mouseClick(page.stop_button, Qt.MouseButton.LeftButton)
    ended(page, qtbot)
    store = page.context.document.store
    first, second = map(store.training, store.training_folders())
    assert (first.status, len(first.epochs)) == ("finished", 1)
    assert (second.status, len(second.epochs) > 1) == ("stopped", True)
    qtbot.keyClick(page.earlier, Qt.Key.Key_Down)
    assert page.epochs.rowCount() == 1
