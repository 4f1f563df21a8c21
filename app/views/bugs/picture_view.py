"""The selected step as a picture, alone or beside the other plan, still or playing.

Both plans share one layout, so only what moves moves. The picture follows the cursor of the plan
comparison; beside each other, the other plan is shown where it is aligned with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QGuiApplication,
    QKeySequence,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QSplitter,
    QToolButton,
    QWidget,
)

from app.models.plan_table import PlanComparison
from app.models.step_cursor import Side, Sight, StepCursor, sight_of
from app.services.theme import Theme
from app.widgets.builders import action, describe, icon_button, paragraph
from app.widgets.layouts import hbox, vbox
from app.widgets.picture_canvas import PictureCanvas
from engine.errors import PlumblineError
from engine.pictures.picture import Picture, require_drawable
from engine.pictures.profile import find_profile, read_profile
from engine.pictures.profile_stages import ProfilePicture, stages_of
from engine.pictures.scene import Scene
from engine.records.project import Project
from engine.report.trace import Trace
from engine.task.task import Task
from engine.usecases.picture import write_picture


def profile_of(project: Project) -> Path | None:
    """The profile of a project, or one beside its domain."""
    if project.profile is not None:
        return Path(project.profile)
    return find_profile(Path(project.domain)) if project.domain is not None else None


SPEEDS = {"Slow": 1600, "Normal": 800, "Fast": 300}
"""Milliseconds per step."""
WIDE = 720
"""Pixels from which two pictures are side by side, not above each other."""
HALF = 10_000
"""Two pictures get the same room: sizes are shares of what there is."""
FILES = "Pictures (*.svg *.png)"


@dataclass(frozen=True)
class Shown:
    """Whose pictures have a common layout."""

    task: Task
    states: tuple[tuple[tuple[int, ...], ...], ...]
    fold: bool


class PictureView(QWidget):
    object_selected = Signal(str)
    """The object whose facts to show; empty for all."""

    def __init__(self, theme: Theme, cursor: StepCursor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("picture-view")
        self._theme, self._cursor = theme, cursor
        self._task: Task | None = None
        self._picture: Picture | None = None
        self._shown: Shown | None = None
        self._place: tuple[Side, int] | None = None
        self._profile: Path | None = None
        self._animation: Animation | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(SPEEDS["Normal"])
        self._timer.timeout.connect(self._on_tick)
        self.canvas = PictureCanvas(theme, "picture-canvas")
        self.other = PictureCanvas(theme, "picture-other")
        self.other.hide()
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.setChildrenCollapsible(False)
        for canvas in (self.canvas, self.other):
            self._split.addWidget(canvas)
            canvas.object_selected.connect(self._on_object_selected)
            canvas.step_requested.connect(self._go)
            canvas.play_requested.connect(self.toggle_play)
        self._link_scrolling()
        self.note = paragraph(name="picture-note")
        self.note.hide()
        vbox(self._bar(), self.note, (self._split, 1), parent=self, spacing=4, margins=(8, 4, 8, 4))
        cursor.moved.connect(self._follow)
        cursor.comparison_changed.connect(self._follow)

    def _bar(self) -> QHBoxLayout:
        theme = self._theme
        self._play = icon_button(
            theme, "run", "picture-play", "Play (Space)", clicked=self.toggle_play
        )
        self._pair = icon_button(
            theme, "swap", "picture-pair", "Both plans", "Show both plans beside each other"
        )
        self._pair.setCheckable(True)
        self._pair.toggled.connect(self._on_pair_toggled)
        self.search = QLineEdit()
        describe(self.search, "picture-search", "Find objects")
        self.search.setPlaceholderText("Find objects")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._find)
        more = QToolButton()
        describe(more, "picture-menu", "Picture options", "Speed, folding, copy and save")
        more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        more.setAutoRaise(True)
        theme.keep_icon(more, "settings", "muted")
        more.setMenu(self._menu(more))
        return hbox(self._play, self._pair, (self.search, 1), more, spacing=4)

    def _menu(self, parent: QWidget) -> QMenu:
        menu = QMenu(parent)
        speeds = QActionGroup(menu)
        for name, milliseconds in SPEEDS.items():
            choice = QAction(f"{name} speed", menu)
            choice.setCheckable(True)
            choice.setChecked(name == "Normal")
            choice.triggered.connect(lambda _=False, ms=milliseconds: self._timer.setInterval(ms))
            speeds.addAction(choice)
            menu.addAction(choice)
        menu.addSeparator()
        self.loop = self._toggle(menu, "Play in a loop", False)
        self.fold = self._toggle(menu, "Fold equal objects", True)
        self.fold.toggled.connect(self._follow)
        self.profiled = self._toggle(menu, "Use the animation profile", True)
        self.profiled.setEnabled(False)
        self.profiled.toggled.connect(self._follow)
        menu.addAction(action(self, "Choose animation profile…", self.choose_profile))
        menu.addSeparator()
        menu.addAction(action(self, "Fit picture", self._fit, name="picture-fit"))
        copy = action(self, "Copy picture", self.copy, name="picture-copy")
        copy.setShortcut(QKeySequence.StandardKey.Copy)
        copy.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.addAction(copy)
        menu.addAction(copy)
        menu.addAction(action(self, "Save picture…", self.save, name="picture-save"))
        return menu

    @staticmethod
    def _toggle(menu: QMenu, text: str, checked: bool) -> QAction:
        made = QAction(text, menu)
        made.setCheckable(True)
        made.setChecked(checked)
        menu.addAction(made)
        return made

    def _link_scrolling(self) -> None:
        """Both pictures show the same part."""
        for one, two in ((self.canvas, self.other), (self.other, self.canvas)):
            for bar in (one.horizontalScrollBar(), one.verticalScrollBar()):
                bar.valueChanged.connect(partial(self._scroll_along, one, two))

    # What is shown.

    def show_task(self, task: Task | None) -> None:
        """The task of the bug; None while there is none to show."""
        if task is not self._task:
            self._task, self._picture, self._shown = task, None, None
            self._timer.stop()
            self._show_playing()
        self._follow()

    def use_profile(self, path: Path | None) -> None:
        """Draw as an animation profile says, as long as it can be read."""
        if path != self._profile:
            self._profile, self._animation = path, None
            self.profiled.setEnabled(path is not None)
            self._follow()

    @Slot()
    def choose_profile(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Animation profile", "", "Profiles (*.pddl)")
        if name:
            self.profiled.setChecked(True)
            self.use_profile(Path(name))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802  Qt's name
        super().showEvent(event)
        self._follow()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802  Qt's name
        super().resizeEvent(event)
        wide = self.width() >= WIDE
        self._split.setOrientation(Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical)

    @Slot()
    def _follow(self) -> None:
        """Compute only what is visible."""
        sight, comparison = self._cursor.sight, self._cursor.comparison
        if not self.isVisible():
            return
        if self._task is None or sight is None or comparison is None:
            self.canvas.show_picture(None)
            self.other.show_picture(None)
            self._say("")
            return
        self._say("")
        try:
            picture = self._animated(self._task, comparison) or self._layout(
                self._task, comparison, sight
            )
        except PlumblineError as error:
            self.canvas.show_picture(None)
            self.other.show_picture(None)
            self._say(str(error))
            return
        place = (self._cursor.side, self._cursor.index)
        near = (
            self._place is not None
            and self._place[0] is place[0]
            and abs(self._place[1] - place[1]) == 1
        )
        self._place = None if self._cursor.aside else place
        self.canvas.show_picture(_scene(picture, sight), near)
        both = self._pair.isChecked() and comparison.better is not None and not self._cursor.aside
        if both and self.other.isHidden():
            self.other.show()
            self._split.setSizes([HALF, HALF])
        self.other.setVisible(both)
        if both:
            self.other.show_picture(_scene(picture, self._counterpart(comparison)), near)

    def _layout(self, task: Task, comparison: PlanComparison, sight: Sight) -> Picture:
        """One layout for both plans; a state that is on neither gets room in a new one."""
        runs = [comparison.policy.states]
        if comparison.better is not None:
            runs.append(comparison.better.states)
        shown = Shown(task, tuple(runs), self.fold.isChecked())
        picture = self._picture
        if picture is None or shown != self._shown:
            picture = self._picture = Picture(task, runs, shown.fold)
            self._shown = shown
        if picture.shows(sight.state, sight.after):
            return picture
        extra = [sight.state] if sight.after is None else [sight.state, sight.after]
        return Picture(task, [extra, *runs], shown.fold)

    def _animated(self, task: Task, comparison: PlanComparison) -> Animation | None:
        """Draw by the profile; None without one, or if it is wrong, which is reported."""
        if self._profile is None or not self.profiled.isChecked() or self._cursor.aside:
            return None
        runs = [comparison.policy, *([comparison.better] if comparison.better else [])]
        found = self._animation
        try:
            if found is None or found.task is not task or found.runs != runs:
                found = self._animation = Animation(self._profile, task, runs)
        except PlumblineError as error:
            self._say(f"{error} (the picture is inferred instead)")
            return None
        return found

    def _scroll_along(self, one: PictureCanvas, two: PictureCanvas, _: int) -> None:
        """Two pictures beside each other show the same part."""
        if one.isVisible() and two.isVisible():
            two.horizontalScrollBar().setValue(one.horizontalScrollBar().value())
            two.verticalScrollBar().setValue(one.verticalScrollBar().value())

    def _counterpart(self, comparison: PlanComparison) -> Sight:
        """Where the other plan is when this one is at the cursor."""
        on_policy = self._cursor.side is Side.POLICY
        other = comparison.better if on_policy else comparison.policy
        assert other is not None
        count = 0
        for row in comparison.alignment.rows:
            own, beside = (row.policy, row.better) if on_policy else (row.better, row.policy)
            if own is not None and own.index >= self._cursor.index:
                break
            count += beside is not None
        return sight_of(other, count, Side.BETTER if on_policy else Side.POLICY)

    def _say(self, text: str) -> None:
        self.note.setText(text)
        self.note.setVisible(bool(text))

    # What the user does.

    @Slot()
    def toggle_play(self) -> None:
        if self._timer.isActive():
            self._timer.stop()
        elif self._cursor.trace is not None:
            if self._cursor.index >= len(self._cursor.trace.steps):
                self._cursor.move(self._cursor.side, 0)
            self._timer.start()
        self._show_playing()

    def _show_playing(self) -> None:
        playing = self._timer.isActive()
        self._play.setIcon(self._theme.icon("pause" if playing else "run", "muted"))
        self._play.setToolTip("Pause (Space)" if playing else "Play (Space)")

    @property
    def is_playing(self) -> bool:
        return self._timer.isActive()

    @Slot()
    def _on_tick(self) -> None:
        trace = self._cursor.trace
        if trace is None or not self.isVisible():
            self.toggle_play()
        elif self._cursor.index < len(trace.steps):
            self._cursor.move(self._cursor.side, self._cursor.index + 1)
        elif self.loop.isChecked():
            self._cursor.move(self._cursor.side, 0)
        else:
            self.toggle_play()

    @Slot(int)
    def _go(self, steps: int) -> None:
        trace = self._cursor.trace
        if trace is not None:
            index = min(max(self._cursor.index + steps, 0), len(trace.steps))
            self._cursor.move(self._cursor.side, index)

    @Slot(bool)
    def _on_pair_toggled(self, on: bool) -> None:
        del on
        self._follow()

    @Slot(str)
    def _find(self, words: str) -> None:
        self.canvas.search(words)
        self.other.search(words)

    @Slot(str)
    def _on_object_selected(self, name: str) -> None:
        for canvas in (self.canvas, self.other):
            with QSignalBlocker(canvas):
                canvas.select(name)
        self.object_selected.emit("" if name.startswith(("@", "!")) else name)

    @Slot()
    def _fit(self) -> None:
        self.canvas.fit()
        self.other.fit()

    @Slot()
    def copy(self) -> None:
        """The picture that has the focus, into the clipboard."""
        canvas = self.other if self.other.hasFocus() else self.canvas
        image = canvas.image()
        if image is not None:
            QGuiApplication.clipboard().setImage(image)

    @Slot()
    def save(self) -> None:
        canvas = self.other if self.other.hasFocus() else self.canvas
        if canvas.picture is None:
            return
        name, _ = QFileDialog.getSaveFileName(self, "Save picture", "state.svg", FILES)
        if not name:
            return
        path = Path(name)
        try:
            write_picture(canvas.picture, path if path.suffix else path.with_suffix(".svg"))
        except PlumblineError as error:
            self._say(str(error))


class Animation:
    """Both plans as an animation profile draws them."""

    def __init__(self, path: Path, task: Task, runs: list[Trace]) -> None:
        require_drawable(task)
        assert task.source is not None
        self.task, self.runs = task, runs
        profile = read_profile(path, task.source.domain)
        stages = []
        for trace in runs:
            actions = [step.action for step in trace.steps[: len(trace.states) - 1]]
            stages.append(stages_of(profile, task, trace.states, actions))
        self._picture = ProfilePicture(profile, stages)
        self._stages = {
            (number, state): stage
            for number, (trace, row) in enumerate(zip(runs, stages, strict=True))
            for state, stage in zip(trace.states, row, strict=True)
        }

    def scene(self, title: str, sight: Sight, action: str) -> Scene:
        found = (self._stages.get((number, sight.state)) for number in range(len(self.runs)))
        stage = next(stage for stage in found if stage is not None)
        return self._picture.scene(title, stage, action)


def _scene(picture: Picture | Animation, sight: Sight) -> Scene:
    action = sight.step.action if sight.step else ""
    title = f"{sight.title}: ({action})" if action else sight.title
    if isinstance(picture, Animation):
        return picture.scene(title, sight, action)
    return picture.scene(title, sight.state, sight.after if sight.step else None, action)
