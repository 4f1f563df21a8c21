"""External planners: the real one on tiny tasks, and false ones that lie, hang or break."""

from __future__ import annotations

import stat
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from reference import small_tasks
from reference.action_optimality import question_task
from reference.small_tasks import task_of

from engine.errors import PlannerError
from engine.search import planners
from engine.search.planners import FoundPlan, Planner, PlannerOutcome, planner_path, run_planner
from engine.task.task import Task
from engine.task.translate import Limits


@pytest.fixture
def corridor() -> Task:
    """Walk from 0 to 4 for 1 a step, or jump for 9. Both are called `go`, to be ambiguous."""
    steps = [("go", {0: place}, {0: place + 1}, 1) for place in range(4)]
    return task_of((5,), [("go", {0: 0}, {0: 4}, 9), *steps], (0,), {0: 4})


@pytest.fixture
def one_key() -> Task:
    return small_tasks.one_key()


@pytest.fixture
def puzzle() -> Task:
    return small_tasks.puzzle()


@pytest.fixture
def program(tmp_path: Path):
    """A false planner: `program(code)` runs Python code in the folder of the plan files."""

    def write(code: str) -> Path:
        path = tmp_path / "planner.py"
        path.write_text(f"#!{sys.executable}\nimport os, sys, time\n{code}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    return write


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where planners get their folders: it must be empty again afterward."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def processes_in(folder: Path) -> list[int]:
    """Living processes that work in a subfolder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(folder) in str((entry / "cwd").readlink()):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def is_planner(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/exe").resolve() == planner_path().resolve()
    except OSError:  # it has ended meanwhile
        return False


@pytest.mark.parametrize("planner", Planner)
def test_finds_a_valid_plan(planner: Planner, corridor: Task, temporary: Path) -> None:
    result = run_planner(planner, corridor)
    assert result.outcome is PlannerOutcome.SOLVED
    assert result.finished
    assert result.plan is not None
    assert result.plan.cost == sum(corridor.operators[n].cost for n in result.plan.operators)
    assert result.evaluated > 0
    assert result.peak_bytes > 2**20
    assert 0 < result.search_seconds < result.seconds
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("planner", [Planner.ASTAR_LMCUT, Planner.LAMA])
def test_the_last_plan_is_the_cheap_one(planner: Planner, corridor: Task) -> None:
    heard: list[FoundPlan] = []
    result = run_planner(planner, corridor, on_plan=heard.append)
    assert result.plan is not None
    assert result.plan.operators == (1, 2, 3, 4)
    assert result.plan.cost == 4
    assert tuple(heard) == result.plans


def test_lama_improves_its_plans(corridor: Task) -> None:
    costs = [plan.cost for plan in run_planner(Planner.LAMA, corridor).plans]
    assert costs == [9, 4]


def test_plans_from_any_state(corridor: Task) -> None:
    result = run_planner(Planner.ASTAR_LMCUT, corridor, (2,))
    assert result.plan is not None
    assert result.plan.operators == (3, 4)


@pytest.mark.parametrize("goal", [{}, {0: 4}])
def test_nothing_to_do_at_the_goal(goal: dict[int, int], corridor: Task) -> None:
    task = replace(corridor, goal=tuple(goal.items()))
    heard: list[FoundPlan] = []
    result = run_planner(Planner.EHC_FF, task, (4,), on_plan=heard.append)
    assert result.plans == tuple(heard) == (FoundPlan((), 0, 0.0),)
    nothing = run_planner(Planner.EHC_FF, task, (4,), bound=0)
    assert nothing.outcome is PlannerOutcome.NO_PLAN_BELOW_BOUND


@pytest.mark.parametrize("planner", [Planner.ASTAR_LMCUT, Planner.LAMA])
def test_a_complete_planner_proves_that_there_is_no_plan(planner: Planner, one_key: Task) -> None:
    result = run_planner(planner, one_key)
    assert result.outcome is PlannerOutcome.UNSOLVABLE
    assert result.plan is None


@pytest.mark.parametrize("planner", list(Planner))
@pytest.mark.parametrize("cost", [2**31 - 1, 2**30])
def test_costs_beyond_what_the_planner_can_count_prove_nothing(planner: Planner, cost: int) -> None:
    """They overflow in it: it would say that there is no plan."""
    steps = [(f"go {x}", {0: x}, {0: x + 1}, cost) for x in range(3)]
    result = run_planner(planner, task_of((4,), steps, (0,), {0: 3}), limits=Limits(10.0))
    assert result.outcome not in (PlannerOutcome.UNSOLVABLE, PlannerOutcome.NO_PLAN_BELOW_BOUND)


def test_operators_may_have_no_effect(corridor: Task) -> None:
    idle = replace(corridor.operators[0], name="idle", effect=())
    task = replace(corridor, operators=(idle, *corridor.operators))
    result = run_planner(Planner.LAMA, task)
    assert result.plan is not None
    assert 0 not in result.plan.operators


@pytest.mark.parametrize("planner", Planner)
def test_facts_may_have_any_names(planner: Planner, corridor: Task) -> None:
    values = ("the start", "Atom", "NegatedAtom x", "<4>", "p4()")
    task = replace(corridor, variables=(replace(corridor.variables[0], values=values),))
    assert run_planner(planner, task).outcome is PlannerOutcome.SOLVED


@pytest.mark.parametrize("start", [(0, 0, 0), (1, 0, 0)], ids=["plateau", "dead-end"])
def test_an_incomplete_planner_only_gives_up(start: tuple[int, ...], one_key: Task) -> None:
    assert run_planner(Planner.EHC_FF, one_key, start).outcome is PlannerOutcome.GAVE_UP


@pytest.mark.parametrize(
    ("planner", "nothing"),
    [
        (Planner.ASTAR_LMCUT, PlannerOutcome.NO_PLAN_BELOW_BOUND),
        (Planner.LAMA, PlannerOutcome.GAVE_UP),
    ],
)
def test_the_bound_is_exclusive(planner: Planner, nothing: PlannerOutcome, corridor: Task) -> None:
    assert run_planner(planner, corridor, bound=5).outcome is PlannerOutcome.SOLVED
    below = run_planner(planner, corridor, bound=4)
    assert below.outcome is nothing
    assert below.finished


@pytest.mark.parametrize("bound", [None, 2])
def test_no_planner_denies_a_plan_below_the_bound(bound: int | None) -> None:
    """LAMA comes to the last state but one by an action that costs 1 and looks as good as a free
    one; it does not come there again, and the goal is then above the bound.
    """
    task = question_task(10255)
    for planner in Planner:
        outcome = run_planner(planner, task, (0, 1), bound=bound).outcome
        assert outcome in (PlannerOutcome.SOLVED, PlannerOutcome.GAVE_UP)
    assert run_planner(Planner.ASTAR_LMCUT, task, (0, 1), bound=bound).plan.cost == 1


@pytest.mark.parametrize("bound", [2**31 - 1, 2**31, 10**15])
def test_a_bound_beyond_what_the_planner_can_count(bound: int, corridor: Task) -> None:
    assert run_planner(Planner.LAMA, corridor, bound=bound).outcome is PlannerOutcome.SOLVED


def test_a_time_limit_keeps_the_plans(puzzle: Task, temporary: Path) -> None:
    for seconds in (2.0, 8.0, 32.0):
        result = run_planner(Planner.LAMA, puzzle, limits=Limits(seconds=seconds))
        if result.plans:  # a busy machine may not even come to the first one
            break
    assert result.outcome is PlannerOutcome.SOLVED
    assert not result.finished
    assert result.plans
    assert result.evaluated > 0
    assert not processes_in(temporary)
    assert not list(temporary.iterdir())


def test_a_time_limit_without_a_plan(puzzle: Task) -> None:
    """P32: out of time is no dead end."""
    result = run_planner(Planner.ASTAR_LMCUT, puzzle, limits=Limits(seconds=0.3))
    assert result.outcome is PlannerOutcome.LIMIT
    assert not result.finished


def test_a_memory_limit_keeps_the_plans(puzzle: Task) -> None:
    result = run_planner(Planner.LAMA, puzzle, limits=Limits(seconds=90, megabytes=18))
    assert result.outcome is PlannerOutcome.SOLVED
    assert not result.finished
    assert result.peak_bytes < 18 * 2**20


@pytest.mark.parametrize("megabytes", [1, 2, 4, 8])
def test_too_little_memory_to_start(megabytes: int, puzzle: Task) -> None:
    result = run_planner(Planner.ASTAR_LMCUT, puzzle, limits=Limits(megabytes=megabytes))
    assert result.outcome is PlannerOutcome.LIMIT


def test_a_crash_without_a_limit_is_a_failure(corridor: Task, program) -> None:
    with pytest.raises(PlannerError, match="terminated by SIGSEGV"):
        run_planner(Planner.LAMA, corridor, program=program("os.kill(os.getpid(), 11)"))


def test_cancel_leaves_nothing(puzzle: Task, temporary: Path) -> None:
    result = run_planner(
        Planner.ASTAR_LMCUT, puzzle, cancelled=lambda: any(map(is_planner, processes_in(temporary)))
    )
    assert result.outcome is PlannerOutcome.CANCELLED
    assert not processes_in(temporary)
    assert not list(temporary.iterdir())


def test_what_a_planner_has_started_dies_with_it(
    corridor: Task, temporary: Path, program, tmp_path: Path
) -> None:
    started = tmp_path / "started"
    planner = program(
        "import subprocess\n"
        "child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(started)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(60)"
    )
    result = run_planner(Planner.LAMA, corridor, program=planner, cancelled=started.exists)
    assert result.outcome is PlannerOutcome.CANCELLED
    deadline = time.monotonic() + 30
    while processes_in(temporary) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not processes_in(temporary)


def test_an_error_of_the_listener_stops_the_planner(puzzle: Task, temporary: Path) -> None:
    def refuse(plan: FoundPlan) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        run_planner(Planner.LAMA, puzzle, on_plan=refuse)
    assert not processes_in(temporary)
    assert not list(temporary.iterdir())


@pytest.mark.parametrize(
    ("plan", "reason"),
    [
        ("(o1)\n(o2)\n(o4)\n", r"step 3: \(go\) needs"),
        ("(o1)\n(o2)\n", "goal"),
        ("(o1)\n(o77)\n", "operator 77 does not exist"),
        ("(go)\n", "unknown operator go"),
        ("o1\n", "must start with"),
    ],
)
def test_an_invalid_plan_is_rejected(plan: str, reason: str, corridor: Task, program) -> None:
    """P45"""
    planner = program(f"open('plan', 'w').write({plan + '; cost = 1 (unit cost)' + chr(10)!r})")
    with pytest.raises(PlannerError, match=reason):
        run_planner(Planner.ASTAR_LMCUT, corridor, program=planner)


def test_the_cost_of_a_plan_is_counted_not_believed(corridor: Task, program) -> None:
    planner = program("open('plan', 'w').write('(o0)\\n; cost = 1 (unit cost)\\n')")
    result = run_planner(Planner.ASTAR_LMCUT, corridor, program=planner)
    assert result.plan is not None
    assert result.plan.cost == 9


def test_a_plan_is_read_only_when_it_is_complete(corridor: Task, program) -> None:
    planner = program(
        "plan = open('plan.1', 'w')\n"
        "print('(o1)\\n(o2)', file=plan, flush=True)\n"
        "time.sleep(0.2)\n"
        "print('(o3)\\n(o4)\\n; cost = 4 (general cost)', file=plan, flush=True)\n"
    )
    heard: list[FoundPlan] = []
    result = run_planner(Planner.LAMA, corridor, program=planner, on_plan=heard.append)
    assert [plan.operators for plan in heard] == [(1, 2, 3, 4)]
    assert result.outcome is PlannerOutcome.SOLVED


def test_a_plan_cut_off_by_the_time_limit_is_no_plan(corridor: Task, program) -> None:
    planner = program(
        "print('(o0)', file=open('plan.1', 'w'), flush=True)\ntime.sleep(60)",
    )
    result = run_planner(Planner.LAMA, corridor, program=planner, limits=Limits(seconds=0.5))
    assert result.outcome is PlannerOutcome.LIMIT


def test_stopping_loses_no_plan(corridor: Task, program, temporary: Path) -> None:
    planner = program(
        "open('plan.1', 'w').write('(o0)\\n; cost = 9 (general cost)\\n')\n"
        "open('written', 'w').close()\n"
        "time.sleep(600)"
    )
    result = run_planner(
        Planner.LAMA,
        corridor,
        program=planner,
        cancelled=lambda: any(temporary.glob("*/written")),
    )
    assert result.outcome is PlannerOutcome.CANCELLED
    assert [plan.operators for plan in result.plans] == [(0,)]
    assert not list(temporary.iterdir())


def test_plans_that_are_not_cheaper_are_dropped(corridor: Task, program) -> None:
    long_way, jump = "(o1)\\n(o2)\\n(o3)\\n(o4)", "(o0)"
    planner = program(
        f"for number, plan in enumerate(['{jump}', '{long_way}', '{jump}'], start=1):\n"
        "    open(f'plan.{number}', 'w').write(f'{plan}\\n; cost = 0 (general cost)\\n')"
    )
    result = run_planner(Planner.LAMA, corridor, program=planner)
    assert [plan.cost for plan in result.plans] == [9, 4]


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (11, PlannerOutcome.UNSOLVABLE),
        (12, PlannerOutcome.GAVE_UP),
        (13, PlannerOutcome.GAVE_UP),
        (22, PlannerOutcome.LIMIT),
        (23, PlannerOutcome.LIMIT),
        (24, PlannerOutcome.LIMIT),
    ],
)
def test_exit_codes_without_a_plan(
    code: int, outcome: PlannerOutcome, corridor: Task, program
) -> None:
    planner = program(f"sys.exit({code})")
    assert run_planner(Planner.LAMA, corridor, program=planner).outcome is outcome


@pytest.mark.parametrize("code", [0, 1, 30, 32, 33, 34, 99])
def test_a_failure_is_not_an_answer(code: int, corridor: Task, program) -> None:
    planner = program(f"print('something broke')\nsys.exit({code})")
    with pytest.raises(PlannerError, match=f"code {code}: something broke"):
        run_planner(Planner.LAMA, corridor, program=planner)


def test_out_of_time_with_a_plan_is_solved(corridor: Task, program) -> None:
    planner = program(
        "open('plan.1', 'w').write('(o0)\\n; cost = 9 (general cost)\\n')\nsys.exit(23)"
    )
    result = run_planner(Planner.LAMA, corridor, program=planner)
    assert (result.outcome, result.finished) == (PlannerOutcome.SOLVED, False)


def test_a_plan_and_a_claim_that_there_is_none_do_not_go_together(corridor: Task, program) -> None:
    planner = program(
        "open('plan.1', 'w').write('(o0)\\n; cost = 9 (general cost)\\n')\nsys.exit(11)"
    )
    with pytest.raises(PlannerError, match="code 11"):
        run_planner(Planner.LAMA, corridor, program=planner)


def test_the_package_is_found_and_not_imported() -> None:
    path = planner_path()
    assert path.name == "downward"
    assert planners.PACKAGE not in sys.modules


def test_a_missing_planner_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planners, "PACKAGE", "a_package_that_is_not_there")
    with pytest.raises(PlannerError, match="pip install up-fast-downward"):
        planner_path()


def test_a_broken_installation_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planners, "PACKAGE", "engine")
    with pytest.raises(PlannerError, match=r"downward: not a program; pip install"):
        planner_path()
