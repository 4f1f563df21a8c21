"""Text that others wrote, made fit for a terminal, a log, a label or Markdown.

Names and messages come from files, servers and plug-ins. A control character in them could move the
cursor, set the title or the clipboard of a terminal, or show a name backward; it is shown as its
code instead.
"""

from __future__ import annotations

import re

# C0 but tab and newline, DEL and C1, directions of writing, what ends a line, and what no encoding
# has: halves of characters, which stand for bytes in names of files, and those that never are any.
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e007f]+"
)


def printable(text: str) -> str:
    """The text with a code such as `\\x1b` for each character that could do harm."""
    return _UNFIT.sub(_code, text)


def printable_json(document: str) -> str:
    """The same for a JSON document: it means what it meant."""
    return _UNFIT.sub(_json_code, document)


def inline(name: str) -> str:
    """The name as it can stand in Markdown: not as a paragraph, nor as a command."""
    return printable(" ".join(name.split())).replace("`", "'")


def _code(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


def _json_code(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


_FORMULA = re.compile(r"\s*[=+\-@\t\r]")
_NUMBER = re.compile(r"\s*[+-]?\d[\d.,_]*(?:e[+-]?\d+)?\s*%?", re.IGNORECASE)


def plain_cell(text: str) -> str:
    """Escape what a spreadsheet would calculate or a terminal obey; names come from strangers."""
    text = printable(text)
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text
