"""`plumbline train`: train a policy for a domain on small problems."""

from __future__ import annotations

import argparse
import math

from engine.commands.console import Console
from engine.commands.options import SEED, Options, between
from engine.errors import CancelledError, ExitCode, LimitReachedError
from engine.records import events
from engine.records.training import TeacherKind, TrainingPlan
from engine.usecases.train import Trained, train

DEFAULTS = TrainingPlan("", (), (), "")
MORE_LAYERS = "more layers relate objects that are further apart"


def configure(options: Options) -> None:
    options.domain()
    options.text("problems", "PROBLEM", "small problems to train on", nargs="+")
    options.path("--out", "DIR", "folder for the policy", required=True)
    options.text(
        "--validation",
        "PROBLEM",
        "problems that decide which epoch is best (default: the training problems)",
        nargs="+",
        default=[],
    )
    options.choice(
        "--teacher",
        [kind.value for kind in TeacherKind],
        DEFAULTS.teacher,
        "imitate optimal plans, or the first plan of LAMA",
    )
    for name, default, limit, metavar, meaning in (
        ("--hidden", DEFAULTS.hidden, 256, "H", "size of the hidden layers"),
        ("--layers", DEFAULTS.layers, 8, "L", f"number of layers; {MORE_LAYERS}"),
        ("--epochs", DEFAULTS.epochs, 9999, "N", "maximum number of epochs"),
        ("--steps", DEFAULTS.steps, 10**6, "N", "gradient steps per epoch"),
    ):
        options.number(name, default, meaning, between(1, limit), metavar)
    options.number("--learning-rate", DEFAULTS.learning_rate, "learning rate", _learning_rate, "R")
    options.number(
        "--patience",
        DEFAULTS.patience,
        "stop after N epochs without a better policy",
        between(1, 9999),
    )
    options.number("--seed", DEFAULTS.seed, "seed of the training", SEED)
    options.flag("--resume", "continue the training in the folder")
    options.time_limit("stop after this many seconds; --resume continues")


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


def _learning_rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not 0 < rate <= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a learning rate between 0 and 1")
    return rate
