"""Positions of TOML keys: every key of every document has one, and it is the right one."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.campaign.toml_positions import Path, key_positions


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    items: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from paths(inner, (*path, key))


TRICKY = """\
# [not.a.table]
title = "a = 1 # no comment" # a comment
'quoted key' = 'x'
"esc\\u0041ped" = 1
dotted.inner."k.e.y" = [1, [2, 3], {a = 1, b = {c = 2}}]
long = \"\"\"
[fuzzing]
size = 3 \\"\"\" " ""\"\"\"
raw = '''
x = ''
'''
[ table . sub ]
list = [ # first
  "one", # second
  'two',
]
date = 1979-05-27T07:32:00Z
[[array]]
x = 1
[array.below]
y = 2
[[array]]
x = 3
[[array.deep]]
z = 4
"""


def test_every_key_has_its_position() -> None:
    positions = key_positions(TRICKY)
    assert set(paths(tomllib.loads(TRICKY))) == set(positions)
    lines = TRICKY.splitlines()
    assert positions[("title",)] == (2, 1)
    assert positions[("quoted key",)] == (3, 1)
    assert positions[("escAped",)] == (4, 1)
    assert positions[("dotted", "inner", "k.e.y")] == (5, 1)
    for path, text in {
        ("dotted", "inner", "k.e.y", 1, 1): "3]",
        ("dotted", "inner", "k.e.y", 2, "b", "c"): "c = 2",
        ("table", "sub"): "table . sub",
        ("table", "sub", "list", 1): "'two'",
        ("table", "sub", "date"): "date",
        ("array", 1, "x"): "x = 3",
        ("array", 0, "below", "y"): "y = 2",
        ("array", 1, "deep", 0, "z"): "z = 4",
    }.items():
        line, column = positions[path]
        assert lines[line - 1][column - 1 :].startswith(text), path


NAMES = st.text("abcxyz-_0", min_size=1, max_size=4)
SCALARS = st.one_of(
    st.integers(-99, 99).map(str),
    st.sampled_from(["true", "1.5", '"te#x=t"', "'[a]'", '"""\n]\n"""', "'''x\n= 1'''"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: "[ " + ",\n # x\n ".join(items) + "]"),
        st.dictionaries(NAMES, inner, max_size=3).map(
            lambda table: "{" + ", ".join(f"{k} = {v}" for k, v in table.items()) + "}"
        ),
    ),
    max_leaves=6,
)


@given(
    st.dictionaries(NAMES, VALUES, max_size=4),
    st.dictionaries(NAMES.map("T{}".format), st.dictionaries(NAMES, VALUES, max_size=3)),
)
def test_generated_documents(top: dict[str, str], tables: dict[str, dict[str, str]]) -> None:
    lines = [f"{key} = {value}" for key, value in top.items()]
    for name, table in tables.items():
        lines += ["", f"  [{name}] # {name}", *(f" {key}={value}" for key, value in table.items())]
    text = "\n".join(lines)
    positions = key_positions(text)
    by_line = text.split("\n")
    document = tomllib.loads(text)
    assert set(positions) == set(paths(document))
    for path, (line, column) in positions.items():
        if isinstance(path[-1], str):
            assert by_line[line - 1][column - 1 :].startswith(path[-1])


@pytest.mark.parametrize("text", ["", "# only a comment", "\n\n", "a = []", "[t]"])
def test_small_documents(text: str) -> None:
    assert set(key_positions(text)) == set(paths(tomllib.loads(text)))
