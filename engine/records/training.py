"""What a training can be told, and the defaults that work for small domains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Protocol, TypeVar


class TeacherKind(Enum):
    OPTIMAL = "optimal"  # every optimal action counts as right
    LAMA = "lama"  # the first plan LAMA finds


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    hidden: int = 16
    layers: int = 2
    epochs: int = 30
    seed: int = 0
    teacher: TeacherKind = TeacherKind.OPTIMAL
    learning_rate: float = 2e-3
    weight_decay: float = 1e-4
    steps: int = 80  # gradient steps per epoch
    batch: int = 48  # states per step, all of one problem
    walks: int = 5  # per problem and epoch: the policy's own run and random ones around it
    step_limit: int = 100  # of a run
    patience: int = 10  # epochs without a better policy before the training ends


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


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """`success` is the share of problems solved, `cost` the mean cost of the solved ones."""

    epoch: int
    loss: float
    success: float
    cost: float
    checkpoint: str  # file name


class Measured(Protocol):
    """What decides between epochs."""

    @property
    def epoch(self) -> int: ...
    @property
    def success(self) -> float: ...
    @property
    def cost(self) -> float: ...


Epoch = TypeVar("Epoch", bound=Measured)


def best_of(history: Sequence[Epoch]) -> Epoch:
    """The epoch that solved most; of equals the one with cheaper runs, of these the first."""
    return min(history, key=lambda record: (-record.success, record.cost, record.epoch))
