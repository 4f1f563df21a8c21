"""A smaller experiment for a first look: pools and limits in seconds are divided, no more.

Limits of expansions stay, because oracles and columns are named after them.
"""

from __future__ import annotations

from math import ceil

from msgspec.structs import replace

from engine.oracles.registry import parse_oracle
from engine.records.config import UnitLimits
from engine.records.experiment import ExperimentConfig, NamedOracle

MIN_STATES, MIN_SECONDS = 2, 1.0


def scaled(config: ExperimentConfig, scale: int) -> ExperimentConfig:
    """The same experiment with pools and limits divided by `scale`."""
    if scale == 1:
        return config

    def seconds(value: float) -> float:
        return max(value / scale, min(value, MIN_SECONDS))

    def states(value: int) -> int:
        return max(ceil(value / scale), min(value, MIN_STATES))

    walking = None if config.fuzzing.seconds is None else seconds(config.fuzzing.seconds)
    oracles = tuple(NamedOracle(item.label, _faster(item.oracle, scale)) for item in config.oracles)
    return replace(
        config,
        scale=config.scale * scale,
        fuzzing=replace(config.fuzzing, size=states(config.fuzzing.size), seconds=walking),
        testing=replace(config.testing, oracles=tuple(item.oracle for item in oracles)),
        limits=_shorter(config.limits, scale),
        oracles=oracles,
        min_states=ceil(config.min_states / scale),
        actions=replace(config.actions, seconds=seconds(config.actions.seconds)),
        portfolio=replace(config.portfolio, seconds=seconds(config.portfolio.seconds)),
        equivalence=replace(config.equivalence, seconds=seconds(config.equivalence.seconds)),
    )


def _shorter(limits: UnitLimits, scale: int) -> UnitLimits:
    """Every limit in seconds, whichever there are."""
    changes = {
        name: max(value / scale, min(value, MIN_SECONDS))
        for name in limits.__struct_fields__
        if name.endswith("seconds") and (value := getattr(limits, name)) is not None
    }
    return replace(limits, **changes)


def _faster(oracle: str, scale: int) -> str:
    """The option `seconds` of an oracle, if it is given."""
    name, _, options = oracle.partition(":")
    parts = []
    for part in filter(None, options.split(",")):
        key, _, value = part.partition("=")
        if key == "seconds":
            value = f"{max(float(value) / scale, MIN_SECONDS):g}"
        parts.append(f"{key}={value}")
    text = f"{name}:{','.join(parts)}" if parts else name
    parse_oracle(text)
    return text
