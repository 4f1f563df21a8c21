"""Reading and writing a user's files, with errors that say what is wrong and what to do.

What is written appears as a whole or not at all: a full disk leaves no half file behind, and the
file that was there before stays as it was. Our own files are found here, too.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from engine.errors import DiskError, Location, UnreadableFileError

SAS_SUFFIX = ".sas"
"""Of a task as the translator writes it."""
LARGEST_FILE = 256 * 2**20

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NOT_OURS = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_FOLDER = (errno.ENOENT, errno.ENOTDIR)
_DEVICES = (Path("/dev"), Path("/dev/fd"))


def open_standard_streams() -> None:
    """Open what a program was started without, as `/dev/null`.

    Otherwise the next files get these numbers, and whatever is printed goes into them.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free number
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def resource(*names: str) -> Path:
    """Return the path of a file of ours: an icon, an example, a version of a domain.

    They are in `plumbline_resources` when Plumbline is installed, in `resources` in a checkout.
    """
    root = Path(__file__).resolve().parents[1]
    installed = root / "plumbline_resources"
    folder = installed if installed.is_dir() else root / "resources"
    return folder.joinpath(*names)


def real_path(path: str | Path) -> Path:
    """Where a path leads; links in a circle, at which `Path.resolve` fails, stay as they are."""
    return Path(os.path.realpath(path))


def read_bytes(path: str | Path, kind: str) -> bytes:
    """What is in a file; `kind` says in errors what was expected there ("a plan file")."""
    place = Location.of(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):  # reading a pipe could block forever
                what = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
                raise UnreadableFileError(f"this is {what}", place, f"name {kind}")
            if status.st_size > LARGEST_FILE:
                message = f"the file is larger than {LARGEST_FILE // 2**20} MB"
                raise UnreadableFileError(message, place, f"check that it is {kind}")
            with open(descriptor, "rb", closefd=False) as file:
                return file.read(LARGEST_FILE)
        finally:
            os.close(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        raise UnreadableFileError("the file does not exist", place, "check the path") from None
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


def write_text(path: str | Path, text: str, *, own_folder: bool = False) -> None:
    write_bytes(path, text.encode("utf-8", "backslashreplace"), own_folder=own_folder)


def write_pieces(path: str | Path, pieces: Iterable[str]) -> None:
    """Write a text that is longer than what should be in memory at once."""
    _write(path, (piece.encode("utf-8", "backslashreplace") for piece in pieces))


def write_bytes(path: str | Path, data: bytes, *, own_folder: bool = False) -> None:
    """Put a file in its place when all of it is written.

    With `own_folder` the folder is one of ours in a folder of the user's, and must not be a link.
    What stands in /dev, such as /dev/stdout, is written to.
    """
    _write(path, (data,), own_folder=own_folder)


def _write(path: str | Path, pieces: Iterable[bytes], *, own_folder: bool = False) -> None:
    file = Path(path)
    try:
        if file.parent in _DEVICES:
            with file.open("wb") as stream:
                stream.writelines(pieces)
        else:
            with replacing(file, own_folder=own_folder) as part:
                part.stream.writelines(pieces)
    except (OSError, ValueError) as problem:
        raise disk_error(problem, file) from problem


@contextmanager
def replacing(path: Path, *, own_folder: bool = False, only_new: bool = False) -> Iterator[Part]:
    """A new file that takes the place of another when everything was done; OSError if it cannot.

    With `only_new` a file that is there by then stays, and that is a FileExistsError.

    Others may write to the folder, too: the name of the new file cannot be guessed, nothing that
    lies there is followed or opened, and only a regular file is replaced.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | (os.O_NOFOLLOW if own_folder else 0)
    folder = os.open(path.parent, flags)
    part = f".{os.urandom(12).hex()}.part"
    try:
        mode = _replaceable_mode(path.name, folder)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(part, flags, 0o666, dir_fd=folder), "wb") as stream:
            if mode is not None:
                os.fchmod(stream.fileno(), mode)
            yield Part(path.with_name(part), stream)
            stream.flush()
            os.fsync(stream.fileno())
        if only_new:
            os.link(part, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            os.unlink(part, dir_fd=folder)
        else:
            os.rename(part, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(part, dir_fd=folder)
        raise
    finally:
        os.close(folder)


@dataclass(frozen=True, slots=True)
class Part:
    """A file that is being written under another name."""

    path: Path
    stream: BinaryIO


def _replaceable_mode(name: str, folder: int) -> int | None:
    """Return the permissions of the file to replace, if it exists."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISREG(mode):
        return stat.S_IMODE(mode) & 0o777
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    what = "a link" if stat.S_ISLNK(mode) else "not a regular file"
    raise OSError(errno.EEXIST, f"this is {what}")


def disk_error(problem: OSError | ValueError, path: str | Path) -> DiskError:
    """Why something cannot be written, and what to do about it."""
    number = getattr(problem, "errno", None)
    reason = getattr(problem, "strerror", None) or str(problem)
    if number in NO_ROOM:
        hint = "free some disk space, or choose another location"
    elif number in _NOT_OURS:
        hint = "check the permissions of the file and its folder, or choose another location"
    elif number in _NO_FOLDER:
        hint = "create its folder first"
    else:
        hint = "choose another location"
    return DiskError(f"cannot be written: {reason}", Location.of(path), hint)


@contextmanager
def scratch_errors() -> Iterator[None]:
    """Wrap work on temporary files: a full disk is the user's error, not an internal one."""
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or str(problem)
        raise DiskError(
            f"temporary files cannot be written: {reason}",
            Location.of(_temporary_folder()),
            "free some space there, or set TMPDIR to another folder",
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
