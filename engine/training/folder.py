"""A training on disk, so that it can be continued as if it had never stopped.

The folder holds `checkpoints/epoch-NNN.pt`, one per epoch, `policy.pt`, a copy of the best, and
`training.state`: optimizer, lessons and history after the last epoch.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import DamagedRecordError, Location, UsageError
from engine.files import disk_error, read_bytes, write_bytes
from engine.policies.torch_file import load_checkpoint
from engine.records.codec import decode, to_json
from engine.records.training import EpochRecord

if TYPE_CHECKING:
    from torch import Tensor


VERSION = 1


@dataclass(frozen=True)
class TrainingState:
    """Everything that the next epoch depends on."""

    identity: Mapping[str, Any]  # what was asked for; a training continues only as the same
    history: tuple[EpochRecord, ...]
    network: Mapping[str, Tensor]
    optimizer: Mapping[str, Any]
    books: list[dict[str, Any]]


class TrainingFolder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.checkpoints = path / "checkpoints"
        self.policy = path / "policy.pt"
        self._state = path / "training.state"

    @property
    def has_state(self) -> bool:
        """Whether there is something to continue."""
        return os.path.isfile(self._state)

    def create(self, resume: bool) -> None:
        if self.has_state and not resume:
            raise UsageError(
                "this folder already holds a training",
                Location.of(self.path),
                "continue it with --resume or choose another folder",
            )
        try:
            self.checkpoints.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_error(error, self.path) from error

    def checkpoint(self, epoch: int) -> Path:
        return self.checkpoints / f"epoch-{epoch:03}.pt"

    def choose(self, record: EpochRecord) -> None:
        """Make a checkpoint the policy of this training."""
        checkpoint = self.checkpoints / Path(record.checkpoint).name
        write_bytes(self.policy, read_bytes(checkpoint, "a checkpoint of this training"))

    def save(self, state: TrainingState) -> None:
        import torch

        contents = {
            "version": VERSION,
            "identity": json.dumps(state.identity),
            "history": json.dumps([to_json(record) for record in state.history]),
            "network": dict(state.network),
            "optimizer": dict(state.optimizer),
            "books": json.dumps(state.books),
        }
        stream = io.BytesIO()
        torch.save(contents, stream)
        write_bytes(self._state, stream.getvalue())

    def load(self, identity: Mapping[str, Any]) -> TrainingState | None:
        """The state to continue from; nothing if there is none yet."""
        if not self.has_state:
            return None
        place = Location.of(self._state)
        contents = load_checkpoint(self._state)
        try:
            known = json.loads(contents["identity"])
            state = TrainingState(
                known,
                decode(contents["history"], tuple[EpochRecord, ...]),
                _tensors(contents["network"]),
                _tensors(contents["optimizer"]),
                json.loads(contents["books"]),
            )
        except (DamagedRecordError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise UsageError(
                f"the saved training is damaged ({error})", place, "start again in another folder"
            ) from error
        if different := sorted(key for key in identity if known.get(key) != identity[key]):
            raise UsageError(
                f"the saved training had other {', '.join(different)}",
                place,
                "continue it with the same options and files, or choose another folder",
            )
        return state


def _tensors(value: Any) -> Any:
    """The arrays in plain values as tensors."""
    import torch

    if isinstance(value, np.ndarray):
        return torch.from_numpy(value)
    if isinstance(value, dict):
        return {key: _tensors(part) for key, part in value.items()}
    return [_tensors(part) for part in value] if isinstance(value, list) else value
