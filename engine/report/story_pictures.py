"""Pictures in a report: where the policy goes wrong, and what a witness looks like.

A module of its own, because pictures take long to import and most reports have none.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import PlumblineError
from engine.pictures.picture import Picture, require_drawable, state_picture
from engine.pictures.svg import svg
from engine.records.localization import Localization
from engine.report.plan_alignment import align
from engine.report.trace import Trace
from engine.task.task import Task


@dataclass(frozen=True, slots=True)
class StoryPicture:
    caption: str
    svg: str


def story_pictures(
    task: Task, policy: Trace, better: Trace, localization: Localization | None
) -> tuple[StoryPicture, ...]:
    """The state before the worst step and the state after it; none if the task cannot be drawn."""
    if not policy.steps:
        return ()
    step = min(_worst_step(policy, better, localization), len(policy.steps) - 1)
    try:
        picture = Picture(task, [policy.states, better.states])
        return (
            _draw(picture, policy, step, f"Before step {step + 1} of the policy"),
            _draw(picture, policy, step + 1, f"After step {step + 1} of the policy"),
        )
    except PlumblineError:  # the task is too large, or has no names
        return ()


def _worst_step(policy: Trace, better: Trace, localization: Localization | None) -> int:
    """The step that loses most; if that is not known, the first that leaves the better plan."""
    if localization is not None and localization.worst_step is not None:
        return localization.worst_step
    apart = (row.policy for row in align(policy, better).rows if not row.common)
    return next((step.index for step in apart if step is not None), 0)


def _draw(picture: Picture, trace: Trace, index: int, caption: str) -> StoryPicture:
    if index < len(trace.steps):
        action, after = trace.steps[index].action, trace.state_after(index)
        state = trace.states[index]
    else:
        action, after = "", None
        last = trace.loop_begin if trace.loop_begin is not None else len(trace.states) - 1
        state = trace.states[last]
    title = f"({action})" if action else "end of the run"
    if not picture.shows(state, after):  # far along a long run
        picture = Picture(picture.task, [[state] if after is None else [state, after]])
    return StoryPicture(caption, svg(picture.scene(title, state, after, action), brief=True))


def witness_picture(task: Task, action: str) -> str:
    """The initial state of a witness, and what the policy does there."""
    try:
        require_drawable(task)
    except PlumblineError:
        return ""
    title = f"The policy: ({action})" if action else ""
    return svg(state_picture(task, task.init, title, action), 480)
