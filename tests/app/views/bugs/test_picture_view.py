"""The picture of the selected step: both plans, playing, searching, copying, saving."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QToolButton
from pytestqt.qtbot import QtBot
from reference.screens import PATIENCE

from app.models.plan_table import PlanComparison
from app.models.step_cursor import Side, StepCursor
from app.services.theme import COLORS, Theme
from app.views.bugs.picture_view import PictureView, profile_of
from app.widgets.picture_canvas import READABLE
from app.widgets.scene_painter import between
from engine.pictures.scene import Box, Scene, kind_colors
from engine.pictures.svg import LIGHT
from engine.records.project import Project
from engine.report.trace import evidence_trace, policy_trace
from engine.task.task import Task
from engine.workspace.rows import Bug
from engine.workspace.workspace import Workspace

Find = Callable[..., Bug]


@pytest.fixture
def task(store: Workspace, bug_with: Find) -> Task:
    return store.task(bug_with("goal").problem_id)


@pytest.fixture
def cursor() -> StepCursor:
    return StepCursor()


@pytest.fixture
def view(qtbot: QtBot, task: Task, bug_with: Find, cursor: StepCursor) -> Iterator[PictureView]:
    bug = bug_with("goal")
    theme = Theme()
    view = PictureView(theme, cursor)
    qtbot.addWidget(view)
    view.resize(500, 500)
    view.show()
    policy = policy_trace(task, bug.finding.state, bug.finding.run)
    better = evidence_trace(task, bug.finding.evidence)
    cursor.show_comparison(PlanComparison.of(policy, better))
    view.show_task(task)
    cursor.move(Side.POLICY, 0)
    yield view
    cursor.show_comparison(None)


def test_the_picture_follows_the_cursor(view: PictureView, cursor: StepCursor) -> None:
    assert cursor.comparison is not None
    steps = len(cursor.comparison.policy.steps)
    sizes = set()
    for index in range(steps + 1):
        cursor.move(Side.POLICY, index)
        picture = view.canvas.picture
        assert picture is not None
        sizes.add((picture.width, picture.height))
        expected = "At the end" if index == steps else f"Before step {index + 1} of the policy"
        assert picture.title.startswith(expected)
        assert view.canvas.accessibleDescription() == picture.description
    assert len(sizes) == 1
    view.show_task(None)
    assert view.canvas.picture is None


def test_both_plans_share_a_layout(view: PictureView) -> None:
    assert not view.other.isVisible()
    view.findChild(QToolButton, "picture-pair").click()
    assert view.other.isVisible()
    assert abs(view.canvas.height() - view.other.height()) <= 1
    one, two = view.canvas.picture, view.other.picture
    assert one is not None
    assert two is not None
    assert "better plan" in two.title
    assert (one.width, one.height) == (two.width, two.height)
    places = {name: (box.x, box.y) for name, box in one.boxes().items() if not name.startswith("@")}
    assert places == {
        name: (box.x, box.y) for name, box in two.boxes().items() if not name.startswith("@")
    }  # the plans begin in the same state


def test_a_picture_that_is_too_large_shows_what_the_step_is_about(
    qtbot: QtBot, view: PictureView
) -> None:
    """In a scale that can be read; the hidden picture of the other plan does not hold it back."""
    far = Box("truck/box", 3500, 3700, 60, 20, edge="accent", object="truck")
    legend = Box("legend sign", 10, 3990, 10, 10, edge="accent")
    view.canvas.show_picture(Scene(4000, 4000, (far, legend), "", ""))
    view.canvas.resize(300, 300)
    qtbot.waitUntil(lambda: view.canvas.transform().m11() == READABLE, timeout=PATIENCE)
    part = view.canvas.mapToScene(view.canvas.viewport().rect()).boundingRect()
    assert part.contains(far.x, far.y)
    near = Box("truck/box", 40, 60, 60, 20, edge="accent", object="truck")
    view.canvas.show_picture(Scene(4000, 4000, (near, legend), "", ""))
    part = view.canvas.mapToScene(view.canvas.viewport().rect()).boundingRect()
    assert part.contains(near.x, near.y)
    target = Box("town/target", 400, 60, 60, 20, edge="accent", object="town")
    view.canvas.show_picture(Scene(4000, 4000, (near, target, legend), "", ""))
    part = view.canvas.mapToScene(view.canvas.viewport().rect()).boundingRect()
    assert part.contains(near.x, near.y)
    assert part.contains(target.x + target.w, target.y)


def test_play_goes_to_the_end_and_stops_or_begins_again(
    qtbot: QtBot, view: PictureView, cursor: StepCursor
) -> None:
    view.findChild(QTimer).setInterval(1)
    qtbot.keyClick(view.canvas, Qt.Key.Key_Space)
    assert view.is_playing
    trace = cursor.trace
    assert trace is not None
    end = len(trace.steps)
    qtbot.waitUntil(lambda: not view.is_playing, timeout=PATIENCE)
    assert cursor.index == end
    view.loop.setChecked(True)
    view.toggle_play()
    assert cursor.index == 0
    seen: list[int] = []
    cursor.moved.connect(lambda: seen.append(cursor.index))
    qtbot.waitUntil(lambda: end in seen and 0 in seen[seen.index(end) :], timeout=PATIENCE)
    view.toggle_play()
    assert not view.is_playing


def test_keys_step_walk_and_zoom(qtbot: QtBot, view: PictureView, cursor: StepCursor) -> None:
    qtbot.keyClick(view.canvas, Qt.Key.Key_Right)
    assert cursor.index == 1
    qtbot.keyClick(view.canvas, Qt.Key.Key_Left)
    assert cursor.index == 0
    qtbot.keyClick(view.canvas, Qt.Key.Key_Down)
    first = view.canvas.selected
    qtbot.keyClick(view.canvas, Qt.Key.Key_Tab)
    assert view.canvas.selected not in ("", first)
    with qtbot.waitSignal(view.object_selected) as chosen:
        qtbot.keyClick(view.canvas, Qt.Key.Key_Return)
    assert len(chosen.args) == 1
    before = view.canvas.transform().m11()
    qtbot.keyClick(view.canvas, Qt.Key.Key_Plus)
    assert view.canvas.transform().m11() > before
    qtbot.keyClick(view.canvas, Qt.Key.Key_F)
    assert view.canvas.transform().m11() == pytest.approx(before)


def test_search_marks_objects(view: PictureView, task: Task) -> None:
    assert task.source is not None
    assert view.canvas.search("load0") == 1
    assert view.canvas.search("no such thing") == 0
    assert view.canvas.search("") == 0


def test_copy_and_save(view: PictureView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view.copy()
    image = QGuiApplication.clipboard().image()
    picture = view.canvas.picture
    assert picture is not None
    assert image.width() == round(picture.width * 2)
    for name in ("state.svg", "state.png"):
        path = tmp_path / name
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, p=path: (str(p), ""))
        view.save()
        assert path.stat().st_size > 1000
    missing = tmp_path / "missing" / "state.svg"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(missing), ""))
    view.save()
    assert "cannot be written" in view.note.text()


def test_what_moves_glides_and_what_is_new_appears(view: PictureView, cursor: StepCursor) -> None:
    old = view.canvas.picture
    cursor.move(Side.POLICY, 1)
    new = view.canvas.picture
    assert old is not None
    assert new is not None
    assert [item for item, opacity in between(old, new, 1.0) if opacity] == list(new.items)
    half = {item.key: item for item, _ in between(old, new, 0.5)}
    for item in new.items:
        before = next((i for i in old.items if i.key == item.key), None)
        if isinstance(item, Box) and isinstance(before, Box):
            assert half[item.key].x == pytest.approx((before.x + item.x) / 2)  # type: ignore[union-attr]


def test_colors_of_files_are_the_light_ones_of_the_window() -> None:
    assert {name: COLORS[name][0] for name in LIGHT} == LIGHT


def _luminance(color: str) -> float:
    parts = [channel / 255 for channel in QColor(color).toTuple()[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_text_and_edges_of_kinds_can_be_read(dark: bool) -> None:
    colors = kind_colors(dark)
    text, surface = COLORS["text"][dark], COLORS["surface"][dark]
    for number in range(10):
        assert _contrast(text, colors[f"fill{number}"]) >= (9.4 if dark else 12.5)
        assert _contrast(colors[f"edge{number}"], surface) >= 3.9


PROFILE = """(define (animation carter)
  (:predicate {predicate} :parameters ({parameters}) :effect ((equal ({first} x) 50)))
  (:visual all :type default :properties ((x 0) (y 0) (width 40) (height 20) (color tan)
    (showname true))))
"""


def test_a_profile_draws_instead_and_a_wrong_one_is_reported(
    view: PictureView, cursor: StepCursor, task: Task, tmp_path: Path
) -> None:
    assert task.source is not None
    predicate = next(p for p in task.source.domain.predicates if p.arity)
    parameters = [f"?p{i}" for i in range(predicate.arity)]
    text = PROFILE.format(
        predicate=predicate.name, parameters=" ".join(parameters), first=parameters[0]
    )
    path = tmp_path / "animation.pddl"
    path.write_text(text)
    view.use_profile(path)
    picture = view.canvas.picture
    assert picture is not None
    assert picture.paper == "#FFFFFF"
    assert "animation profile" in picture.description
    cursor.move(Side.POLICY, 1)
    view.profiled.setChecked(False)
    assert view.canvas.picture is not None
    assert view.canvas.picture.paper == "surface"
    view.profiled.setChecked(True)
    wrong = tmp_path / "wrong.pddl"
    wrong.write_text(text.replace("equal", "same"))
    view.use_profile(wrong)
    assert view.canvas.picture.paper == "surface"
    assert "wrong.pddl:2" in view.note.text()


def test_the_profile_of_a_project_or_one_beside_its_domain(tmp_path: Path) -> None:
    domain = tmp_path / "domain.pddl"
    assert profile_of(Project()) is None
    assert profile_of(Project(domain=str(domain))) is None
    (tmp_path / "animation.pddl").write_text("(define (animation x))")
    assert profile_of(Project(domain=str(domain))) == tmp_path / "animation.pddl"
    assert profile_of(Project(domain=str(domain), profile="/x/y.pddl")) == Path("/x/y.pddl")
