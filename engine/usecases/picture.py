"""Draws a state of a task, alone or as a step of a plan, as SVG, as PNG or as data."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import PlanError, UsageError
from engine.files import read_bytes, scratch_folder, write_bytes, write_text
from engine.pictures.picture import Picture, require_drawable
from engine.pictures.profile import read_profile
from engine.pictures.profile_stages import ProfilePicture, never_applied, stages_of
from engine.pictures.scene import Scene
from engine.pictures.svg import svg
from engine.task.atoms import format_atom
from engine.task.plans import Plan, operators_of_plan
from engine.task.successors import State, is_applicable, successor
from engine.task.task import Task

PAINTER = "app.widgets.paint_picture"
"""The module that paints PNG files with Qt, in a process of its own: the engine knows no Qt."""
PAINT_SECONDS = 60
MAX_NEVER = 12


@dataclass(frozen=True)
class DrawnState:
    scene: Scene
    document: dict[str, object]


def states_of_plan(task: Task, plan: Plan | None) -> list[State]:
    """The states that a plan visits, the initial one first; every action must be applicable."""
    states: list[State] = [task.init]
    for index, number in enumerate(operators_of_plan(task, plan) if plan else ()):
        operator = task.operators[number]
        if not is_applicable(operator, states[-1]):
            raise PlanError(
                f"({operator.name}) is not applicable after {index} steps",
                plan.location(index) if plan else None,
                "check the plan with 'plumbline validate'",
            )
        states.append(successor(task, operator, states[-1]))
    return states


def draw_state(
    task: Task, plan: Plan | None = None, other: Plan | None = None, step: int = 0
) -> DrawnState:
    """The state before step `step` + 1 of a plan; `other` shapes roles and layout, too."""
    states = states_of_plan(task, plan)
    _require_step(step, len(states))
    picture = Picture(task, [states, states_of_plan(task, other)] if other else [states])
    action = plan.steps[step].action if plan and step < len(plan.steps) else None
    title = title_of(step, action, bool(plan))
    after = states[step + 1] if action else None
    began = time.perf_counter()
    shown = picture.step(title, states[step], after, action or "")
    scene = picture.drawing.scene(shown)
    seconds = picture.seconds | {"draw": time.perf_counter() - began}
    document: dict[str, object] = {
        "roles": picture.roles_json(),
        "step": step,
        "action": action,
        **picture.json(shown),
        "seconds": {part: round(spent, 6) for part, spent in seconds.items()},
    }
    return DrawnState(scene, document)


@dataclass(frozen=True)
class DrawnStages:
    scene: Scene
    document: dict[str, object]
    warnings: list[str]


def draw_stages(
    task: Task, profile_path: str | Path, plan: Plan | None = None, step: int = 0
) -> DrawnStages:
    """All states of a plan as an animation profile draws them, and a picture of one."""
    require_drawable(task)
    assert task.source is not None
    states = states_of_plan(task, plan)
    _require_step(step, len(states))
    began = time.perf_counter()
    profile = read_profile(profile_path, task.source.domain)
    actions = [item.action for item in plan.steps] if plan else []
    stages = stages_of(profile, task, states, actions)
    seconds = time.perf_counter() - began
    action = actions[step] if step < len(actions) else None
    title = title_of(step, action, bool(plan))
    scene = ProfilePicture(profile, [stages]).scene(title, stages[step], action or "")
    document: dict[str, object] = {
        "stages": [stage.to_json() for stage in stages],
        "seconds": round(seconds, 6),
    }
    never = never_applied(stages)
    facts = " ".join(map(format_atom, never[:MAX_NEVER]))
    more = f" and {len(never) - MAX_NEVER} more" if len(never) > MAX_NEVER else ""
    note = f"never drawn, because what their rules read is not set: {facts}{more}"
    return DrawnStages(scene, document, [*profile.warnings, *([note] if never else [])])


def _require_step(step: int, states: int) -> None:
    if not 0 <= step < states:
        steps = f"{states - 1} steps" if states != 2 else "1 step"
        raise UsageError(f"--step {step} is out of range", hint=f"the plan has {steps}")


def title_of(step: int, action: str | None, has_plan: bool = True) -> str:
    if action is not None:
        return f"Before step {step + 1}: ({action})"
    if not has_plan:
        return "Initial state"
    return f"After step {step}" if step else "Initial state"


def write_picture(scene: Scene, path: Path) -> None:
    """Write a picture; the suffix decides, `.svg` or `.png`."""
    suffix = path.suffix.lower()
    if suffix == ".svg":
        write_text(path, svg(scene))
    elif suffix == ".png":
        write_bytes(path, _painted(svg(scene)))
    else:
        raise UsageError(
            f"unknown kind of picture '{path.name}'", hint="name a file that ends in .svg or .png"
        )


def _painted(text: str) -> bytes:
    with scratch_folder("picture") as folder:
        source, target = folder / "picture.svg", folder / "picture.png"
        write_text(source, text)
        words: Sequence[str] = [sys.executable, "-P", "-m", PAINTER, str(source), str(target)]
        environment = os.environ | {"QT_QPA_PLATFORM": "offscreen"}
        try:
            done = subprocess.run(
                words, env=environment, timeout=PAINT_SECONDS, capture_output=True, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            done = None
        if done is None or done.returncode != 0:
            raise UsageError(
                "PNG files cannot be painted here: Qt is missing or does not start",
                hint="write .svg instead",
            )
        return read_bytes(target, "a picture")
