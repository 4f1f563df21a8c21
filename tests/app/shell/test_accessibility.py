"""Everything one can click or type into has a name, for screen readers and for tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QTextEdit,
    QWidget,
)

from app.models.project_files import project_files
from app.services.document import Document
from app.services.folders import example_project
from app.services.settings import Settings
from app.services.theme import Theme
from app.shell.main_window import MainWindow
from app.shell.pages import PAGES

PATIENCE_SECONDS = 300
INTERACTIVE = (
    *(QAbstractButton, QAbstractItemView, QAbstractSlider, QAbstractSpinBox, QComboBox, QLineEdit),
    *(QPlainTextEdit, QTextEdit, QTabBar),
)


@pytest.fixture(scope="module")
def window(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MainWindow]:
    """With all screens, after they have settled."""
    folder = tmp_path_factory.mktemp("window")
    document = Document.create(folder / "ferry.plumb")
    project = example_project("ferry")
    document.store.set_project(replace(project, problems=project.problems[:1]))
    theme = Theme()
    theme.set_mode("light")
    window = MainWindow(document, Settings(folder / "settings.json"), theme)
    window.show()
    for page in window.pages:
        window.show_page(page.name)
    deadline = time.monotonic() + PATIENCE_SECONDS
    files = project_files(window.context)
    while (files.is_busy or window.context.jobs.running) and time.monotonic() < deadline:
        QTest.qWait(20)
    yield window
    window.close()
    window.deleteLater()
    qapp.setStyleSheet("")


def belongs_to_qt(widget: QWidget) -> bool:
    """Parts that Qt makes by itself inside of others: scroll bars, editors of combo boxes."""
    parent = widget.parentWidget()
    return (
        isinstance(widget, QScrollBar | QHeaderView | QMenu)
        or widget.objectName().startswith("qt_")
        or isinstance(parent, QComboBox | QAbstractSpinBox | QLineEdit | QTabBar)
        or (parent is not None and isinstance(parent.parentWidget(), QComboBox))
        or (type(widget) is QAbstractButton and isinstance(parent, QAbstractItemView))
    )


def interactive(root: QWidget) -> list[QWidget]:
    widgets = [root, *root.findChildren(QWidget)]
    return [w for w in widgets if isinstance(w, INTERACTIVE) and not belongs_to_qt(w)]


def path_of(widget: QWidget) -> str:
    names = []
    while widget is not None and not isinstance(widget, MainWindow):
        names.append(f"{type(widget).__name__}({widget.objectName()})")
        widget = widget.parentWidget()
    return " < ".join(names)


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_whatever_can_be_used_on_a_screen_has_names(window: MainWindow, name: str) -> None:
    assert_named(window.page(name))


def test_whatever_can_be_used_around_the_screens_has_names(window: MainWindow) -> None:
    pages = [window.page(page.name) for page in window.pages]
    assert_named(window, lambda widget: not any(page.isAncestorOf(widget) for page in pages))


def assert_named(root: QWidget, concerns: Callable[[QWidget], bool] = lambda widget: True) -> None:
    nameless = [
        path_of(widget)
        for widget in interactive(root)
        if concerns(widget) and not (widget.objectName() and widget.accessibleName())
    ]
    assert not nameless, "\n".join(nameless)


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_the_keyboard_reaches_whatever_is_visible(window: MainWindow, name: str) -> None:
    window.show_page(name)
    deaf = [
        path_of(widget)
        for widget in interactive(window.current_page)
        if widget.isVisible()
        and widget.isEnabled()
        and not widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not (isinstance(widget, QAbstractButton) and _has_action(window, widget))
    ]
    assert not deaf, "\n".join(deaf)


def _has_action(window: MainWindow, button: QAbstractButton) -> bool:
    """The same is in a menu."""
    actions = [action for menu in window.menus.menus for action in menu.actions()]
    return any(button.actions() and action in button.actions() for action in actions)


def test_the_registry_agrees_with_the_pages() -> None:
    for entry in PAGES:
        page = entry.load()
        assert (page.name, page.title, page.icon) == (entry.name, entry.title, entry.icon)
    assert len({entry.name for entry in PAGES}) == len(PAGES)


def test_shortcuts_are_unique_on_every_screen(window: MainWindow) -> None:
    for entry in PAGES:
        window.show_page(entry.name)
        menus = [*window.menuBar().findChildren(QMenu), *window.current_page.findChildren(QMenu)]
        actions = [action for menu in menus for action in menu.actions()]
        keys = [
            (keys.toString(), action.text())
            for action in {id(action): action for action in actions}.values()
            for keys in action.shortcuts()
        ]
        names = [name for name, _ in keys]
        double = sorted(pair for pair in keys if names.count(pair[0]) > 1)
        assert not double, f"{entry.name}: {double}"
