"""A training as the window shows it: the use of each problem, and the epochs."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from app.models.table_model import Column
from app.services.folders import EXAMPLES, example_names
from engine.records.training import EpochFinished, best_of
from engine.usecases.train import TrainingPlan

STATUSES = ("running", "finished", "stopped", "failed")
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
    """A beginning: the first half to learn from, all others to validate on."""
    names = sorted(paths)
    half = (len(names) + 1) // 2
    return [
        ProblemUse(name, TRAIN if number < half else VALIDATE) for number, name in enumerate(names)
    ]


@dataclass(frozen=True)
class Epoch:
    """As in `EpochFinished`; `best` is what the training would choose now."""

    epoch: int
    loss: float
    success: float
    cost: float
    lessons: int
    checkpoint: str
    best: bool = False


EPOCH_COLUMNS = (
    Column[Epoch](
        "epoch",
        "Epoch",
        lambda row: row.epoch,
        numeric=True,
        icon=lambda row: "check" if row.best else "",
        row_tip=lambda row: "Best epoch so far" if row.best else "",
    ),
    Column[Epoch](
        "success",
        "Solved",
        lambda row: row.success,
        text=lambda row: f"{row.success:.0%}",
        numeric=True,
        tip="Share of the validation problems that the policy solves",
    ),
    Column[Epoch](
        "cost",
        "Mean cost",
        lambda row: row.cost if row.success else None,
        text=lambda row: f"{row.cost:.1f}" if row.success else "",
        numeric=True,
        tip="Mean cost of the runs that reach the goal",
    ),
    Column[Epoch](
        "loss",
        "Loss",
        lambda row: row.loss,
        text=lambda row: f"{row.loss:.4f}",
        numeric=True,
        tip="Difference between the policy's decisions and the teacher's",
    ),
    Column[Epoch](
        "lessons", "Lessons", lambda row: row.lessons, numeric=True, tip="States to learn from"
    ),
    Column[Epoch](
        "checkpoint",
        "Checkpoint",
        lambda row: Path(row.checkpoint).name,
        row_tip=lambda row: row.checkpoint,
    ),
)


@dataclass(frozen=True)
class Training:
    """What the workspace keeps of a training."""

    plan: TrainingPlan
    status: str  # one of STATUSES
    reason: str = ""
    epochs: tuple[Epoch, ...] = ()

    def with_epoch(self, event: EpochFinished) -> Training:
        new = Epoch(
            event.epoch,
            event.loss,
            event.success,
            event.cost,
            event.lessons,
            str(event.checkpoint),
        )
        known = [epoch for epoch in self.epochs if epoch.epoch != new.epoch]
        epochs = sorted([*known, new], key=lambda epoch: epoch.epoch)
        best = best_of(epochs)
        return replace(self, epochs=tuple(replace(epoch, best=epoch is best) for epoch in epochs))

    def to_json(self) -> dict[str, Any]:
        return {
            "plan": self.plan.to_json(),
            "status": self.status,
            "reason": self.reason,
            "epochs": [asdict(epoch) for epoch in self.epochs],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Training:
        if document["status"] not in STATUSES:
            raise ValueError(f"unknown training status '{document['status']}'")
        return cls(
            TrainingPlan.from_json(document["plan"]),
            document["status"],
            document["reason"],
            tuple(Epoch(**epoch) for epoch in document["epochs"]),
        )


def generator_for(domain: str | None) -> str | None:
    """The bundled example whose problems can be generated for this domain, if it is one."""
    if domain is None:
        return None
    try:
        text = Path(domain).read_bytes()
    except OSError:
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
        path.write_text(_generator().problem_text(example, size, seed))
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
