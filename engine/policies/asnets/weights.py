"""An action schema network as it comes from a file: checked, but not yet tied to a domain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import UnsupportedError
from engine.pddl.model import Domain
from engine.policies.asnets.relatedness import Relatedness, relate

Floats = NDArray[np.float32]

MAX_HIDDEN = 4096
MAX_LAYERS = 64


class Part(Enum):
    ACTION = "action"
    PROPOSITION = "predicate"


@dataclass(frozen=True)
class Module:
    weight: Floats  # (outputs, inputs)
    bias: Floats


@dataclass(frozen=True)
class StoredNetwork:
    """Modules by (part, layer, index of the action or predicate)."""

    path: Path
    hidden: int
    layers: int
    domain_name: str | None
    domain_hash: str | None
    actions: tuple[str, ...]
    predicates: tuple[str, ...]
    modules: Mapping[tuple[Part, int, int], Module]
    details: Mapping[str, Any]

    def misfits(self, domain: Domain) -> tuple[str, ...]:
        """In what the domain differs from the one the network was trained for."""
        try:
            relatedness = relate(domain)
        except UnsupportedError as error:
            return (str(error),)
        actions = tuple(schema.name for schema in relatedness.schemas)
        reasons = (
            *_differences("action", self.actions, actions),
            *_differences("predicate", self.predicates, relatedness.predicates),
        )
        return reasons or tuple(self._wrong_sizes(relatedness))

    def _wrong_sizes(self, relatedness: Relatedness) -> Iterator[str]:
        for layer in range(self.layers + 1):
            for index, schema in enumerate(relatedness.schemas):
                inputs = action_inputs(len(schema.related), layer, self.hidden)
                if not self._has(Part.ACTION, layer, index, inputs):
                    yield f"action '{schema.name}' has other preconditions or effects"
        for layer in range(self.layers):
            for index, slots in enumerate(relatedness.slots):
                inputs = proposition_inputs(len(slots), layer, self.hidden)
                if slots and not self._has(Part.PROPOSITION, layer, index, inputs):
                    yield f"predicate '{relatedness.predicates[index]}' is used by other actions"

    def _has(self, part: Part, layer: int, index: int, inputs: int) -> bool:
        module = self.modules.get((part, layer, index))
        return module is not None and module.weight.shape[1] == inputs


def action_inputs(related: int, layer: int, hidden: int) -> int:
    return 2 * related + 1 if layer == 0 else (related + 1) * hidden


def proposition_inputs(slots: int, layer: int, hidden: int) -> int:
    return slots * hidden if layer == 0 else (slots + 1) * hidden


def _differences(kind: str, known: Sequence[str], present: Sequence[str]) -> Iterator[str]:
    unknown = [name for name in present if name not in known]
    missing = [name for name in known if name not in present]
    if unknown:
        yield f"the policy does not know the {kind}s {_list(unknown)}"
    if missing:
        yield f"the domain lacks the {kind}s {_list(missing)}"
    if not (unknown or missing) and tuple(known) != tuple(present):
        yield f"the {kind}s of the domain are in another order"


def _list(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:8])
    return f"{shown} and {len(names) - 8} more" if len(names) > 8 else shown
