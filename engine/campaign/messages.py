"""What a campaign and its worker processes say to each other over a connection."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from engine.campaign.events import UnitEvent
from engine.campaign.unit import Unit


@dataclass(frozen=True, slots=True)
class Hello:
    """A worker is there and wants its unit."""

    unit: int


@dataclass(frozen=True, slots=True)
class Assignment:
    unit: Unit


@dataclass(frozen=True, slots=True)
class Report:
    events: tuple[UnitEvent, ...]


@dataclass(frozen=True, slots=True)
class Goodbye:
    """Nothing more will come from this worker."""


class Command(Enum):
    STOP = "stop"
    PAUSE = "pause"
    GO_ON = "go on"
