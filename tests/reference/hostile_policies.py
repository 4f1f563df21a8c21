"""Small policy files and workspaces that would take the machine if they were believed."""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import math
import pickle
import sqlite3
import struct
import zipfile
import zlib
from contextlib import closing
from pathlib import Path

import torch

PAGE = 4096
INFO = (
    "CREATE TABLE asnets_info (parameter, int_value, flt_value, str_value);"
    "INSERT INTO asnets_info VALUES ('cfg_hidden_dimension', 2, -1.0, NULL),"
    "('cfg_num_layers', 1, -1.0, NULL);"
)
COLUMNS = "id INTEGER PRIMARY KEY, layer, sig, idx, name"
DATABASES = {
    "computed column": f"CREATE TABLE asnets_weights ({COLUMNS}, weights AS (zeroblob(67108864)))",
    "computed setting": "DROP TABLE asnets_info; CREATE TABLE asnets_info (parameter, int_value, "
    "flt_value, str_value AS (hex(zeroblob(30000000))));"
    f"CREATE TABLE asnets_weights ({COLUMNS}, weights)",
    "view": "CREATE VIEW asnets_weights AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 "
    "FROM c) SELECT x AS id, 0 AS layer, 0 AS sig, x AS idx, 'a' AS name, zeroblob(67108864) AS "
    "weights FROM c",
    "defaults": f"CREATE TABLE asnets_weights ({COLUMNS}, x);",
}
"""Tables of a `.policy` file, and what is wrong with them."""


def database(path: Path, what: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(INFO + DATABASES[what])
        if what not in ("view", "defaults"):
            connection.executemany(
                "INSERT INTO asnets_weights (layer, sig, idx, name) VALUES (0, ?, ?, 'a')",
                [(number % 4, number // 4) for number in range(50)],
            )
            connection.execute("INSERT INTO asnets_info (parameter) VALUES ('x')")
        if what == "defaults":  # a column that was added later has no bytes in the rows
            connection.executemany(
                "INSERT INTO asnets_weights (layer, sig, idx, name) VALUES (0, ?, ?, 'a')",
                [(number % 4, number // 4) for number in range(2000)],
            )
            zeros = "00" * 4000
            connection.execute(f"ALTER TABLE asnets_weights ADD COLUMN weights DEFAULT x'{zeros}'")
        connection.commit()
    return path


def expanded_checkpoint() -> bytes:
    """Matrices of 256 MB each that are one number in the file."""
    hidden, one = 4096, torch.zeros(1)
    weights = {}
    for number in range(2000):
        weights[f"action.0.{number}.weight"] = one.expand(hidden, 2**26 // hidden)
        weights[f"action.0.{number}.bias"] = one.expand(hidden)
    metadata = {"kind": "asnets", "hidden": hidden, "layers": 1, "domain_name": "d"}
    metadata |= {"domain_hash": "h", "actions": [], "predicates": [], "details": {}}
    stream = io.BytesIO()
    torch.save({"plumbline": 1, "metadata": json.dumps(metadata), "state_dict": weights}, stream)
    return stream.getvalue()


def archive(program: bytes, compression: int = zipfile.ZIP_STORED, **records: bytes) -> bytes:
    """A torch file with this pickle."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as file:
        file.writestr("a/data.pkl", program)
        file.writestr("a/byteorder", "little")
        for name, content in records.items():
            file.writestr(f"a/data/{name}", content)
    return stream.getvalue()


STORAGE = (
    b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x00xX\x03\x00\x00\x00cpuK\x01tQ"
)
TENSOR = b"ctorch._utils\n_rebuild_tensor_v2\n"
SIZE = b"J\x00\x00\x00\x04"  # 2**26
DOUBLED = b"h\x01h\x01\x86q\x01"  # a pair of what was kept, kept in its place
NESTED = b"\x80\x02}q\x00)q\x01" + DOUBLED * 60


def programs() -> dict[str, bytes]:
    """Pickles that make a reader work, and what they do."""
    one = struct.pack("<f", 1.0)
    tensor = TENSOR + b"(" + STORAGE + b"K\x00" + SIZE + b"\x85K\x00\x85\x89}tR"
    many = b"(" + SIZE * 200_000 + b"t"
    return {
        "a key of tuples in tuples": archive(b"\x80\x02})q\x01(" + DOUBLED * 60 + b"h\x01K\x01s."),
        "tuples in tuples": archive(NESTED + b"."),
        "one number as a matrix": archive(b"\x80\x02" + tensor + b".", x=one),
        "a thousand such matrices": archive(b"\x80\x02](" + tensor * 1000 + b"e.", x=one),
        "a tensor of many dimensions": archive(
            b"\x80\x02" + TENSOR + b"(" + STORAGE + b"K\x00" + many + many + b"\x89}tR.", x=one
        ),
        "a number without end": archive(b"\x80\x02\x8b" + struct.pack("<i", 2**20) + bytes(2**20)),
        "instructions without end": archive(b"\x80\x02](" + b"K\x01" * 3_000_000 + b"e."),
        "packed records": archive(
            b"\x80\x02" + tensor + b".", zipfile.ZIP_DEFLATED, x=bytes(2**26)
        ),
        "a record that is cut off": archive(b"\x80\x02" + STORAGE + b".", x=b"abc"),
        "no end": archive(b"\x80\x02](K\x01"),
        "no beginning": archive(b"\x80\x02K\x01t."),
        "something that was never kept": archive(b"\x80\x02h\x05."),
        "a record of nothing": archive(b"\x80\x02NQ."),
        "a list in itself": archive(b"\x80\x02]q\x00h\x00a."),
        "a call": archive(b"\x80\x02cbuiltins\nprint\n)R."),
        "an object": archive(b"\x80\x02cbuiltins\nobject\n)\x81."),
        "an attribute": archive(b"\x80\x02](K\x01e}b."),
        "python's own pickle": archive(pickle.dumps({"x": {1, 2}})),
    }


def _text(content: str) -> bytes:
    return b"X" + struct.pack("<I", len(content)) + content.encode()


def _number(number: int) -> bytes:
    return b"J" + struct.pack("<i", number)


def _halves(key: str, *size: int) -> bytes:
    """A tensor of half precision with these rows and columns, which is a record of its own."""
    count = math.prod(size)
    record = b"(" + _text("storage") + b"ctorch\nHalfStorage\n" + _text(key) + _text("cpu")
    form = b"(" + b"".join(map(_number, size)) + b"t"
    steps = b"(" + b"".join(map(_number, (*size[1:], 1))) + b"t"
    return TENSOR + b"(" + record + _number(count) + b"tQK\x00" + form + steps + b"\x89}tR"


def _own(weights: bytes, details: str = "{}", **records: bytes) -> bytes:
    """A policy of our own with 64 hidden units."""
    metadata = (
        '{"kind": "asnets", "hidden": 64, "layers": 1, "domain_name": "d", "domain_hash": "h", '
        f'"actions": [], "predicates": [], "details": {details}}}'
    )
    contents = _text("plumbline") + b"K\x01" + _text("metadata") + _text(metadata)
    return archive(b"\x80\x02}(" + contents + _text("state_dict") + weights + b"u.", **records)


def greedy_checkpoints() -> dict[str, bytes]:
    """Files of at most 1.6 MB whose parts are all sound and that would take gigabytes together."""
    columns, name = 6250, "p" * 400_000
    matrix, bias = _halves("0", 64, columns) + b"q\x07", _halves("1", 64) + b"q\x08"
    many = b""
    for number in range(15_000):
        many += _text(f"action.0.{number}.weight") + (b"h\x07" if number else matrix)
        many += _text(f"action.0.{number}.bias") + (b"h\x08" if number else bias)
    shared = {"0": bytes(2 * 64 * columns), "1": bytes(2 * 64)}
    predicates = b"](" + _text(name) + b"K\x00\x86q\x01" + b"h\x01" * 400_000 + b"e"
    settings = _text("predicates") + predicates + _text("hidden_size") + b"K\x01"
    settings = b"}(" + settings + _text("iterations") + b"K\x01u"
    gnn = _text("hyper_parameters") + settings + _text("state_dict") + b"}"
    return {
        "one matrix in many places": _own(b"}(" + many + b"u", **shared),
        "one long name many times": archive(b"\x80\x02}(" + gnn + b"u."),
        "nested metadata": _own(b"}", "[" * 100_000 + "]" * 100_000),
    }


def embed(path: Path, name: str, content: bytes) -> Path:
    """Make it the policy of all bugs of a workspace."""
    digest = hashlib.sha256(content).hexdigest()
    with closing(sqlite3.connect(path)) as connection:
        packed = zlib.compress(content)
        connection.execute("INSERT INTO inputs VALUES (?, ?, ?)", (digest, name, packed))
        connection.execute(
            "UPDATE OR REPLACE policies SET spec = ?, path = ?, file = ?", (name, name, digest)
        )
        connection.commit()
    return path


def make_endless(path: Path, table: str, depth: int = 6, width: int = 300) -> Path:
    """Let every page of a table refer to the same page below it, many times."""
    with closing(sqlite3.connect(path)) as connection:
        if table == "sqlite_master":
            root = 1
        else:
            query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
            (root,) = connection.execute(query, (table,)).fetchone()
    data = bytearray(path.read_bytes())
    pages = len(data) // PAGE
    start = 100 if root == 1 else 0
    leaf = data[(root - 1) * PAGE : root * PAGE]
    if start:  # on the first page the file's header comes before
        leaf = _without_header(leaf)
    numbers = [root, *range(pages + 1, pages + depth + 1)]
    data += bytes(PAGE * depth)
    for place, below in itertools.pairwise(numbers):
        begin = 100 if place == 1 else 0
        data[(place - 1) * PAGE + begin : place * PAGE] = _interior(below, width, begin)
    data[(numbers[-1] - 1) * PAGE : numbers[-1] * PAGE] = leaf
    data[28:32] = struct.pack(">I", len(data) // PAGE)
    path.write_bytes(data)
    return path


def _interior(below: int, width: int, begin: int) -> bytes:
    """A page whose children are all the same."""
    cells = [
        struct.pack(">I", below) + bytes([0x80 | number >> 7, number & 127])
        for number in range(1, width + 1)
    ]
    content = b"".join(cells)
    first = PAGE - len(content)
    head = struct.pack(">BHHHBI", 5, 0, width, first, 0, below)
    pointers = b"".join(struct.pack(">H", first + 6 * number) for number in range(width))
    page = head + pointers
    return page + bytes(PAGE - begin - len(page) - len(content)) + content


def _without_header(page: bytes | bytearray) -> bytes:
    """The same cells on another page than the first."""
    count = struct.unpack_from(">H", page, 103)[0]
    is_interior = page[100] == 5
    size = (12 if is_interior else 8) + 2 * count
    return bytes(page[100 : 100 + size]) + bytes(100) + bytes(page[100 + size :])
