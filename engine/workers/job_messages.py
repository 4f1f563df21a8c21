"""What goes over the pipe between a worker process and its supervisor."""

from __future__ import annotations

from dataclasses import dataclass

from engine.workers.link import Failure, JobProgress


@dataclass(frozen=True, slots=True)
class Batch:
    """What the work told since the last batch."""

    events: list[object]
    progress: JobProgress | None = None


@dataclass(frozen=True, slots=True)
class Done:
    result: object


@dataclass(frozen=True, slots=True)
class Failed:
    failure: Failure


@dataclass(frozen=True, slots=True)
class Stopped:
    """The work ended because it was asked to."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """To the worker: stop."""


@dataclass(frozen=True, slots=True)
class Pause:
    """To the worker: wait, or go on."""

    paused: bool


End = Done | Failed | Stopped
