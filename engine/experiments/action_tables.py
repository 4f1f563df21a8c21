"""Tables and figures of Eisenhut et al. 2025 (Section 7): which algorithm decided which questions,
and how fast.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.records.experiment import (
    ActionPlan,
    ActionResult,
    ActionSettings,
    Cell,
    Column,
    ExperimentResults,
    Figure,
    FigureForm,
    Series,
    Table,
)
from engine.records.localization import StepVerdict
from engine.workspace.experiments import ExperimentRow, TrialRow

TITLES = {
    "dominance": "D",
    "sms": "SMS",
    "sms-rev": "SMS-REV",
    "sms-bc": "SMS-BC",
    "pms-bc": "PMS-BC",
    "pms-lama": "PMS-LAMA",
    "aoca": "AOCA*",
}
HEURISTICS = {"lmcut": "LM-cut", "cartesian": "Cartesian", "ms": "Merge & Shrink"}
RIVALS = ("sms-bc", "pms-bc", "pms-lama")
"""Whose decision times Figure 2 compares with those of AOCA*."""
MIN_SECONDS = 0.001
"""Where an axis begins; faster runs are drawn there."""

Method = tuple[str, str]
"""A heuristic (empty for dominance) and an algorithm."""
Question = tuple[str, str, int, str]
"""Domain, problem, seed and action."""


@dataclass(frozen=True)
class _Answers:
    methods: tuple[Method, ...]
    verdicts: Mapping[Question, StepVerdict]  # UNDECIDED: no algorithm decided it
    decided: Mapping[Method, frozenset[Question]]
    seconds: Mapping[tuple[Method, Question], float]
    searches: Mapping[tuple[str, str, str], float]  # heuristic, domain, problem: of A*
    contradictions: tuple[Question, ...]

    def domains(self) -> list[str]:
        return list(dict.fromkeys(question[0] for question in self.verdicts))

    def count(self, method: Method, questions: Iterable[Question]) -> int:
        return len(self.decided[method].intersection(questions))


def action_results(row: ExperimentRow, trials: Sequence[TrialRow]) -> ExperimentResults:
    settings = row.config.actions
    answers = _gather(settings, trials)
    notes = _notes(answers, trials)
    return ExperimentResults(
        (_coverage(answers, notes), *_dominance(answers, settings)),
        (*_rival_figures(answers, settings), *_search_figures(answers, settings)),
    )


def _gather(settings: ActionSettings, trials: Sequence[TrialRow]) -> _Answers:
    methods: list[Method] = []
    if "dominance" in settings.algorithms:
        methods.append(("", "dominance"))
    methods += [
        (heuristic, algorithm)
        for heuristic in settings.heuristics
        for algorithm in settings.algorithms
        if algorithm != "dominance"
    ]
    said: defaultdict[Question, set[StepVerdict]] = defaultdict(set)
    decided: dict[Method, set[Question]] = {method: set() for method in methods}
    seconds: dict[tuple[Method, Question], float] = {}
    searches: dict[tuple[str, str, str], float] = {}
    for trial in trials:
        result, plan = trial.result, trial.plan
        if not isinstance(result, ActionResult) or not isinstance(plan, ActionPlan):
            continue
        for answer in result.answers:
            question = trial.domain, trial.problem, plan.seed, answer.action
            method = plan.heuristic, answer.algorithm
            said[question].add(answer.verdict)
            seconds[method, question] = answer.seconds
            if answer.verdict is not StepVerdict.UNDECIDED and method in decided:
                decided[method].add(question)
        if result.search is not None and result.search.cost is not None:
            searches[plan.heuristic, trial.domain, trial.problem] = result.search.seconds
    verdicts = {question: _common(found) for question, found in said.items()}
    both = {StepVerdict.OPTIMAL, StepVerdict.NOT_OPTIMAL}
    return _Answers(
        tuple(methods),
        verdicts,
        {method: frozenset(found) for method, found in decided.items()},
        seconds,
        searches,
        tuple(question for question, found in said.items() if both <= found),
    )


def _common(found: set[StepVerdict]) -> StepVerdict:
    for verdict in (StepVerdict.OPTIMAL, StepVerdict.NOT_OPTIMAL):
        if verdict in found:
            return verdict
    return StepVerdict.UNDECIDED


def _notes(answers: _Answers, trials: Sequence[TrialRow]) -> tuple[str, ...]:
    notes = []
    if answers.contradictions:
        example = answers.contradictions[0]
        notes.append(
            f"Methods contradict each other on {len(answers.contradictions)} questions, "
            f"such as {example[3]} of {example[1]}; this is an internal error."
        )
    alone = {
        (trial.domain, trial.problem)
        for trial in trials
        if isinstance(trial.result, ActionResult) and not trial.result.answers
    }
    if alone:
        problems = "1 problem" if len(alone) == 1 else f"{len(alone)} problems"
        notes.append(f"{problems} with a single applicable action left out.")
    return tuple(notes)


def _column(method: Method) -> Column:
    heuristic, algorithm = method
    return Column(TITLES.get(algorithm, algorithm), HEURISTICS.get(heuristic, heuristic))


def _coverage(answers: _Answers, notes: tuple[str, ...]) -> Table:
    by_domain: defaultdict[str, list[Question]] = defaultdict(list)
    for question in answers.verdicts:
        by_domain[question[0]].append(question)
    rows: list[tuple[Cell, ...]] = [
        (f"{domain} ({len(questions)})", *(answers.count(m, questions) for m in answers.methods))
        for domain, questions in by_domain.items()
    ]
    everything = list(answers.verdicts)
    rule = len(rows)
    rows.append(_row(f"total ({len(everything)})", answers, everything))
    for label, verdict in (
        ("optimal a", StepVerdict.OPTIMAL),
        ("sub-optimal a", StepVerdict.NOT_OPTIMAL),
    ):
        which = [question for question, found in answers.verdicts.items() if found is verdict]
        rows.append(_row(label, answers, which))
    return Table(
        "coverage",
        "Decided questions whether an action is optimal, per domain",
        (Column("domain"), *map(_column, answers.methods)),
        tuple(rows),
        notes,
        (rule,),
    )


def _row(label: str, answers: _Answers, questions: Sequence[Question]) -> tuple[Cell, ...]:
    return (label, *(answers.count(method, questions) for method in answers.methods))


def _dominance(answers: _Answers, settings: ActionSettings) -> tuple[Table, ...]:
    """For each row x and column y: domains where y decides more, questions that only y decides."""
    algorithms = list(dict.fromkeys(algorithm for _, algorithm in answers.methods))
    columns = [Column("")]
    pairs: list[tuple[str, str]] = []
    for heuristic in settings.heuristics:
        for algorithm in algorithms:
            columns.append(_column((heuristic, algorithm)))
            pairs.append((heuristic, algorithm))
    tables = []
    for name, title, compare in (
        ("domain-dominance", "Domains in which the column decides more than the row", _domains),
        ("task-dominance", "Questions that the column decides and the row does not", _questions),
    ):
        rows: list[tuple[Cell, ...]] = []
        for row in algorithms:
            cells: list[Cell] = [TITLES.get(row, row)]
            for heuristic, column in pairs:
                x, y = _method(heuristic, row), _method(heuristic, column)
                cells.append(None if x == y else compare(answers, x, y))
            rows.append(tuple(cells))
        tables.append(Table(name, title, tuple(columns), tuple(rows)))
    return tuple(tables)


def _method(heuristic: str, algorithm: str) -> Method:
    return ("", algorithm) if algorithm == "dominance" else (heuristic, algorithm)


def _domains(answers: _Answers, x: Method, y: Method) -> int:
    count = 0
    for domain in answers.domains():
        questions = [question for question in answers.verdicts if question[0] == domain]
        count += answers.count(y, questions) > answers.count(x, questions)
    return count


def _questions(answers: _Answers, x: Method, y: Method) -> int:
    return len(answers.decided[y] - answers.decided[x])


def _time(answers: _Answers, method: Method, question: Question, limit: float) -> float:
    if question not in answers.decided[method]:
        return limit
    return min(max(answers.seconds[method, question], MIN_SECONDS), limit)


def _rival_figures(answers: _Answers, settings: ActionSettings) -> list[Figure]:
    """Decision times of AOCA* and of each rival, all heuristics together (Figure 2)."""
    figures = []
    for rival in RIVALS:
        series = []
        for label, verdict in (
            ("optimal", StepVerdict.OPTIMAL),
            ("not optimal", StepVerdict.NOT_OPTIMAL),
        ):
            points = [
                (
                    _time(answers, (heuristic, "aoca"), question, settings.seconds),
                    _time(answers, (heuristic, rival), question, settings.seconds),
                )
                for heuristic in settings.heuristics
                if (heuristic, rival) in answers.decided and (heuristic, "aoca") in answers.decided
                for question, found in answers.verdicts.items()
                if found is verdict
                and (
                    question in answers.decided[heuristic, "aoca"]
                    or question in answers.decided[heuristic, rival]
                )
            ]
            series.append(_scatter(label, points))
        if any(item.x for item in series):
            title = f"Decision time: AOCA* against {TITLES[rival]}"
            figures.append(_figure(f"aoca-{rival}", title, TITLES[rival], series, settings))
    return figures


def _search_figures(answers: _Answers, settings: ActionSettings) -> list[Figure]:
    """Decision times of AOCA* and what A* takes for an optimal plan (Figure 3)."""
    series = []
    for heuristic in settings.heuristics:
        method = heuristic, "aoca"
        if method not in answers.decided:
            continue
        points = []
        for question in answers.verdicts:
            known = answers.searches.get((heuristic, *question[:2]))
            if known is None and question not in answers.decided[method]:
                continue
            search = settings.seconds if known is None else max(known, MIN_SECONDS)
            aoca = _time(answers, method, question, settings.seconds)
            points.append((aoca, min(search, settings.seconds)))
        series.append(_scatter(HEURISTICS.get(heuristic, heuristic), points))
    if not any(item.x for item in series):
        return []
    return [_figure("aoca-astar", "AOCA* against A*", "A*", series, settings)]


def _scatter(label: str, points: Sequence[tuple[float, float]]) -> Series:
    return Series(label, tuple(x for x, _ in points), tuple(y for _, y in points))


def _figure(
    name: str, title: str, rival: str, series: Sequence[Series], settings: ActionSettings
) -> Figure:
    note = f"Undecided within {settings.seconds:g} s stands at the limit."
    return Figure(
        name,
        title,
        "AOCA* (s)",
        f"{rival} (s)",
        tuple(series),
        FigureForm.SCATTER,
        log_x=True,
        log_y=True,
        notes=(note,),
    )
