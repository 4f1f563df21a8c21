"""Claims about runs: a policy is asked again whether it takes them.

A network and a built-in policy are asked as the workspace keeps them, so another answer makes the
claim false. A plug-in and a server are asked where they are, and only with the user's consent: one
is a program, the other an address, and a workspace may come from an untrusted author. They may have
changed since, so a different answer of theirs decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np

from engine.errors import CancelledError, PlumblineError, PolicyLostError
from engine.files import read_bytes
from engine.policies.consent import Consent
from engine.policies.policy import NO_ACTION, NO_OPERATION, BoundPolicy, Probabilistic, bound_policy
from engine.records.evidence import State
from engine.records.finding import NO_DECISION, EndReason, Finding, RunOutcome
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.records.verification import HOLDS, PolicyAnswer, Verdict, false, undecided
from engine.task.task import Task
from engine.task.unpacked import unpack_inputs
from engine.verify.claims import find_end_problem
from engine.verify.semantics import is_applicable, is_goal, successor
from engine.workers.link import NULL_LINK, Link
from engine.workspace.rows import PoolRow

AT_ONCE = 256
"""States in one question: a run may be long, and a network may need much memory for each."""
QUESTIONS = 200_000
"""States that the policy of a unit is asked about."""
MAX_ERRORS_IN_A_ROW = 3
"""A program that failed on this number of single states is not asked again."""
ROUNDING = 1e-5
"""Probabilities this close count as equal, because another machine may add in another order."""


@contextmanager
def opened_policy(
    policy: PolicyInput,
    problem: ProblemInput,
    task: Task,
    seed: int,
    *,
    consent: Consent,
    link: Link = NULL_LINK,
) -> Iterator[Decisions | str]:
    """The policy of a unit as it was tested, or why it cannot be asked."""
    if objection := _objection(policy, consent):
        yield objection
        return
    with ExitStack() as opened:
        files = opened.enter_context(unpack_inputs(problem, policy))
        decisions: Decisions | str
        try:
            bound = opened.enter_context(bound_policy(files.policy_spec, task, seed))
            is_own = not PolicySpec.parse(policy.spec).needs_consent
            decisions = Decisions(bound, task, is_own, link)
        except PlumblineError as error:
            decisions = files.original(str(error))
        yield decisions


def _objection(policy: PolicyInput, consent: Consent) -> str:
    """Why a policy may not be asked; empty if it may."""
    spec = PolicySpec.parse(policy.spec)
    if spec.path is not None and policy.file is None:
        return "its file is not in the workspace"
    try:
        if (
            spec.kind is SpecKind.PLUGIN
            and policy.file is not None
            and _content(spec.place) != policy.file.sha256
        ):
            return f"{spec.place} has changed since"
    except PlumblineError as error:
        return str(error)
    return consent.objection(policy.spec)


def _content(path: str) -> str:
    return File(path, read_bytes(path, "a plug-in"), path).sha256


@dataclass(frozen=True, slots=True)
class Walked:
    """A policy's run: its states, its cost, and how it ends.

    The reason is NONE if that is not known, because it was not asked far enough.
    """

    states: tuple[State, ...]
    costs: tuple[int, ...]  # so far, per state
    outcome: RunOutcome
    reason: EndReason


class Decisions:
    """What a policy does in the states of one task; it is asked about each of them once."""

    def __init__(self, policy: BoundPolicy, task: Task, is_own: bool, link: Link) -> None:
        self.task, self.is_own = task, is_own
        self.error = ""  # what it said when it failed last
        self._policy, self._link = policy, link
        self._known: dict[State, int | None] = {}  # None: it failed there
        self._errors = 0  # in a row
        self._is_lost = False

    def ask(self, states: Iterable[State]) -> None:
        new = [state for state in dict.fromkeys(states) if state not in self._known]
        for begin in range(0, len(new), AT_ONCE):
            self._link.check()
            self._ask(new[begin : begin + AT_ONCE])

    def of(self, state: State) -> int | None:
        """An operator, NO_ACTION, NO_OPERATION, or NO_DECISION if it cannot be executed.

        None: the policy failed, or was not asked.
        """
        return self._known.get(state)

    def is_close(self, states: Sequence[State]) -> bool:
        """Whether rounding alone may decide between two operators in one of these states."""
        if not isinstance(self._policy, Probabilistic) or len(self.task.operators) < 2:
            return False
        for begin in range(0, len(states), AT_ONCE):
            chunk = np.array(states[begin : begin + AT_ONCE], np.int32)
            best = np.sort(self._policy.distribution(chunk), axis=1)[:, -2:]
            if (best[:, 1] - best[:, 0] <= ROUNDING).any():
                return True
        return False

    def follow(self, starts: Iterable[State]) -> None:
        """Ask along the runs from many states at a time, as far as the number of questions goes."""
        front = {state for state in starts if not is_goal(self.task, state)}
        while front and len(self._known) < QUESTIONS:
            new = [state for state in front if state not in self._known]
            self.ask(new)
            front = {
                following
                for state in new
                if (following := self._next(state)) is not None
                and following not in self._known
                and not is_goal(self.task, following)
            }

    def walk(self, start: State) -> Walked:
        """The run from a state, as far as the policy was asked."""
        states, costs, seen = [start], [0], {start}
        while not is_goal(self.task, states[-1]):
            decision = self._known.get(states[-1])
            following = self._next(states[-1])
            if following is None:
                outcome, reason = _ending(decision, states[-1] in self._known)
                return Walked(tuple(states), tuple(costs), outcome, reason)
            assert decision is not None
            if following in seen:
                return Walked(tuple(states), tuple(costs), RunOutcome.FAILED, EndReason.LOOP)
            seen.add(following)
            states.append(following)
            costs.append(costs[-1] + self.task.operators[decision].cost)
        return Walked(tuple(states), tuple(costs), RunOutcome.SOLVED, EndReason.GOAL)

    def _next(self, state: State) -> State | None:
        decision = self._known.get(state)
        if decision is None or decision < 0:
            return None
        return successor(self.task, self.task.operators[decision], state)

    def _ask(self, states: Sequence[State]) -> None:
        if self._is_lost or (not self.is_own and self._errors >= MAX_ERRORS_IN_A_ROW):
            return
        try:
            answers = self._answers(states)
        except CancelledError:
            raise
        except PolicyLostError as error:
            self._is_lost, self.error = True, str(error)
        except Exception as error:
            if len(states) == 1:
                self._errors += 1
                self.error = str(error) or type(error).__name__
                self._known[states[0]] = None
                return
            for state in states:
                self._ask([state])
        else:
            self._errors = 0
            self._known.update(zip(states, answers, strict=True))

    def _answers(self, states: Sequence[State]) -> list[int]:
        answers = np.asarray(self._policy.decide(np.array(states, np.int32)))
        if answers.shape != (len(states),) or not np.issubdtype(answers.dtype, np.integer):
            raise ValueError(f"it answered with {answers.dtype} of shape {answers.shape}")
        return [
            self._checked(state, answer)
            for state, answer in zip(states, answers.tolist(), strict=True)
        ]

    def _checked(self, state: State, answer: int) -> int:
        if answer in (NO_ACTION, NO_OPERATION):
            return answer
        possible = 0 <= answer < len(self.task.operators)
        if possible and is_applicable(self.task.operators[answer], state):
            return answer
        return NO_DECISION


def _ending(decision: int | None, was_asked: bool) -> tuple[RunOutcome, EndReason]:
    if decision is None:
        reason = EndReason.POLICY_ERROR if was_asked else EndReason.NONE
        return RunOutcome.ABORTED, reason
    reasons = {NO_ACTION: EndReason.NO_ACTION, NO_OPERATION: EndReason.LOOP}
    return RunOutcome.FAILED, reasons.get(decision, EndReason.INAPPLICABLE)


def check_run(
    decisions: Decisions | str, finding: Finding, step_limit: int = 0
) -> tuple[Verdict, PolicyAnswer]:
    """Whether a policy takes the run of a finding, which can be replayed on the task.

    A run that was stopped at a limit has at least `step_limit` steps.
    """
    if isinstance(decisions, str):
        return _not_asked(decisions)
    states, expected = _steps(finding, decisions.task)
    decisions.ask(states)
    for step, (state, was) in enumerate(zip(states, expected, strict=True), 1):
        now = decisions.of(state)
        if now == was:
            continue
        if now is None:
            return _not_asked(f"it failed: {decisions.error}")
        if decisions.is_close([state]):
            return undecided(f"in step {step} it rates two actions equally"), PolicyAnswer.SAME
        words = f"{_words(now, decisions.task)} instead of {_words(was, decisions.task)}"
        return _other(decisions, f"in step {step} it chooses {words}")
    return _check_end(decisions, finding, step_limit), PolicyAnswer.SAME


def _check_end(decisions: Decisions, finding: Finding, step_limit: int) -> Verdict:
    """Whether a run that takes the policy's steps was stopped where it says."""
    if finding.run.reason is EndReason.POLICY_ERROR:
        return _fails_there(decisions, _last_state(finding, decisions.task))
    taken = len(finding.run.operators)
    if finding.run.reason is EndReason.STEP_LIMIT and taken < step_limit and decisions.is_own:
        return false(f"it was stopped after {taken} steps, but the limit is {step_limit}")
    return HOLDS


def _not_asked(reason: str) -> tuple[Verdict, PolicyAnswer]:
    return undecided(f"the policy was not asked: {reason}"), PolicyAnswer.NOT_ASKED


def _other(decisions: Decisions, difference: str) -> tuple[Verdict, PolicyAnswer]:
    if decisions.is_own:
        return false(f"the policy runs differently: {difference}"), PolicyAnswer.OTHER
    reason = f"the policy now runs differently: {difference}"
    return undecided(reason), PolicyAnswer.OTHER


def _steps(finding: Finding, task: Task) -> tuple[list[State], list[int]]:
    """The states in which the policy decided, and how."""
    states, decisions = [finding.state], list(finding.run.operators)
    for operator in finding.run.operators:
        states.append(successor(task, task.operators[operator], states[-1]))
    if finding.run.outcome is RunOutcome.FAILED:
        decisions.append(finding.run.last_decision)
    return states[: len(decisions)], decisions


def _last_state(finding: Finding, task: Task) -> State:
    state = finding.state
    for operator in finding.run.operators:
        state = successor(task, task.operators[operator], state)
    return state


def _fails_there(decisions: Decisions, state: State) -> Verdict:
    """Check that the policy still fails in a state; if not, decide nothing."""
    decisions.ask([state])
    if decisions.of(state) is None:
        return HOLDS
    return undecided("the policy no longer fails where its run was stopped")


def _words(decision: int, task: Task) -> str:
    others = {NO_ACTION: "nothing", NO_OPERATION: "an action without effect"}
    if decision >= 0:
        return f"({task.operators[decision].name})"
    return others.get(decision, "an inapplicable action")


def check_pool_run(decisions: Decisions | None, row: PoolRow, step_limit: int) -> Verdict:
    """Check a claimed run from a pool state; `decisions` were followed from it."""
    if (row.outcome, row.reason, row.policy_cost) == (None, None, None):
        return HOLDS  # nothing is claimed
    if problem := find_end_problem(row.outcome, row.reason, row.policy_cost):
        return false(problem)
    if decisions is None:
        return undecided("the policy was not asked")
    walked = decisions.walk(row.state)
    if row.outcome == RunOutcome.ABORTED:
        return _check_stopped(decisions, walked, row, step_limit)
    cost = walked.costs[-1] if walked.outcome is RunOutcome.SOLVED else None
    if (walked.outcome, walked.reason, cost) == (row.outcome, row.reason, row.policy_cost):
        return HOLDS
    return _differs(decisions, walked, row)


def check_actions_taken(decisions: Decisions, start: State, actions: Sequence[str]) -> Verdict:
    """Check the names of the actions of a run that holds otherwise."""
    states = decisions.walk(start).states[:-1]
    taken = [_words(decisions.of(state) or 0, decisions.task) for state in states]
    if taken == list(actions):
        return HOLDS
    if decisions.is_close(states):
        return undecided("the policy rates two actions equally on its run")
    return _other(decisions, "its actions are not those that are stored")[0]


def _check_stopped(decisions: Decisions, walked: Walked, row: PoolRow, step_limit: int) -> Verdict:
    """A run that was stopped at a limit of its steps, or because the policy failed."""
    if row.reason == EndReason.POLICY_ERROR:
        if walked.reason is EndReason.POLICY_ERROR and walked.costs[-1] == row.policy_cost:
            return HOLDS
        return undecided("the policy no longer fails where its run was stopped")
    if row.policy_cost in walked.costs[step_limit:]:
        return HOLDS
    return _differs(decisions, walked, row)


def _differs(decisions: Decisions, walked: Walked, row: PoolRow) -> Verdict:
    if walked.reason is EndReason.POLICY_ERROR:
        return undecided(f"the policy failed: {decisions.error}")
    if walked.reason is EndReason.NONE:
        return undecided("its run is too long to repeat")
    if decisions.is_close(walked.states[:-1]):
        return undecided("the policy rates two actions equally on its run")
    cost = walked.costs[-1] if walked.outcome is RunOutcome.SOLVED else None
    said = _result(row.outcome or "", row.reason or "", row.policy_cost)
    found = _result(walked.outcome, walked.reason, cost)
    if decisions.is_own:
        return false(f"the stored run is {said}, but the policy's run is {found}")
    return undecided(f"the run was {said}, and now it is {found}")


def _result(outcome: str, reason: str, cost: int | None) -> str:
    return f"{outcome} ({reason})" if cost is None else f"{outcome} ({reason}) at cost {cost}"
