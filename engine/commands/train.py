"""`plumbline train`: train a policy for a domain on small problems."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path

from engine.commands.arguments import add_time_limit
from engine.commands.console import Console
from engine.errors import CancelledError, ExitCode, LimitReachedError
from engine.records import events
from engine.records.training import TeacherKind, TrainingPlan
from engine.usecases.train import Trained, train

DEFAULTS = TrainingPlan("", (), (), "")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("domain", metavar="DOMAIN", help="domain file")
    parser.add_argument("problems", nargs="+", metavar="PROBLEM", help="small problems to train on")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the policy"
    )
    parser.add_argument(
        "--validation",
        nargs="+",
        default=[],
        metavar="PROBLEM",
        help="problems that decide which epoch is best (default: the training problems)",
    )
    parser.add_argument(
        "--teacher",
        choices=[kind.value for kind in TeacherKind],
        default=DEFAULTS.teacher,
        help="imitate optimal plans, or the first plan of LAMA (default: %(default)s)",
    )
    parser.add_argument(
        "--hidden",
        type=_between(1, 256),
        default=DEFAULTS.hidden,
        metavar="H",
        help="size of the hidden layers (default: %(default)s)",
    )
    parser.add_argument(
        "--layers",
        type=_between(1, 8),
        default=DEFAULTS.layers,
        metavar="L",
        help="number of layers; more layers relate objects that "
        "are further apart (default: %(default)s)",
    )
    parser.add_argument(
        "--epochs",
        type=_between(1, 9999),
        default=DEFAULTS.epochs,
        metavar="N",
        help="maximum number of epochs (default: %(default)s)",
    )
    parser.add_argument(
        "--steps",
        type=_between(1, 10**6),
        default=DEFAULTS.steps,
        metavar="N",
        help="gradient steps per epoch (default: %(default)s)",
    )
    parser.add_argument(
        "--learning-rate",
        type=_learning_rate,
        default=DEFAULTS.learning_rate,
        metavar="R",
        help="learning rate (default: %(default)s)",
    )
    parser.add_argument(
        "--patience",
        type=_between(1, 9999),
        default=DEFAULTS.patience,
        metavar="N",
        help="stop after N epochs without a better policy (default: %(default)s)",
    )
    parser.add_argument(
        "--seed",
        type=_between(0, 2**32 - 1),
        default=DEFAULTS.seed,
        metavar="N",
        help="seed of the training (default: %(default)s)",
    )
    parser.add_argument("--resume", action="store_true", help="continue the training in the folder")
    add_time_limit(parser, "stop after this many seconds; --resume continues")


def run(args: argparse.Namespace, console: Console) -> int:
    plan = TrainingPlan(
        args.domain,
        tuple(args.problems),
        tuple(args.validation),
        str(args.out),
        TeacherKind(args.teacher),
        args.hidden,
        args.layers,
        args.epochs,
        args.steps,
        args.patience,
        args.learning_rate,
        args.seed,
    )
    with console.link(
        "Training", seconds=args.time_limit, hear=lambda event: _show(event, console)
    ) as link:
        try:
            found = train(link, plan, args.resume)
        except CancelledError:  # Ctrl-C does not wait for the link
            raise LimitReachedError(
                f"the training was stopped after {args.time_limit:g} s",
                hint="--resume continues after the last whole epoch",
            ) from None
    console.result(_document(found), _text(found))
    return ExitCode.DONE


def _show(event: object, console: Console) -> None:
    match event:
        case events.ProblemSkipped(problem, reason):
            console.message(f"warning: skipping {problem}: {reason}")
        case events.EpochFinished(done):
            console.message(
                f"epoch {done.epoch}: loss {done.loss:.4f}, {done.lessons} lessons, "
                f"solves {done.success:.0%} at a mean cost of {done.cost:.1f}"
            )


def _document(found: Trained) -> dict[str, object]:
    epochs = [
        {
            "epoch": record.epoch,
            "loss": record.loss,
            "success": record.success,
            "cost": record.cost,
            "checkpoint": str(found.checkpoints / record.checkpoint),
        }
        for record in found.epochs
    ]
    best = str(found.checkpoints / found.best.checkpoint)
    return {"epochs": epochs, "best": best, "policy": str(found.policy)}


def _text(found: Trained) -> str:
    best, count = found.best, len(found.epochs)
    return (
        f"{count} {'epoch' if count == 1 else 'epochs'}, {found.reason}.\n"
        f"Epoch {best.epoch} is the best: it solves {best.success:.0%}.\n"
        f"policy      {found.policy}\n"
        f"checkpoints {found.checkpoints}"
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
