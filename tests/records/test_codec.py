"""Records and numbers as bytes and back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import DamagedRecordError
from engine.records.codec import Record, Seconds, Text, decode, encode, pack, to_json, unpack
from engine.records.evidence import Evidence, Morph, Walk
from engine.records.finding import BugKind, EndReason, Finding, Run, RunOutcome


@given(st.lists(st.integers(0, 2**32 - 1)) | st.lists(st.integers(0, 300)))
def test_round_trip(numbers: list[int]) -> None:
    assert list(unpack(pack(numbers))) == numbers


def test_small_values_take_one_byte_each() -> None:
    assert len(pack([255] * 70)) == 71
    assert len(pack([256] * 70)) == 141


@pytest.mark.parametrize("data", [b"", b"\x03abc", b"\x02abc"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a sequence"):
        unpack(data)


FINDING = Finding(
    state=(0, 3),
    kind=BugKind.TOO_EXPENSIVE,
    run=Run(RunOutcome.SOLVED, EndReason.GOAL, 7, (1, 2, 2)),
    bound=5,
    evidence=Evidence((0, 3), (Morph((1, 0), -2, "bmo"), Walk((1,), "policy")), 5),
    oracle="bmo",
)


def test_a_record_comes_back_as_it_was() -> None:
    found = decode(encode(FINDING), Finding)
    assert found == FINDING
    assert found.kind is BugKind.TOO_EXPENSIVE
    assert found.gap == 2


def test_a_record_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        FINDING.bound = 4


def _damaged(path: list[str | int], value: object) -> bytes:
    document = json.loads(encode(FINDING))
    part = document
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (["evidence", "steps", 0, "gain"], "2", "evidence.steps[0].gain: expected int, got str"),
        (["evidence", "steps", 1, "type"], "Jump", "evidence.steps[1].type: invalid value 'Jump'"),
        (["state", 1], -1, "state[1]: expected int >= 0"),
        (["state", 1], 2.5, "state[1]: expected int, got float"),
        (["bound"], True, "bound: expected int, got bool"),
        (["kind"], "strange", "kind: invalid enum value 'strange'"),
        (["run", "cost"], 2**63, "run.cost: "),
        (["run", "speed"], 3, "run: object contains unknown field speed"),
        (["type"], "Run", "type: invalid value 'Run'"),
    ],
)
def test_damage_is_named_with_its_field(path: list[str | int], value: object, complaint) -> None:
    with pytest.raises(DamagedRecordError) as caught:
        decode(_damaged(path, value), Finding)
    assert caught.value.message.startswith(complaint)


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000, b'{"type": "Run"}', b"NaN"])
def test_what_is_no_record_is_refused(data: bytes) -> None:
    with pytest.raises(DamagedRecordError):
        decode(data, Finding)


def test_deep_nesting_where_a_tag_is_sought_is_refused() -> None:
    with pytest.raises(DamagedRecordError):
        decode(b'{"a":' + b"[" * 100_000, Finding | Run)


def test_json_for_people_has_no_tags() -> None:
    assert to_json(FINDING.evidence) == {
        "state": [0, 3],
        "steps": [
            {"morph": [1, 0], "gain": -2, "origin": "bmo"},
            {"walk": [1], "origin": "policy"},
        ],
        "bound": 5,
    }
    assert to_json({"kind": FINDING.kind, "where": (Path("a/b"), None)}) == {
        "kind": "quantitative",
        "where": ["a/b", None],
    }
    with pytest.raises(TypeError):
        to_json(object())


class _Settings(Record):
    path: Text
    seconds: Seconds


@pytest.mark.parametrize(
    "document",
    ['{"path": "a\\u0000b", "seconds": 1}', '{"path": "a", "seconds": 1e999}', '{"path": "a"}'],
)
def test_useless_values_are_refused(document: str) -> None:
    with pytest.raises(DamagedRecordError):
        decode(document, _Settings)
    assert decode('{"path": "a\\n", "seconds": 1}', _Settings) == _Settings("a\n", 1.0)


SCRIPT = """
import sys
from threading import Barrier, Thread
from types import ModuleType

from engine.records.codec import check, decode, encode
from engine.workers.channel import pack, unpack

DEPTH = 12
sys.setswitchinterval(1e-6)


def new_records(name):
    "Nested records that were not read or written before."
    text = "from __future__ import annotations\\nfrom engine.records.codec import Record\\n"
    text += "class C0(Record):\\n    x: int = 0\\n"
    for depth in range(1, DEPTH):
        inner = f"C{depth - 1}"
        text += f"class C{depth}(Record):\\n    a: {inner}\\n    b: tuple[{inner}, ...]\\n"
    sys.modules[name] = module = ModuleType(name)
    exec(text, module.__dict__)
    return [getattr(module, f"C{depth}") for depth in range(DEPTH)]


for number in range(30):
    first, *others = new_records(f"engine.made{number}")
    values = [first()]
    for kind in others:
        values.append(kind(values[-1], (values[-1],)))
    part, whole = values[-2:]
    packed, text, ready = pack(whole), encode(part), Barrier(3)
    read = []

    def later(work):
        ready.wait()
        read.append(work())

    works = (lambda: unpack(packed), lambda: decode(text, type(part)), lambda: check(part))
    threads = [Thread(target=later, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read) == 3 and read.count(part) == 2 and whole in read
"""


def test_records_are_learned_by_one_thread_at_a_time() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=300)
