"""Animation profiles of Planimation: the file as it is written, checked against a domain.

A profile is untrusted data: nothing in it is ever followed or executed, and everything is
bounded. docs/formats.md, "Animation profiles", describes the language as it is used.
"""

from __future__ import annotations

import base64
import difflib
import json
import math
import os
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple, NoReturn

from engine.errors import Location, ProfileError
from engine.files import read_text, resource
from engine.pddl.diagnostics import MalformedError
from engine.pddl.model import Domain
from engine.pddl.sexpr import Block, Node, Word, parse_file

MAX_BYTES = 16 * 2**20
MAX_NESTING = 14
MAX_BLOCKS = 1000
MAX_WORDS = 200_000
MAX_PROPERTIES = 100
MAX_WARNINGS = 100
MAX_IMAGE_BYTES = 4 * 2**20
MAX_IMAGE_SIDE = 4096
"""All images together have at most that, squared: a small file may hold huge ones."""
MAX_NUMBER = 1e6
MAX_SHOWN = 60
"""Characters of a name in a warning."""
DEFAULT_PRIORITY = 10.0
NUMBER = re.compile(r"[-+]?\d+(?P<rest>(\.\d*)?(e[-+]?\d+)?)")
IS_PROFILE = re.compile(r"\A\s*(;[^\n]*\n\s*)*\(\s*define\s*\(\s*animation\s", re.IGNORECASE)

Value = str | int | float | bool | None


class Function(NamedTuple):
    """What a function sets, which properties its objects need, and its settings."""

    sets: str
    needs: tuple[str, ...]  # by object
    settings: dict[str, float]
    is_kept: bool = True  # or it forgets in every stage who asked before


BOX = "x y width height"
FUNCTIONS = {
    "distributex": Function("x", ("",), {"spacebtw": 20}),
    "distributey": Function("y", ("",), {"spacebtw": 20, "initial": 0}),
    "distribute_grid_around_point": Function(
        "x y", ("",), {"margin": 100, "rowindex": 0, "colindex": 1}
    ),
    "distribute_within_objects_vertical": Function(
        "x y", ("width height", "x y"), {"row_count": 4, "padding": 5}
    ),
    "distribute_within_objects_horizontal": Function("x", ("width", "x"), {"padding": 40}, False),
    "distribute_within_objects_horizontal_v2": Function("x", ("width", "x"), {"padding": 40}),
    "apply_smaller": Function("width", ("width", ""), {"increase_width": 10}, False),
    "align_middle": Function("x", ("width", "x width"), {}),
    "calculate_label": Function("label", ("", ""), {}, False),
    "draw_line": Function("", (BOX, BOX), {}),
}


@dataclass(frozen=True, slots=True)
class Read:
    """Properties of an object."""

    object: str
    properties: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A function of some objects."""

    name: str
    objects: tuple[str, ...]
    settings: dict[str, float]


Sum = tuple[Read | float, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """Sets properties of an object; a function without one is an action."""

    target: Read
    right: Value | Read | Sum | Call
    location: Location


@dataclass(frozen=True, slots=True)
class PredicateRules:
    parameters: tuple[str, ...]  # those with a question mark, in order
    rules: tuple[Rule, ...]
    priority: float


@dataclass(frozen=True, slots=True)
class Visual:
    type: str
    objects: tuple[str, ...]
    properties: dict[str, Value]


@dataclass(frozen=True)
class Profile:
    path: str
    predicates: dict[str, PredicateRules] = field(default_factory=dict)
    visuals: list[Visual] = field(default_factory=list)
    images: dict[str, bytes] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def is_profile(text: str) -> bool:
    return bool(IS_PROFILE.match(text.removeprefix("\ufeff")))


def find_profile(domain: Path) -> Path | None:
    """A profile beside a domain: `profile.pddl`, `animation.pddl` or `DOMAIN-animation.pddl`."""
    names = ("profile.pddl", "animation.pddl", f"{domain.stem}-animation.pddl")
    return next((p for name in names if os.path.isfile(p := domain.with_name(name))), None)


def read_profile(path: str | Path, domain: Domain) -> Profile:
    return parse_profile(read_text(path, "an animation profile"), str(path), domain)


def parse_profile(text: str, path: str, domain: Domain) -> Profile:
    """The profile, checked: names, numbers of parameters, functions, images."""
    if len(text) > MAX_BYTES:
        raise ProfileError("the profile is larger than 16 MB", Location(path), "use smaller images")
    if not is_profile(text):
        hint = "it begins with (define (animation"
        raise ProfileError("this is not an animation profile", Location(path, 1), hint)
    if next(islice(re.finditer(r"[()]|[^\s()]+", text), MAX_WORDS, None), None):
        raise ProfileError("more than 200,000 words", Location(path), "use a smaller profile")
    try:
        whole = parse_file(text.removeprefix("\ufeff"), MAX_NESTING, raw=True)
    except MalformedError as error:
        place = Location(path, error.position.line, error.position.column)
        raise ProfileError(error.message, place, error.hint) from None
    if len(whole.items) > MAX_BLOCKS:
        raise ProfileError("a profile has at most 1000 parts", Location(path, 1))
    return _Reader(path, domain).read([item for item in whole.items[2:] if isinstance(item, Block)])


class _Reader:
    def __init__(self, path: str, domain: Domain) -> None:
        self._profile, self._domain = Profile(path), domain
        self._pixels = 0
        self._known = {constant.name for constant in domain.constants}  # and custom objects

    def read(self, blocks: Sequence[Block]) -> Profile:
        profile, unknown = self._profile, 0
        readers = {":visual": self._visual, ":image": self._image}
        for block in blocks:
            if _head(block) in readers:
                readers[_head(block)](block)
            elif _head(block) != ":predicate":
                self._fail(block, f"unknown block '{_head(block)}'", (":predicate", *readers))
        for block in blocks:
            unknown += _head(block) == ":predicate" and not self._predicate(block)
        if unknown * 2 > len(profile.predicates) + unknown:
            message = f"{unknown} predicates are not in the domain"
            raise ProfileError(message, Location(profile.path), "made for another domain?")
        used = {str(v.properties.get("prefabimage") or "") for v in profile.visuals} - {""}
        missing = [
            f"no image '{n[:MAX_SHOWN]}': drawn as a rectangle"
            for n in sorted(used)
            if n not in profile.images
        ]
        profile.warnings.extend(missing[: MAX_WARNINGS - len(profile.warnings)])
        return profile

    def _place(self, item: Node) -> Location:
        return Location(self._profile.path, item.position.line, item.position.column)

    def _fail(self, item: Node, text: str, known: Iterable[str] = ()) -> NoReturn:
        hint = f"known: {', '.join(known)}" if known else ""
        raise ProfileError(text, self._place(item), hint)

    def _warn(self, item: Node, text: str) -> None:
        if len(self._profile.warnings) < MAX_WARNINGS:
            self._profile.warnings.append(f"{self._place(item)}: {text}")

    def _ignore(self, item: Node, name: str, known: Iterable[str]) -> None:
        if len(self._profile.warnings) < MAX_WARNINGS:  # to look for near words takes long
            near = difflib.get_close_matches(name[:MAX_SHOWN], known, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            self._warn(item, f"'{name[:MAX_SHOWN]}' is ignored{hint}")

    def _parts(self, items: Iterable[Node], known: Sequence[str]) -> dict[str, list[Node]]:
        """What follows each keyword."""
        parts: dict[str, list[Node]] = {name: [] for name in ("", *known)}
        at = ""
        for item in items:
            if isinstance(item, Word) and item.text.startswith(":"):
                at = item.text.lower()
                if at not in known:
                    self._ignore(item, at, known)
            else:
                parts.setdefault(at, []).append(item)
        return parts

    def _pairs(self, items: Iterable[Node], what: str) -> Iterator[tuple[Word, Word]]:
        """Blocks of a name and a word."""
        for item in items:
            match item:
                case Block(items=(Word() as name, Word() as value)):
                    yield name, value
                case _:
                    self._fail(item, f"{what} is '(name value)', the value one word")

    def _visual(self, block: Block) -> None:
        parts = self._parts(block.items[1:], (":type", ":objects", ":properties"))
        kind, known = next(_names(parts[":type"]), ""), ("default", "predefine", "custom")
        if kind not in known:
            self._fail(block, f"unknown type of visual '{kind}'", known)
        pairs = self._pairs(_inner(parts[":properties"]), "a property")
        properties = {n.text.lower(): self._value(word, n.text.lower()) for n, word in pairs}
        if len(properties) > MAX_PROPERTIES:
            self._fail(block, "more than 100 properties")
        objects = tuple(_names(parts[":objects"]))
        self._known.update(objects if kind == "custom" else ())
        self._profile.visuals.append(Visual(kind, objects, properties))

    def _image(self, block: Block) -> None:
        for item in block.items[1:]:
            if not isinstance(item, Block) or len(item.items) < 2 or not _head(item):
                self._fail(item, "an image is '(name data)'")
            text = "".join(part.text for part in item.items[1:] if isinstance(part, Word))
            try:
                data = base64.b64decode(text, validate=True)
                problem = self._image_problem(data)
            except ValueError:
                data, problem = b"", "its data is not base64"
            if problem:
                self._warn(item, f"image '{_head(item)[:MAX_SHOWN]}' is not used: {problem}")
            else:
                self._profile.images.setdefault(_head(item), data)

    def _image_problem(self, data: bytes) -> str:
        """Why an image is not drawn."""
        size = image_size(data)
        if size is None or len(data) > MAX_IMAGE_BYTES:
            return "it is larger than 4 MB" if size else "it is no PNG, JPEG or WebP"
        if max(size) > MAX_IMAGE_SIDE:
            return "it is larger than 4096 pixels"
        self._pixels += size[0] * size[1]
        is_much = self._pixels > MAX_IMAGE_SIDE**2
        return "the images have more than 16 million pixels together" if is_much else ""

    def _predicate(self, block: Block) -> bool:
        """Read the rules of a predicate; False if the domain does not have it."""
        keys = (":parameters", ":custom", ":effect", ":priority")
        parts = self._parts(block.items[1:], keys)
        name = next(_names(parts[""]), "")
        known = self._domain.predicate(name)
        if known is None:
            self._warn(block, f"the domain has no predicate '{name[:MAX_SHOWN]}'")
            return False
        given = list(_names(parts[":parameters"]))
        parameters = tuple(word for word in given if word.startswith("?"))
        if len(parameters) != known.arity:
            counts = f"{known.arity} parameters in the domain, {len(parameters)} here"
            self._fail(block, f"'{name}' has {counts}")
        names = {*given, *_names(parts[":custom"])}
        for word in sorted(names - set(parameters) - self._known):
            self._fail(block, f"'{word}' is neither a parameter nor a custom object")
        effect = self._parts(_inner(parts[":effect"]), (":priority",))
        rules = tuple(self._rule(item, names) for item in effect[""])
        # After `:priority` in the effect one number follows, then further rules.
        rules += tuple(self._rule(item, names) for item in effect[":priority"][1:])
        priority = [*parts[":priority"], *effect[":priority"][:1]]
        numbers = [self._number(word, block) for word in _names(priority)] or [DEFAULT_PRIORITY]
        self._profile.predicates.setdefault(name, PredicateRules(parameters, rules, numbers[0]))
        return True

    def _rule(self, item: Node, names: set[str]) -> Rule:
        head = _head(item)
        if not isinstance(item, Block) or head not in ("equal", "assign", "action"):
            self._fail(item, "unknown form of rule", ("equal", "assign", "action"))
        place = self._place(item)
        if head == "action":
            call = self._call(item.items[-1], names) if len(item.items) == 2 else None
            if call is None or call.name != "draw_line":
                self._fail(item, "an action is '(action (function draw_line (objects a b)))'")
            return Rule(Read("", ()), call, place)
        if len(item.items) != 3 or not isinstance(item.items[1], Block):
            self._fail(item, "a rule is '(equal (object property) value)'")
        target = self._read(item.items[1], names)
        right = self._right(item.items[2], names, target.properties[0])
        if isinstance(right, Call):
            for name in target.properties:
                if name not in FUNCTIONS[right.name].sets.split():
                    self._fail(item, f"'{right.name}' does not set '{name}'")
        return Rule(target, right, place)

    def _read(self, block: Block, names: set[str]) -> Read:
        words = list(_names([block]))
        if len(words) < 2 or words[0] not in names:
            who = words[0] if words else "()"
            self._fail(block, f"'{who}' is neither a parameter nor a custom object")
        return Read(words[0], tuple(words[1:]))

    def _right(self, item: Node, names: set[str], target: str) -> Value | Read | Sum | Call:
        if isinstance(item, Word):
            return self._value(item, target)
        if _head(item) == "function":
            return self._call(item, names)
        if _head(item) == "add":
            return tuple(
                self._read(t, names) if isinstance(t, Block) else self._number(t.text, t)
                for t in item.items[1:]
            )
        return self._read(item, names)

    def _call(self, item: Node, names: set[str]) -> Call:
        if not isinstance(item, Block) or _head(item) != "function" or len(item.items) < 3:
            self._fail(item, "a function is '(function name (objects a b))'")
        name = next(_names(item.items[1:2]), "")
        if name not in FUNCTIONS:
            self._fail(item, f"unknown function '{name}'", FUNCTIONS)
        blocks = {_head(part): part.items[1:] for part in item.items if isinstance(part, Block)}
        objects = tuple(_names(blocks.get("objects", ())))
        settings: dict[str, float] = dict(FUNCTIONS[name].settings)
        for key, word in self._pairs(blocks.get("settings", ()), "a setting"):
            if key.text.lower() in settings:
                settings[key.text.lower()] = self._number(word.text, word)
            else:
                self._ignore(key, key.text.lower(), settings)
        least = len(FUNCTIONS[name].needs)
        if len(objects) < least or not names.issuperset(objects):
            self._fail(item, f"'{name}' needs {least} parameters or custom objects")
        return Call(name, objects[:least], settings)

    def _value(self, word: Word, target: str) -> Value:
        name = word.text.lower()
        if name in ("null", "true", "false"):
            return {"null": None, "true": True, "false": False}[name]
        if NUMBER.fullmatch(name):
            return self._number(name, word)
        return css_colors().get(name, name) if target == "color" else name

    def _number(self, text: str, item: Node) -> float:
        found = NUMBER.fullmatch(text.lower())
        number = float(text) if found else math.nan
        if not abs(number) <= MAX_NUMBER:
            self._fail(item, f"'{text}' is no number between -1,000,000 and 1,000,000")
        return number if found and found["rest"] else int(number)  # whatever zeros it begins with


@cache
def css_colors() -> dict[str, str]:
    """The colors that SVG and CSS have names for, and that of profiles which is none."""
    found: dict[str, str] = json.loads(resource("css_colors.json").read_text("utf-8"))
    return found | {"randomcolor": "random"}


def _head(node: Node) -> str:
    return node.head.lower() if isinstance(node, Block) else ""


def _inner(items: Sequence[Node]) -> list[Node]:
    """What stands in the blocks that follow a keyword."""
    return [part for item in items if isinstance(item, Block) for part in item.items]


def _names(items: Sequence[Node]) -> Iterator[str]:
    for item in items:
        for part in item.items if isinstance(item, Block) else (item,):
            if isinstance(part, Word):
                yield part.text.lower()


def image_size(data: bytes) -> tuple[int, int] | None:
    """Width and height, as the header of a PNG, WebP or JPEG says; nothing is decoded."""
    try:
        if data.startswith(b"\x89PNG\r\n\x1a\n"):
            return struct.unpack_from(">II", data, 16)
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp_size(data)
        at = 2 if data.startswith(b"\xff\xd8") else len(data)
        while data[at] == 0xFF:
            marker, length, height, width = struct.unpack_from(">xBHxHH", data, at)
            if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
                return width, height
            at += 2 + max(length, 2)
    except (struct.error, IndexError):
        pass
    return None


def _webp_size(data: bytes) -> tuple[int, int]:
    if data[12:16] == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if data[12:16] == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF
