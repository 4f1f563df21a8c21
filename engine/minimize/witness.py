"""The smallest witness of a mistake: delta debugging until no single move makes it smaller.

The last round is the proof: every move was tried on the result, and was refused or failed. The
same inputs give the same witness; no clock decides but a limit in seconds. See
docs/theory/witnesses.md, "Procedure".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from engine.errors import LimitReachedError, PolicyLostError
from engine.minimize.certificate import certificate
from engine.minimize.mistake import (
    MAX_EXPANSIONS,
    MAX_ORIGIN_EXPANSIONS,
    Costs,
    Laboratory,
    Mistake,
    Refusal,
    Shown,
)
from engine.minimize.moves import Moves
from engine.minimize.sense import Sense
from engine.minimize.situation import Situation
from engine.records.pattern import Attempt, Certificate, Same, Sizes, StoppedBy, Witness
from engine.task.atoms import state_atoms
from engine.task.task import Task

MAX_TRIES = 3000
REDUCING = 0.8
"""The share of the time for tries; what is left is for the better actions of the witness."""

BOUND = "bound to this state as a problem of its own the policy"
OPEN = "which actions are optimal in the smallest problem is too hard to prove"
UNPROVEN = "that the action is a mistake is not proven in this state as a problem of its own"
_REFUSED = {
    Refusal.LIMIT: (StoppedBy.SEARCH, "the costs in this state are too hard to prove"),
    Refusal.BINDING: (StoppedBy.POLICY, BOUND),
    Refusal.DECISION: (StoppedBy.REBINDING, BOUND),
    Refusal.KIND: (StoppedBy.REBINDING, f"{BOUND} decides the same, but its run ends otherwise"),
    Refusal.LATER_STEP: (
        StoppedBy.REBINDING,
        f"{BOUND} decides the same, but a later step of its run is bad, too",
    ),
}
"""Why the state itself shows no mistake; all else says that nothing is proven there."""

Unit = TypeVar("Unit")


@dataclass(frozen=True, slots=True)
class MinimizeLimits:
    """What one witness may use beside the time of its link, which costs repeatability."""

    tries: int = MAX_TRIES
    expansions: int = MAX_EXPANSIONS
    origin_expansions: int = MAX_ORIGIN_EXPANSIONS


@dataclass(frozen=True)
class Minimized:
    """How it ended, and the witness if there is one."""

    attempt: Attempt
    shown: Shown | None = None
    certificate: Certificate | None = None


def minimize_mistake(
    task: Task,
    state: Sequence[int],
    mistake: Mistake,
    laboratory: Laboratory,
    *,
    limits: MinimizeLimits,
    tell: Callable[[int, Situation], None],
) -> Minimized:
    """Make the problem at a state of a task smaller while it shows a mistake.

    `tell` receives the number of tries and the smallest situation so far. Raises
    `LimitReachedError` if the time of the laboratory's link is over before there is a witness.
    """
    began = time.monotonic()
    origin = Situation.of(laboratory.source.problem)
    first = laboratory.examine(
        origin, replace(mistake, same=Same.ACTION, loses=False), limits.origin_expansions
    )
    if isinstance(first, Refusal):
        return _without_witness(first, origin, mistake.same, laboratory, began)
    loses = first.loss != 0
    if mistake.loses and not loses:
        return _without_witness(Refusal.OPTIMAL, origin, mistake.same, laboratory, began)
    better = None
    if mistake.same is not Same.SCHEMA:
        better = frozenset(first.costs.optimal_actions()[0])
    wanted = replace(mistake, better=better, loses=loses, loss=first.loss)
    protected = mistake.action.split(" ")[1:]
    sense = Sense.of(task, state_atoms(task, state), origin.facts)
    moves = Moves(laboratory.source.domain, origin, sense, protected)
    hasty = replace(laboratory, link=laboratory.link.part(REDUCING))
    reduction = _Reduction(first, wanted, hasty, moves, limits=limits, tell=tell)
    stopped = reduction.run()
    costs = reduction.best.costs.within(laboratory.link, limits.origin_expansions)
    return _with_witness(first, reduction, stopped, costs, began)


def _without_witness(
    refusal: Refusal, origin: Situation, same: Same, laboratory: Laboratory, began: float
) -> Minimized:
    stopped, reason = _REFUSED.get(refusal, (StoppedBy.SEARCH, UNPROVEN))
    if refusal in (Refusal.DECISION, Refusal.BINDING):
        reason += f" {laboratory.answer(origin)}"
    seconds = time.monotonic() - began
    return Minimized(Attempt(same, None, False, stopped, 1, seconds, reason))


def _with_witness(
    first: Shown,
    reduction: _Reduction,
    stopped: StoppedBy | None,
    costs: Costs,
    began: float,
) -> Minimized:
    same, tries = reduction.mistake.same, reduction.tries
    optimal, is_complete = costs.optimal_actions()
    if not is_complete:
        seconds = time.monotonic() - began
        return Minimized(Attempt(same, None, False, StoppedBy.SEARCH, tries, seconds, OPEN))
    last, source = reduction.best, first.task.source
    assert source is not None
    found, order = certificate(
        source.domain,
        last.situation,
        reduction.mistake.kind,
        last.action,
        unit_costs=source.unit_costs,
    )
    number = {name: place for place, name in enumerate(order)}
    better = sorted(
        optimal,
        key=lambda action: [(number.get(word, -1), word) for word in action.split(" ")],
    )
    mapping = last.situation.mapping
    witness = Witness(
        kind=reduction.mistake.kind,
        action=last.action,
        better_actions=tuple(better),
        before=_sizes(first),
        after=_sizes(last),
        loss_before=first.loss,
        loss_after=last.loss,
        mapping=tuple(
            (item.name, mapping[item.name])
            for item in first.situation.objects
            if item.name in mapping
        ),
        order=order,
    )
    seconds = time.monotonic() - began
    attempt = Attempt(same, witness, stopped is None, stopped, tries, seconds)
    return Minimized(attempt, last, found)


def _sizes(shown: Shown) -> Sizes:
    situation = shown.situation
    return Sizes(
        len(situation.objects), len(situation.facts), len(situation.goals), shown.run_length
    )


class _OutOfTriesError(Exception):
    """What was reached is kept."""


class _Reduction:
    """Goes from one situation that shows the mistake to smaller ones."""

    def __init__(
        self,
        first: Shown,
        mistake: Mistake,
        laboratory: Laboratory,
        moves: Moves,
        *,
        limits: MinimizeLimits,
        tell: Callable[[int, Situation], None],
    ) -> None:
        self.best, self.mistake, self.tries = first, mistake, 0
        self._laboratory, self._moves, self._limits = laboratory, moves, limits
        self._tell = tell
        self._refused: dict[object, Refusal] = {}
        self._is_open = False  # a try of this round met the limit of a search

    def run(self) -> StoppedBy | None:
        """Continue until a whole round changes nothing; return why it ended before that."""
        is_first = True
        try:
            while True:
                before, self._is_open = self.best, False
                self._round(is_first)
                if self.best is before:
                    return StoppedBy.SEARCH if self._is_open else None
                is_first = False
        except _OutOfTriesError:
            return StoppedBy.TRIES
        except LimitReachedError:
            return StoppedBy.TIME
        except PolicyLostError:
            return StoppedBy.POLICY

    def _round(self, is_first: bool) -> None:
        moves = self._moves
        self._delta_debug(moves.objects, moves.remove_objects, is_first)
        self._delta_debug(lambda situation: list(situation.goals), moves.drop_goals, is_first)
        while any(
            self._accepts(moves.merge(self.best.situation, move))
            for move in moves.merges(self.best.situation)
        ):
            pass
        self._delta_debug(moves.fact_units, moves.remove_facts, is_first)
        for group in list(moves.numbers(self.best.situation)):
            any(self._accepts(moves.set_numbers(self.best.situation, move)) for move in group)

    def _delta_debug(
        self,
        units: Callable[[Situation], list[Unit]],
        remove: Callable[[Situation, Sequence[Unit]], Situation | None],
        is_first: bool,
    ) -> None:
        """Remove chunks: half of the units, half of that, and so on; later only single ones."""
        left = units(self.best.situation)
        size = max(1, len(left) // 2) if is_first else 1
        while True:
            done: list[Unit] = []  # those that were tried without success
            while left:
                chunk, rest = left[:size], left[size:]
                if self._accepts(remove(self.best.situation, chunk)):
                    present = set(units(self.best.situation))
                    done = [unit for unit in done if unit in present]
                    left = [unit for unit in rest if unit in present]
                else:
                    done += chunk
                    left = rest
            if size == 1:
                return
            left, size = done, size // 2

    def _accepts(self, candidate: Situation | None) -> bool:
        """Whether a candidate shows the mistake; then it is the best so far."""
        if candidate is None:
            return False
        content = candidate.content
        refusal = self._refused.get(content)
        if refusal is None:
            self._count()
            found = self._laboratory.examine(candidate, self.mistake, self._limits.expansions)
            if isinstance(found, Shown):
                self.best = found
                return True
            refusal = self._refused[content] = found
        self._is_open |= refusal is Refusal.LIMIT
        return False

    def _count(self) -> None:
        self._laboratory.link.check()
        if self.tries >= self._limits.tries:
            raise _OutOfTriesError
        self.tries += 1
        self._tell(self.tries, self.best.situation)
