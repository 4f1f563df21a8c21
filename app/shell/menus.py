"""The menus of a window, and every shortcut that is not a screen's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu

from app.services.folders import example_names, example_title
from app.services.settings import recent_workspaces
from app.services.theme import MODES, POINT_SIZE

if TYPE_CHECKING:
    from app.shell.main_window import MainWindow
    from app.widgets.page import Page


Do = Callable[[], object]
TITLES = ("&File", "&Edit", "&View", "&Page", "&Jobs", "&Help")
TAKEN_LETTERS = "fevjh"  # of all but that of the screen


@dataclass(frozen=True)
class Entry:
    name: str
    text: str
    do: Do
    keys: tuple[str, ...] = ()
    tip: str = ""


class Menus(QObject):
    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._actions: dict[str, QAction] = {}
        self.menus = tuple(window.menuBar().addMenu(title) for title in TITLES)
        file, edit, view, self.page_menu, self._jobs, help_ = self.menus
        self._fill_file(file)
        self._fill_edit(edit)
        self._fill_view(view)
        self._fill_jobs()
        self._fill_help(help_)
        window.context.jobs.changed.connect(self._fill_jobs)
        window.context.theme.changed.connect(self._show_theme)
        self._show_theme()

    def action(self, name: str) -> QAction:
        return self._actions[name]

    def show_page(self, page: Page) -> None:
        """Show the screen's own menu; shortcuts of other screens are disabled."""
        for action in self.page_menu.actions():  # clear() makes PySide forget those of submenus
            self.page_menu.removeAction(action)
        self.page_menu.setTitle(_with_mnemonic(page.title))
        actions = page.page_actions()
        self.page_menu.addActions(actions)
        self.page_menu.menuAction().setVisible(bool(actions))

    def _add(self, menu: QMenu, *entries: Entry | None) -> None:
        for entry in entries:
            if entry is None:
                menu.addSeparator()
                continue
            action = menu.addAction(entry.text)
            action.setObjectName(entry.name)
            action.setShortcuts([QKeySequence(keys) for keys in entry.keys])
            action.setToolTip(entry.tip)
            action.triggered.connect(_without_checked(entry.do))
            self._actions[entry.name] = action

    def _fill_file(self, menu: QMenu) -> None:
        window = self._window
        self._add(
            menu,
            Entry("new", "&New workspace", window.new_requested.emit, ("Ctrl+N",)),
            Entry("open", "&Open workspace\u2026", window.choose_workspace, ("Ctrl+O",)),
        )
        self._recent = menu.addMenu("Open &recent")
        self._recent.aboutToShow.connect(self._fill_recent)
        examples = menu.addMenu("Open &example")
        for name in example_names():
            self._add(examples, Entry(f"example-{name}", example_title(name), self._example(name)))
        self._add(
            menu,
            None,
            Entry("save-copy", "Save a &copy\u2026", window.choose_copy, ("Ctrl+Shift+S",)),
            None,
            Entry("close", "&Close window", window.close, ("Ctrl+W",)),
            Entry("quit", "&Quit", window.quit_requested.emit, ("Ctrl+Q",)),
        )

    def _example(self, name: str) -> Do:
        return lambda: self._window.example_requested.emit(name)

    def _fill_edit(self, menu: QMenu) -> None:
        stack = self._window.context.document.undo_stack
        undo, redo = stack.createUndoAction(self, "Undo"), stack.createRedoAction(self, "Redo")
        undo.setShortcut(QKeySequence("Ctrl+Z"))
        redo.setShortcuts([QKeySequence("Ctrl+Shift+Z"), QKeySequence("Ctrl+Y")])
        menu.addActions([undo, redo])

    def _fill_view(self, menu: QMenu) -> None:
        window = self._window
        for number, page in enumerate(window.pages, start=1):
            self._add(
                menu,
                Entry(f"page-{page.name}", page.title, self._page(page.name), (f"Ctrl+{number}",)),
            )
        menu.addSeparator()
        themes = menu.addMenu("&Theme")
        self._themes = QActionGroup(self)
        for mode in MODES:
            self._add(themes, Entry(f"theme-{mode}", f"&{mode.capitalize()}", self._theme(mode)))
            self._themes.addAction(self.action(f"theme-{mode}")).setCheckable(True)
        self._add(
            menu,
            Entry("larger", "&Larger text", lambda: self._resize(1), ("Ctrl+=", "Ctrl++")),
            Entry("smaller", "&Smaller text", lambda: self._resize(-1), ("Ctrl+-",)),
            Entry("normal", "&Normal text size", self._normal_size, ("Ctrl+0",)),
        )

    def _page(self, name: str) -> Do:
        return lambda: self._window.show_page(name)

    def _theme(self, mode: str) -> Do:
        return lambda: self._choose_theme(mode)

    def _choose_theme(self, mode: str) -> None:
        self._window.context.settings.set("theme", mode)
        self._window.context.theme.set_mode(mode)

    def _resize(self, step: int) -> None:
        self._set_points(self._window.context.theme.point_size + step)

    def _normal_size(self) -> None:
        self._set_points(POINT_SIZE)

    def _set_points(self, points: int) -> None:
        theme = self._window.context.theme
        theme.set_point_size(points)
        self._window.context.settings.set("font-size", theme.point_size)

    @Slot()
    def _show_theme(self) -> None:
        self.action(f"theme-{self._window.context.theme.mode}").setChecked(True)

    @Slot()
    def _fill_recent(self) -> None:
        self._recent.clear()
        for path in recent_workspaces(self._window.context.settings):
            action = self._recent.addAction(path.stem)
            action.setToolTip(str(path))
            action.setStatusTip(str(path))
            action.triggered.connect(_without_checked(self._open(path)))
        if self._recent.isEmpty():
            self._recent.addAction("No recent workspaces").setEnabled(False)

    def _open(self, path: Path) -> Do:
        return lambda: self._window.workspace_requested.emit(path)

    @Slot()
    def _fill_jobs(self) -> None:
        self._jobs.clear()
        running = self._window.context.jobs.running
        for job in running:
            action = self._jobs.addAction(f'Stop "{job.title}"')
            action.triggered.connect(_without_checked(job.stop))
        if running:
            self._jobs.addSeparator()
        self._add(
            self._jobs,
            Entry("stop-all", "Stop &all jobs", self._window.context.jobs.stop_all, ("Ctrl+.",)),
        )
        self.action("stop-all").setEnabled(bool(running))

    def _fill_help(self, menu: QMenu) -> None:
        window = self._window
        self._add(
            menu,
            Entry("shortcuts", "Show &shortcuts…", window.show_shortcuts, ("?", "F1")),
            Entry("restore", "&Restore a backup\u2026", window.show_backups),
            Entry("caches", "&Caches\u2026", window.show_caches),
            Entry("about", "&About Plumbline", window.show_about),
        )


def _with_mnemonic(title: str) -> str:
    """The first letter that no other menu has."""
    place = next(n for n, letter in enumerate(title.lower()) if letter not in TAKEN_LETTERS)
    return f"{title[:place]}&{title[place:]}"


def _without_checked(do: Do) -> Do:
    """Drop the argument of `triggered`, whether the action is checked."""

    def call() -> None:
        do()

    return call
