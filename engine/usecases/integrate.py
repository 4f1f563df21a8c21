"""Integrates Plumbline into this user's desktop: menu entry, icon, and `.plumb` file type.

A record of what was written makes the undo exact. Files that Plumbline did not write, or that were
changed since, are neither replaced nor removed.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from engine.errors import DiskError, Location, UsageError
from engine.files import disk_error, read_bytes, read_text, resource, write_bytes, write_text
from engine.workers.program import run_process

# Below the user's data folder.
_ENTRY = "applications/plumbline.desktop"
_ICON = "icons/hicolor/scalable/apps/plumbline.svg"
_TYPE = "mime/packages/plumbline.xml"
_RECORD = "plumbline/integration"

_CREATED = "-"  # in the record instead of a digest: a folder, or a file of a database
_UPDATE_SECONDS = 60.0

_DESKTOP_ENTRY = """\
[Desktop Entry]
Type=Application
Name=Plumbline
GenericName=Policy tester
Comment=Find bugs in learned action policies and compare planning domains
Exec={command} %f
TryExec={program}
Icon=plumbline
Terminal=false
Categories=Science;ArtificialIntelligence;
MimeType=application/x-plumbline;
StartupWMClass=plumbline
"""


@dataclass(frozen=True, slots=True)
class _Database:
    """What a desktop reads instead of all the files in a folder."""

    folder: str
    sources: str
    files: str
    update: str  # the program


_DATABASES = (
    _Database("applications", "*.desktop", "mimeinfo.cache", "update-desktop-database"),
    _Database("mime", "packages/*.xml", "**/*", "update-mime-database"),
)


@dataclass(frozen=True, slots=True)
class Integration:
    files: tuple[Path, ...]  # written or removed
    kept: tuple[Path, ...] = ()  # changed since they were written, hence not removed
    updated: tuple[str, ...] = ()  # programs that brought their database up to date


def integrate(program: Path | None = None) -> Integration:
    """Write the files; `program` is the window's, by default the one installed with this Python."""
    home, record = _data_home(), _read_record()
    contents = _contents(program or Path(sys.executable).with_name("plumbline-app"))
    for name, content in contents.items():
        _refuse_foreign(home / name, content, record.get(name))
    before = set(_traces(home))
    for name, content in contents.items():
        _make_folder((home / name).parent)
        write_bytes(home / name, content)
        record[name] = _digest(content)
    _make_folder((home / _RECORD).parent)
    updated = _update_databases(home)
    created = set(_traces(home)) - before
    record |= {str(path.relative_to(home)): _CREATED for path in created}
    lines = [f"{digest} {name}\n" for name, digest in sorted(record.items())]
    write_text(home / _RECORD, "".join(lines))
    return Integration(tuple(home / name for name in contents), updated=updated)


def remove_integration() -> Integration:
    """Undo `integrate`, including folders and databases that were not there before."""
    home, record = _data_home(), _read_record()
    written = {home / name: record[name] for name in (_ENTRY, _ICON, _TYPE) if name in record}
    present = [path for path in written if path.exists()]
    removed = tuple(path for path in present if _digest_of(path) == written[path])
    for path in (*removed, home / _RECORD):
        _remove(path)
    updated = _update_databases(home) if removed else ()
    for path in sorted(set(_traces(home)), reverse=True):
        if record.get(str(path.relative_to(home))) == _CREATED:
            _remove_created(path, home)
    return Integration(removed, tuple(path for path in present if path not in removed), updated)


def _data_home() -> Path:
    return Path(platformdirs.user_data_dir())


def _contents(program: Path) -> dict[str, bytes]:
    """Return the content of each file."""
    if not program.is_file():
        raise UsageError(
            "the program of the window is missing",
            Location.of(program),
            "install Plumbline as docs/install.md says",
        )
    try:
        entry = _DESKTOP_ENTRY.format(
            command=_escaped(_quoted(str(program))), program=_escaped(str(program))
        ).encode()
    except UnicodeEncodeError:
        raise UsageError(
            "a desktop entry cannot name this path, because it is not UTF-8",
            Location.of(program),
            "install Plumbline in another folder",
        ) from None
    return {
        _ENTRY: entry,
        _ICON: read_bytes(resource("icons", "plumbline.svg"), "an icon"),
        _TYPE: resource("share", _TYPE).read_bytes(),
    }


def _quoted(argument: str) -> str:
    """One argument of a command in a desktop entry."""
    for special in '\\"`$':
        argument = argument.replace(special, f"\\{special}")
    return '"' + argument.replace("%", "%%") + '"'


def _escaped(value: str) -> str:
    """A value of a desktop entry."""
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def _read_record() -> dict[str, str]:
    """Digests of the files that were written, by name."""
    path = _data_home() / _RECORD
    if not path.exists():
        return {}
    lines = read_text(path, "the record of 'plumbline integrate'").splitlines()
    return {name: digest for digest, _, name in (line.partition(" ") for line in lines)}


def _refuse_foreign(path: Path, content: bytes, digest: str | None) -> None:
    if not path.exists() and not path.is_symlink():
        return
    if not path.is_symlink() and _digest_of(path) in (digest, _digest(content)):
        return
    raise DiskError(
        "this file was not written by Plumbline, or was changed since",
        Location.of(path),
        "move it to another place, then try again",
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _digest_of(path: Path) -> str:
    return _digest(read_bytes(path, "a file of 'plumbline integrate'"))


def _traces(home: Path) -> Iterator[Path]:
    """Return the folders and database files that exist and that we may have created."""
    for name in (_ENTRY, _ICON, _TYPE, _RECORD):
        yield from (home / folder for folder in Path(name).parents if (home / folder).is_dir())
    for database in _DATABASES:
        folder = home / database.folder
        yield from set(folder.glob(database.files)) - set(folder.glob(database.sources))


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise disk_error(problem, folder) from problem


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as problem:
        raise disk_error(problem, path) from problem


def _remove_created(path: Path, home: Path) -> None:
    """Remove a folder if it is empty, a file of a database if nothing else needs that."""
    if path.is_dir():
        with suppress(OSError):
            path.rmdir()
        return
    for database in _DATABASES:
        folder = home / database.folder
        if path.is_relative_to(folder) and not any(folder.glob(database.sources)):
            _remove(path)


def _update_databases(home: Path) -> tuple[str, ...]:
    """Run the programs that are there; without them desktops notice at the next login."""
    updated = []
    for database in _DATABASES:
        program, folder = shutil.which(database.update), home / database.folder
        if program and folder.is_dir():
            command = [str(Path(program).absolute()), str(folder)]
            result = run_process(command, folder=home, time_limit=_UPDATE_SECONDS)
            if result.return_code == 0:
                updated.append(database.update)
    return tuple(updated)
