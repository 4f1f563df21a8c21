"""Files as an attacker would write them: well formed up to the place that hurts.

Strategies of hypothesis, one per kind of file. Random damage seldom gets past the first check;
these keep the form and make nonsense of the meaning: numbers no machine holds, nesting no stack
holds, columns full of the wrong things.
"""

from __future__ import annotations

import io
import json
import math
import os
import pickle
import re
import zipfile
from collections.abc import Sequence
from typing import Any

import tomli_w
from hypothesis import strategies as st

ABSURD = (
    *("-1", "0", "1", "7", "2147483647", "2147483648", "-2147483649", "1000000000"),
    *("9223372036854775807", "9223372036854775808", "99999999999999999999999999", "9" * 5000),
    *(
        "1e9",
        "nan",
        "inf",
        "0x10",
        "1_0",
        "\u0661",
        "",
        "x",
        "\x00",
        "\ufeff",
        "Atom f()",
        "(",
        ")",
    ),
)
NAMES = (
    *(
        "../../x",
        "/etc/passwd",
        "a/b",
        "..",
        ".",
        "",
        "con",
        "a\nb",
        "a\tb",
        "n" * 300,
        "\u202egpj",
    ),
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<b>x</b>", '"><svg onload=x>'),
    *(
        "=1+1",
        "@SUM(A1)",
        "+cmd|' /C calc'!A0",
        "-2+3",
        "$(touch x)",
        "`id`",
        "; rm -rf ~",
        "{{7*7}}",
    ),
)
absurd = st.sampled_from(ABSURD)
names = st.sampled_from(NAMES) | st.text(max_size=8)
numbers = (
    st.integers(-(2**70), 2**70) | st.floats() | st.sampled_from((0, 1, -1, 10**9, 2**63, 10**400))
)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


def with_other_words(sample: str) -> st.SearchStrategy[str]:
    """A sound text with some of its words replaced, doubled or left out."""
    words = re.split(r"(\s+)", sample)
    places = st.integers(0, (len(words) - 1) // 2).map(lambda number: 2 * number)
    changes = st.lists(
        st.tuples(places, absurd | st.sampled_from(words[::2])), min_size=1, max_size=3
    )

    def changed(wanted: Sequence[tuple[int, str]]) -> str:
        result = list(words)
        for place, word in wanted:
            result[place] = word
        return "".join(result)

    return changes.map(changed)


# PDDL

_WORDS = (
    *("define", "domain", "problem", ":domain", ":requirements", ":strips", ":typing", ":types"),
    *(":constants", ":predicates", ":functions", ":action", ":parameters", ":precondition"),
    *(":effect", ":objects", ":init", ":goal", ":metric", "minimize", "total-cost", "increase"),
    *("and", "or", "not", "imply", "forall", "exists", "when", "=", "-", "either", "object"),
    *("?x", "?y", "a", "b", "at", "p", "number", "assign", ":derived", ":durative-action"),
    *("0", "-1", "1e400", "99999999999999999999", ".5", "\x00", "\u00e9", ";", "|", "'"),
)
_trees = st.recursive(
    st.sampled_from(_WORDS),
    lambda inner: st.lists(inner, max_size=6).map(lambda parts: f"({' '.join(parts)})"),
    max_leaves=40,
)
_depths = st.sampled_from((1, 50, 900, 20_000))


def _nested(word: str) -> st.SearchStrategy[str]:
    return _depths.map(lambda depth: f"({word} " * depth + "(p)" + ")" * depth)


_formulas = _trees | st.sampled_from(("and", "not", "or", "imply (p)", "forall (?x)")).flatmap(
    _nested
)
_sections = st.one_of(
    _trees,
    _formulas.map(lambda f: f"(:action a :parameters (?x) :precondition {f} :effect (p))"),
    _formulas.map(lambda f: f"(:action a :parameters () :precondition () :effect {f})"),
    _trees.map(lambda tree: f"(:predicates (p) {tree})"),
    _depths.map(lambda n: f"(:predicates (p) {' '.join(f'(q{i % 9} ?x)' for i in range(n))})"),
    _depths.map(lambda n: f"(:constants {' '.join(f'c{i}' for i in range(n))})"),
    _depths.map(lambda n: "(:types " + " ".join(f"t{i} - t{i + 1}" for i in range(n)) + ")"),
    _depths.map(lambda n: f"(:action a :parameters ({'?x ' * n}) :effect (p))"),
    _depths.map(lambda n: "(" * n + ")" * n),
)
domains = st.one_of(
    _trees,
    _depths.map(lambda n: "(" * n),
    _depths.map(lambda n: ")" * n),
    _depths.map(lambda n: "(define (domain d) " * n),
    st.lists(_sections, max_size=4).map(lambda parts: f"(define (domain d) {' '.join(parts)})"),
)
problems = st.one_of(
    _trees,
    st.tuples(_formulas, _formulas, _depths).map(
        lambda parts: (
            "(define (problem x) (:domain d) (:objects "
            + " ".join(f"o{number}" for number in range(parts[2]))
            + f") (:init {parts[0]}) (:goal {parts[1]}))"
        )
    ),
)

# campaign.toml

_TABLES = ("fuzzing", "testing", "limits", "localization")
_KEYS = ("preset", "domain", "problems", "policies", "portfolio", "pool", "seeds", "unit_costs")
_SETTINGS = (
    *("size", "walk_length", "bias", "novelty", "oracles", "objective", "step_limit"),
    *("unit_seconds", "unit_megabytes", "enabled", "bug_seconds", "nonsense"),
)
_toml_values = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=2),
    max_leaves=5,
)
_documents = st.dictionaries(
    st.sampled_from(_KEYS) | names,
    _toml_values | st.lists(st.sampled_from(("p01.pddl", "*", "**/*", "builtin:gc")), max_size=2),
    max_size=6,
)


def campaigns(sound: dict[str, Any]) -> st.SearchStrategy[str]:
    """A sound configuration with some keys made strange."""
    tables = st.dictionaries(
        st.sampled_from(_TABLES),
        st.dictionaries(st.sampled_from(_SETTINGS), _toml_values, max_size=3),
        max_size=2,
    )
    made = st.tuples(_documents, tables).map(lambda pair: {**sound, **pair[0], **pair[1]})
    deep = _depths.map(lambda depth: "problems = " + "[" * depth + "]" * depth)
    dotted = _depths.map(lambda depth: ".".join("a" * depth) + " = 1")
    return made.map(_toml) | deep | dotted


def _toml(document: dict[str, Any]) -> str:
    try:
        return tomli_w.dumps(document)
    except (ValueError, TypeError):  # names that TOML has no form for
        return json.dumps(document)


# columns and documents of a workspace

cells = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    names,
    st.binary(max_size=12),
    st.sampled_from((b"\x01" * 2**20, "9" * 2**20, b"\x04\xff\xff\xff\xff", "[" * 50_000, "{}")),
)


def other_documents(text: str) -> st.SearchStrategy[str]:
    """A JSON document in which one part is something else."""
    document = json.loads(text)
    places = list(_places(document))

    def changed(place: tuple[Any, ...], value: Any) -> str:
        return json.dumps(_with(document, place, value))

    return st.builds(changed, st.sampled_from(places), json_values)


def _places(document: Any) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = [()]
    inner = document.items() if isinstance(document, dict) else ()
    inner = enumerate(document[:3]) if isinstance(document, list) else inner
    for key, value in inner:
        found += [(key, *rest) for rest in _places(value)]
    return found


def _with(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    copy = dict(document) if isinstance(document, dict) else list(document)
    copy[place[0]] = _with(copy[place[0]], place[1:], value)
    return copy


# torch files: a zip with a pickle and raw numbers


class RunsCode:
    """What loading a pickle would do: make a folder."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.mkdir, (self.mark,)


def torch_file(
    pickled: bytes, records: dict[str, bytes] | None = None, packed: bool = False
) -> bytes:
    """As `torch.save` lays them out."""
    stream = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w", kind) as archive:
        archive.writestr("archive/data.pkl", pickled)
        archive.writestr("archive/byteorder", b"little")
        for name, content in (records or {}).items():
            archive.writestr(f"archive/{name}", content)
        archive.writestr("archive/version", b"3\n")
    return stream.getvalue()


def checkpoints(sound: dict[str, Any]) -> st.SearchStrategy[bytes]:
    """The contents of a sound checkpoint with one part made strange, saved as a torch file."""
    places = [place for place in _places(sound) if len(place) <= 2]
    return st.builds(
        lambda place, value: saved(_with(sound, place, value)),
        st.sampled_from(places),
        json_values | tensors(),
    )


def tensors() -> st.SearchStrategy[Any]:
    import torch

    shapes = st.sampled_from(((), (0,), (1,), (3, 3), (2, 2, 2), (1, 4096)))
    kinds = st.sampled_from((torch.float32, torch.float64, torch.int8, torch.bool, torch.complex64))
    values = st.sampled_from((0, 1, -1))

    def made(shape: tuple[int, ...], kind: Any, value: int) -> Any:
        return torch.full(shape, value, dtype=kind)

    huge = st.just(torch.zeros(1)).map(
        lambda one: one.expand(2**40)
    )  # a size, not that many numbers
    strange = st.sampled_from((math.nan, math.inf)).map(lambda value: torch.full((16, 16), value))
    return st.builds(made, shapes, kinds, values) | huge | strange


def saved(contents: object) -> bytes:
    import torch

    stream = io.BytesIO()
    torch.save(contents, stream)
    return stream.getvalue()


def dangerous(mark: str) -> bytes:
    """A checkpoint that makes a folder when it is unpickled carelessly."""
    return torch_file(pickle.dumps({"plumbline": 1, "metadata": RunsCode(mark)}, protocol=2))
