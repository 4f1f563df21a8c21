"""Where every key and every array element of a TOML document stands.

The standard library reads TOML but forgets the places. This scanner walks over text that `tomllib`
has already accepted, so it only has to tell keys from values, never whether they are right.
"""

from __future__ import annotations

import re
from bisect import bisect_right

Path = tuple[str | int, ...]
"""Keys from the top of the document, and indices into arrays: `("fuzzing", "size")`."""

Position = tuple[int, int]
"""Line and column, from 1."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACES = re.compile(r"[ \t]*")
_SCALAR = re.compile(r"[^,\]}\n#]*")
_STRINGS = (
    re.compile(r'"""(?:\\.|[^\\])*?"{3,5}', re.DOTALL),
    re.compile(r"'''.*?'{3,5}", re.DOTALL),
    re.compile(r'"(?:\\.|[^"\\])*"'),
    re.compile(r"'[^']*'"),
)
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)


def key_positions(text: str) -> dict[Path, Position]:
    """The position of every key, table header and array element, by its path."""
    scanner = _Scanner(text)
    scanner.document()
    starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def line_and_column(index: int) -> Position:
        line = bisect_right(starts, index)
        return line, index - starts[line - 1] + 1

    return {path: line_and_column(index) for path, index in scanner.found.items()}


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.index = 0
        self.found: dict[Path, int] = {}
        self._tables: dict[Path, int] = {}  # how many elements an array of tables has so far

    def document(self) -> None:
        table: Path = ()
        self._skip(_BLANK)
        while self.index < len(self.text):
            if self._next() == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK)

    def _header(self) -> Path:
        is_array = self.text.startswith("[[", self.index)
        self.index += 2 if is_array else 1
        self._skip(_SPACES)
        start = self.index
        path = self._resolved(self._key())
        self.index += 2 if is_array else 1
        if is_array:
            count = self._tables.get(path, 0)
            self._tables[path] = count + 1
            path = (*path, count)
        self._note(path, start, 1)
        return path

    def _resolved(self, keys: list[str]) -> Path:
        """Inside an array of tables, a header refers to its last element."""
        path: Path = ()
        for number, key in enumerate(keys):
            path = (*path, key)
            if path in self._tables and number < len(keys) - 1:
                path = (*path, self._tables[path] - 1)
        return path

    def _pair(self, table: Path) -> None:
        start = self.index
        path = (*table, *self._key())
        self._note(path, start, len(table) + 1)
        self.index += 1  # the equals sign
        self._skip(_SPACES)
        self._value(path)

    def _note(self, path: Path, start: int, shortest: int) -> None:
        """A dotted key refers to all tables in its path."""
        for length in range(shortest, len(path) + 1):
            self.found.setdefault(path[:length], start)

    def _key(self) -> list[str]:
        """The parts of a possibly dotted key; ends behind it and the spaces that follow."""
        parts = []
        while True:
            parts.append(self._key_part())
            self._skip(_SPACES)
            if self._next() != ".":
                return parts
            self.index += 1
            self._skip(_SPACES)

    def _key_part(self) -> str:
        start = self.index
        if self._next() in "\"'":
            self._string()
            inner = self.text[start + 1 : self.index - 1]
            return _ESCAPE.sub(_unescape, inner) if self.text[start] == '"' else inner
        self._skip(_BARE_KEY)
        return self.text[start : self.index]

    def _value(self, path: Path) -> None:
        match self._next():
            case '"' | "'":
                self._string()
            case "[":
                self._array(path)
            case "{":
                self._inline_table(path)
            case _:
                self._skip(_SCALAR)

    def _array(self, path: Path) -> None:
        self.index += 1
        number = 0
        while True:
            self._skip(_BLANK)
            if self._next() == "]":
                break
            if self._next() == ",":
                self.index += 1
                continue
            element = (*path, number)
            self.found.setdefault(element, self.index)
            self._value(element)
            number += 1
        self.index += 1

    def _inline_table(self, path: Path) -> None:
        self.index += 1
        while True:
            self._skip(_BLANK)
            if self._next() == "}":
                break
            if self._next() == ",":
                self.index += 1
                continue
            self._pair(path)
        self.index += 1

    def _string(self) -> None:
        for pattern in _STRINGS:
            if self._skip(pattern):
                return

    def _next(self) -> str:
        return self.text[self.index]

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        found = pattern.match(self.text, self.index)
        if found is None:
            return False
        self.index = found.end()
        return True


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code[1:], 16)) if code[0] in "uU" else _ESCAPES[code]
