"""Conditional effects and axioms in steps, h_max, LM-cut and dominance, in plain Python.

Slow, for tiny tasks. `defects` breaks a rule on purpose: a check that is worth something must
notice. The relaxation knows no axioms.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from engine.task.task import Fact, Operator, Task
from reference import fdr
from reference.dominance import Reference

State = fdr.State


def step(task: Task, operator: Operator, state: State, defects: Collection[str] = ()) -> State:
    values = list(state)
    for variable, value in operator.effect:
        values[variable] = value
    for condition, (variable, value) in operator.conditional:
        seen = tuple(values) if "effects-read-the-new-state" in defects else state
        if fdr.holds(condition, seen):
            values[variable] = value
    return tuple(values) if "axioms-not-extended" in defects else fdr.extended(task, values)


@dataclass(frozen=True)
class Piece:
    """A relaxed operator with one effect; its group is the operator that pays for it."""

    group: int
    needs: frozenset[Fact]
    fact: Fact


class Relaxation:
    def __init__(self, task: Task, defects: Collection[str] = ()) -> None:
        self.task, self.defects = task, defects
        self.pieces = [piece for o in range(len(task.operators)) for piece in self._pieces(o)]

    def _pieces(self, group: int) -> list[Piece]:
        operator = self.task.operators[group]
        before = frozenset(operator.precondition)
        if "conditions-as-preconditions" in self.defects:
            before |= {fact for condition, _ in operator.conditional for fact in condition}
        pieces = [Piece(group, before, fact) for fact in operator.effect]
        for condition, fact in operator.conditional:
            is_delete = any(variable == fact[0] for variable, _ in condition)
            if not (is_delete and "conditional-deletes-forgotten" in self.defects):
                pieces.append(Piece(group, before | set(condition), fact))
        return pieces

    def values(self, state: State, costs: list[int]) -> dict[Fact, int]:
        """h_max by fact; `costs` is by piece."""
        value: dict[Fact, int] = dict.fromkeys(enumerate(state), 0)
        changed = True
        while changed:
            changed = False
            for piece, cost in zip(self.pieces, costs, strict=True):
                if all(fact in value for fact in piece.needs):
                    new = cost + max((value[fact] for fact in piece.needs), default=0)
                    if new < value.get(piece.fact, fdr.INFINITY):
                        value[piece.fact] = new
                        changed = True
        return value

    def costs(self) -> list[int]:
        return [self.task.operators[piece.group].cost for piece in self.pieces]

    def hmax(self, state: State) -> int:
        value = self.values(state, self.costs())
        return max((value.get(fact, fdr.INFINITY) for fact in self.task.goal), default=0)

    def lmcut(self, state: State) -> int:
        costs, total = self.costs(), 0
        while True:
            value = self.values(state, costs)
            if any(fact not in value for fact in self.task.goal):
                return fdr.INFINITY
            if max((value[fact] for fact in self.task.goal), default=0) == 0:
                return total
            cut = self._cut(state, costs, value)
            least = min(costs[i] for i in cut)
            total += least
            groups = {self.pieces[i].group for i in cut}
            for i, piece in enumerate(self.pieces):
                shared = piece.group in groups and "every-piece-pays" not in self.defects
                if i in cut or shared:
                    costs[i] -= least

    def _cut(self, state: State, costs: list[int], value: dict[Fact, int]) -> set[int]:
        """The pieces that lead into the goal zone from what is reached without it."""
        possible = [i for i, piece in enumerate(self.pieces) if piece.needs <= value.keys()]
        supporter = {
            i: max(sorted(self.pieces[i].needs), key=lambda fact: value[fact], default=None)
            for i in possible
        }
        zone = {max(sorted(self.task.goal), key=lambda fact: value[fact])}
        grows = True
        while grows:
            more = {
                supporter[i] for i in possible if costs[i] == 0 and self.pieces[i].fact in zone
            } - {None}
            grows = not more <= zone
            zone |= {fact for fact in more if fact is not None}
        reached = set(enumerate(state)) - zone
        cut: set[int] = set()
        grows = True
        while grows:
            grows = False
            for i in possible:
                source, fact = supporter[i], self.pieces[i].fact
                if source is not None and source not in reached:
                    continue
                if fact in zone:
                    cut.add(i)
                elif fact not in reached:
                    reached.add(fact)
                    grows = True
        return cut


class MayFire(Reference):
    """Dominance with arcs that may or may not fire, which are no steps of the task."""

    def _all_arcs(self, i: int, label: int) -> list[tuple[State, State]]:
        arcs = super()._all_arcs(i, label)
        part = self.partition[i]
        known = set(self.states[i])
        for condition, (variable, value) in self.task.operators[label].conditional:
            own = {v: x for v, x in condition if v in part}
            for before, after in list(arcs):
                values = dict(zip(part, before, strict=True))
                if variable in part and all(values[v] == x for v, x in own.items()):
                    fired = tuple(
                        value if v == variable else x for v, x in zip(part, after, strict=True)
                    )
                    if fired in known and (before, fired) not in arcs:
                        arcs.append((before, fired))
        return arcs
