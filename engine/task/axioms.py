"""What the axioms of a task make of a state: the values of its derived variables.

A derived variable has its default value unless a rule for it fires. Rules fire layer by layer,
within a layer until nothing changes; a rule may ask for the default of a variable only if that
variable belongs to a lower layer, so the result does not depend on the order of the rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Axiom:
    """Where the body holds, the head has the value that is not its default."""

    body: tuple[tuple[int, int], ...]  # facts, sorted by variable
    head: int  # a derived variable


class AxiomEvaluator:
    """The rules of a task, prepared for many states: every rule counts what its body lacks."""

    def __init__(
        self, layers: Mapping[int, int], defaults: Mapping[int, int], axioms: Sequence[Axiom]
    ) -> None:
        self._defaults = defaults
        self._heads = [axiom.head for axiom in axioms]
        self._sizes = [len(axiom.body) for axiom in axioms]
        self._always = [number for number, axiom in enumerate(axioms) if not axiom.body]
        self._users: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, axiom in enumerate(axioms):
            for fact in axiom.body:
                self._users[fact].append(number)
        self._state_variables = sorted({v for v, _ in self._users if v not in layers})
        by_layer: dict[int, list[int]] = defaultdict(list)
        for variable, layer in layers.items():
            by_layer[layer].append(variable)
        self._layers = [by_layer[layer] for layer in sorted(by_layer)]

    def extend(self, values: Sequence[int]) -> tuple[int, ...]:
        result = list(values)
        for variable, default in self._defaults.items():
            result[variable] = default
        missing = self._sizes.copy()
        queue = [(v, result[v]) for v in self._state_variables]
        self._fire(self._always, result, queue)
        for layer in self._layers:
            while queue:
                ready = []
                for rule in self._users.get(queue.pop(), ()):
                    missing[rule] -= 1
                    if not missing[rule]:
                        ready.append(rule)
                self._fire(ready, result, queue)
            # Only now is it certain which variables of this layer keep their default.
            queue += [(v, result[v]) for v in layer if result[v] == self._defaults[v]]
        return tuple(result)

    def _fire(self, rules: Iterable[int], values: list[int], queue: list[tuple[int, int]]) -> None:
        for rule in rules:
            head = self._heads[rule]
            if values[head] == self._defaults[head]:
                values[head] = 1 - values[head]
                queue.append((head, values[head]))
