"""`plumbline train`: make a policy for a domain from small problems and a planner."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from engine.commands.console import Console, ProgressBar
from engine.errors import ExitCode
from engine.task.load import load_task
from engine.task.task import Task

if TYPE_CHECKING:
    from engine.records.events import TrainingEvent
    from engine.training.imitation import TrainingResult


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("domain", metavar="DOMAIN")
    parser.add_argument(
        "problems", nargs="+", metavar="PROBLEM", help="small problems to learn from"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the policy"
    )
    parser.add_argument(
        "--validation",
        nargs="+",
        default=[],
        metavar="PROBLEM",
        help="problems that decide which epoch is the best (default: the training problems)",
    )
    parser.add_argument(
        "--teacher",
        choices=["optimal", "lama"],
        default="optimal",
        help="whom to imitate: optimal plans, or the first plan of LAMA (default %(default)s)",
    )
    parser.add_argument("--hidden", type=_between(1, 256), default=16, metavar="H")
    parser.add_argument("--layers", type=_between(1, 8), default=2, metavar="L")
    parser.add_argument("--epochs", type=_between(1, 9999), default=30, metavar="N")
    parser.add_argument(
        "--steps", type=_between(1, 10**6), default=80, metavar="N", help="per epoch"
    )
    parser.add_argument("--learning-rate", type=_learning_rate, default=2e-3, metavar="R")
    parser.add_argument(
        "--patience",
        type=_between(1, 9999),
        default=10,
        metavar="N",
        help="epochs without a better policy before it ends (default %(default)s)",
    )
    parser.add_argument("--seed", type=_between(0, 2**32 - 1), default=0, metavar="S")
    parser.add_argument(
        "--resume", action="store_true", help="continue the training that is in the folder"
    )


def run(args: argparse.Namespace, console: Console) -> int:
    training = _load(args.domain, args.problems, console)
    validation = _load(args.domain, args.validation, console)

    from engine.records.training import TeacherKind, TrainingConfig
    from engine.training.imitation import train

    config = TrainingConfig(
        hidden=args.hidden,
        layers=args.layers,
        epochs=args.epochs,
        seed=args.seed,
        teacher=TeacherKind(args.teacher),
        learning_rate=args.learning_rate,
        steps=args.steps,
        patience=args.patience,
    )
    with console.progress("Training", total=args.epochs * args.steps) as bar:
        listener = _Listener(console, bar)
        result = train(
            training, validation, args.out, config, resume=args.resume, emit=listener.hear
        )
    console.result(_document(result), _text(result, listener.reason))
    return ExitCode.DONE


def _load(domain: str, problems: list[str], console: Console) -> list[Task]:
    tasks = []
    with console.progress("Translating", total=len(problems)) as bar:
        for number, problem in enumerate(problems):
            bar.update(number, problem)
            tasks.append(load_task(domain, problem))
    return tasks


class _Listener:
    """Shows the events of a training."""

    def __init__(self, console: Console, bar: ProgressBar) -> None:
        self._console = console
        self._bar = bar
        self.reason = ""

    def hear(self, event: TrainingEvent) -> None:
        from engine.records import events

        match event:
            case events.ProblemPrepared(problem, teacher):
                self._bar.update(0, f"{problem}: {teacher}")
            case events.ProblemSkipped(problem, reason):
                self._console.message(f"warning: {problem} is left out: {reason}")
            case events.StepFinished(epoch, step, steps):
                self._bar.update((epoch - 1) * steps + step, f"epoch {epoch}")
            case events.EpochFinished(done):
                self._console.message(
                    f"epoch {done.epoch}: loss {done.loss:.4f}, {done.lessons} lessons, "
                    f"solves {done.success:.0%} at a mean cost of {done.cost:.1f}"
                )
            case events.TrainingFinished(_, _, reason):
                self.reason = reason


def _document(result: TrainingResult) -> dict[str, object]:
    folder = result.folder
    epochs = [
        {
            "epoch": record.epoch,
            "loss": record.loss,
            "success": record.success,
            "cost": record.cost,
            "checkpoint": str(folder.checkpoints / record.checkpoint),
        }
        for record in result.history
    ]
    best = str(folder.checkpoints / result.best.checkpoint)
    return {"epochs": epochs, "best": best, "policy": str(folder.policy)}


def _text(result: TrainingResult, reason: str) -> str:
    best = result.best
    return (
        f"{len(result.history)} epochs, {reason}.\n"
        f"The best is epoch {best.epoch}: it solves {best.success:.0%}.\n"
        f"policy      {result.folder.policy}\n"
        f"checkpoints {result.folder.checkpoints}"
    )


def _between(low: int, high: int) -> Callable[[str], int]:
    """A type of argument: a whole number within limits."""

    def parse(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else -1
        if not low <= number <= high:
            message = f"'{text}' is not a whole number from {low} to {high}"
            raise argparse.ArgumentTypeError(message)
        return number

    return parse


def _learning_rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not 0 < rate <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a learning rate between 0 and 1")
    return rate
