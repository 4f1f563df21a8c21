"""From files to a task: a domain and a problem through the translator, or a SAS file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from engine.errors import Location, SasError, TranslationError, UnsupportedError, UsageError
from engine.files import SAS_SUFFIX, read_text
from engine.pddl import (
    Severity,
    check_files,
    format_domain,
    format_problem,
    unsupported_for_task,
    without_costs,
)
from engine.pddl.diagnostics import Diagnostic, raise_errors
from engine.pddl.domain_checks import check_domain
from engine.pddl.flat_effects import flatten_effects
from engine.pddl.problem_checks import check_problem
from engine.task.sas import parse_sas
from engine.task.task import PddlSource, Task, Variable
from engine.task.translate import TranslateOptions, translate

SAS_FILE = "a SAS file of the Fast Downward translator"

# What the translator writes instead of a task when there is nothing to search for.
_PLACEHOLDER = Variable("var0", ("Atom dummy(val1)", "Atom dummy(val2)"))
_TRIVIAL = Variable("var0", ("<the initial state>", "<the goal, out of reach>"))


def load_task(
    domain_path: str | Path,
    problem_path: str | Path,
    *,
    unit_costs: bool = False,
    **how: Unpack[TranslateOptions],
) -> Task:
    """The grounded task of a domain and a problem file; `unit_costs` counts actions instead.

    `task.notes` says what the user should know about it.
    """
    report = check_files(domain_path, problem_path)
    raise_errors(item for item in report.diagnostics if not item.is_refusal)
    domain, problem = report.domain, report.problem
    assert domain is not None  # without errors there are models
    assert problem is not None
    return load_models(
        PddlSource(domain, problem, unit_costs),
        (report.texts[str(domain_path)], report.texts[str(problem_path)]),
        report.diagnostics,
        **how,
    )


def load_models(
    source: PddlSource,
    texts: tuple[str, str],
    found: Sequence[Diagnostic] = (),
    **how: Unpack[TranslateOptions],
) -> Task:
    """The grounded task of a domain and a problem without errors, and of their texts."""
    domain, problem = source.domain, source.problem
    if source.unit_costs:
        domain, problem = without_costs(domain, problem)
        texts = format_domain(domain), format_problem(problem)
        found = (*check_domain(domain), *check_problem(problem, domain))
    for refusal in unsupported_for_task(domain, problem):
        raise UnsupportedError(refusal.message, refusal.location, refusal.hint)
    if (flat := flatten_effects(domain)) is not domain:
        texts = format_domain(flat), texts[1]
    translation = translate(
        texts[0].encode(),
        texts[1].encode(),
        **how,
    )
    try:
        task = _read_translation(translation.sas, problem.path)
    except TranslationError:
        translation.forget()
        raise
    notes = tuple(str(item) for item in found if item.severity is Severity.WARNING)
    task = replace(task, source=source, translate_seconds=translation.seconds, notes=notes)
    return _trivial_task(task) if _is_placeholder(task) else task


def is_trivial(task: Task) -> bool:
    """Whether the translator found nothing to search for."""
    return task.variables == (_TRIVIAL,)


def load_sas(path: str | Path) -> Task:
    """The task in a file of the translator; it has no PDDL source, so states have no export."""
    return parse_sas(read_text(path, SAS_FILE), str(path))


def load_task_files(
    files: Sequence[str | Path],
    *,
    unit_costs: bool = False,
    **how: Unpack[TranslateOptions],
) -> Task:
    """The task a user names by `DOMAIN PROBLEM` or by one `FILE.sas`."""
    if len(files) == 1 and Path(files[0]).suffix.lower() == SAS_SUFFIX:
        task = load_sas(files[0])
        return with_unit_costs(task) if unit_costs else task
    if len(files) != 2:
        raise UsageError(
            "a task is a domain and a problem, or one file that ends in .sas",
            hint="name DOMAIN.pddl PROBLEM.pddl or FILE.sas",
        )
    return load_task(
        files[0],
        files[1],
        unit_costs=unit_costs,
        **how,
    )


def with_unit_costs(task: Task) -> Task:
    operators = tuple(replace(operator, cost=1) for operator in task.operators)
    return replace(task, operators=operators, has_costs=False)


def _read_translation(sas: str, problem_path: str | Path) -> Task:
    """Read the translator's output; its errors are not errors in a file of the user."""
    place = Location.of(problem_path)
    try:
        return parse_sas(sas)
    except SasError as error:
        raise TranslationError(
            f"the translator's output is broken: {error.message}",
            place,
            "check that the disk is not full, then try again",
        ) from error


def _is_placeholder(task: Task) -> bool:
    """A task without operators has no variables either, so these can only be a placeholder's."""
    return task.variables == (_PLACEHOLDER,) and not task.operators


def _trivial_task(task: Task) -> Task:
    """Only the initial state is left, as atoms; the goal holds in it or in no reachable state."""
    if task.goal == ((0, 0),):
        note = "the goal holds in every reachable state, so no action is needed"
    else:
        note = "the goal cannot be reached: the translator proved that no plan exists"
    assert task.source is not None
    return replace(
        task,
        variables=(_TRIVIAL,),
        has_costs=task.source.problem.metric is not None and not task.source.unit_costs,
        notes=(*task.notes, note),
    )
