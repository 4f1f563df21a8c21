"""A training as the window shows it: the use of each problem, and the epochs."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from msgspec.structs import replace

from app.models.table_model import Column
from app.services.folders import EXAMPLES, example_names
from engine.errors import PlumblineError
from engine.files import read_bytes, write_text
from engine.records.training import EpochRecord, Training, best_of

TRAIN, VALIDATE, UNUSED = "train", "validate", ""
_WORDS = {TRAIN: "learn", VALIDATE: "validate", UNUSED: "exclude"}


@dataclass(frozen=True)
class ProblemUse:
    path: str
    use: str


PROBLEM_COLUMNS = (
    Column[ProblemUse](
        "problem", "Problem", lambda row: Path(row.path).name, row_tip=lambda row: row.path
    ),
    Column[ProblemUse](
        "use",
        "Use",
        lambda row: _WORDS[row.use],
        tip="Learn from small problems; validate on others to find the best epoch",
        token=lambda row: "text" if row.use else "muted",
    ),
)


def shared_out(paths: Iterable[str]) -> list[ProblemUse]:
    """Suggest the first half for training and the others for validation."""
    names = sorted(paths)
    half = (len(names) + 1) // 2
    return [
        ProblemUse(name, TRAIN if number < half else VALIDATE) for number, name in enumerate(names)
    ]


EPOCH_COLUMNS = (
    Column[EpochRecord](
        "epoch",
        "Epoch",
        lambda row: row.epoch,
        numeric=True,
        icon=lambda row: "check" if row.best else "",
        row_tip=lambda row: "Best epoch so far" if row.best else "",
    ),
    Column[EpochRecord](
        "success",
        "Solved",
        lambda row: row.success,
        text=lambda row: f"{row.success:.0%}",
        numeric=True,
        tip="Share of the validation problems that the policy solves",
    ),
    Column[EpochRecord](
        "cost",
        "Mean cost",
        lambda row: row.cost if row.success else None,
        text=lambda row: f"{row.cost:.1f}" if row.success else "",
        numeric=True,
        tip="Mean cost of the runs that reach the goal",
    ),
    Column[EpochRecord](
        "loss",
        "Loss",
        lambda row: row.loss,
        text=lambda row: f"{row.loss:.4f}",
        numeric=True,
        tip="Difference between the policy's decisions and the teacher's",
    ),
    Column[EpochRecord](
        "lessons", "Lessons", lambda row: row.lessons, numeric=True, tip="States to learn from"
    ),
    Column[EpochRecord](
        "checkpoint",
        "Checkpoint",
        lambda row: Path(row.checkpoint).name,
        row_tip=lambda row: row.checkpoint,
    ),
)


def with_epoch(training: Training, new: EpochRecord) -> Training:
    known = [epoch for epoch in training.epochs if epoch.epoch != new.epoch]
    epochs = sorted([*known, new], key=lambda epoch: epoch.epoch)
    best = best_of(epochs)
    marked = tuple(replace(epoch, best=epoch is best) for epoch in epochs)
    return replace(training, epochs=marked)


def generator_for(domain: str | None) -> str | None:
    """The bundled example whose problems can be generated for this domain, if it is one."""
    if domain is None:
        return None
    try:
        text = read_bytes(domain, "a domain")
    except PlumblineError:
        return None
    same = (name for name in example_names() if _domain_of(name) == text)
    return next(same, None)


def generate_problems(
    example: str, folder: Path, sizes: Iterable[int], seeds: Iterable[int]
) -> list[str]:
    """Write one problem for each size and seed."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [(size, seed) for size in sizes for seed in seeds]
    names = []
    for size, seed in wanted:
        path = folder / f"size-{size}-seed-{seed}.pddl"
        write_text(path, _generator().problem_text(example, size, seed), own_folder=True)
        names.append(str(path))
    return names


def _domain_of(example: str) -> bytes:
    return (EXAMPLES / example / "domain.pddl").read_bytes()


@cache
def _generator() -> ModuleType:
    """The generator is a script beside the examples, not part of a package."""
    name = "plumbline_example_generator"
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its dataclasses look their module up
    spec.loader.exec_module(module)
    return module
