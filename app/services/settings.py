"""The settings of the user, in one JSON file with a version.

Files of older versions are migrated; of a newer one only a copy is kept, and defaults are used. An
unreadable file is set aside, never overwritten. Two instances at once do not undo each other's
changes: only what was changed here is written, and by a thread of its own, since replacing a file
can take seconds while the disk is busy.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import platformdirs
from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal, Slot

from engine.files import replacing
from engine.policies.consent import Consent, consent_name

WRITE_MILLISECONDS = 500
MAX_RECENT = 10
MAX_CONSENTS = 500
"""A plug-in that is edited often leaves an entry each time; the oldest are dropped."""
RECENT, AGREED = "recent", "agreed"
Value = TypeVar("Value")
Values = dict[str, Any]


def _name_the_theme(values: Values) -> Values:
    """Version 1 knew only whether it was dark."""
    dark = values.pop("dark", None)
    return values if dark is None else {**values, "theme": "dark" if dark else "light"}


MIGRATIONS: tuple[Callable[[Values], Values], ...] = (_name_the_theme,)
"""The migration at index i makes version i + 2 of version i + 1; only ever appended to."""
VERSION = len(MIGRATIONS) + 1


def settings_path() -> Path:
    return Path(platformdirs.user_config_dir("plumbline", appauthor=False)) / "settings.json"


class Settings(QObject):
    """Values by name, e.g. `window/geometry`; anything JSON can hold."""

    changed = Signal(str)

    def __init__(self, path: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = path or settings_path()
        self.problem = ""
        """What is wrong with the file, for a banner, or an empty string."""
        self._values = self._read()
        self._unwritten: Values = {}
        self._exchange = Lock()  # guards _unwritten
        self._thread = QThreadPool(self)
        self._thread.setMaxThreadCount(1)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(WRITE_MILLISECONDS)
        self._timer.timeout.connect(self._write_behind)

    def get(self, name: str, default: Value) -> Value:
        """Return the value if it has the type of the default; the file may hold anything."""
        value = self._values.get(name, default)
        return value if isinstance(value, type(default)) else default

    def set(self, name: str, value: object) -> None:
        if name in self._values and self._values[name] == value:
            return
        self._values[name] = value
        with self._exchange:
            self._unwritten[name] = value
        self._timer.start()
        self.changed.emit(name)

    def write(self) -> None:
        """Write the settings now rather than soon."""
        self._timer.stop()
        self._thread.waitForDone()
        self._write_changes()

    @Slot()
    def _write_behind(self) -> None:
        self._thread.start(self._write_changes)

    def _write_changes(self) -> None:
        with self._exchange:
            changes, self._unwritten = self._unwritten, {}
        if not changes:
            return
        try:
            values = self._read() | changes
            self.path.parent.mkdir(parents=True, exist_ok=True)
            document = json.dumps({"version": VERSION, **values}, indent=1, sort_keys=True)
            with replacing(self.path) as part:
                part.stream.write(document.encode())
        except OSError:  # try again next time; settings must not stop the user's work
            with self._exchange:
                self._unwritten = changes | self._unwritten

    def _read(self) -> Values:
        try:
            values = json.loads(self.path.read_text(encoding="utf-8"))
            version = values.pop("version")
            if not isinstance(version, int) or version < 1:
                raise ValueError("the version is missing")
        except FileNotFoundError:
            return {}
        except OSError as error:
            self.problem = f"Cannot read the settings in {self.path}: {error.strerror}"
            return {}
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            self._set_aside("broken")
            return {}
        if version > VERSION:
            self._set_aside(f"version-{version}")
            return {}
        for migration in MIGRATIONS[version - 1 :]:
            values = migration(values)
        return dict(values)

    def _set_aside(self, why: str) -> None:
        aside = self.path.with_suffix(f".{why}.json")
        try:
            os.replace(self.path, aside)
        except OSError:
            return
        self.problem = f"Cannot use the settings; using defaults and keeping the file as {aside}"


def recent_workspaces(settings: Settings) -> list[Path]:
    """Return the recent workspaces that still exist."""
    names: list[object] = settings.get(RECENT, [])
    paths = [Path(name) for name in names if isinstance(name, str)]
    return [path for path in paths if os.path.exists(path)]  # no error if its disk is gone


def last_workspace(settings: Settings) -> Path | None:
    """Return the workspace to start with, whether it still exists or not."""
    names: list[object] = settings.get(RECENT, [])
    return Path(names[0]) if names and isinstance(names[0], str) else None


def remember_workspace(settings: Settings, path: Path) -> None:
    others = [known for known in recent_workspaces(settings) if known != path]
    settings.set(RECENT, [str(known) for known in [path, *others][:MAX_RECENT]])


def forget_workspace(settings: Settings, path: Path) -> None:
    settings.set(RECENT, [str(known) for known in recent_workspaces(settings) if known != path])


def consent(settings: Settings) -> Consent:
    names: list[object] = settings.get(AGREED, [])
    return Consent(frozenset(name for name in names if isinstance(name, str)))


def grant(settings: Settings, spec: str) -> None:
    """Grant consent to a plug-in as it is now, or to a server, and remember it."""
    name = consent_name(spec)
    if name and name not in consent(settings).agreed:
        settings.set(AGREED, [*settings.get(AGREED, []), name][-MAX_CONSENTS:])
