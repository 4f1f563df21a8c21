"""Trains a policy in a folder that holds everything needed to continue."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.records import events
from engine.records.training import EpochRecord, TrainingConfig, TrainingPlan
from engine.task.load import load_task
from engine.task.translate import warm_translator
from engine.workers.limits import require_address_space
from engine.workers.link import Link

if TYPE_CHECKING:
    from engine.records.events import TrainingEvent

TORCH_MEGABYTES = 700
"""The address space of torch and of what loads it; with less it may die without an error."""


@dataclass(frozen=True, slots=True)
class Trained:
    """`reason` says why it ended."""

    reason: str
    epochs: tuple[EpochRecord, ...]
    best: EpochRecord
    checkpoints: Path
    policy: Path


def can_resume(folder: Path) -> bool:
    from engine.training.folder import TrainingFolder  # torch is slow to import

    return TrainingFolder(folder).has_state


def train(link: Link, plan: TrainingPlan, resume: bool) -> Trained:
    """Pass on the events of the training except for its steps, which are its progress.

    Stopped, it leaves the policy of the last whole epoch, and can be continued from there.
    """
    require_address_space(TORCH_MEGABYTES)
    from engine.training import imitation  # torch is slow to import

    reason = ""

    def hear(event: TrainingEvent) -> None:
        nonlocal reason
        match event:
            case events.StepFinished(epoch, step, steps):
                done = (epoch - 1) * steps + step
                link.progress(done, plan.epochs * steps, f"epoch {epoch} of {plan.epochs}")
                return
            case events.TrainingFinished():
                reason = event.reason
        link.emit(event)

    tasks = []
    names = [*plan.training, *plan.validation]
    with warm_translator() as translator:
        for number, name in enumerate(names):
            link.progress(number, len(names), f"translating {Path(name).name}")
            tasks.append(
                load_task(plan.domain, name, cancelled=link.cancelled, translator=translator)
            )
    split = len(plan.training)
    config = TrainingConfig(
        hidden=plan.hidden,
        layers=plan.layers,
        epochs=plan.epochs,
        seed=plan.seed,
        teacher=plan.teacher,
        learning_rate=plan.learning_rate,
        steps=plan.steps,
        patience=plan.patience,
    )
    result = imitation.train(
        tasks[:split],
        tasks[split:],
        Path(plan.folder),
        config,
        resume=resume,
        emit=hear,
        cancelled=link.cancelled,
    )
    folder = result.folder
    return Trained(reason, result.history, result.best, folder.checkpoints, folder.policy)
