"""Claims about a whole unit: its totals, its verdicts and its regions follow from its rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.records.config import CampaignConfig
from engine.records.events import OracleStatistics, OracleVerdict
from engine.records.evidence import State
from engine.records.verification import HOLDS, Verdict, false, undecided
from engine.task.successors import applicable_operators, successor
from engine.task.task import Task
from engine.workspace.rows import AnswerRow, BugRow, PoolRow, UnitRow

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
    """What is counted: as it is said, and as it is."""
    statistics = rows.unit.statistics
    yield "tested states", statistics.states, len(rows.pool)
    yield "bugs", statistics.bugs, len(rows.bugs)
    found = {item.oracle: item for item in count_answers(rows.answers, rows.bugs)}
    for item in statistics.oracles:
        counted = found.get(item.oracle, OracleStatistics(item.oracle))
        yield f"states examined by {item.oracle}", item.examined, counted.examined
        yield f"bugs proven by {item.oracle}", item.bugs, counted.bugs
        yield f"bugs proven by {item.oracle} alone", item.unique, counted.unique
        yield f"states that {item.oracle} proves optimal", item.optimal, counted.optimal
        yield f"bugs found first by {item.oracle}", item.first, counted.first


def count_answers(
    answers: Iterable[AnswerRow], bugs: Iterable[BugRow]
) -> Iterator[OracleStatistics]:
    by_oracle: defaultdict[str, list[AnswerRow]] = defaultdict(list)
    by_state: defaultdict[int, list[str]] = defaultdict(list)
    for answer in answers:
        by_oracle[answer.oracle].append(answer)
        if answer.verdict == OracleVerdict.BUG:
            by_state[answer.number].append(answer.oracle)
    alone = Counter(oracles[0] for oracles in by_state.values() if len(oracles) == 1)
    first = Counter(bug.found_by for bug in bugs)
    for oracle in by_oracle.keys() | first.keys():
        said = by_oracle[oracle]
        yield OracleStatistics(
            oracle=oracle,
            examined=len(said),
            bugs=sum(answer.verdict == OracleVerdict.BUG for answer in said),
            unique=alone[oracle],
            optimal=sum(answer.verdict == OracleVerdict.OPTIMAL for answer in said),
            first=first[oracle],
            seconds=sum(answer.seconds for answer in said),
        )


def _end_problems(rows: UnitRows) -> Iterator[str]:
    """What is wrong with the totals of a unit that is finished, beside the counts."""
    statistics, config = rows.unit.statistics, rows.config
    if tuple(item.oracle for item in statistics.oracles) != config.testing.oracles:
        yield "its oracles are not those of the campaign"
    size = config.fuzzing.size if rows.imported is None else rows.imported
    if statistics.size != size:
        yield f"it was to test {statistics.size} states, but the campaign says {size}"
    if statistics.localized > rows.localized:
        yield f"{statistics.localized} bugs localized, but there are {rows.localized}"
    is_done = config.localization.enabled and not statistics.limit
    if is_done and statistics.localized != statistics.bugs:
        yield f"{statistics.localized} of {statistics.bugs} bugs localized without a limit"
    found = {item.oracle: item.seconds for item in count_answers(rows.answers, rows.bugs)}
    for item in statistics.oracles:
        seconds = found.get(item.oracle, 0.0)
        if abs(item.seconds - seconds) > SECONDS + 1e-6 * seconds:
            yield f"{item.oracle} took {seconds:.3f} s, not {item.seconds:.3f} s"
    touched = len({row.state for row in rows.pool})
    if statistics.touched_states < touched:
        yield f"it touched {statistics.touched_states} states, fewer than the {touched} it tested"
    if statistics.policy_calls > statistics.policy_states:
        yield "the policy was asked more often than about single states"


def _answer_problems(rows: UnitRows) -> Iterator[str]:
    """Answers about states or by oracles that the unit does not have, or that are missing."""
    oracles = rows.config.testing.oracles
    numbers = {row.number for row in rows.pool}
    by_state: defaultdict[int, set[str]] = defaultdict(set)
    for answer in rows.answers:
        by_state[answer.number].add(answer.oracle)
        if answer.number not in numbers:
            yield f"there is an answer about state {answer.number}, which is not in the pool"
        if answer.oracle not in oracles:
            yield f"there is an answer of {answer.oracle}, which the campaign did not use"
    for row in rows.pool:
        given = by_state[row.number]
        if row.tested and not rows.config.testing.skip_known_bugs and len(given) != len(oracles):
            yield f"{len(given)} of {len(oracles)} oracles answer about state {row.number}"
        if given and not row.tested:
            yield f"state {row.number} was not tested, but oracles answer"
        if row.tested and row.outcome is None:
            yield f"state {row.number} was tested, but the policy was not run"
    if rows.unit.status == "finished" and not rows.unit.statistics.limit:
        for row in rows.pool:
            if not row.tested:
                yield f"the unit is finished, but state {row.number} was not tested"


def check_regions(bugs: Sequence[tuple[BugRow, State]], task: Task, is_final: bool) -> Verdict:
    """Whether bugs have the same region if and only if steps between bug states connect them.

    While a unit works, some bugs have no region yet and regions grow together.
    """
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
            target = numbers.get(successor(task.operators[operator], state))
            if target is not None:
                leader[find(number)] = find(target)
    return [find(number) for number in range(len(states))]
