"""How much is checked: a sample in `make test`, all of it in `make soundness`.

Tests that are long as a whole are marked `long` and run in `make soundness` only.
"""

from __future__ import annotations

import os

LONG = bool(os.environ.get("PLUMBLINE_LONG"))


def amount(everything: int, sample: int) -> int:
    return everything if LONG else sample
