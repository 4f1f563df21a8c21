"""What a picture must hold, checked from its JSON and the task alone.

Written from the definition (docs/theory/state-pictures.md), without the code that draws: nothing
vanishes, boxes lie in boxes, and who does not move keeps its place.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

from engine.task.atoms import fluent_atoms, format_atom
from engine.task.task import GroundAtom, Task

Document = dict[str, Any]


def faults_of_facts(task: Task, state: tuple[int, ...], picture: Document) -> list[str]:
    """Facts that the picture of a state loses, invents or tells twice."""
    true = {format_atom(atom) for atom in fluent_atoms(task, state)}
    shown, listed = set(picture["facts_shown"]), set(picture["facts_listed"])
    absent, denied = set(picture["facts_absent"]), set(picture["facts_denied"])
    faults = [f"{fact} is shown and listed" for fact in shown & listed]
    faults += [f"{fact} is lost" for fact in true - shown - listed]
    faults += [f"{fact} is not true" for fact in (shown | listed) - true]
    faults += [f"{fact} is absent but not shown" for fact in absent - shown]
    faults += [f"{fact} is denied but true" for fact in denied & true]
    written = {fact for row in picture["objects"].values() for fact in row["marks"]}
    faults += [f"the mark {fact} is not shown" for fact in written - shown]
    faults += [
        f"{fact} is told by nothing"
        for fact in sorted(shown - absent - written - set(picture["header"]))
        if not _follows(tuple(fact[1:-1].split()), picture)
    ]
    return faults


def _above(node: str, objects: Document) -> list[str]:
    """What a node stands on or lies in, directly first."""
    chain: list[str] = []
    row = objects.get(node)
    while row is not None:
        below = row["on"] or row["inside"]
        if below is None or below in chain:
            break
        chain.append(below)
        row = objects.get(below)
    return chain


def _follows(atom: GroundAtom, picture: Document) -> bool:
    """Whether positions tell a fact."""
    roles, objects = picture["roles"], picture["objects"]
    predicate, *names = atom
    if len(names) == 1:
        who = names[0]
        row = objects.get(who)
        if objects.get(f"@{predicate}", {}).get("inside") == who:
            return True
        if row is None:
            return False
        ride = roles.get("rides", {}).get(predicate)
        inside = row["inside"] == f"!{predicate}" or (ride and row["inside"] == f"@{ride}")
        return bool(inside) or (predicate in roles.get("anchors", {}) and row["inside"] is not None)
    located = any(
        f"{predicate}:{i}" in slots for i in (0, 1) for slots in roles.get("location", {}).values()
    )
    for one, other in (names, names[::-1]):
        chain = _above(one, objects)
        if other in chain and (not located or predicate in _attributes(roles) or chain[0] == other):
            return True
    return False


def _attributes(roles: Document) -> set[str]:
    return {slot.split(":")[0] for slot in roles.get("attributes", ())}


def reads_back(
    task: Task, state: tuple[int, ...], picture: Document, groups: list[set[GroundAtom]]
) -> list[str]:
    """Whether a reader would conclude exactly what is true of facts that absence tells."""
    true = set(fluent_atoms(task, state))
    denied = set(picture["facts_denied"])
    absent = set(picture["facts_absent"])
    visible = {atom for atom in true if format_atom(atom) not in absent}
    objects = picture["objects"]
    holding = {row[key] for row in objects.values() for key in ("on", "inside")}
    holding |= {row["inside"] for row in objects.values()}
    faults = []
    for atoms in task.fact_atoms:
        for atom in atoms:
            if atom is None or atom[0] not in picture["roles"].get("emptiness", ()):
                continue
            if len(atom) > 1 and atom[1] not in objects:
                continue
            own = [group for group in groups if atom in group]
            if own:
                concluded = not any(visible & (group - {atom}) for group in own)
            else:
                concluded = len(atom) == 1 or atom[1] not in holding
            told = format_atom(atom) not in denied and (concluded or atom in visible)
            if told != (atom in true):
                faults.append(f"{format_atom(atom)} is read as {told}")
    return faults


def groups_of(task: Task) -> list[set[GroundAtom]]:
    rows = [set(task.fact_atoms[v]) for v in task.state_variables]
    rows += [{task.fact_atoms[v][x] for v, x in group} for group in task.mutexes]
    wide = [{atom for atom in row if atom is not None} for row in rows]
    return [row for row in wide if len(row) > 1]


def faults_of_boxes(picture: Document) -> list[str]:
    """Boxes that leave their container, or overlap a sibling."""
    objects = picture["objects"]
    faults = []
    by_parent: dict[str | None, list[str]] = {}
    for name, row in objects.items():
        x, y, w, h = row["box"]
        by_parent.setdefault(row["inside"], []).append(name)
        if row["inside"] in objects:
            a, b, c, d = objects[row["inside"]]["box"]
            if x < a - 1 or y < b - 1 or x + w > a + c + 1 or y + h > b + d + 1:
                faults.append(f"{name} leaves {row['inside']}")
    pairs = (pair for names in by_parent.values() for pair in combinations(names, 2))
    boxes = {name: row["box"] for name, row in objects.items()}
    return faults + [
        f"{one} overlaps {other}"
        for one, other in pairs
        if boxes[one] != boxes[other] and _overlap(boxes[one], boxes[other])
    ]


def _overlap(one: list[float], other: list[float]) -> bool:
    return (
        one[0] + one[2] > other[0] + 1
        and other[0] + other[2] > one[0] + 1
        and one[1] + one[3] > other[1] + 1
        and other[1] + other[3] > one[1] + 1
    )


def faults_of_stillness(before: Document, after: Document) -> list[str]:
    """Objects whose chain of containers is the same, but whose corner is not."""
    faults = []
    shared: dict[tuple[float, ...], int] = {}
    for row in [*before["objects"].values(), *after["objects"].values()]:
        key = tuple(row["box"])
        shared[key] = shared.get(key, 0) + 1
    for name, row in before["objects"].items():
        then = after["objects"].get(name)
        if then is None or _above(name, before["objects"]) != _above(name, after["objects"]):
            continue
        changed = [_look(name, row["marks"]), _look(name, then["marks"])]
        folded = shared[tuple(row["box"])] > 2 or shared[tuple(then["box"])] > 2
        if folded and changed[0] != changed[1]:
            continue  # it joins another chip of the section
        moved = max(abs(a - b) for a, b in zip(row["box"][:2], then["box"][:2], strict=True))
        if moved > 1:
            faults.append(f"{name} moves by {moved:g}")
    return faults


def _look(name: str, marks: list[str]) -> list[str]:
    return [re.sub(rf"(?<=[ (]){re.escape(name)}(?=[ )])", "?", mark) for mark in marks]
