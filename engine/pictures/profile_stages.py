"""What an animation profile draws: one stage per state of a plan, and a scene of each.

Order matters: functions that distribute objects give places by order of arrival.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from engine.errors import Location, ProfileError
from engine.pictures.facts import schema_of
from engine.pictures.heads import title_text
from engine.pictures.places import Rect
from engine.pictures.profile import BOX, FUNCTIONS, MAX_NUMBER, Call, Profile, Read, Rule, Value
from engine.pictures.scene import Box, Item, Line, Scene, Text
from engine.task.atoms import ground_atom, state_atoms
from engine.task.successors import State
from engine.task.task import GroundAtom, Task

MAX_OBJECTS = 10_000
MAX_TRIES = 2_000_000
"""Looks at rules in all stages together, some seconds: those that wait for others look again."""
MAX_DRAWN = 300_000
"""Objects in all stages together, each with its properties."""
DRAWN = (*BOX.split(), "depth", "prefabimage", "color", "showname", "showlabel", "label")
"""Properties that the drawing knows; others are variables of the author."""
RANDOM_COLORS = (
    *("#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#f0e442"),
    *("#d55e00", "#9ad0f5", "#b2df8a", "#fdbf6f", "#cab2d6"),
)
PAGE = 20.0
HEAD = 30.0
MIN_WIDTH = 300.0
INK, PAPER, FRAME = "#1B1F24", "#FFFFFF", "#2E6CD9"

Properties = dict[str, Value]


@dataclass(frozen=True)
class Stage:
    action: str | None
    objects: dict[str, Properties]
    lines: list[tuple[str, str]]
    applied: frozenset[GroundAtom]
    blocked: frozenset[GroundAtom]  # what their rules read was not set

    def to_json(self) -> dict[str, object]:
        rows = self.objects.items()
        objects = {name: {k: v for k, v in row.items() if k in DRAWN} for name, row in rows}
        return {"action": self.action, "objects": objects, "lines": [list(p) for p in self.lines]}


def stages_of(
    profile: Profile, task: Task, states: Sequence[State], actions: Sequence[str]
) -> list[Stage]:
    """Stage 0 is the first state, stage n after n actions."""
    evaluation = _Evaluation(profile, task)
    facts: list[GroundAtom] = []
    stages = []
    for state, action in zip(states, [None, *actions], strict=True):
        facts = evaluation.facts(facts, state, action)
        stages.append(evaluation.stage(action, facts))
    return stages


def never_applied(stages: Sequence[Stage]) -> list[GroundAtom]:
    """Facts with rules that were blocked in every stage; often that only means "not seen"."""
    applied = frozenset().union(*(stage.applied for stage in stages))
    return sorted(frozenset().union(*(stage.blocked for stage in stages)) - applied)


def _is_set(value: Value) -> bool:
    return value is not None and value is not False


class _Evaluation:
    def __init__(self, profile: Profile, task: Task) -> None:
        assert task.source is not None
        self._profile, self._task = profile, task
        domain, problem = task.source.domain, task.source.problem
        self._rank = {item.name: number for number, item in enumerate(domain.predicates)}
        self._init = [ground_atom(atom) for atom in problem.init]
        names = [item.name for item in (*problem.objects, *domain.constants)]
        self._index = {name: number for number, name in enumerate(names)}
        self._schemas = {action.name: schema_of(action) for action in domain.actions}
        visuals = profile.visuals
        usual = next((v.properties for v in visuals if v.type == "default" and v.properties), {})
        named = [v for v in visuals if v.type == "predefine"]
        last = {word: number for number, v in enumerate(named) for word in v.objects}
        self._looks: dict[str, Properties] = {}
        for name in names:  # the last visual counts that has it, or the beginning of it
            words = [name, *(f"%{name[:end]}" for end in range(len(name) + 1))]
            best = max(last.get(word, -1) for word in words)
            self._looks[name] = named[best].properties if best >= 0 else usual
        for visual in (v for v in visuals if v.type == "custom"):
            self._looks |= dict.fromkeys(visual.objects, visual.properties)
        if len(self._looks) > MAX_OBJECTS:
            raise self._too_much(f"too many objects to draw: {len(self._looks)}")
        self._tries = self._drawn = 0
        self._slots: dict[tuple[str, str], dict[str, int]] = {}  # who asked, in order

    def _too_much(self, text: str) -> ProfileError:
        return ProfileError(text, Location(self._profile.path), "draw without the profile")

    def facts(self, before: list[GroundAtom], state: State, action: str | None) -> list[GroundAtom]:
        """The facts of a stage: those that stay, then new ones by predicate, effect and objects."""
        true = state_atoms(self._task, state)
        name, *arguments = action.split() if action else [""]
        places: list[GroundAtom] = [] if action else self._init
        if name in self._schemas:
            given = dict(zip(self._schemas[name].parameters, arguments, strict=False))
            adds = self._schemas[name].adds
            places = [(atom[0], *(given.get(t, t) for t in atom[1:])) for atom in adds]
        order = {atom: number for number, atom in reversed(list(enumerate(places)))}

        def key(atom: GroundAtom) -> tuple[object, ...]:
            rank = self._rank.get(atom[0], len(self._rank))
            objects = tuple(self._index.get(name, 0) for name in atom[1:])
            return rank, order.get(atom, len(places)), objects

        kept = [atom for atom in before if atom in true]
        return kept + sorted(true.difference(kept), key=key)

    def stage(self, action: str | None, facts: Iterable[GroundAtom]) -> Stage:
        self._drawn += len(self._looks)
        if self._drawn > MAX_DRAWN:
            raise self._too_much("too many objects in too many states")
        self._objects = {name: dict(look) for name, look in self._looks.items()}
        self._lines: list[tuple[str, str]] = []
        self._slots = {key: row for key, row in self._slots.items() if FUNCTIONS[key[0]].is_kept}
        rules = self._profile.predicates
        chosen = sorted((a for a in facts if a[0] in rules), key=lambda a: rules[a[0]].priority)
        queue, waiting = deque(chosen), 0
        while queue and waiting < len(queue):
            fact = queue.popleft()
            predicate = rules[fact[0]]
            self._tries += 1 + len(predicate.rules)
            if self._tries > MAX_TRIES:
                raise self._too_much("its rules take too long")
            given = dict(zip(predicate.parameters, fact[1:], strict=True))
            if all(self._is_ready(rule, given) for rule in predicate.rules):
                for rule in predicate.rules:
                    self._apply(rule, given)
                waiting = 0
            else:
                queue.append(fact)
                waiting += 1
        applied = frozenset(chosen).difference(queue)
        return Stage(action, self._objects, self._lines, applied, frozenset(queue))

    def _is_ready(self, rule: Rule, given: dict[str, str]) -> bool:
        """Whether all that a rule reads is set."""
        terms = rule.right if isinstance(rule.right, tuple) else (rule.right,)
        reads = [(term.object, term.properties) for term in terms if isinstance(term, Read)]
        if isinstance(rule.right, Call):
            needs = (tuple(words.split()) for words in FUNCTIONS[rule.right.name].needs)
            reads += zip(rule.right.objects, needs, strict=True)
        rows = [(self._objects[given.get(name, name)], keys) for name, keys in reads]
        return all(_is_set(row.get(key)) for row, keys in rows for key in keys)

    def _apply(self, rule: Rule, given: dict[str, str]) -> None:
        values: Sequence[Value]
        match rule.right:
            case Read(name, properties):
                values = [self._objects[given.get(name, name)].get(key) for key in properties]
            case tuple(terms):
                values = [sum(self._term(rule, term, given) for term in terms)]
            case Call(name, objects) as call:
                values = self._values(rule, call, *(given.get(name, name) for name in objects))
                by_name = dict(zip(FUNCTIONS[name].sets.split(), values, strict=True))
                values = [by_name[key] for key in rule.target.properties]
            case value:
                values = [value]
        for value in values:
            if isinstance(value, int | float) and not abs(value) <= MAX_NUMBER:
                raise ProfileError("a number grows beyond 1,000,000", rule.location)
        target = given.get(rule.target.object, rule.target.object)
        if target:
            self._objects[target].update(zip(rule.target.properties, values, strict=False))

    def _term(self, rule: Rule, term: Read | float, given: dict[str, str]) -> float:
        if isinstance(term, Read):
            name = given.get(term.object, term.object)
            return sum(self._amount(rule, name, key) for key in term.properties)
        return term

    def _amount(self, rule: Rule, name: str, key: str) -> float:
        """A property as a number."""
        value = self._objects[name].get(key)
        if isinstance(value, str):
            raise ProfileError(f"'{key}' of '{name}' is '{value}', not a number", rule.location)
        return value or 0

    def _number(self, rule: Rule, name: str, position: float) -> int:
        found = re.findall(r"\d+", name)
        if not 0 <= position < len(found):
            raise ProfileError(f"the name '{name}' has no number to place it by", rule.location)
        return int(found[int(position)][:6])

    def _values(self, rule: Rule, call: Call, o: str, c: str = "") -> tuple[float, ...]:
        """What a function sets of an object, by another one if it has two."""
        of, number = partial(self._amount, rule), partial(self._number, rule)
        settings = call.settings
        asked = self._slots.setdefault((call.name, c), {})
        counts = call.name == "calculate_label"  # every question, not every object
        slot = asked.setdefault(str(len(asked)) if counts else o, len(asked))
        found: tuple[float, ...] = ()
        match call.name:
            case "distributex":
                found = (slot * (of(o, "width") + settings["spacebtw"]),)
            case "distributey":
                height = of(o, "height") + settings["spacebtw"]
                found = ((number(o, 0) - settings["initial"]) * height,)
            case "distribute_grid_around_point":
                row, column = (number(o, settings[key]) for key in ("rowindex", "colindex"))
                found = row * settings["margin"], column * settings["margin"]
            case "distribute_within_objects_vertical":
                column, row = divmod(slot, max(1, int(settings["row_count"])))
                x, y = of(c, "x") + column * of(o, "width"), of(c, "y") + row * of(o, "height")
                found = x + settings["padding"], y + settings["padding"]
            case "apply_smaller":
                alike = o != c and re.sub("[^a-z]", "", o) == re.sub("[^a-z]", "", c)
                found = (of(o, "width") + (settings["increase_width"] if alike else 0),)
            case "align_middle":
                found = (of(c, "x") + (of(c, "width") - of(o, "width")) / 2,)
            case "calculate_label":
                found = (slot + 1,)
            case "draw_line":
                self._lines.append((o, c))
            case _:  # distribute_within_objects_horizontal
                found = (of(c, "x") + slot * (of(o, "width") + settings["padding"]),)
        return found


class ProfilePicture:
    """Scenes of the stages of one or two plans on one panel, so that nothing jumps."""

    def __init__(self, profile: Profile, runs: Sequence[Sequence[Stage]]) -> None:
        self._profile = profile
        self._customs = {n for v in profile.visuals if v.type == "custom" for n in v.objects}
        boxes = [box for run in runs for stage in run for box in self._boxes(stage).values()]
        boxes.append(Rect(0.0, 0.0, 0.0, 0.0))
        self._left, bottom = (min(box[axis] for box in boxes) - PAGE for axis in (0, 1))
        right, self._top = max(b.right for b in boxes) + PAGE, max(b.bottom for b in boxes) + PAGE
        self._width, self._height = right - self._left, self._top - bottom

    def _boxes(self, stage: Stage) -> dict[str, Rect]:
        """Of the objects that are drawn; y counts upwards."""
        placed = {n: row for n, row in stage.objects.items() if "x" in row and "y" in row}
        chosen = {n for n, row in placed.items() if _is_set(row["x"]) or _is_set(row["y"])}
        drawn = [name for name in stage.objects if name in chosen or name in self._customs]
        sides = {n: [_size(stage.objects[n], k) for k in DRAWN[:4]] for n in drawn}
        return {name: Rect(*row) for name, row in sides.items()}

    def scene(self, title: str, stage: Stage, action: str = "") -> Scene:
        """A stage; the objects of the action that comes next are framed."""
        places = {}
        for name, box in self._boxes(stage).items():
            x, y = box.x - self._left, self._top - box.bottom + HEAD
            whole = stage.objects[name].get("width") == "panel_size"
            wide = self._width - 40 if whole else box.w
            places[name] = Rect(round(x, 1), round(y, 1), wide, box.h)
        width = max(self._width, MIN_WIDTH)
        items: list[Item] = [title_text(title, width, INK)]
        for a, b in dict.fromkeys(tuple(sorted(pair)) for pair in stage.lines):
            if a in places and b in places:
                ends = *places[a].middle, *places[b].middle
                items.append(Line(f"line {(a, b)}", *ends, INK, 5.0))
        numbers = {name: number for number, name in enumerate(stage.objects)}
        for name in sorted(places, key=lambda n: (_size(stage.objects[n], "depth"), numbers[n])):
            items += self._object(name, stage.objects[name], places[name], numbers[name])
        framed = [name for name in action.split()[1:] if name in places]
        items += [Box(f"{n}/frame", *places[n], "", FRAME, 2.6, 2.0) for n in framed]
        used = {str(row.get("prefabimage")) for row in stage.objects.values()}
        images = tuple((n, data) for n, data in self._profile.images.items() if n in used)
        words = f"Drawn by an animation profile: {', '.join(places)}."
        height = round(self._height + HEAD, 1)
        return Scene(round(width, 1), height, tuple(items), title, words, PAPER, images)

    def _object(self, name: str, row: Properties, place: Rect, number: int) -> Iterator[Item]:
        image = str(row.get("prefabimage") or "")
        image = image if image in self._profile.images else ""
        color = row.get("color")
        color = RANDOM_COLORS[number % 10] if color == "random" else str(color or "")
        usual = "#ffffff" if image and not color else "#cccccc"
        fill = color if re.fullmatch("#[0-9a-f]{6}", color) else usual
        yield Box(f"{name}/box", *place, fill, "", 0.0, 0.0, False, name, name, image)
        label = str(row.get("label", "")) if _is_set(row.get("showlabel")) else ""
        text = name if _is_set(row.get("showname")) else label
        if text:
            dark = sum(int(fill[i : i + 2], 16) for i in (1, 3, 5)) < 330 and not image
            x, y = place.middle
            ink = PAPER if dark else INK
            yield Text(f"{name}/name", x, y + 4, text, 12.0, ink, middle=True)


def _size(row: Properties, key: str) -> float:
    value = row.get(key)
    return float(value) if isinstance(value, int | float) and _is_set(value) else 0.0
