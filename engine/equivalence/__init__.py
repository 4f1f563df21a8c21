"""Do two domain models mean the same? Proofs, counterexamples and their independent check."""

from engine.equivalence.budget import Limits
from engine.equivalence.compare import CompareOptions, compare_domains
from engine.equivalence.verify import verify_certificate
from engine.records.comparison import (
    Comparison,
    Counterexample,
    Exclusion,
    Macro,
    MacroCase,
    MacroStep,
    OperatorCover,
    Parameters,
    Pattern,
    PredicatePair,
    ReadingResult,
    Verdict,
)
from engine.records.comparison_events import Emit, Event, OperatorChecked, Progress, StageStarted

__all__ = [
    "CompareOptions",
    "Comparison",
    "Counterexample",
    "Emit",
    "Event",
    "Exclusion",
    "Limits",
    "Macro",
    "MacroCase",
    "MacroStep",
    "OperatorChecked",
    "OperatorCover",
    "Parameters",
    "Pattern",
    "PredicatePair",
    "Progress",
    "ReadingResult",
    "StageStarted",
    "Verdict",
    "compare_domains",
    "verify_certificate",
]
