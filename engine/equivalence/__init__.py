"""Do two domain models mean the same? Proofs, counterexamples and their independent check."""

from engine.equivalence.budget import Budget, LimitExceededError, Limits
from engine.equivalence.compare import CompareOptions, compare_domains
from engine.equivalence.verify import verify_certificate
from engine.records.comparison import (
    Comparison,
    Counterexample,
    EquivalenceVerdict,
    Exclusion,
    Macro,
    MacroCase,
    MacroStep,
    OperatorCover,
    Parameters,
    Pattern,
    PredicatePair,
    ReadingResult,
)
from engine.records.events import ComparisonEvent, ComparisonProgress, OperatorChecked, StageStarted

__all__ = [
    "Budget",
    "CompareOptions",
    "Comparison",
    "ComparisonEvent",
    "ComparisonProgress",
    "Counterexample",
    "EquivalenceVerdict",
    "Exclusion",
    "LimitExceededError",
    "Limits",
    "Macro",
    "MacroCase",
    "MacroStep",
    "OperatorChecked",
    "OperatorCover",
    "Parameters",
    "Pattern",
    "PredicatePair",
    "ReadingResult",
    "StageStarted",
    "compare_domains",
    "verify_certificate",
]
