"""Undo oracle: going back to a state that is at least as good as the start of the walk is enough.

From a pool state t that a walk from r led to, the oracle looks for a way to a state r' in which
everything holds that any condition or the goal asks for and that holds in r. Whatever can be done
in r can then be done in r', step by step: the way back and a plan that is known for r are a plan
for t, and that is the evidence. With `dominance=true`, a state r' with D(r, r') >= 0 is enough
where the policy fails; that value is then a step of the evidence. If nothing is known of r, the
initial state takes its place, and if the policy fails there, a plan for it is searched for once.
See docs/theory/oracles.md, "Inverse and undo".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heappop, heappush
from time import monotonic

from engine.dominance.function import DominanceFunction
from engine.errors import CancelledError
from engine.native.library import Int32Array
from engine.oracles.inverse import inverse_path
from engine.oracles.kind import (
    DOMINANCE_OPTIONS,
    MEMORY,
    Needs,
    Option,
    OracleKind,
    Values,
    dominance,
    search_limits,
    search_options,
    switch,
)
from engine.oracles.session import NOTHING_PROVEN, OracleSession, Origin, Proof
from engine.records.finding import INFINITY
from engine.search.forward import SearchLimits, search
from engine.task.task import Fact, Task

Reached = dict[int, tuple[int, int, int]]
"""By state: the cost of the way to it, the state before (-1: none), the operator from there."""


@dataclass(frozen=True, slots=True)
class WayBack:
    """`origin` is named as the finder of the way; `limits` are those of each search."""

    origin: str
    session: OracleSession
    function: DominanceFunction
    limits: SearchLimits

    def prove(self, state: int, start: int, less_than: int) -> bool:
        """Whether a way to a state at least as good as `start` proves such a bound.

        Something has to be known of `start`. The proof goes into the session's bounds.
        """
        known = self.session.trusted_bounds.u(start)
        (source,) = self._ids(start)
        reached: Reached = {state: (0, -1, -1)}
        for current in self._cheapest_first(reached, state):
            gain = int(self.function.from_one(source, self._ids(current))[0])
            if gain >= 0 and reached[current][0] + known - gain < less_than:
                if current != start:
                    self.session.bounds.add_morph(current, start, gain, self.origin)
                self.session.bounds.add_path(*_way(reached, current), self.origin)
                return True
        return False

    def _cheapest_first(self, reached: Reached, state: int) -> Iterator[int]:
        """States in the order of what going there costs, within the limits."""
        table, costs = self.session.table, self.session.operator_costs
        queue, closed = [(0, state)], set[int]()
        most, seconds = self.limits.expansions, self.limits.seconds
        begun = monotonic()
        while queue and (most is None or len(closed) < most):
            if self.session.cancelled():
                raise CancelledError
            if seconds is not None and monotonic() - begun > seconds:
                return
            cost, current = heappop(queue)
            if current in closed:
                continue
            closed.add(current)
            yield current
            operators, successors = table.successors(current)
            for operator, successor in zip(operators.tolist(), successors.tolist(), strict=True):
                total = cost + int(costs[operator])
                if successor not in reached or total < reached[successor][0]:
                    reached[successor] = total, current, operator
                    heappush(queue, (total, successor))

    def _ids(self, state: int) -> Int32Array:
        return self.function.ids(self.session.table.values([state]))


def _way(reached: Reached, state: int) -> tuple[list[int], list[int]]:
    states, operators = [state], list[int]()
    while (step := reached[states[-1]])[1] >= 0:
        states.append(step[1])
        operators.append(step[2])
    return states[::-1], operators[::-1]


def asked_facts(task: Task) -> frozenset[Fact]:
    """All facts on which it may depend what can be done, what it does, or whether it is enough.

    Of a variable in the condition of an effect or in an axiom, all values count: there it also
    matters what does not hold. Derived variables follow from these (P75).
    """
    plain = [operator.precondition for operator in task.operators]
    asked = {fact for condition in (*plain, task.goal) for fact in condition}
    sensitive = {
        variable
        for operator in task.operators
        for condition, _ in operator.conditional
        for variable, _ in condition
    }
    sensitive |= {variable for axiom in task.axioms for variable, _ in axiom.body}
    asked |= {(v, value) for v in sensitive for value in range(len(task.variables[v].values))}
    derived = frozenset(task.derived_variables)
    return frozenset(fact for fact in asked if fact[0] not in derived)


@dataclass
class UndoOracle:
    """`root_limits` are those of the one search for a plan from the initial state.

    Without a `function`, only what conditions and the goal ask for makes a state as good.
    """

    name: str
    session: OracleSession
    limits: SearchLimits
    root_limits: SearchLimits
    function: DominanceFunction | None = None
    _searched_root: bool = field(default=False, init=False)

    def examine(self, state: int) -> Proof:
        limit = self.session.needs_less_than(state)
        assert limit is not None  # the session asks only where a bound can prove a bug
        best = INFINITY
        for origin in self._starts(state):
            plan = self._known_plan(origin.reference)
            if plan is None:
                continue
            best = min(best, self._through(state, origin, plan, limit))
            if best < limit:
                break
        return NOTHING_PROVEN if best == INFINITY else Proof(best)

    def _starts(self, state: int) -> Iterator[Origin]:
        """The state in which the walk began, and the initial state."""
        origin = self.session.origins.get(state)
        if origin is not None:
            yield origin
        (root,) = self.session.table.add([self.session.task.init]).tolist()
        if origin is None or root != origin.reference:
            yield Origin(root, None)

    def _known_plan(self, start: int) -> tuple[int, ...] | None:
        session = self.session
        session.run_policy(start)
        if session.bounds.plans.u(start) == INFINITY and session.values(start) == session.task.init:
            self._search_root(start)
        if session.bounds.plans.u(start) == INFINITY:
            return None
        return session.bounds.plans.evidence(start).operators

    def _search_root(self, root: int) -> None:
        """Search once; a second search would find no more."""
        if self._searched_root:
            return
        self._searched_root = True
        found = search(
            self.session.task, "gbfs", "ff", limits=self.root_limits, control=self.session.control
        )
        if found.plan is not None:
            self.session.bounds.add_plan(root, found.plan, self.name)

    def _through(self, state: int, origin: Origin, plan: tuple[int, ...], limit: int) -> int:
        """The bound by going back and following the plan; INFINITY: there is no way back."""
        session = self.session
        known = int(session.operator_costs[list(plan)].sum())
        path = inverse_path(session, state, origin)
        if path is not None:
            session.bounds.add_path(*path, self.name)
            cost = int(session.operator_costs[path[1]].sum()) + known
            if cost < limit:
                return cost
        way = self._search_back(state, origin.reference, limit - known)
        if way is None:
            return self._through_dominating(state, origin.reference, limit)
        session.bounds.add_plan(state, (*way, *plan), self.name)
        return session.bounds.plans.u(state)

    def _through_dominating(self, state: int, start: int, limit: int) -> int:
        """The bound by going to a state that dominates the start of the walk.

        Where the policy reaches the goal, such ways cost much time and prove next to nothing.
        """
        session, function = self.session, self.function
        if function is None or function.is_trivial or limit < INFINITY:
            return INFINITY
        way_back = WayBack(self.name, session, function, self.limits)
        found = way_back.prove(state, start, limit)
        return session.trusted_bounds.u(state) if found else INFINITY

    def _search_back(self, state: int, start: int, less_than: int) -> tuple[int, ...] | None:
        """A way to a state that is at least as good as the start of the walk."""
        if less_than <= 0:
            return None
        values = self.session.values(start)
        wanted = [(v, value) for v, value in enumerate(values) if (v, value) in self._asked]
        # Any way will do where the policy fails; elsewhere it has to be a cheap one.
        anywhere = less_than >= INFINITY // 2
        found = search(
            self.session.task,
            "gbfs" if anywhere else "astar",
            "ff" if anywhere else "hmax",
            state=self.session.values(state),
            goal=wanted,
            bound=None if anywhere else less_than,
            limits=self.limits,
            control=self.session.control,
        )
        return found.plan

    @cached_property
    def _asked(self) -> frozenset[Fact]:
        return asked_facts(self.session.task)


def _make(text: str, session: OracleSession, values: Values) -> UndoOracle:
    root = SearchLimits(values["seconds"], MEMORY, int(values["root"]))
    function = dominance(session, values) if values["dominance"] else None
    return UndoOracle(text, session, search_limits(values), root, function)


KIND = OracleKind(
    "undo",
    "Goes back to a state at least as good as the start of the walk, then follows its plan.",
    {
        **search_options(1000),
        "root": Option(100_000, "states to expand for a plan from the initial state, once"),
        "dominance": Option(
            False,
            "whether a state that dominates the start of the walk is enough where the policy fails",
            switch,
            "switch",
            "true|false",
        ),
        "factors": DOMINANCE_OPTIONS["factors"],
    },
    make=_make,
    needs=Needs(dominance_option="dominance"),
)
