"""A workspace from a stranger in the window: shown, and nothing of it run, asked or loaded."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QToolTip
from pytestqt.qtbot import QtBot
from reference.amount import amount
from reference.bug_workspace import DOMAIN, problem_text
from reference.forging import forge
from reference.hostile_files import json_values
from reference.hostile_window import look_at
from reference.hostile_workspaces import altered, strange_cells
from reference.screens import PATIENCE

from app.models.project_files import ProjectFiles, project_files
from app.models.table_model import Column, TableModel
from app.services.context import Context
from app.services.settings import (
    AGREED,
    Settings,
    consent,
    grant,
    last_workspace,
    recent_workspaces,
    remember_workspace,
)
from app.services.theme import Theme
from app.views.project.page import ProjectPage
from app.widgets.labels import ElidedLabel
from engine.errors import PlumblineError, PolicyError
from engine.plain_text import printable
from engine.policies.consent import Consent, refuse_without_consent
from engine.records.project import Project
from engine.workspace.workspace import Workspace

BACKWARD = "policy\u202egpj.exe\x1b[31m"
PLUGIN = """\
import pathlib
pathlib.Path({mark!r}).write_text("it has run")


class First:
    def __init__(self, task): pass
    def decide(self, states): return [-1] * len(states)


def factory(task):
    return First(task)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "p2.pddl").write_text(problem_text(2))
    return tmp_path


@pytest.fixture
def stranger(folder: Path) -> Callable[..., Path]:
    """A workspace whose project names these policies."""

    def make(*policies: str) -> Path:
        path = folder / "stranger.plumb"
        project = Project(str(folder / "domain.pddl"), (str(folder / "p2.pddl"),), policies)
        with Workspace.create(path) as store:
            store.set_project(project)
        return path

    return make


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """An address at which a server listens."""
    with socket.socket() as waiting:
        waiting.bind(("127.0.0.1", 0))
        waiting.listen()
        waiting.setblocking(False)
        yield waiting


def settled(qtbot: QtBot, files: ProjectFiles) -> None:
    qtbot.waitUntil(lambda: not files.is_busy, timeout=PATIENCE)


def was_called(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


def test_opening_a_workspace_runs_nothing_and_asks_nothing(
    qtbot: QtBot,
    make_context: Callable[..., Context],
    stranger: Callable[..., Path],
    folder: Path,
    listener: socket.socket,
) -> None:
    mark, plugin = folder / "mark", folder / "evil.py"
    plugin.write_text(PLUGIN.format(mark=str(mark)))
    server = f"grpc://127.0.0.1:{listener.getsockname()[1]}"
    context = make_context(stranger(f"{plugin}:factory", server, "builtin:gc"))
    page = ProjectPage(context)
    qtbot.addWidget(page)
    page.show()
    settled(qtbot, page.files)
    assert not mark.exists()
    assert not was_called(listener)
    assert page.files.rows[str(folder / "p2.pddl")].runs.keys() == {"builtin:gc"}
    for spec in (f"{plugin}:factory", server):
        assert page.cards.cards[spec].trust.isVisible()
        assert not page.files.is_trusted(spec)
    QTest.mouseClick(page.cards.cards[server].trust, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: was_called(listener), timeout=PATIENCE)
    page.files._stop()
    assert not mark.exists()


def test_consent_is_to_a_file_at_its_place_as_it_is(settings: Settings, folder: Path) -> None:
    here, there = folder / "a.py", folder / "other" / "a.py"
    there.parent.mkdir()
    for path in (here, there):
        path.write_text("def factory(task): ...\n")
    grant(settings, f"{here}:factory")
    grant(settings, f"{here}:factory")
    assert len(settings.get(AGREED, [])) == 1
    assert not consent(settings).objection(f"{here}:factory")
    assert "is not trusted" in consent(settings).objection(f"{there}:factory")
    here.write_text("def factory(task): print()\n")
    assert consent(settings).objection(f"{here}:factory")
    assert not Consent().objection("builtin:gc")
    with pytest.raises(PolicyError, match="is not trusted"):
        refuse_without_consent(["builtin:gc", "grpc://x:1"], consent(settings))


def test_names_are_shown_as_they_are(qtbot: QtBot, theme: Theme, folder: Path) -> None:
    picture = folder / "picture.png"
    name = f'<img src="{picture}"><b>x</b><a href="http://127.0.0.1">y</a>'
    label = QLabel(name)
    label.setToolTip(name)
    qtbot.addWidget(label)
    label.show()
    assert label.textFormat() == Qt.TextFormat.PlainText
    QToolTip.showText(QPoint(1, 1), name, label)
    (tip,) = (
        widget
        for widget in QApplication.topLevelWidgets()
        if isinstance(widget, QLabel) and widget.metaObject().className() == "QTipLabel"
    )
    assert (tip.text(), tip.textFormat()) == (name, Qt.TextFormat.PlainText)
    QToolTip.hideText()
    tip.deleteLater()


@pytest.mark.parametrize("kind", [QLabel, ElidedLabel, QPushButton])
def test_control_characters_are_drawn_as_their_codes(
    qtbot: QtBot, theme: Theme, kind: type[QLabel | QPushButton]
) -> None:
    """They could show a name backward, so that its ending looks like another one."""
    pictures = []
    for name in (BACKWARD, printable(BACKWARD), "policygpj.exe[31m"):
        widget = kind(name)
        qtbot.addWidget(widget)
        widget.resize(400, 40)
        pictures.append(widget.grab().toImage())
    assert pictures[0] == pictures[1] != pictures[2]


def test_control_characters_in_tables_and_messages(context: Context) -> None:
    column = Column[str]("name", "Name", lambda row: row, row_tip=lambda row: row)
    model = TableModel((column,), context.theme)
    model.set_rows([BACKWARD])
    cell = model.index(0, 0)
    for text in (cell.data(), cell.data(Qt.ItemDataRole.ToolTipRole)):
        assert text == printable(BACKWARD)
    context.messages.error(BACKWARD, BACKWARD)
    (message,) = context.messages.history
    assert (message.text, message.details) == (printable(BACKWARD), printable(BACKWARD))


@settings(
    settings.get_profile("plumbline"), derandomize=True, database=None, max_examples=amount(60, 15)
)
@given(document=json_values)
def test_any_settings(document: object) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as home:
        path = Path(home) / "settings.json"
        path.write_text(json.dumps(document))
        found = Settings(path)
        recent_workspaces(found), last_workspace(found), consent(found)
        path.write_text(json.dumps({"version": 2, "recent": document, AGREED: document}))
        found = Settings(path)
        assert all(isinstance(item, Path) for item in recent_workspaces(found))
        last_workspace(found)
        consent(found)
        remember_workspace(found, Path(home) / "w.plumb")
        found.deleteLater()


@pytest.fixture
def show(qtbot: QtBot, theme: Theme, settings: Settings) -> Callable[[Path], list[str]]:
    """Opens the window on a workspace, looks at everything, and returns what was told."""
    del qtbot  # it only has to be there
    return lambda path: look_at(path, settings, theme)


TROUBLES = (
    {
        "UPDATE project SET document = '{\"domain\": 1}'": "Cannot read the files of this project",
        "UPDATE campaigns SET config = '[]'": "Cannot read the campaigns",
        "UPDATE comparisons SET answer = '{}'": "Cannot read earlier comparisons",
        "UPDATE trainings SET document = '{}'": "Cannot show training",
    },
    {
        "UPDATE units SET statistics = '[1]'": "Cannot read the campaign",
        "DELETE FROM evidence": "Cannot show bug 1",
    },
)


def test_a_sound_workspace_needs_no_words(
    show: Callable[[Path], list[str]], sound: Path, tmp_path: Path
) -> None:
    assert show(altered(sound, tmp_path / "sound.plumb")) == []


@pytest.mark.parametrize("troubles", TROUBLES, ids=["screens", "items"])
def test_the_window_shows_what_it_can(
    show: Callable[[Path], list[str]], sound: Path, tmp_path: Path, troubles: dict[str, str]
) -> None:
    statements = ("PRAGMA foreign_keys = OFF", *troubles)
    path = altered(sound, tmp_path / "stranger.plumb", ";".join(statements))
    told = show(path)
    for words in troubles.values():
        assert any(words in text for text in told), words


@settings(
    settings.get_profile("plumbline"),
    derandomize=True,
    database=None,
    max_examples=amount(20, 2),
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_the_window_copes_with_any_value(
    show: Callable[[Path], list[str]],
    sound: Path,
    tmp_path_factory: pytest.TempPathFactory,
    data: st.DataObject,
) -> None:
    path = tmp_path_factory.mktemp("stranger") / "stranger.plumb"
    data.draw(strange_cells(sound)).put(sound, path)
    with suppress(PlumblineError):  # it may be refused
        show(path)


def test_a_training_is_continued_only_where_there_is_one(
    qtbot: QtBot,
    make_context: Callable[..., Context],
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Its folder stands in the workspace."""
    from app.views.train.page import TrainPage
    from engine.records.training import Training, TrainingPlan, TrainingStatus

    elsewhere = tmp_path_factory.mktemp("elsewhere")
    problem = str(folder / "p2.pddl")
    plan = TrainingPlan(str(folder / "domain.pddl"), (problem,), (problem,), str(elsewhere / "x"))
    path = folder / "stranger.plumb"
    with Workspace.create(path) as store:
        store.set_project(Project(plan.domain, plan.training))
        store.save_training(Training(plan, TrainingStatus.STOPPED))
        store.save_training(Training(replace(plan, folder="odd"), TrainingStatus.STOPPED))
    forge(
        path,
        "UPDATE trainings SET document = replace(document, '\"stopped\"', '\"<b>\"') "
        "WHERE folder = 'odd'",
    )
    context = make_context(path)
    page = TrainPage(context)
    qtbot.addWidget(page)
    settled(qtbot, project_files(context))
    page.earlier.setCurrentIndex(page.earlier.findData("odd"))
    assert "Cannot show training" in context.messages.history[-1].text
    page.earlier.setCurrentIndex(page.earlier.findData(plan.folder))
    page.resume()
    assert "holds no training" in context.messages.history[-1].text
    assert not context.jobs.running
    assert not list(elsewhere.iterdir())
