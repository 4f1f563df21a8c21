"""Comparisons of two domain models that a workspace keeps: both texts, the question, the answer.

The answer is the JSON document of `plumbline compare`: a workspace may come from a stranger, and
such a document can do nothing but be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engine.campaign.inputs import File


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """A comparison without the texts: what a list shows."""

    id: int
    created: float
    name_a: str
    name_b: str
    question: Mapping[str, Any]
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredComparison:
    row: ComparisonRow
    a: File
    b: File
