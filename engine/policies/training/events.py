"""What a training tells while it runs; each event can be sent to another process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProblemPrepared:
    problem: str
    teacher: str  # how it knows what is right, in words


@dataclass(frozen=True, slots=True)
class ProblemSkipped:
    problem: str
    reason: str


@dataclass(frozen=True, slots=True)
class StepFinished:
    epoch: int
    step: int
    steps: int


@dataclass(frozen=True, slots=True)
class EpochFinished:
    """`success` is the share of validation problems solved, of training problems if none.

    `cost` is the mean cost of the runs that solved one.
    """

    epoch: int
    loss: float
    success: float
    cost: float
    lessons: int
    checkpoint: Path


@dataclass(frozen=True, slots=True)
class TrainingFinished:
    best_epoch: int
    policy: Path
    reason: str


TrainingEvent = ProblemPrepared | ProblemSkipped | StepFinished | EpochFinished | TrainingFinished
Emit = Callable[[TrainingEvent], None]


def ignore(event: TrainingEvent) -> None:
    """For those who do not want to know."""
