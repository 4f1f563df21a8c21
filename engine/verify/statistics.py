"""Claims about a whole unit: its totals, its verdicts and its regions follow from its rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.records.config import CampaignConfig, Mode
from engine.records.events import OracleStatistics, OracleVerdict
from engine.records.evidence import State
from engine.records.finding import RunOutcome
from engine.records.verification import HOLDS, Verdict, false, undecided
from engine.task.task import Task
from engine.verify.semantics import applicable_operators, find_state_problem, successor
from engine.workspace.rows import AnswerRow, BugRow, FlagRow, PoolRow, UnitRow

SECONDS = 1e-3
"""Times are added up in another order."""
INTERRUPTED = "the unit was interrupted, and may have found more before"


@dataclass(frozen=True, slots=True)
class UnitRows:
    """All that a workspace has about a unit."""

    unit: UnitRow
    config: CampaignConfig
    pool: Sequence[PoolRow]
    answers: Sequence[AnswerRow]
    flags: Sequence[FlagRow]
    bugs: Sequence[BugRow]
    localized: int  # how many of the bugs
    imported: int | None  # how many states were imported; None: walks found them
    was_interrupted: bool


def check_statistics(rows: UnitRows) -> Verdict:
    """Whether the totals of a unit are those of its rows.

    A unit that is not finished has the totals of a moment before.
    """
    if problem := next(_answer_problems(rows), ""):
        return false(problem)
    counts = list(_counts(rows))
    for name, said, found in counts:
        if said > found:
            return false(f"{said} {name}, but there are {found}")
    if rows.unit.status != "finished":
        return HOLDS
    for name, said, found in counts:
        if said < found:
            reason = f"{said} {name}, but there are {found}"
            return undecided(f"{reason}; {INTERRUPTED}") if rows.was_interrupted else false(reason)
    problem = next(_end_problems(rows), "")
    return false(problem) if problem else HOLDS


def _counts(rows: UnitRows) -> Iterator[tuple[str, int, int]]:
    """Return each claimed total with the true one."""
    statistics = rows.unit.statistics
    yield "tested states", statistics.states, len(rows.pool)
    solved = sum(row.outcome == RunOutcome.SOLVED for row in rows.pool if row.tested)
    yield "states that the policy solves", statistics.solved, solved
    yield "bugs", statistics.bugs, len(rows.bugs)
    in_pool = sum(row.pool_number is not None for row in rows.bugs)
    yield "bugs in the pool", statistics.pool_bugs, in_pool
    found = {item.oracle: item for item in count_answers(rows)}
    for item in statistics.oracles:
        counted = found.get(item.oracle, OracleStatistics(item.oracle))
        yield f"states examined by {item.oracle}", item.examined, counted.examined
        unsolved = f"states examined by {item.oracle} that the policy does not solve"
        yield unsolved, item.examined_unsolved, counted.examined_unsolved
        yield f"bugs proven by {item.oracle}", item.bugs, counted.bugs
        fails = f"bugs proven by {item.oracle} in states that the policy does not solve"
        yield fails, item.bugs_unsolved, counted.bugs_unsolved
        yield f"bugs proven by {item.oracle} alone", item.unique, counted.unique
        yield f"states that {item.oracle} proves optimal", item.optimal, counted.optimal
        yield f"bugs found first by {item.oracle}", item.first, counted.first


def count_answers(rows: UnitRows) -> Iterator[OracleStatistics]:
    """Count the answers of oracles; if oracles are compared, by what each proves alone."""
    solved = {row.number for row in rows.pool if row.outcome == RunOutcome.SOLVED}
    by_oracle: defaultdict[str, list[AnswerRow]] = defaultdict(list)
    by_state: defaultdict[int, set[str]] = defaultdict(set)
    for answer in rows.answers:
        by_oracle[answer.oracle].append(answer)
    proven: Iterable[AnswerRow | FlagRow] = rows.flags
    if rows.config.testing.mode is Mode.HUNT:
        proven = [answer for answer in rows.answers if answer.verdict == OracleVerdict.BUG]
    for row in proven:
        by_state[row.number].add(row.oracle)
    bugs = Counter(oracle for oracles in by_state.values() for oracle in oracles)
    unsolved = Counter(
        oracle for number, oracles in by_state.items() if number not in solved for oracle in oracles
    )
    alone = Counter(
        oracle for oracles in by_state.values() if len(oracles) == 1 for oracle in oracles
    )
    first = Counter(bug.found_by for bug in rows.bugs)
    for oracle in by_oracle.keys() | first.keys() | bugs.keys():
        said = by_oracle[oracle]
        yield OracleStatistics(
            oracle=oracle,
            examined=len(said),
            examined_unsolved=sum(answer.number not in solved for answer in said),
            bugs=bugs[oracle],
            bugs_unsolved=unsolved[oracle],
            unique=alone[oracle],
            optimal=sum(answer.verdict == OracleVerdict.OPTIMAL for answer in said),
            first=first[oracle],
            seconds=sum(answer.seconds for answer in said),
            cpu=sum(answer.cpu for answer in said),
        )


def _end_problems(rows: UnitRows) -> Iterator[str]:
    """What is wrong with the totals of a unit that is finished, beside the counts."""
    statistics, config = rows.unit.statistics, rows.config
    if tuple(item.oracle for item in statistics.oracles) != config.testing.oracles:
        yield "its oracles differ from those of the campaign"
    size = config.fuzzing.size if rows.imported is None else rows.imported
    if statistics.size != size:
        yield f"its size is {statistics.size} states, but the campaign sets {size}"
    if statistics.localized > rows.localized:
        yield f"{statistics.localized} bugs localized, but there are {rows.localized}"
    is_done = config.localization.enabled and not statistics.limit
    if is_done and statistics.localized != statistics.bugs:
        done = f"{statistics.localized} of {statistics.bugs}"
        yield f"{done} bugs localized, although no limit was reached"
    found = {item.oracle: item for item in count_answers(rows)}
    for item in statistics.oracles:
        counted = found.get(item.oracle, OracleStatistics(item.oracle))
        for said, seconds in (
            (item.seconds, counted.seconds + item.setup_seconds),
            (item.cpu, counted.cpu + item.setup_cpu),
        ):
            if abs(said - seconds) > SECONDS + 1e-6 * seconds:
                yield f"{item.oracle} took {seconds:.3f} s, not {said:.3f} s"
    touched = len({row.state for row in rows.pool})
    if statistics.touched_states < touched:
        yield f"it touched {statistics.touched_states} states, fewer than the {touched} it tested"
    if statistics.policy_calls > statistics.policy_states:
        yield f"{statistics.policy_calls} policy calls for only {statistics.policy_states} states"


def _answer_problems(rows: UnitRows) -> Iterator[str]:
    """Answers about states or by oracles that the unit does not have, or that are missing."""
    oracles = rows.config.testing.oracles
    numbers = {row.number for row in rows.pool}
    by_state: defaultdict[int, set[str]] = defaultdict(set)
    for answer in rows.answers:
        by_state[answer.number].add(answer.oracle)
        if answer.number not in numbers:
            yield f"{answer.oracle} examined state {answer.number}, which is not in the pool"
        if answer.oracle not in oracles:
            yield f"{answer.oracle} examined a state, but the campaign did not use it"
    over = {item.oracle for item in rows.unit.statistics.oracles if item.limit}
    if rows.unit.status != "finished" and rows.config.limits.oracle_seconds is not None:
        over = set(oracles)  # which of them are, the last totals may not say yet
    for row in rows.pool:
        given = by_state[row.number]
        if row.tested and not rows.config.testing.skip_known_bugs and given | over != set(oracles):
            yield f"{len(given)} of {len(oracles)} oracles examined state {row.number}"
        if given and not row.tested:
            yield f"state {row.number} was not tested, but oracles have verdicts"
        if row.tested and row.outcome is None:
            yield f"state {row.number} was tested, but the policy was not run"
    if rows.unit.status == "finished" and not rows.unit.statistics.limit:
        for row in rows.pool:
            if not row.tested:
                yield f"the unit is finished, but state {row.number} was not tested"
    yield from _flag_problems(rows, numbers)


def _flag_problems(rows: UnitRows, numbers: set[int]) -> Iterator[str]:
    """Flags that oracles cannot have set, or did not set although they say so."""
    if rows.flags and rows.config.testing.mode is Mode.HUNT:
        yield "its oracles work as a team, but some prove bugs by themselves"
    proven = {(flag.number, flag.oracle) for flag in rows.flags}
    for flag in rows.flags:
        if flag.number not in numbers:
            yield f"{flag.oracle} proves a bug in state {flag.number}, which is not in the pool"
        if flag.oracle not in rows.config.testing.oracles:
            yield f"{flag.oracle} proves a bug, but the campaign did not use it"
    if rows.config.testing.mode is Mode.COMPARE:
        for answer in rows.answers:
            if answer.verdict == OracleVerdict.BUG and (answer.number, answer.oracle) not in proven:
                yield f"{answer.oracle} reports a bug in state {answer.number} without a proof"


def check_regions(bugs: Sequence[tuple[BugRow, State]], task: Task, is_final: bool) -> Verdict:
    """Whether bugs have the same region if and only if steps between bug states connect them.

    Regions are of bugs in the pool. While a unit works, some have no region yet and regions grow
    together.
    """
    bugs = [  # bugs in invalid states are reported elsewhere
        (row, state)
        for row, state in bugs
        if row.pool_number is not None and not find_state_problem(state, task)
    ]
    leaders = _regions([state for _, state in bugs], task)
    by_id = {row.id: number for number, (row, _) in enumerate(bugs)}
    named: dict[int, int] = {}
    for number, (row, _) in enumerate(bugs):
        if row.region is None:
            if is_final:
                return false(f"bug {row.id} has no region")
            continue
        if row.region not in by_id:
            return false(f"bug {row.id} is in region {row.region}, which no bug of the unit names")
        if leaders[by_id[row.region]] != leaders[number]:
            return false(f"no steps between bugs lead from bug {row.id} to bug {row.region}")
        if is_final and named.setdefault(leaders[number], row.region) != row.region:
            other = named[leaders[number]]
            return false(f"bug {row.id} is in region {row.region}, its neighbors in {other}")
    return HOLDS


def _regions(states: Sequence[State], task: Task) -> list[int]:
    """Connected components, as numbers that states of the same one share."""
    numbers = {state: number for number, state in enumerate(states)}
    leader = list(range(len(states)))

    def find(number: int) -> int:
        while leader[number] != number:
            leader[number] = leader[leader[number]]
            number = leader[number]
        return number

    for state, number in numbers.items():
        for operator in applicable_operators(task, state):
            target = numbers.get(successor(task, task.operators[operator], state))
            if target is not None:
                leader[find(number)] = find(target)
    return [find(number) for number in range(len(states))]
