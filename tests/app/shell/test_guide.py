"""The user guide names every shortcut of the window, and the folders it uses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.services.document import Document
from app.services.folders import workspaces_folder
from app.services.settings import Settings, settings_path
from app.services.theme import Theme
from app.shell.crash import crash_folder
from app.shell.main_window import MainWindow
from app.shell.shortcuts import group_of_menu, group_of_page
from engine.caches import cache_folder
from engine.logs import log_path

GUIDE = (Path(__file__).resolve().parents[3] / "docs" / "user-guide.md").read_text()
SHORTCUTS = GUIDE.partition("## Shortcuts")[2].partition("\n## ")[0]


def named_keys() -> set[str]:
    """The first column of the tables of shortcuts; `Ctrl+1 ... Ctrl+6` stands for all of them."""
    cells = re.findall(r"^\| ([^|]+) \|", SHORTCUTS, re.MULTILINE)
    keys = {key for cell in cells for key in re.split(r", | or | \.\.\. ", cell.strip())}
    for first, start, end in re.findall(r"(\S+\+)(\d) \.\.\. \1(\d)", SHORTCUTS):
        keys |= {f"{first}{number}" for number in range(int(start), int(end) + 1)}
    return keys


@pytest.fixture
def window(own_folders: Path, tmp_path: Path) -> Iterator[MainWindow]:
    del own_folders
    settings, theme = Settings(tmp_path / "settings.json"), Theme()
    window = MainWindow(Document.create(tmp_path / "w.plumb"), settings, theme)
    window.show()
    yield window
    window.close()
    window.deleteLater()
    settings.write()


def test_every_shortcut_is_in_the_guide(window: MainWindow) -> None:
    groups = [group_of_menu(menu) for menu in window.menus.menus]
    groups += [group_of_page(window.page(entry.name)) for entry in window.pages]
    keys = {key for _, lines in groups for _, text in lines for key in text.split(" or ")}
    assert len(keys) > 40
    assert keys - named_keys() == set()


def test_the_folders_are_in_the_guide(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.delenv(f"XDG_{name}_HOME")
    monkeypatch.delenv("PLUMBLINE_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (
        *(settings_path(), cache_folder(), workspaces_folder()),
        *(log_path().parent, crash_folder().parent),
    ):
        assert f"`~/{path.relative_to(tmp_path)}`" in GUIDE
