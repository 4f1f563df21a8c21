"""The text of a PDDL file, or an error that says why there is none.

Comments in old benchmark files are often Latin-1, so bytes that are not UTF-8 are an error
only where they belong to a word (`sexpr` sees that).
"""

from __future__ import annotations

import codecs
from pathlib import Path

from engine.errors import Location, UnreadableFileError

LARGEST_FILE = 256 * 2**20


def read_text(path: str | Path) -> str:
    where = Location(str(path))
    try:
        file = Path(path)
        if file.is_dir():
            raise UnreadableFileError("this is a folder", where, "name a PDDL file in it")
        if not file.exists():
            raise UnreadableFileError("there is no such file", where, "check the path")
        if not file.is_file():
            raise UnreadableFileError("this is not a regular file", where, "name a PDDL file")
        if file.stat().st_size > LARGEST_FILE:
            raise UnreadableFileError(
                "the file is larger than 256 MB", where, "check that it is a PDDL file"
            )
        data = file.read_bytes()
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise UnreadableFileError(
            f"the file cannot be read: {reason}", where, "check the path and its permissions"
        ) from problem
    return decode(data, str(path))


def decode(data: bytes, path: str) -> str:
    where = Location(path or None)
    if not data.strip():
        raise UnreadableFileError("the file is empty", where, "choose a PDDL file with content")
    if b"\0" in data:
        raise UnreadableFileError(
            "this is not a text file", where, "choose a PDDL file; save UTF-16 text as UTF-8"
        )
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
