"""The text of a PDDL file, or an error that says why there is none.

Comments in old benchmark files are often Latin-1, so bytes that are not UTF-8 are an error
only where they belong to a word (`sexpr` sees that).
"""

from __future__ import annotations

import codecs
from pathlib import Path

from engine.errors import Location, UnreadableFileError
from engine.files import read_bytes


def read_text(path: str | Path) -> str:
    return decode(read_bytes(path, "a PDDL file"), str(path))


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
