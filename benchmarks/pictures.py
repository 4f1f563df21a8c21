"""Pictures of states: equal to golden roles and profiles, nothing lost, still, and fast.

    python benchmarks/pictures.py DATA [--only NAME] [--sheets FOLDER]

DATA is the folder of published data; `pictures/roles.json` in it lists tasks with plans and the
roles that must be inferred. Every state of every plan is checked: no fact vanishes, what absence
tells can be read back, boxes lie in their containers and do not overlap, and who does not move
keeps its corner. `planimation/NAME` holds profiles with the stages that they must give. `--sheets`
draws one step of each task as SVG. Exit code 1: something differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from measurement import ROOT, Row, Setting, mistakes
from reference.picture_checks import (
    faults_of_boxes,
    faults_of_facts,
    faults_of_stillness,
    groups_of,
    reads_back,
)

from engine.pictures.picture import Picture
from engine.pictures.svg import svg
from engine.task.load import load_task
from engine.task.plans import parse_plan, read_plan
from engine.task.successors import State
from engine.task.task import Task
from engine.usecases.picture import draw_stages, states_of_plan, title_of

NOT_ROLES = ("name", "domain", "problem", "plan")


@dataclass
class Result:
    name: str
    roles_equal: bool
    states: int = 0
    objects: int = 0
    listed: int = 0
    denied: int = 0
    faults: list[str] = field(default_factory=list)
    first_frame: float = 0.0  # seconds of CPU time
    steps: list[float] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--sheets", type=Path)
    options = parser.parse_args()
    results = []
    for entry in entries(options.data):
        if options.only in entry["name"]:
            results.append(check(entry, options.data, options.sheets))
            print(describe(results[-1]), flush=True)
    print(
        f"{sum(r.roles_equal for r in results)} of {len(results)} roles equal, "
        f"{sum(r.states for r in results)} states, {sum(r.listed for r in results)} facts listed, "
        f"{sum(r.denied for r in results)} denied, {sum(len(r.faults) for r in results)} faults"
    )
    profiles = {folder.name: profile_is_equal(folder) for folder in profile_folders(options.data)}
    print(f"{sum(profiles.values())} of {len(profiles)} animation profiles equal")
    print("\n".join(f"OTHER {name}" for name, equal in profiles.items() if not equal))
    return int(any(r.faults or not r.roles_equal for r in results) or not all(profiles.values()))


def rows(setting: Setting) -> Iterator[Row]:
    data = setting.published("pictures").parent
    results = [check(entry, data) for entry in entries(data)]
    yield mistakes("tasks with other roles", sum(not r.roles_equal for r in results), len(results))
    states = sum(r.states for r in results)
    equal = [profile_is_equal(folder) for folder in profile_folders(data)]
    yield mistakes("animation profiles with other stages", equal.count(False), len(equal))
    yield mistakes("faults in pictures of states", sum(len(r.faults) for r in results), states)
    large = max(results, key=lambda r: r.objects * r.states)
    remark = f"{large.objects} objects, {large.states} states"
    yield Row("first picture of the largest task", large.first_frame * 1000, "ms", remark=remark)
    yield Row("one step of it, median", median(large.steps) * 1000, "ms", remark=remark)


def entries(data: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((data / "pictures" / "roles.json").read_text())
    return found


def task_of(entry: dict[str, Any], data: Path) -> tuple[Task, list[State]]:
    root = ROOT if entry["name"].startswith("examples/") else data
    task = load_task(root / entry["domain"], root / entry["problem"])
    plan = parse_plan("\n".join(f"({action})" for action in entry["plan"]))
    return task, states_of_plan(task, plan)


def check(entry: dict[str, Any], data: Path, sheets: Path | None = None) -> Result:
    task, states = task_of(entry, data)
    began = time.process_time()
    picture = Picture(task, [states])
    picture.scene("", states[0])
    result = Result(entry["name"], False, len(states), len(picture.roles.facts.objects))
    result.first_frame = time.process_time() - began
    roles = picture.roles_json()
    result.roles_equal = roles == {k: v for k, v in entry.items() if k not in NOT_ROLES}
    groups = groups_of(task)
    before = None
    for number, state in enumerate(states):
        action = entry["plan"][number] if number < len(entry["plan"]) else None
        after = states[number + 1] if action else None
        began = time.process_time()
        step = picture.step(title_of(number, action), state, after, action or "")
        scene = picture.drawing.scene(step)
        result.steps.append(time.process_time() - began)
        document = {"roles": roles, **picture.json(step)}
        faults = faults_of_facts(task, state, document) + reads_back(task, state, document, groups)
        faults += faults_of_boxes(document)
        if before is not None:
            faults += faults_of_stillness(before, document)
        result.faults += [f"step {number}: {fault}" for fault in faults]
        result.listed += len(document["facts_listed"])
        result.denied += len(document["facts_denied"])
        before = document
        if sheets is not None and number == len(entry["plan"]) // 2:
            sheets.mkdir(exist_ok=True)
            (sheets / f"{entry['name'].replace('/', '-')}.svg").write_text(svg(scene))
    return result


def profile_folders(data: Path) -> list[Path]:
    return sorted(path.parent for path in (data / "planimation").glob("*/golden.json"))


def profile_is_equal(folder: Path) -> bool:
    """Whether a profile gives exactly the stages that it must give."""
    task = load_task(folder / "domain.pddl", folder / "problem.pddl")
    drawn = draw_stages(task, folder / "profile.pddl", read_plan(folder / "plan.txt"))
    golden = json.loads((folder / "golden.json").read_text())
    got = json.loads(json.dumps(drawn.document["stages"]))
    return bool(got[: golden["steps"] + 1] == golden["stages"])


def describe(result: Result) -> str:
    lines = [
        f"{'equal' if result.roles_equal else 'OTHER'} {result.name}: {result.states} states, "
        f"{result.objects} objects, {result.listed} listed, {result.denied} denied, first "
        f"{result.first_frame * 1000:.0f} ms, step {median(result.steps) * 1000:.1f} "
        f"(at most {max(result.steps) * 1000:.1f}) ms, {len(result.faults)} faults"
    ]
    return "\n  ".join([*lines, *result.faults[:5]])


if __name__ == "__main__":
    sys.exit(main())
