"""The origin of a smallest witness, and what was removed from it: for readers of its bundle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.pddl import format_condition
from engine.pddl.model import conjuncts
from engine.pddl.printer import format_number
from engine.plain_text import inline
from engine.records.pattern import Same, Witness
from engine.task.atoms import format_atom, ground_atom
from engine.task.export import export_state
from engine.task.lifted import substitute
from engine.task.successors import successor
from engine.task.task import Task
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import Bug, WitnessRow

_SAME = {
    Same.ACTION: "the same ground action is wrong in the same way, and a better one remains",
    Same.SCHEMA: "an action of the same schema is wrong in the same way; its objects may differ",
    Same.LOSS: "the same ground action is wrong in the same way and has the same loss",
}


@dataclass(frozen=True, slots=True)
class WitnessOrigin:
    """The bug a witness was made from, and the way from there.

    `facts` are those that went although all their objects stayed, `goals` all that went;
    `values` are functions with a value before and after.
    """

    row: WitnessRow
    about: Witness
    problem: str
    merged: tuple[tuple[str, str], ...]
    objects: tuple[str, ...]
    facts: tuple[str, ...]
    goals: tuple[str, ...]
    values: tuple[tuple[str, str, str], ...]

    def document(self) -> dict[str, object]:
        return {
            "bug": self.row.bug,
            "problem": self.problem,
            "root_cause": self.row.root_cause,
            "step": self.row.step,
            "same": self.row.same,
            "minimal": self.row.attempt.minimal,
            "mapping": dict(self.about.mapping),
            "removed": {
                "objects": list(self.objects),
                "facts": list(self.facts),
                "goals": list(self.goals),
            },
            "values": [list(item) for item in self.values],
        }


def witness_origin(store: WorkspaceReader, bug: Bug, task: Task) -> WitnessOrigin | None:
    """Return the origin, or None if a bug is not a witness or its origin is no longer known."""
    row = store.witness_of(bug.row.id)
    if row is None or row.attempt.witness is None or task.source is None:
        return None
    origin = store.bug(row.bug)
    before_task = store.task(origin.problem_id)
    state = _state(store, row, origin, before_task)
    if state is None or before_task.source is None:
        return None
    about, problem = row.attempt.witness, task.source.problem
    before = export_state(before_task, state, "origin")
    mapping = dict(about.mapping)
    constants = {item.name: item.name for item in task.source.domain.constants}
    names = mapping | constants
    facts = {ground_atom(atom) for atom in problem.init}
    gone = [
        atom
        for atom in map(ground_atom, before.init)
        if all(name in names for name in atom[1:])
        and (atom[0], *(names[name] for name in atom[1:])) not in facts
    ]
    goals = set(conjuncts(problem.goal))
    lost = [goal for goal in conjuncts(before.goal) if substitute(goal, names) not in goals]
    values = {str(item.function): format_number(item.value) for item in before.values}
    return WitnessOrigin(
        row,
        about,
        origin.row.problem,
        tuple((old, new) for old, new in about.mapping if old != new),
        tuple(item.name for item in before.objects if item.name not in mapping),
        tuple(map(format_atom, gone)),
        tuple(map(format_condition, lost)),
        tuple(
            (name, values[name], format_number(item.value))
            for item in problem.values
            if (name := str(item.function)) in values and values[name] != format_number(item.value)
        ),
    )


def _state(
    store: WorkspaceReader, row: WitnessRow, origin: Bug, task: Task
) -> tuple[int, ...] | None:
    """Where the policy is wrong on the run of the origin."""
    if row.step is None:
        found = store.localization(row.bug)
        return None if found is None or found.cause is None else found.cause.state
    state = origin.finding.state
    for operator in origin.finding.run.operators[: row.step]:
        state = successor(task, task.operators[operator], state)
    return state


def origin_text(origin: WitnessOrigin) -> str:
    """A section of a README."""
    row, about = origin.row, origin.about
    where = f"step {row.step} of its run" if row.step is not None else "its root cause"
    end = (
        "No single step of minimizing makes it smaller."
        if row.attempt.minimal
        else f"A smaller one may exist: minimizing was stopped ({row.attempt.stopped_by})."
    )
    sizes = ", ".join(
        f"{name} {getattr(about.before, name)} -> {getattr(about.after, name)}"
        for name in ("objects", "facts", "goals", "run")
    )
    lines = "\n".join(_lines(origin)) or "- nothing: the origin is as small as it can be"
    return f"""\
## Where it comes from

This is a witness of bug {row.bug} in `{inline(origin.problem)}`, made from the state of {where}:
{_SAME[row.same]}.
Before and after: {sizes}. {end}

What was taken away or changed:

{lines}
"""


def _lines(origin: WitnessOrigin) -> Iterator[str]:
    for what, names in (
        ("objects, with everything that mentions them", origin.objects),
        ("facts", origin.facts),
        ("goals", origin.goals),
    ):
        if names:
            yield f"- {what}: {', '.join(f'`{inline(name)}`' for name in names)}"
    for old, new in origin.merged:
        yield f"- `{inline(old)}` was merged into `{inline(new)}`"
    for name, before, after in origin.values:
        yield f"- `{inline(name)}` was {before}, is {after}"
