"""The training loop: explore with the current policy, ask the teacher, learn, measure.

The loss of a state is minus the logarithm of the probability that the policy gives to right
actions together: which of several right ones it prefers does not matter. States that the
policy visits weigh more. Each epoch draws its random numbers from (seed, epoch) and runs in one
thread, so that the same seed gives the same weights and a resumed training is the same training.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from msgspec import structs

from engine.errors import CancelledError, UsageError
from engine.native.library import Int32Array, Int64Array
from engine.pddl.model import Domain
from engine.policies.asnets.checkpoint import save_checkpoint
from engine.policies.asnets.network import Asnets
from engine.policies.asnets.relatedness import relate
from engine.records.events import (
    EpochFinished,
    ProblemPrepared,
    ProblemSkipped,
    StepFinished,
    TrainingEvent,
    TrainingFinished,
)
from engine.records.training import EpochRecord, TrainingConfig, best_of, stagnation
from engine.task.states import StateTable
from engine.task.task import PddlSource, Task
from engine.training.folder import TrainingFolder, TrainingState
from engine.training.teacher import Teacher, make_teacher
from engine.training.unrolled import FrozenPolicy, LessonBook, UnrolledNetwork
from engine.workers.link import NULL_LINK


@dataclass(frozen=True)
class TrainingResult:
    history: tuple[EpochRecord, ...]
    best: EpochRecord
    folder: TrainingFolder


def train(
    training: Sequence[Task],
    validation: Sequence[Task],
    folder: Path,
    config: TrainingConfig | None = None,
    *,
    resume: bool = False,
    emit: Callable[[TrainingEvent], None] = NULL_LINK.emit,
    cancelled: Callable[[], bool] = NULL_LINK.cancelled,
) -> TrainingResult:
    """Train a network on tasks of one domain and leave it, with all checkpoints, in `folder`."""
    config = config or TrainingConfig()
    domain = _common_domain([*training, *validation])
    target = TrainingFolder(folder)
    target.create(resume)
    with _one_thread():
        loop = _Training(
            domain,
            training,
            validation,
            folder=target,
            config=config,
            emit=emit,
            cancelled=cancelled,
        )
        return loop.run(resume)


def _common_domain(tasks: Sequence[Task]) -> Domain:
    domains = {_source(task).domain for task in tasks}
    if len(domains) != 1:
        raise UsageError(
            "training needs problems of one domain", hint="name one domain and its problems"
        )
    return domains.pop()


def _source(task: Task) -> PddlSource:
    if task.source is None:
        raise UsageError("training needs PDDL files", hint="name a domain and its problems")
    return task.source


def _name(task: Task) -> str:
    problem = _source(task).problem
    return Path(problem.path).name or problem.name


@contextmanager
def _one_thread() -> Iterator[None]:
    """Use one thread: more would add numbers in a different order each time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@dataclass(frozen=True)
class _Exercise:
    """A problem to learn from."""

    unrolled: UnrolledNetwork
    teacher: Teacher
    book: LessonBook


class _Training:
    def __init__(
        self,
        domain: Domain,
        training: Sequence[Task],
        validation: Sequence[Task],
        *,
        folder: TrainingFolder,
        config: TrainingConfig,
        emit: Callable[[TrainingEvent], None],
        cancelled: Callable[[], bool],
    ) -> None:
        self._domain = domain
        self._folder = folder
        self._config = config
        self._emit = emit
        self._cancelled = cancelled
        self._identity = _identity(config, training, validation)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self._network = Asnets(relate(domain), config.hidden, config.layers)
        self._optimizer = torch.optim.AdamW(
            self._network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
        self._exercises = [item for task in training if (item := self._exercise(task)) is not None]
        if not self._exercises:
            raise UsageError(
                "the teacher solves none of the training problems", hint="give smaller problems"
            )
        self._examination = [
            UnrolledNetwork(self._network, task, _source(task)) for task in validation
        ] or [exercise.unrolled for exercise in self._exercises]
        self._history: list[EpochRecord] = []

    def _exercise(self, task: Task) -> _Exercise | None:
        self._look_up()
        teacher = make_teacher(self._config.teacher, task, self._cancelled)
        if teacher is None:
            self._look_up()
            reason = "the teacher did not solve it within its limits"
            self._emit(ProblemSkipped(_name(task), reason))
            return None
        self._emit(ProblemPrepared(_name(task), teacher.method))
        unrolled = UnrolledNetwork(self._network, task, _source(task))
        return _Exercise(unrolled, teacher, LessonBook(unrolled))

    def run(self, resume: bool) -> TrainingResult:
        if resume and (state := self._folder.load(self._identity)) is not None:
            self._restore(state)
        reason = self._reason_to_stop()
        while not reason:
            self._epoch(len(self._history) + 1)
            reason = self._reason_to_stop()
        best = best_of(self._history)
        self._emit(TrainingFinished(str(self._folder.policy), reason))
        return TrainingResult(tuple(self._history), best, self._folder)

    def _reason_to_stop(self) -> str:
        if not self._history:
            return ""
        if (epochs := stagnation(self._history)) >= self._config.patience:
            return f"no better policy and no lower loss in {epochs} epochs"
        if len(self._history) >= self._config.epochs:
            return "all epochs done"
        return ""

    def _epoch(self, epoch: int) -> None:
        random = np.random.default_rng([self._config.seed, epoch])
        self._study(random, first=epoch == 1)
        lessons = sum(len(exercise.book) for exercise in self._exercises)
        if not lessons:
            raise UsageError(
                "there is nothing to learn in the training problems",
                hint="give problems whose goals are not reached from the start",
            )
        loss = self._learn(epoch, random)
        success, cost = self._examine()
        checkpoint = self._folder.checkpoint(epoch)
        record = EpochRecord(epoch, loss, success, cost, lessons, checkpoint.name)
        details = {**structs.asdict(record), "training": self._identity}
        save_checkpoint(checkpoint, self._network, self._domain, details)
        self._history.append(record)
        self._folder.choose(best_of(self._history))
        self._folder.save(self._state())
        self._emit(EpochFinished(structs.replace(record, checkpoint=str(checkpoint))))

    def _study(self, random: np.random.Generator, first: bool) -> None:
        """Explore with the policy and record the teacher's lessons."""
        for exercise in self._exercises:
            self._look_up()
            task, book = exercise.unrolled.task, exercise.book
            if first:
                book.add(exercise.teacher.lessons(np.array([task.init], dtype=np.int32)))
            policy = exercise.unrolled.freeze()
            visited = explore(policy, self._config.walks, self._config.step_limit, random)
            book.add(exercise.teacher.lessons(visited))
            book.visit(visited)

    def _learn(self, epoch: int, random: np.random.Generator) -> float:
        """Some gradient steps, each on lessons of one problem; the mean loss."""
        self._network.train()
        losses = []
        batches = self._batches(random)
        for step in range(1, self._config.steps + 1):
            self._look_up()
            losses.append(self._step(*next(batches)))
            self._emit(StepFinished(epoch, step, self._config.steps))
        return float(np.mean(losses))

    def _batches(self, random: np.random.Generator) -> Iterator[tuple[_Exercise, Int64Array]]:
        """All lessons in random order, again and again."""
        size = self._config.batch
        while True:
            batches = []
            for exercise in self._exercises:
                rows = random.permutation(len(exercise.book))
                batches += [
                    (exercise, rows[start : start + size]) for start in range(0, len(rows), size)
                ]
            for number in random.permutation(len(batches)):
                yield batches[number]

    def _step(self, exercise: _Exercise, rows: Int64Array) -> float:
        truth, right, weights = exercise.book.batch(rows)
        logs = exercise.unrolled.log_probabilities(truth)
        right_logs = logs.masked_fill(~right, -torch.inf).logsumexp(dim=0)
        loss = -(right_logs * weights).sum() / weights.sum()
        if not torch.isfinite(loss):
            raise UsageError("the weights grow without bound", hint="lower the learning rate")
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch leaves it without annotations
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), 1.0)
        self._optimizer.step()
        return float(loss.detach())

    def _examine(self) -> tuple[float, float]:
        """The share of problems that the policy solves, and the mean cost of these runs."""
        costs = []
        for unrolled in self._examination:
            self._look_up()
            cost = run_cost(unrolled.freeze(), self._config.step_limit)
            costs += [] if cost is None else [cost]
        return len(costs) / len(self._examination), float(np.mean(costs)) if costs else 0.0

    def _state(self) -> TrainingState:
        return TrainingState(
            self._identity,
            tuple(self._history),
            self._network.state_dict(),
            self._optimizer.state_dict(),
            [exercise.book.contents() for exercise in self._exercises],
        )

    def _restore(self, state: TrainingState) -> None:
        self._network.load_state_dict(dict(state.network))
        self._optimizer.load_state_dict(dict(state.optimizer))
        if len(state.books) != len(self._exercises):  # it may have less time per problem now
            raise UsageError(
                f"the teacher solved {len(state.books)} problems before, now "
                f"{len(self._exercises)}",
                hint="try again when this machine is less busy, or choose another folder",
            )
        for exercise, contents in zip(self._exercises, state.books, strict=True):
            exercise.book.restore(contents)
        self._history = list(state.history)

    def _look_up(self) -> None:
        if self._cancelled():
            raise CancelledError


def _identity(
    config: TrainingConfig, training: Sequence[Task], validation: Sequence[Task]
) -> dict[str, Any]:
    """Return what identifies a training: all settings but its length."""
    options = structs.asdict(config)
    del options["epochs"], options["patience"]
    return {
        **options,
        "problems": [_name(task) for task in training],
        "validation": [_name(task) for task in validation],
        "tasks": hashlib.sha256(
            "".join(task.hash for task in (*training, *validation)).encode()
        ).hexdigest(),
    }


def run_cost(policy: FrozenPolicy, step_limit: int) -> int | None:
    """What the policy's run from the initial state costs; nothing if it misses the goal."""
    task = policy.task
    table = StateTable(task)
    state = int(table.add(task.init)[0])
    seen: set[int] = set()
    cost = 0
    while not table.is_goal(state)[0]:
        if state in seen or len(seen) == step_limit:
            return None
        seen.add(state)
        operator = int(policy.decide(table.values(state))[0])
        if operator < 0:
            return None
        state = int(table.apply(state, operator)[0])
        cost += task.operators[operator].cost
    return cost


def explore(
    policy: FrozenPolicy, walks: int, step_limit: int, random: np.random.Generator
) -> Int32Array:
    """All states met, one row for each visit: the first walk is greedy, the others drawn."""
    task = policy.task
    table = StateTable(task)
    at = np.repeat(table.add(task.init), walks)
    seen: set[int] = set()
    met = []
    greedy = np.arange(walks) == 0
    for _ in range(step_limit):
        on_the_way = ~table.is_goal(at)
        if greedy[0]:
            on_the_way[0] &= int(at[0]) not in seen
            seen.add(int(at[0]))
        at, greedy = at[on_the_way], greedy[on_the_way]
        if not len(at):
            break
        states = table.values(at)
        met.append(states)
        operators = policy.sample(states, random.random(len(at)))
        if greedy[0]:
            operators[0] = policy.decide(states[:1])[0]
        chosen = operators >= 0
        at, greedy = table.apply(at[chosen], operators[chosen]), greedy[chosen]
        if not len(at):
            break
    return np.concatenate(met) if met else np.empty((0, len(task.variables)), np.int32)
