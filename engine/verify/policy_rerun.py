"""Asks the policy of a bug again: does it still take the stored run?

The proof of a bug needs no policy, so whatever comes of this, the bug stays one. A network is
asked as the workspace keeps it. A plug-in and a server are asked where they are, and only with
the user's consent: one is a program, the other an address, and a workspace may come from anybody.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from enum import Enum

from engine.errors import PlumblineError
from engine.files import read_bytes
from engine.policies.consent import Consent
from engine.policies.policy import NO_ACTION, NO_OPERATION, close_policy, open_policy
from engine.policies.run_graph import UNDECIDED
from engine.policies.runs import PolicyRuns
from engine.records.evidence import State
from engine.records.finding import EndReason
from engine.records.inputs import File, PolicyInput
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.task.states import StateTable
from engine.task.successors import successor
from engine.task.task import Task
from engine.task.unpacked import unpack_inputs
from engine.verify.claims import FAILED
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import Bug

AT_ONCE = 256
"""States in one question: a run may be long, and a network may need much memory for each."""


class RerunAnswer(Enum):
    SAME = "the policy still takes this run"
    OTHER = "the policy no longer takes this run"
    NOT_ASKED = "the policy was not asked"


@dataclass(frozen=True, slots=True)
class PolicyReply:
    answer: RerunAnswer
    reason: str = ""

    @property
    def is_other(self) -> bool:
        return self.answer is RerunAnswer.OTHER

    def __str__(self) -> str:
        return f"{self.answer.value}: {self.reason}" if self.reason else self.answer.value


class PolicyRerun:
    """The policy of one unit at a time: ask about the bugs of a unit one after the other."""

    def __init__(self, store: WorkspaceReader, consent: Consent) -> None:
        self._store, self._consent = store, consent
        self._unit: int | None = None
        self._runs: PolicyRuns | str = ""
        self._opened = ExitStack()

    def close(self) -> None:
        """Let go of the policy that was asked last."""
        self._opened.close()

    def ask(self, bug: Bug, task: Task) -> PolicyReply:
        """About a bug whose stored run can be replayed on this task."""
        if bug.row.unit != self._unit:
            self.close()
            self._unit, self._runs = bug.row.unit, self._open(bug, task)
        if isinstance(self._runs, str):
            return PolicyReply(RerunAnswer.NOT_ASKED, self._runs)
        return _reply(self._runs, bug)

    def _open(self, bug: Bug, task: Task) -> PolicyRuns | str:
        """The policy as it was tested, or why it cannot be asked."""
        try:
            source = self._store.policy(bug.policy_id)
            if objection := self._objection(source):
                return objection
            files = self._opened.enter_context(
                unpack_inputs(self._store.problem(bug.problem_id), source)
            )
            domain = task.source.domain if task.source else None
            policy = open_policy(files.policy_spec, domain, bug.row.seed)
            self._opened.callback(close_policy, policy)
            bound = policy.bind(task)
            self._opened.callback(close_policy, bound)
        except PlumblineError as error:
            return str(error)
        return PolicyRuns(bound, StateTable(task))

    def _objection(self, policy: PolicyInput) -> str:
        if not policy.is_external:
            return ""
        spec = PolicySpec.parse(policy.spec)
        if spec.kind is SpecKind.PLUGIN and (
            policy.file is None or _content(spec.place) != policy.file.sha256
        ):
            return f"{spec.place} has changed since"
        return self._consent.objection(policy.spec)


def _content(path: str) -> str:
    return File(path, read_bytes(path, "a plug-in"), path).sha256


def _reply(runs: PolicyRuns, bug: Bug) -> PolicyReply:
    """The first step that the policy would not take, if there is one."""
    task = runs.table.task
    states, expected = _steps(bug, task)
    for begin in range(0, len(expected), AT_ONCE):
        ids = runs.table.add(states[begin : begin + AT_ONCE])
        decisions = runs.decisions(ids).tolist()
        then = expected[begin : begin + AT_ONCE]
        for step, (state, was, now) in enumerate(zip(ids, then, decisions, strict=True), begin + 1):
            if now == UNDECIDED and runs.known(state).reason[0] != EndReason.INAPPLICABLE:
                return PolicyReply(
                    RerunAnswer.NOT_ASKED, f"it failed: {runs.statistics.errors[-1]}"
                )
            if was != now:
                words = f"{_words(now, task)} instead of {_words(was, task)}"
                return PolicyReply(RerunAnswer.OTHER, f"in step {step} it chooses {words}")
    return PolicyReply(RerunAnswer.SAME)


def _steps(bug: Bug, task: Task) -> tuple[list[State], list[int]]:
    """The states in which the policy decided, and how."""
    states, decisions = [bug.finding.state], list(bug.finding.run.operators)
    for operator in bug.finding.run.operators:
        states.append(successor(task.operators[operator], states[-1]))
    if bug.finding.run.outcome == FAILED:
        decisions.append(bug.finding.run.last_decision)
    return states[: len(decisions)], decisions


def _words(decision: int, task: Task) -> str:
    others = {NO_ACTION: "nothing", NO_OPERATION: "an action without effect"}
    if decision >= 0:
        return f"({task.operators[decision].name})"
    return others.get(decision, "what is not applicable")
