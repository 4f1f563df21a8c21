"""Training a policy in the background. Everything lies in its folder and can be continued."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from engine.records.training import TrainingPlan
from engine.task.load import load_task
from engine.workers.link import Link

if TYPE_CHECKING:
    from engine.records.events import TrainingEvent


def train_policy(link: Link, plan: TrainingPlan, resume: bool) -> str:
    """Passes on the events of the training but for its steps; returns why it ended."""
    from engine.records import events
    from engine.records.training import TrainingConfig
    from engine.training.imitation import train

    reason = ""

    def hear(event: TrainingEvent) -> None:
        nonlocal reason
        match event:
            case events.StepFinished(epoch, step, steps):
                done = (epoch - 1) * steps + step
                link.progress(done, plan.epochs * steps, f"epoch {epoch} of {plan.epochs}")
            case events.TrainingFinished():
                reason = event.reason
                link.emit(event)
            case _:
                link.emit(event)

    tasks = []
    names = [*plan.training, *plan.validation]
    for number, name in enumerate(names):
        link.progress(number, len(names), f"translating {Path(name).name}")
        tasks.append(load_task(plan.domain, name, cancelled=link.cancelled))
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
    train(
        tasks[:split],
        tasks[split:],
        Path(plan.folder),
        config,
        resume=resume,
        emit=hear,
        cancelled=link.cancelled,
    )
    return reason
