"""Reading a user's text file, with an error that says what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from engine.errors import Location, UnreadableFileError


def read_text(path: str | Path, kind: str) -> str:
    """The file's text; `kind` says in errors what was expected there ("a plan file")."""
    place = Location.of(path)
    try:
        file = Path(path)
        if not file.exists():
            raise UnreadableFileError("there is no such file", place, "check the path")
        if not file.is_file():  # a pipe could make us wait for ever
            what = "a folder" if file.is_dir() else "not a regular file"
            raise UnreadableFileError(f"this is {what}", place, f"name {kind}")
        data = file.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UnreadableFileError(f"cannot be read: {reason}", place) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableFileError(
            "not a text file in UTF-8", Location.of(path, line), f"{kind} is expected here"
        ) from None
