"""Reading and writing a user's files, with errors that say what is wrong and what to do.

What is written appears as a whole or not at all: a full disk leaves no half file behind, and the
file that was there before stays as it was. Our own files are found here, too.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.errors import DiskError, Location, UnreadableFileError

LARGEST_FILE = 256 * 2**20

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_OURS = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_FOLDER = (errno.ENOENT, errno.ENOTDIR)


def resource(*names: str) -> Path:
    """Return the path of a file of ours: an icon, an example, a version of a domain.

    They are in `plumbline_resources` when Plumbline is installed, in `resources` in a checkout.
    """
    root = Path(__file__).resolve().parents[1]
    installed = root / "plumbline_resources"
    folder = installed if installed.is_dir() else root / "resources"
    return folder.joinpath(*names)


def read_bytes(path: str | Path, kind: str) -> bytes:
    """What is in a file; `kind` says in errors what was expected there ("a plan file")."""
    place = Location.of(path)
    try:
        file = Path(path)
        if not file.exists():
            raise UnreadableFileError("there is no such file", place, "check the path")
        if not file.is_file():  # a pipe could make us wait for ever
            what = "a folder" if file.is_dir() else "not a regular file"
            raise UnreadableFileError(f"this is {what}", place, f"name {kind}")
        if file.stat().st_size > LARGEST_FILE:
            message = f"the file is larger than {LARGEST_FILE // 2**20} MB"
            raise UnreadableFileError(message, place, f"check that it is {kind}")
        return file.read_bytes()
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise UnreadableFileError(
            f"the file cannot be read: {reason}", place, "check the path and its permissions"
        ) from problem


def read_text(path: str | Path, kind: str) -> str:
    """The text of a file in UTF-8."""
    return decode_text(read_bytes(path, kind), path, kind)


def decode_text(data: bytes, path: str | Path, kind: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableFileError(
            "not a text file in UTF-8", Location.of(path, line), f"{kind} is expected here"
        ) from None


def write_text(path: str | Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | Path, data: bytes) -> None:
    """Put a file in its place when all of it is written; devices and links are written to."""
    file = Path(path)
    try:
        if file.is_symlink() or (file.exists() and not file.is_file()):
            file.write_bytes(data)
        else:
            _replace(file, data)
    except (OSError, ValueError) as problem:
        raise disk_error(problem, file) from problem


def _replace(file: Path, data: bytes) -> None:
    part = file.with_name(f".{file.name[:200]}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        if file.exists():
            part.chmod(file.stat().st_mode)
        part.replace(file)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def disk_error(problem: OSError | ValueError, path: str | Path) -> DiskError:
    """Why something cannot be written, and what to do about it."""
    number = getattr(problem, "errno", None)
    reason = getattr(problem, "strerror", None) or str(problem)
    if number in _NO_ROOM:
        hint = "make room on the disk, or choose another place"
    elif number in _NOT_OURS:
        hint = "see who owns it and its folder, or choose another place"
    elif number in _NO_FOLDER:
        hint = "make its folder first"
    else:
        hint = "choose another place"
    return DiskError(f"cannot be written: {reason}", Location.of(path), hint)


@contextmanager
def scratch_errors() -> Iterator[None]:
    """Around work on temporary files: a full disk is no defect of ours."""
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise DiskError(
            f"temporary files cannot be handled: {reason}",
            Location.of(_temporary_folder()),
            "make room there, or set TMPDIR to another folder",
        ) from problem


@contextmanager
def scratch_folder(kind: str) -> Iterator[Path]:
    """A temporary folder, for a while.

    Nothing is left of it if we are interrupted, not even while it is made or removed: wherever that
    is, one of the removals comes after it.
    """
    with scratch_errors():
        path = Path(tempfile.gettempdir(), f"plumbline-{kind}-{os.urandom(6).hex()}")
    try:
        try:
            with scratch_errors():
                path.mkdir(mode=0o700)
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _temporary_folder() -> str:
    try:
        return tempfile.gettempdir()
    except OSError:
        return "TMPDIR"
