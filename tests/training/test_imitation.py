import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from msgspec import structs

from engine.errors import CancelledError, DiskError, UsageError
from engine.policies.asnets.checkpoint import save_checkpoint
from engine.policies.asnets.network import Asnets
from engine.policies.asnets.policy import TIE_TOLERANCE
from engine.policies.asnets.relatedness import relate
from engine.policies.policy import open_policy
from engine.records.events import (
    EpochFinished,
    ProblemPrepared,
    ProblemSkipped,
    StepFinished,
    TrainingEvent,
    TrainingFinished,
)
from engine.records.training import TeacherKind, TrainingConfig, stagnation
from engine.search.exhaustive import hstar_all
from engine.search.forward import search
from engine.task.load import load_task
from engine.task.states import StateTable
from engine.task.successors import applicable_operators, is_goal, successor
from engine.task.task import Task
from engine.training import teacher as teachers
from engine.training.imitation import explore, run_cost, train
from engine.training.teacher import Lesson, make_teacher
from engine.training.unrolled import FrozenPolicy, LessonBook, UnrolledNetwork

DOMAIN = """
(define (domain lamps) (:requirements :strips :typing)
  (:types place)
  (:predicates (path ?from ?to - place) (here ?p - place) (dark ?p - place) (lit ?p - place))
  (:action walk :parameters (?from ?to - place)
    :precondition (and (here ?from) (path ?from ?to))
    :effect (and (here ?to) (not (here ?from))))
  (:action kindle :parameters (?p - place)
    :precondition (and (here ?p) (dark ?p))
    :effect (and (lit ?p) (not (dark ?p)))))
"""
QUICK = TrainingConfig(hidden=4, layers=1, epochs=3, steps=6, batch=16, walks=3, step_limit=20)


def problem(places: int, wanted: list[int], one_way: bool = False) -> str:
    names = [f"p{number}" for number in range(places)]
    steps = list(itertools.pairwise(names))
    paths = steps if one_way else steps + [(b, a) for a, b in steps]
    facts = [f"(path {a} {b})" for a, b in paths]
    facts += [f"(dark {name})" for name in names]
    goal = " ".join(f"(lit p{number})" for number in wanted)
    return (
        f"(define (problem row) (:domain lamps) (:objects {' '.join(names)} - place)"
        f"(:init (here p1) {' '.join(facts)}) (:goal (and {goal})))"
    )


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def make_task(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Task]:
    folder = tmp_path_factory.mktemp("lamps")
    (folder / "domain.pddl").write_text(DOMAIN)
    made: dict[str, Task] = {}

    def make(places: int, wanted: list[int], one_way: bool = False) -> Task:
        text = problem(places, wanted, one_way)
        if text not in made:
            path = folder / f"p{len(made)}.pddl"
            path.write_text(text)
            made[text] = load_task(folder / "domain.pddl", path)
        return made[text]

    return make


@pytest.fixture(scope="module")
def short(make_task) -> Task:
    return make_task(3, [0, 2])


@pytest.fixture(scope="module")
def long(make_task) -> Task:
    return make_task(4, [0, 3])


def weights(path: Path) -> dict[str, torch.Tensor]:
    return torch.load(path, weights_only=True)["state_dict"]


def same_weights(first: Path, second: Path) -> bool:
    one, other = weights(first), weights(second)
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


def reachable(task: Task) -> np.ndarray:
    table, _ = hstar_all(task)
    return table.values(range(len(table)))


# Teachers.


def right_by_search(task: Task, state: tuple[int, ...]) -> tuple[int, ...]:
    """The optimal operators of a state, found by searching from it and from its successors."""
    best = search(task, state=state).cost
    right = []
    for number in applicable_operators(task, state):
        operator = task.operators[number]
        rest = search(task, state=successor(task, operator, state)).cost
        if rest is not None and operator.cost + rest == best:
            right.append(number)
    return tuple(right)


def test_every_optimal_operator_is_right(short: Task) -> None:
    teacher = make_teacher(TeacherKind.OPTIMAL, short)
    states = reachable(short)
    lessons = {lesson.state: lesson.right for lesson in teacher.lessons(states)}
    wanted = {
        state: right_by_search(short, state)
        for state in map(tuple, states.tolist())
        if not is_goal(short, state)
    }
    assert lessons == wanted
    assert any(len(right) > 1 for right in wanted.values())


def follow(task: Task, lessons: list[Lesson], state: tuple[int, ...]) -> int:
    """The steps to the goal when each lesson's first operator is followed."""
    right = {lesson.state: lesson.right for lesson in lessons}
    for step in range(len(right) + 1):
        if is_goal(task, state):
            return step
        state = successor(task, task.operators[right[state][0]], state)
    raise AssertionError("the lessons lead in a circle")


def test_lessons_lead_all_the_way_to_the_goal(short: Task) -> None:
    teacher = make_teacher(TeacherKind.OPTIMAL, short)
    lessons = teacher.lessons(np.array([short.init], dtype=np.int32))
    assert follow(short, lessons, short.init) == search(short).cost


def test_free_actions_do_not_lead_in_circles(short: Task) -> None:
    free = replace(
        short,
        operators=tuple(
            replace(operator, cost=0 if operator.name.startswith("walk") else 1)
            for operator in short.operators
        ),
        has_costs=True,
    )
    teacher = make_teacher(TeacherKind.OPTIMAL, free)
    for state in map(tuple, reachable(free).tolist()):
        lessons = teacher.lessons(np.array([state], dtype=np.int32))
        if is_goal(free, state):
            continue
        steps = follow(free, lessons, state)
        unit = search(short, state=state).cost
        assert steps == unit


def test_free_actions_beside_expensive_ones(short: Task) -> None:
    operators = tuple(
        replace(operator, cost=0 if operator.name.startswith("walk") else 2**31 - 1)
        for operator in short.operators
    )
    teacher = make_teacher(TeacherKind.OPTIMAL, replace(short, operators=operators))
    lessons = teacher.lessons(np.array([short.init], dtype=np.int32))
    assert follow(short, lessons, short.init) == search(short).cost


@pytest.mark.parametrize("kind", list(TeacherKind))
def test_teachers_that_plan(kind: TeacherKind, long: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teachers, "TABLE_STATES", 2)
    teacher = make_teacher(kind, long)
    assert teacher.method.startswith("plans of")
    states = reachable(long)[:6]
    lessons = teacher.lessons(states)
    for state in map(tuple, states.tolist()):
        if not is_goal(long, state):
            steps = follow(long, lessons, state)
            if kind is TeacherKind.OPTIMAL:
                assert steps == search(long, state=state).cost
    assert teacher.lessons(states) == lessons


def test_a_planning_teacher_has_limits_and_forgets_nothing(
    long: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teachers, "PLANS_PER_REQUEST", 2)
    asked = []

    def plan(state: tuple[int, ...]) -> tuple[int, ...] | None:
        asked.append(state)
        return search(long, state=state).plan

    teacher = teachers.PlanTeacher("a test", long, plan)
    states = reachable(long)
    for _ in range(200):
        teacher.lessons(states)
    open_states = [state for state in map(tuple, states.tolist()) if not is_goal(long, state)]
    assert len(asked) == len(set(asked)) <= len(open_states)
    assert len(teacher.lessons(states)) == len(open_states)


def test_plans_that_visit_a_state_twice(short: Task) -> None:
    there, back = short.operator_index["walk p1 p0"], short.operator_index["walk p0 p1"]
    best = search(short).plan
    teacher = teachers.PlanTeacher("a test", short, lambda state: (there, back, *best))
    lessons = teacher.lessons(np.array([short.init], dtype=np.int32))
    assert follow(short, lessons, short.init) == len(best)


def test_nothing_can_be_learned_about_dead_ends(make_task) -> None:
    one_way = make_task(3, [1, 2], one_way=True)
    teacher = make_teacher(TeacherKind.OPTIMAL, one_way)
    states = reachable(one_way)
    taught = {lesson.state for lesson in teacher.lessons(states)}
    dead = [s for s in map(tuple, states.tolist()) if search(one_way, state=s).plan is None]
    assert dead
    assert taught.isdisjoint(dead)


def test_a_task_the_teacher_cannot_solve(make_task) -> None:
    hopeless = make_task(3, [0], one_way=True)
    assert make_teacher(TeacherKind.OPTIMAL, hopeless) is None


# The network in training.


@pytest.fixture
def unrolled(long: Task) -> UnrolledNetwork:
    torch.manual_seed(3)
    network = Asnets(relate(long.source.domain), 4, 2)
    return UnrolledNetwork(network, long, long.source)


@torch.inference_mode()
def test_it_decides_what_it_finds_most_probable(unrolled: UnrolledNetwork) -> None:
    states = reachable(unrolled.task)
    decisions = unrolled.freeze().decide(states)
    logs = unrolled.log_probabilities(unrolled.truth(states))
    for decision, column in zip(decisions.tolist(), logs.T, strict=True):
        (place,) = unrolled.places([decision])
        assert column[place] >= column.max() - 2 * TIE_TOLERANCE
    assert len(set(decisions.tolist())) > 2


def test_it_decides_as_the_finished_policy_will(unrolled: UnrolledNetwork, tmp_path: Path) -> None:
    states = reachable(unrolled.task)
    save_checkpoint(tmp_path / "p.pt", unrolled.network, unrolled.task.source.domain)
    bound = open_policy(str(tmp_path / "p.pt")).bind(unrolled.task)
    assert unrolled.freeze().decide(states).tolist() == bound.decide(states).tolist()


@torch.inference_mode()
def test_it_draws_from_its_distribution(unrolled: UnrolledNetwork) -> None:
    state = np.array([unrolled.task.init], dtype=np.int32)
    logs = unrolled.log_probabilities(unrolled.truth(state))[:, 0]
    wanted = np.zeros(len(unrolled.task.operators))
    for operator in range(len(wanted)):
        for place in unrolled.places([operator]):
            wanted[operator] = logs[place].exp()
    numbers = (np.arange(2000) + 0.5) / 2000
    policy = unrolled.freeze()
    drawn = policy.sample(np.repeat(state, 2000, axis=0), numbers)
    shares = np.bincount(drawn, minlength=len(wanted)) / 2000
    assert np.abs(shares - wanted).max() < 2e-3
    assert policy.sample(state, np.array([0.9999999]))[0] >= 0


def test_walks_stay_in_the_task(unrolled: UnrolledNetwork) -> None:
    states = explore(unrolled.freeze(), 4, 15, np.random.default_rng(1))
    table = StateTable(unrolled.task)
    table.add(reachable(unrolled.task))
    assert (table.find(states) >= 0).all()
    assert not table.is_goal(table.find(states)).any()
    assert (states[:4] == unrolled.task.init).all()
    assert len(states) <= 4 * 15


def test_the_cost_of_a_run(unrolled: UnrolledNetwork) -> None:
    task = unrolled.task
    plan = search(task).plan
    steps: dict[tuple[int, ...], int] = {}
    state = task.init
    for operator in plan:
        steps[state] = operator
        state = successor(task, task.operators[operator], state)

    class Planned(FrozenPolicy):
        def decide(self, states: np.ndarray) -> np.ndarray:
            return np.array([steps[tuple(state)] for state in states.tolist()], dtype=np.int32)

    policy = Planned(task, None, None, None)
    assert run_cost(policy, 100) == search(task).cost
    assert run_cost(policy, len(plan)) == search(task).cost
    assert run_cost(policy, len(plan) - 1) is None
    steps[task.init] = -1
    assert run_cost(policy, 100) is None
    steps[task.init] = task.operator_index["walk p1 p0"]
    after = successor(task, task.operators[steps[task.init]], task.init)
    steps[after] = task.operator_index["walk p0 p1"]
    assert run_cost(policy, 100) is None


def test_lesson_books(unrolled: UnrolledNetwork) -> None:
    teacher = make_teacher(TeacherKind.OPTIMAL, unrolled.task)
    lessons = teacher.lessons(reachable(unrolled.task))
    book = LessonBook(unrolled)
    book.add(lessons)
    book.add(lessons[:3])
    assert len(book) == len(lessons)
    visited = np.array([lessons[1].state] * 2 + [lessons[2].state] * 99, dtype=np.int32)
    book.visit(visited)
    truth, right, weight = book.batch(np.array([0, 1, 2]))
    assert truth.shape[1] == 3
    assert weight.tolist() == [1.0, 3.0, 5.0]
    names = [
        {unrolled.task.operators[operator].name for operator in lesson.right}
        for lesson in lessons[:3]
    ]
    assert [int(column.sum()) for column in right.t()] == [len(group) for group in names]
    twin = LessonBook(unrolled)
    twin.restore(book.contents())
    for ours, theirs in zip(book.batch(np.arange(9)), twin.batch(np.arange(9)), strict=True):
        assert torch.equal(ours, theirs)
    twin.add(lessons)
    assert len(twin) == len(book)


# Whole trainings.


def test_a_trained_policy_solves_its_problems(short: Task, long: Task, tmp_path: Path) -> None:
    events: list[TrainingEvent] = []
    config = structs.replace(QUICK, hidden=8, epochs=8, steps=25, learning_rate=0.02, patience=2)
    result = train([short], [short, long], tmp_path / "out", config, emit=events.append)
    assert result.best.success == 1.0
    policy = open_policy(str(result.folder.policy), short.source.domain)
    assert same_weights(result.folder.policy, result.folder.checkpoints / result.best.checkpoint)
    for task in (short, long):
        bound, state, steps = policy.bind(task), task.init, 0
        while not is_goal(task, state):
            operator = int(bound.decide(np.array([state], dtype=np.int32))[0])
            state = successor(task, task.operators[operator], state)
            steps += 1
            assert steps < 20
    files = sorted(path.name for path in result.folder.checkpoints.iterdir())
    assert files == [record.checkpoint for record in result.history]
    kinds = [type(event) for event in events if not isinstance(event, StepFinished)]
    assert kinds == [ProblemPrepared, *[EpochFinished] * len(files), TrainingFinished]
    epochs = [event for event in events if isinstance(event, EpochFinished)]
    assert [Path(event.record.checkpoint).name for event in epochs] == files
    assert epochs[-1].record.loss < epochs[0].record.loss


def test_one_seed_one_result(short: Task, long: Task, tmp_path: Path) -> None:
    state_before = torch.get_rng_state()
    first = train([short, long], [], tmp_path / "first", QUICK)
    torch.manual_seed(99)
    np.random.seed(5)
    second = train([short, long], [], tmp_path / "second", QUICK)
    other = train([short, long], [], tmp_path / "other", structs.replace(QUICK, seed=1))
    assert first.history == second.history
    last = first.folder.checkpoint(3).name
    checkpoints = [result.folder.checkpoints / last for result in (first, second, other)]
    assert same_weights(checkpoints[0], checkpoints[1])
    assert not same_weights(checkpoints[0], checkpoints[2])
    torch.set_rng_state(state_before)
    train([short], [], tmp_path / "rng", structs.replace(QUICK, epochs=1))
    assert torch.equal(torch.get_rng_state(), state_before)


def test_a_resumed_training_equals_one_in_one_go(short: Task, long: Task, tmp_path: Path) -> None:
    whole = train([short, long], [long], tmp_path / "whole", structs.replace(QUICK, epochs=4))
    train([short, long], [long], tmp_path / "parts", structs.replace(QUICK, epochs=2))

    def interrupt(event: TrainingEvent) -> None:
        nonlocal stop
        stop = isinstance(event, StepFinished) and event.epoch == 4 and event.step == 3

    stop = False
    config = structs.replace(QUICK, epochs=4)
    parts = tmp_path / "parts"
    with pytest.raises(CancelledError):
        train(
            [short, long], [long], parts, config, resume=True, emit=interrupt,
            cancelled=lambda: stop,
        )  # fmt: skip
    assert len(list((parts / "checkpoints").iterdir())) == 3
    resumed = train([short, long], [long], parts, config, resume=True)
    assert resumed.history == whole.history
    for record in whole.history:
        assert same_weights(
            whole.folder.checkpoints / record.checkpoint,
            resumed.folder.checkpoints / record.checkpoint,
        )
    again = train([short, long], [long], parts, config, resume=True)
    assert again.history == whole.history


def test_a_resumed_training_needs_the_same_lessons(
    short: Task, long: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train([short, long], [], tmp_path, structs.replace(QUICK, epochs=1))
    monkeypatch.setattr(teachers, "TABLE_STATES", 2)
    monkeypatch.setattr(teachers, "ASTAR_EXPANSIONS", search(long).expanded - 1)
    with pytest.raises(UsageError, match="solved 2 problems before, now 1"):
        train([short, long], [], tmp_path, QUICK, resume=True)


def test_it_gives_the_threads_back(short: Task, tmp_path: Path) -> None:
    torch.set_num_threads(2)
    try:
        train([short], [], tmp_path / "out", structs.replace(QUICK, epochs=1))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)


def test_it_ends_when_nothing_gets_better(short: Task, tmp_path: Path) -> None:
    events: list[TrainingEvent] = []
    config = structs.replace(QUICK, epochs=50, patience=2, learning_rate=1e-9)
    result = train([short], [], tmp_path / "out", config, emit=events.append)
    assert stagnation(result.history) == 2
    assert len(result.history) < config.epochs
    assert events[-1].reason == "no better policy and no lower loss in 2 epochs"


def test_while_no_policy_solves_anything_the_loss_decides(short: Task, tmp_path: Path) -> None:
    """Runs are too short to reach the goal, as those of a hard domain are at first."""
    config = structs.replace(QUICK, step_limit=3, epochs=6, patience=2, learning_rate=0.02)
    result = train([short], [], tmp_path / "out", config)
    assert {record.success for record in result.history} == {0}
    losses = [record.loss for record in result.history]
    assert losses == sorted(losses, reverse=True)
    assert len(losses) == config.epochs  # patience does not count as long as the loss falls
    assert result.best.epoch == config.epochs
    last = result.folder.checkpoints / result.best.checkpoint
    assert same_weights(result.folder.policy, last)


def test_a_training_that_diverges_ends(short: Task, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="lower the learning rate"):
        train([short], [], tmp_path, structs.replace(QUICK, learning_rate=1e10))


def test_problems_that_cannot_be_used(short: Task, make_task, tmp_path: Path) -> None:
    hopeless = make_task(3, [0], one_way=True)
    events: list[TrainingEvent] = []
    config = structs.replace(QUICK, epochs=1)
    train([hopeless, short], [], tmp_path / "out", config, emit=events.append)
    assert [type(event) for event in events[:2]] == [ProblemSkipped, ProblemPrepared]
    with pytest.raises(UsageError, match="solves none of the training problems"):
        train([hopeless], [], tmp_path / "none", config)
    solved = replace(short, goal=tuple(enumerate(short.init))[:1])
    with pytest.raises(UsageError, match="nothing to learn"):
        train([solved], [], tmp_path / "solved", config)
    with pytest.raises(UsageError, match="needs PDDL files"):
        train([replace(short, source=None)], [], tmp_path / "sas", config)
    other = replace(short.source, domain=replace(short.source.domain, name="other"))
    with pytest.raises(UsageError, match="one domain"):
        train([short, replace(short, source=other)], [], tmp_path / "two", config)


def test_folders_that_cannot_be_used(short: Task, long: Task, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    config = structs.replace(QUICK, epochs=1)
    train([short], [], folder, config)
    with pytest.raises(UsageError, match="already holds a training"):
        train([short], [], folder, config)
    with pytest.raises(UsageError, match="had other hidden, seed"):
        train([short], [], folder, structs.replace(config, hidden=5, seed=4), resume=True)
    with pytest.raises(UsageError, match="had other problems, tasks"):
        train([long], [], folder, config, resume=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(DiskError, match="cannot be written"):
        train([short], [], tmp_path / "file" / "out", config)
    torch.save({"identity": "{}", "history": "[{}]"}, folder / "training.state")
    with pytest.raises(UsageError, match="damaged"):
        train([short], [], folder, config, resume=True)
