"""The frame of the window: the log, banners, running jobs, shortcuts, caches."""

from __future__ import annotations

from PySide6.QtTest import QTest

from app.shell.dialogs import AboutDialog, CachesDialog, RestoreDialog
from app.shell.shortcuts import ShortcutSheet
from tools.screenshots.stage import LARGE, Stage, child


def take(stage: Stage) -> None:
    window = stage.blank()
    window.show_page("log")
    stage.grab("log-empty")
    window = stage.finished()
    window.show_page("log")
    stage.grab("log-finished", docs=True)
    window.resize(LARGE)
    messages = window.context.messages
    messages.info("Saved a copy to parcels.plumb", actions=[("Open copy", lambda: None)])
    messages.warning("parcels.plumb is read-only; save a copy to run campaigns and to edit notes")
    messages.error(
        "Campaign: the worker was terminated by SIGKILL; resume the campaign",
        "Traceback (most recent call last):\n  ...",
    )
    stage.grab("banners")
    window.show_shortcuts()
    sheet = child(window, ShortcutSheet)
    QTest.qWait(50)
    stage.grab("shortcuts", sheet)
    sheet.close()
    window.show_caches()
    caches = child(window, CachesDialog)
    stage.settle()
    stage.grab("caches", caches)
    caches.close()
    window.show_backups()
    restore = child(window, RestoreDialog)
    stage.settle()
    stage.grab("restore", restore, docs=True)
    restore.close()
    window.show_about()
    about = child(window, AboutDialog)
    QTest.qWait(50)
    stage.grab("about", about)
    about.close()
