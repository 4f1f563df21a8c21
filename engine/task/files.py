"""Reading a user's text file, with an error that says what is wrong with it."""

from __future__ import annotations

from pathlib import Path

from engine.errors import Location, UnreadableFileError


def read_text(path: str | Path, kind: str) -> str:
    """The file's text; `kind` says in errors what was expected there ("a plan file")."""
    place = Location.of(path)
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise UnreadableFileError("there is no such file", place, "check the path") from None
    except IsADirectoryError:
        raise UnreadableFileError("this is a folder", place, f"name {kind} in it") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UnreadableFileError(f"cannot be read: {reason}", place) from None
    except ValueError as error:  # a path with a NUL character
        raise UnreadableFileError(f"not a path: {error}", place) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableFileError(
            "not a text file in UTF-8", Location.of(path, line), f"{kind} is expected here"
        ) from None
    if not text.strip():
        raise UnreadableFileError("the file is empty", place, f"{kind} is expected here")
    return text
