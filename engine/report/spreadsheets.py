"""Text for tables that are opened or pasted in a spreadsheet, which takes some for formulas."""

from __future__ import annotations

import re

_FORMULA = re.compile(r"\s*[=+\-@\t\r]")
_NUMBER = re.compile(r"\s*[+-]?\d[\d.,_]*(?:e[+-]?\d+)?\s*%?", re.IGNORECASE)


def plain_cell(text: str) -> str:
    """The text so that it is shown and not calculated; a name may come from a stranger."""
    if _FORMULA.match(text) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text
