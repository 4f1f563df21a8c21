"""The settings of a training, with defaults for small domains, and its history."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from engine.records.codec import Amount, Count, Record, Text


class TeacherKind(StrEnum):
    OPTIMAL = "optimal"  # every optimal action counts as right
    LAMA = "lama"  # the first plan LAMA finds


class TrainingStatus(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"


class TrainingConfig(Record):
    hidden: Count = 16
    layers: Count = 2
    epochs: Count = 30
    seed: Count = 0
    teacher: TeacherKind = TeacherKind.OPTIMAL
    learning_rate: Amount = 2e-3
    weight_decay: Amount = 1e-4
    steps: Count = 80  # gradient steps per epoch
    batch: Count = 48  # states per step, all of one problem
    walks: Count = 5  # per problem and epoch: the policy's own run and random ones around it
    step_limit: Count = 100  # of a run
    patience: Count = 10  # epochs without a better policy before the training ends


class TrainingPlan(Record):
    """What to train, on what, and where to leave it; the names of `TrainingConfig`."""

    domain: Text
    training: tuple[Text, ...]
    validation: tuple[Text, ...]
    folder: Text
    teacher: TeacherKind = TeacherKind.OPTIMAL
    hidden: Count = 16
    layers: Count = 2
    epochs: Count = 30
    steps: Count = 80
    patience: Count = 10
    learning_rate: Amount = 2e-3
    seed: Count = 0


class EpochRecord(Record):
    """`success` is the share of validation problems solved, of training problems if none.

    `cost` is the mean cost of the runs that solved one.
    """

    epoch: Count
    loss: float
    success: Amount
    cost: Amount
    lessons: Count
    checkpoint: Text  # file
    best: bool = False  # whether the training would choose it now


class Training(Record):
    """What the workspace keeps of a training."""

    plan: TrainingPlan
    status: TrainingStatus
    reason: str = ""
    epochs: tuple[EpochRecord, ...] = ()


def best_of(history: Sequence[EpochRecord]) -> EpochRecord:
    """Return the epoch that solved most; ties are broken by cheaper runs, then by less loss."""
    return min(
        history, key=lambda record: (-record.success, record.cost, record.loss, record.epoch)
    )


LOSS_SHARE = 0.99
"""A loss falls if it is at most this share of the lowest one before."""


def stagnation(history: Sequence[EpochRecord]) -> int:
    """Return how many epochs ago runs last improved or the loss last fell."""
    first = min(history, key=lambda record: (-record.success, record.cost, record.epoch))
    lowest, fell = history[0].loss, history[0].epoch
    for record in history:
        if record.loss <= LOSS_SHARE * lowest:
            lowest, fell = record.loss, record.epoch
    return history[-1].epoch - max(first.epoch, fell)
