"""Pictures of a task: one layout for all states of both plans, and a scene for each step."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from engine.errors import UnsupportedError
from engine.pictures.drawing import Drawing, Step
from engine.pictures.facts import Facts
from engine.pictures.layout import Layout
from engine.pictures.roles import Roles
from engine.pictures.scene import Scene
from engine.pictures.views import Views
from engine.task.atoms import fluent_atoms, format_atom
from engine.task.successors import is_applicable, successor
from engine.task.task import Task

MAX_STATES = 200
"""States of each plan that shape the picture; a longer run is still drawn, if less snugly."""
MAX_BOXES = 4000
MAX_FACTS = 60_000
State = Sequence[int]


class Picture:
    """Roles and layout of some runs: each a list of states. Stepping only looks things up."""

    def __init__(self, task: Task, runs: Iterable[Sequence[State]], fold: bool = True) -> None:
        require_drawable(task)
        began = time.perf_counter()
        # A run with a loop comes back to states that are there already.
        shown = [list(dict.fromkeys(map(tuple, run)))[:MAX_STATES] for run in runs]
        self.task = task
        self.roles = Roles(Facts(task, [state for run in shown for state in run]))
        inferred = time.perf_counter()
        self._views = Views(self.roles)
        views = [[self._views.view(self._atoms(state)) for state in run] for run in shown]
        self.layout = Layout(self._views, views, fold)
        self.drawing = Drawing(self.layout, [view for run in views for view in run])
        ended = time.perf_counter()
        self.seconds = {"roles": inferred - began, "layout": ended - inferred}
        self._shown = {state for run in shown for state in run}

    def _atoms(self, state: State) -> frozenset[tuple[str, ...]]:
        return frozenset(fluent_atoms(self.task, state))

    def shows(self, *states: State | None) -> bool:
        """Whether the layout has room for these states."""
        return all(state is None or tuple(state) in self._shown for state in states)

    def step(self, title: str, state: State, after: State | None = None, action: str = "") -> Step:
        atoms = self._atoms(state)
        then = None if after is None else self._views.view(self._atoms(after))
        return Step(title, atoms, self._views.view(atoms), tuple(action.split()), then)

    def scene(
        self, title: str, state: State, after: State | None = None, action: str = ""
    ) -> Scene:
        return self.drawing.scene(self.step(title, state, after, action))

    def roles_json(self) -> dict[str, object]:
        found = self.roles.to_json()
        return found | {"layout": self.layout.forms} if self.layout.forms else found

    def json(self, step: Step) -> dict[str, object]:
        """What is drawn and what is listed, for programs and for the test that nothing vanishes."""
        view = step.view
        boxes = self.layout.boxes(view, step.after)
        objects = {
            node: {
                "box": [round(float(part), 1) for part in box],
                "inside": view.parent.get(view.bottom(node)),
                "on": view.parent[node] if node in view.standing else None,
                "marks": [format_atom(atom) for atom in view.marks.get(node, ())],
            }
            for node, box in sorted(boxes.items())
        }
        listed = set(view.listed)
        return {
            "facts_shown": sorted(format_atom(a) for a in step.state if a not in listed),
            "facts_listed": sorted(map(format_atom, view.listed)),
            "facts_absent": sorted(map(format_atom, view.absent)),
            "facts_denied": sorted(map(format_atom, view.denied)),
            "header": sorted(map(format_atom, view.header)),
            "objects": objects,
        }


def require_drawable(task: Task) -> None:
    """Say why a task has no picture."""
    if task.source is None:
        raise UnsupportedError(
            "a SAS file has no objects to draw", hint="use the domain and problem files"
        )
    objects = len(task.source.problem.objects) + len(task.source.domain.constants)
    if objects > MAX_BOXES or sum(task.domain_sizes) > MAX_FACTS:
        raise UnsupportedError(
            f"too large for a picture: {objects} objects, {sum(task.domain_sizes)} facts"
        )


def state_picture(task: Task, state: State, title: str = "", action: str = "") -> Scene:
    """The picture of one state alone, or with what an action does there if it is applicable."""
    number = task.operator_index.get(action)
    if number is None or not is_applicable(task.operators[number], tuple(state)):
        return Picture(task, [[state]]).scene(title, state)
    after = successor(task, task.operators[number], tuple(state))
    return Picture(task, [[state, after]]).scene(title, state, after, action)
