"""Witnesses show the same mistake: what counts as the same, and how the search for them ends."""

from __future__ import annotations

import math
import subprocess
import time
from typing import NoReturn

import numpy as np
import pytest
from reference import minimizing
from reference.clock import Clock
from reference.minimizing import (
    WITHOUT_OPERATOR,
    BoundScript,
    Scripted,
    always,
    example_task,
    laboratory,
    minimized,
    problem_text,
    situation_of,
    task_of,
)
from reference.random_tasks import dials

from engine.errors import LimitReachedError
from engine.files import resource
from engine.minimize.mistake import Costs, Laboratory, Mistake, Refusal, Shown
from engine.minimize.situation import Situation
from engine.minimize.witness import REDUCING, Minimized, MinimizeLimits, minimize_mistake
from engine.policies.policy import NO_OPERATION, open_policy
from engine.records.finding import BugKind, EndReason
from engine.records.localization import CauseKind
from engine.records.pattern import Same, StoppedBy
from engine.task.export import export_state
from engine.task.task import PddlSource, Task
from engine.task.translate import OPTIONS, warm_translator
from engine.verify.claims import find_problem
from engine.workers import link
from engine.workers.link import NULL_LINK, TimedLink
from engine.workers.translator import Translator

DOMAIN = """(define (domain walker) (:requirements :strips :typing :action-costs)
  (:types place thing)
  (:predicates (road ?a ?b - place) (at ?p - place) (lies ?x - thing ?p - place) (has ?x - thing))
  (:functions (total-cost) (length ?a ?b - place))
  (:action go :parameters (?a ?b - place) :precondition (and (at ?a) (road ?a ?b))
    :effect (and (at ?b) (not (at ?a)) (increase (total-cost) (length ?a ?b))))
  (:action take :parameters (?x - thing ?p - place) :precondition (and (at ?p) (lies ?x ?p))
    :effect (and (has ?x) (not (lies ?x ?p)) (increase (total-cost) 1))))"""


def problem(
    roads: str, rest: str, goal: str, objects: str = "a b c d e - place x y - thing"
) -> str:
    """Roads as `ab5 bc1`, one way each."""
    facts = " ".join(
        f"(road {r[0]} {r[1]}) (= (length {r[0]} {r[1]}) {r[2:]})" for r in roads.split()
    )
    return f"""(define (problem p) (:domain walker) (:objects {objects})
      (:init (= (total-cost) 0) {facts} {rest}) (:goal (and {goal}))
      (:metric minimize (total-cost)))"""


def detour(action: str = "go a b", **options: object) -> Mistake:
    return Mistake(CauseKind.DETOUR, action, EndReason.GOAL, **options)  # type: ignore[arg-type]


DETOUR = problem(
    "ab5 bc5 ac3 cd2 dc2 ce7 ec7", "(at a) (lies x c) (lies y d)", "(has x) (has y) (at c)"
)
WALK = Scripted(always("take x c", "take y d", "go a b", "go b c", "go c d", "go d c"))


def names(found: Minimized) -> set[str]:
    assert found.shown is not None
    return {item.name for item in found.shown.situation.objects}


def walk(facts: frozenset[str], task: Task) -> str | None:
    """Goes by way of b, takes what lies around, and then to c."""
    order = ["take x c", "take y d", "go a b", "go b c"]
    order += ["go d c"] if "(has y)" in facts or "y" not in str(task.source) else ["go c d"]
    return always(*order)(facts, task)


def test_a_detour_is_as_small_as_it_can_be() -> None:
    found = minimized((DOMAIN, DETOUR), Scripted(walk), detour())
    attempt, shown = found.attempt, found.shown
    assert attempt.minimal
    assert attempt.stopped_by is None
    assert attempt.witness is not None
    assert shown is not None
    assert names(found) == {"a", "b", "c"}
    assert attempt.witness.loss_before == 7
    assert attempt.witness.loss_after == 1
    assert attempt.witness.better_actions == ("go a c",)
    assert attempt.witness.after.objects == 3
    assert dict(attempt.witness.mapping) == {"a": "a", "b": "b", "c": "c"}
    assert find_problem(shown.finding, shown.task) == ""
    assert shown.finding.kind is BugKind.TOO_EXPENSIVE


def test_no_single_move_makes_it_smaller() -> None:
    """The result of the result is the result, byte for byte."""
    found = minimized((DOMAIN, DETOUR), Scripted(walk), detour())
    again = minimized((DOMAIN, problem_text(found)), Scripted(walk), detour())
    assert again.attempt.witness is not None
    assert again.attempt.witness.before == again.attempt.witness.after
    assert problem_text(again) == problem_text(found)
    assert again.certificate == found.certificate


def test_02_every_situation_on_the_way_is_sensible() -> None:
    seen: list[Situation] = []
    minimized((DOMAIN, DETOUR), Scripted(walk), detour(), seen=seen)
    assert len(seen) > 5
    assert all(sum(fact[0] == "at" for fact in one.facts) == 1 for one in seen)


def test_09_another_action_of_the_schema_is_another_mistake() -> None:
    """Without x the policy goes to c at once; then it is right."""

    def decide(facts: frozenset[str], task: Task) -> str | None:
        first = "go a b" if "(lies x c)" in facts else "go a c"
        return always(first, "take x c", "go b c")(facts, task)

    text = problem("ab5 bc5 ac3", "(at a) (lies x c)", "(at c)", "a b c - place x - thing")
    found = minimized((DOMAIN, text), Scripted(decide), detour())
    assert "x" in names(found)


def test_09_a_better_action_has_to_survive() -> None:
    """The goal of the moved thing is what makes moving it right."""
    text = problem("ab1 bc1 ac1 ad1 dc1", "(at a) (lies x c)", "(has x)")
    policy = Scripted(always("take x c", "go a b", "go b c"))
    found = minimized((DOMAIN, text), policy, detour())
    assert found.attempt.witness is not None
    assert "go a c" in found.attempt.witness.better_actions
    by_schema = minimized((DOMAIN, text), policy, detour(same=Same.SCHEMA))
    assert by_schema.attempt.same is Same.SCHEMA
    assert by_schema.attempt.witness is not None


def test_10_a_detour_that_would_loop_is_refused() -> None:
    """Without the thing the policy runs in circles: c is needed to stop it."""

    def decide(facts: frozenset[str], task: Task) -> str | None:
        if "(has x)" not in facts and "(lies x c)" not in facts:
            return always("go a b", "go b a")(facts, task)
        return always("take x c", "go a b", "go b c")(facts, task)

    text = problem("ab2 ba2 bc2 ac1", "(at a) (lies x c)", "(at c)", "a b c - place x - thing")
    found = minimized((DOMAIN, text), Scripted(decide), detour())
    assert "x" in names(found)


def test_10_a_dead_end_stays_one() -> None:
    text = problem("ab1 ac1 cd1 bd9", "(at a) (lies x c)", "(has x) (at d)")
    policy = Scripted(always("take x c", "go a b", "go b d", "go c d"))
    mistake = Mistake(CauseKind.DEAD_END, "go a b", EndReason.NO_ACTION)
    found = minimized((DOMAIN, text), policy, mistake)
    assert found.attempt.witness is not None
    assert found.attempt.witness.loss_after is None
    assert "x" in names(found)  # without it the way by b only costs more
    assert found.shown is not None
    assert found.shown.finding.kind is BugKind.FAILS


def test_10_a_later_bad_step_is_refused() -> None:
    """Without y the second half of the run is wrong as well."""

    def decide(facts: frozenset[str], task: Task) -> str | None:
        second = "go c e" if "(lies y d)" not in facts and "(has y)" not in facts else "go c d"
        return always("take y d", "go a b", "go b c", second, "go e d")(facts, task)

    text = problem("ab2 bc2 ac1 cd1 ce4 ed4", "(at a) (lies y d)", "(at d)")
    task = task_of(DOMAIN, text)
    with laboratory(task, DOMAIN, Scripted(decide)) as tools:
        smaller = situation_of(task).without(["y"])
        assert tools.examine(smaller, detour()) is Refusal.LATER_STEP
        anywhere = tools.examine(smaller, detour(rest_is_optimal=False))
        assert isinstance(anywhere, Shown)


def test_11_a_limit_of_a_search_proves_nothing() -> None:
    text = problem("ab1 ac1 cd1 bd9", "(at a) (lies x c)", "(has x) (at d)")
    policy = Scripted(always("take x c", "go a b", "go b d", "go c d"))
    mistake = Mistake(CauseKind.DEAD_END, "go a b", EndReason.NO_ACTION)
    few = minimized((DOMAIN, text), policy, mistake, MinimizeLimits(origin_expansions=1))
    assert few.attempt.witness is None
    assert few.attempt.stopped_by is StoppedBy.SEARCH
    found = minimized((DOMAIN, text), policy, mistake, MinimizeLimits(expansions=1))
    assert not found.attempt.minimal
    assert found.attempt.stopped_by is StoppedBy.SEARCH
    assert found.attempt.witness is not None


class Fragile(Translator):
    """Its process is killed at every second problem."""

    count = 0

    def _started(self) -> subprocess.Popen[bytes]:
        process = super()._started()
        self.count += 1
        if self.count > 1:
            process.kill()
            process.wait()
            self.count = 0
        return process


def test_11_a_translator_that_is_killed_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    text = problem("ab5 bc5 ac3", "(at a)", "(at c)", "a b c d e - place")
    whole = minimized((DOMAIN, text), Scripted(walk), detour())
    assert whole.attempt.minimal
    monkeypatch.setattr(minimizing, "warm_translator", lambda: Fragile(OPTIONS))
    found = minimized((DOMAIN, text), Scripted(walk), detour())
    assert names(found) >= names(whole)
    assert not found.attempt.minimal
    assert found.attempt.stopped_by is StoppedBy.SEARCH


def test_11_a_lack_of_memory_proves_nothing_about_a_smaller_situation() -> None:
    class Large(Scripted):
        def bind(self, task: Task) -> BoundScript:
            if len(task.operators) < 3:
                raise MemoryError
            return BoundScript(self.decide, task)

    text = problem("ab5 bc5 ac3", "(at a)", "(at c)", "a b c d e - place")
    with pytest.raises(MemoryError):
        minimized((DOMAIN, text), Large(walk), detour())


def test_12_a_policy_that_decides_otherwise_when_it_is_bound_again_has_no_witness() -> None:
    """A policy may depend on the task: this one knows where the origin begins."""
    text = problem("ab5 bc5 ac3 da1", "(at a)", "(at c)", "a b c d - place")

    def decide(facts: frozenset[str], task: Task) -> str | None:
        return always("go a c", "go d a")(facts, task)

    found = minimized((DOMAIN, text), Scripted(decide), detour())
    assert found.attempt.witness is None
    assert found.attempt.stopped_by is StoppedBy.REBINDING
    assert found.attempt.reason == (
        "bound to this state as a problem of its own the policy decides (go a c)"
    )


def test_12_each_cause_without_a_witness_has_its_own_reason() -> None:
    class Unbound(Scripted):
        def bind(self, task: Task) -> NoReturn:
            raise ValueError("no such place")

    looping, late = always("go a b", "go b a"), always("go a b", "go b d", "go d c")
    circle = problem("ab5 ba1 bc5 ac3", "(at a)", "(at c)", "a b c - place")
    around = problem("ab5 bc5 bd9 dc9 ac3", "(at a)", "(at c)", "a b c d - place")
    direct = problem("ab1 bc1 ac3", "(at a)", "(at c)", "a b c - place")
    cases = [
        (circle, Scripted(looping), StoppedBy.REBINDING, "the same, but its run ends otherwise"),
        (around, Scripted(late), StoppedBy.REBINDING, "but a later step of its run is bad, too"),
        (direct, WALK, StoppedBy.SEARCH, "that the action is a mistake is not proven"),
        (direct, Unbound(looping), StoppedBy.POLICY, "the policy fails: no such place"),
    ]
    for text, policy, stopped, words in cases:
        found = minimized((DOMAIN, text), policy, detour()).attempt
        assert (found.witness, found.stopped_by) == (None, stopped)
        assert words in found.reason


REBOUND = [
    ("crumbling-temple", "p04", "leap tile-3-1 tile-2-1", (1, 0, 0, 0, 0, 1, 8, 1, 0)),
    ("crumbling-temple", "p06", "walk tile-3-1 tile-4-1", (0, 0, 1, 0, 0, 1, 0, 1, 7, 1, 1, 0)),
    ("workshop", "p06", "dismount drill machine2", (3, 3, 0, 0, 0, 1, 0, 1, 1, 4, 0, 1, 1, 2)),
]
"""Root causes of campaigns on the examples, with the states on the way in which they happen."""


@pytest.mark.parametrize(("name", "number", "action", "state"), REBOUND)
def test_12_networks_of_the_examples_decide_otherwise_in_some_states(
    name: str, number: str, action: str, state: tuple[int, ...]
) -> None:
    folder, task = resource(f"examples/{name}"), example_task(name, number)
    assert task.source is not None
    policy = open_policy(str(folder / "policies" / "policy.pt"), task.source.domain)
    (decision,) = policy.bind(task).decide(np.array([state], np.int32)).tolist()
    assert task.operators[decision].name == action  # as in the campaign
    kind = CauseKind.LOOP if name == "workshop" else CauseKind.DEAD_END
    source = PddlSource(task.source.domain, export_state(task, state, "witness"))
    with warm_translator() as translator:
        text = (folder / "domain.pddl").read_text()
        tools = Laboratory(source, text, policy, translator, TimedLink(NULL_LINK))
        found = minimize_mistake(
            task,
            state,
            Mistake(kind, action, EndReason.LOOP, loses=kind is not CauseKind.LOOP),
            tools,
            limits=MinimizeLimits(),
            tell=lambda *_: None,
        )
    assert found.attempt.stopped_by is StoppedBy.REBINDING
    assert found.attempt.witness is None


def test_13_a_loop_of_free_actions_needs_no_loss() -> None:
    text = problem("ab0 ba0 ac1", "(at a)", "(at c)", "a b c d - place")
    policy = Scripted(always("go a b", "go b a"))
    mistake = Mistake(CauseKind.LOOP, "go a b", EndReason.LOOP, loses=False)
    found = minimized((DOMAIN, text), policy, mistake)
    assert found.attempt.witness is not None
    assert found.attempt.witness.loss_after == 0
    assert names(found) == {"a", "b", "c"}
    assert found.shown is not None
    assert find_problem(found.shown.finding, found.shown.task) == ""


def test_13_no_operation_is_a_loop_without_operator() -> None:
    text = problem("ab1 bc1 cb1", "(at a) (lies x c)", "(has x) (at b)")
    policy = Scripted(lambda *_: WITHOUT_OPERATOR)
    mistake = Mistake(CauseKind.LOOP, "", EndReason.LOOP, loses=False)
    found = minimized((DOMAIN, text), policy, mistake)
    witness, shown = found.attempt.witness, found.shown
    assert witness is not None
    assert (witness.kind, witness.action, witness.after.run) == (CauseKind.LOOP, "", 0)
    assert len(names(found)) == 2
    assert shown is not None
    run = shown.finding.run
    assert (run.reason, run.operators, run.last_decision) == (EndReason.LOOP, (), NO_OPERATION)
    assert find_problem(shown.finding, shown.task) == ""


def test_13_no_operation_is_not_the_loop_of_an_action() -> None:
    """A policy that begins to walk in circles where a place is gone makes another mistake."""
    text = problem("ab1 ba1 bc1 cb1", "(at a) (lies x c)", "(has x) (at b)")

    def decide(facts: frozenset[str], task: Task) -> str | None:
        assert task.source is not None
        if len(task.source.problem.objects) > 3:
            return WITHOUT_OPERATOR
        return always("go a b", "go b a")(facts, task)

    mistake = Mistake(CauseKind.LOOP, "", EndReason.LOOP, loses=False)
    found = minimized((DOMAIN, text), Scripted(decide), mistake)
    assert len(names(found)) > 3
    assert found.attempt.minimal


@pytest.mark.parametrize(
    ("kind", "reason", "answer"),
    [
        (CauseKind.NO_ACTION, EndReason.NO_ACTION, None),
        (CauseKind.FAULT, EndReason.INAPPLICABLE, "nonsense"),
    ],
)
def test_a_policy_that_gives_up_is_minimized_without_an_action(
    kind: CauseKind, reason: EndReason, answer: str | None
) -> None:
    text = problem("ab1 bc1 cb1", "(at a) (lies x c)", "(has x) (at b)")
    found = minimized((DOMAIN, text), Scripted(lambda *_: answer), Mistake(kind, "", reason))
    assert found.attempt.witness is not None
    assert found.attempt.witness.action == ""
    assert found.attempt.witness.after.run == 0
    assert len(names(found)) == 2  # somewhere to go to is all it takes
    assert found.shown is not None
    assert find_problem(found.shown.finding, found.shown.task) == ""


def test_14_unit_costs_leave_no_values() -> None:
    text = problem("ab5 bc5 ac3", "(at a)", "(at c)", "a b c d - place")
    found = minimized((DOMAIN, text), Scripted(walk), detour(), unit_costs=True)
    assert found.certificate is not None
    assert found.certificate.unit_costs
    assert not [item for item in found.certificate.tuples if item[0] == "value"]
    assert found.attempt.witness is not None
    assert found.attempt.witness.loss_after == 1
    assert "length" not in problem_text(found)


def test_a_limit_of_tries_keeps_what_was_reached() -> None:
    few = minimized((DOMAIN, DETOUR), Scripted(walk), detour(), MinimizeLimits(tries=3))
    assert few.attempt.tries == 3
    assert few.attempt.stopped_by is StoppedBy.TRIES
    assert not few.attempt.minimal
    assert few.shown is not None


def test_a_limit_of_time_keeps_what_was_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each problem that the policy sees takes a second; some time is left for better actions."""
    clock, problems = Clock(), set[str]()
    monkeypatch.setattr(link, "time", clock)

    def slow(facts: frozenset[str], task: Task) -> str | None:
        clock.now += task.hash not in problems
        problems.add(task.hash)
        return walk(facts, task)

    found = minimized((DOMAIN, DETOUR), Scripted(slow), detour(), end=6.0)
    assert clock.now == 1 + math.ceil(REDUCING * 5)
    assert found.attempt.stopped_by is StoppedBy.TIME
    assert found.attempt.witness is not None
    assert found.attempt.witness.after.objects < found.attempt.witness.before.objects
    assert found.attempt.witness.better_actions == ("go a c",)
    problems.clear()
    with pytest.raises(LimitReachedError):
        minimized((DOMAIN, DETOUR), Scripted(slow), detour(), end=clock.now + 1)


def test_a_search_ends_with_its_link() -> None:
    """One that would take hours: the limit is not only looked at between two searches."""
    costs = Costs(dials(12, 8, solvable=False), TimedLink(NULL_LINK, time.monotonic() + 0.2), 10**9)
    began = time.process_time()
    with pytest.raises(LimitReachedError):
        assert costs.initial
    assert time.process_time() - began < 5


def test_a_search_that_needs_too_much_memory_proves_nothing() -> None:
    costs = Costs(dials(12, 8, solvable=False), TimedLink(NULL_LINK), 10**9, megabytes=1)
    assert costs.initial is None


def test_better_actions_are_all_of_them_or_there_is_no_witness() -> None:
    """From `b` a plan takes more expansions than from the start, where the direct road is seen."""
    ways = "az5 ab1 bc1 cd1 de1 ez1 ay9 yz1"
    text = problem(ways, "(at a)", "(at z)", "a b c d e x y z - place")

    def decide(facts: frozenset[str], task: Task) -> str | None:
        """All roads have to stay as long as they are."""
        assert task.source is not None
        made = task.source.problem
        if len(made.init) < 9 or sum(item.value for item in made.values) < 20:
            return None
        return always("go a y", "go y z")(facts, task)

    few = MinimizeLimits(expansions=3)
    found = minimized((DOMAIN, text), Scripted(decide), detour("go a y"), few)
    assert found.attempt.witness is not None
    assert set(found.attempt.witness.better_actions) == {"go a b", "go a z"}
    assert "x" not in names(found)
    few = MinimizeLimits(expansions=3, origin_expansions=3)
    found = minimized((DOMAIN, text), Scripted(decide), detour("go a y"), few)
    assert found.shown is None
    assert found.attempt.stopped_by is StoppedBy.SEARCH
    assert "optimal in the smallest problem" in found.attempt.reason


def test_the_loss_may_have_to_stay() -> None:
    found = minimized((DOMAIN, DETOUR), Scripted(walk), detour(same=Same.LOSS))
    assert found.attempt.witness is not None
    assert found.attempt.witness.loss_after == found.attempt.witness.loss_before == 7


def test_a_policy_that_raises_makes_a_candidate_another_one() -> None:
    def decide(facts: frozenset[str], task: Task) -> str | None:
        assert task.source is not None
        if len(task.source.problem.objects) < 4:
            raise RuntimeError("too small for me")
        return walk(facts, task)

    text = problem("ab5 bc5 ac3", "(at a)", "(at c)", "a b c d e - place")
    found = minimized((DOMAIN, text), Scripted(decide), detour())
    assert len(names(found)) == 4
    assert found.attempt.minimal
