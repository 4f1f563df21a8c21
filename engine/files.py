"""Reading a user's file, with an error that says what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from engine.errors import Location, UnreadableFileError

LARGEST_FILE = 256 * 2**20


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
    data = read_bytes(path, kind)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableFileError(
            "not a text file in UTF-8", Location.of(path, line), f"{kind} is expected here"
        ) from None
