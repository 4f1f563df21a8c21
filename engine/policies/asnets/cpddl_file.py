"""Published `.policy` files of cpddl: an SQLite database with two tables.

`asnets_info` has the settings, `asnets_weights` one row per matrix or bias, in column-major
order. The file is opened read-only and as immutable, and every defect is reported. A
stranger may have made it: only these two tables are read, none of their columns is computed, and
all rows together are no larger than the file.
See docs/formats.md, "ASNets policies of cpddl".
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from engine.errors import Location, PolicyError
from engine.policies.asnets.weights import (
    MAX_HIDDEN,
    MAX_LAYERS,
    Floats,
    Module,
    Part,
    StoredNetwork,
)

MAX_STEPS = 2000  # calls of the watchdog, one per 10000 instructions of the database

_TABLES = ("asnets_info", "asnets_weights")
_LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 10_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 32,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 16,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}


def read_cpddl_file(path: Path) -> StoredNetwork:
    with _database(path) as database:
        kinds = dict(database.execute("SELECT name, type FROM sqlite_master").fetchall())
        if any(kinds.get(table) != "table" for table in _TABLES):
            raise _broken(path, "the database is not a policy: it has no network tables")
        for table in _TABLES:
            columns = database.execute(f"PRAGMA table_xinfo({table})")
            if any(hidden for *_, hidden in columns):
                raise _broken(path, f"the table {table} computes its values")
        room = _Room(path)
        info = _info(database, room)
        query = "SELECT layer, sig, idx, name, weights FROM asnets_weights"
        rows = list(room.taken(database.execute(query)))
    hidden = _positive(path, info, "cfg_hidden_dimension", MAX_HIDDEN)
    layers = _positive(path, info, "cfg_num_layers", MAX_LAYERS)
    arrays: dict[tuple[int, int, int], Floats] = {}
    names: dict[tuple[Part, int], str] = {}
    for layer, signature, index, name, blob in rows:
        key = _key(path, layer, signature, index)
        part = Part.ACTION if key[1] < 2 else Part.PROPOSITION
        if key in arrays or names.setdefault((part, key[2]), str(name)) != str(name):
            raise _broken(path, f"the weights of '{name}' contradict each other")
        arrays[key] = _array(path, str(name), blob)
    return StoredNetwork(
        path,
        hidden,
        layers,
        _text(info.get("domain_name")),
        _text(info.get("domain_hash")),
        _in_order(path, names, Part.ACTION),
        _in_order(path, names, Part.PROPOSITION),
        _modules(path, arrays, hidden, layers),
        {"format": "cpddl policy", **info},
    )


def _modules(
    path: Path, arrays: Mapping[tuple[int, int, int], Floats], hidden: int, layers: int
) -> dict[tuple[Part, int, int], Module]:
    """Matrix and bias of every module; a matrix is stored column by column."""
    modules: dict[tuple[Part, int, int], Module] = {}
    for (layer, signature, index), matrix in arrays.items():
        if signature % 2:
            continue
        part = Part.ACTION if signature == 0 else Part.PROPOSITION
        outputs = 1 if part is Part.ACTION and layer == layers else hidden
        bias = arrays.get((layer, signature + 1, index))
        if bias is None or len(bias) != outputs or len(matrix) % outputs:
            raise _broken(path, f"the weights of {part.value} {index} in layer {layer} are cut off")
        modules[part, layer, index] = Module(matrix.reshape(-1, outputs).T, bias)
    return modules


@contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that can neither write nor run for long; its errors become ours."""
    steps = iter(range(MAX_STEPS))
    database: sqlite3.Connection | None = None
    try:
        database = sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)
        for limit, value in _LIMITS.items():
            database.setlimit(limit, value)
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, path.stat().st_size)
        database.set_progress_handler(lambda: next(steps, None) is None, 10_000)
        database.execute("PRAGMA trusted_schema = OFF")
        database.execute("PRAGMA cell_size_check = ON")
        database.set_authorizer(_authorize)
        yield database
    except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
        raise _broken(path, f"the policy cannot be read ({error})") from error
    except MemoryError as error:  # what SQLite says of some damaged pages, however small
        raise _broken(path, "the database is damaged") from error
    finally:
        if database is not None:
            database.close()


def _authorize(
    action: int, first: str | None, _: str | None, __: str | None, within: str | None
) -> int:
    """Allow to read plain columns, and nothing that a view or a trigger asks for."""
    if within is None and (
        action == sqlite3.SQLITE_SELECT
        or (action == sqlite3.SQLITE_READ and first in ("sqlite_master", *_TABLES))
        or (action == sqlite3.SQLITE_PRAGMA and first == "table_xinfo")
    ):
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


class _Room:
    """The memory that the rows of a file may take: no more than the size of the file."""

    def __init__(self, path: Path) -> None:
        self._path, self._left = path, path.stat().st_size

    def taken(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        for row in rows:
            self._left -= 1 + sum(len(value) for value in row if isinstance(value, bytes | str))
            if self._left < 0:
                raise _broken(self._path, "the rows of the database are larger than the file")
            yield row


def _info(database: sqlite3.Connection, room: _Room) -> dict[str, int | float | str]:
    """The settings; of the three columns of a value the one that is not at its default counts."""
    info: dict[str, int | float | str] = {}
    rows = room.taken(
        database.execute("SELECT parameter, int_value, flt_value, str_value FROM asnets_info")
    )
    for parameter, whole, real, text in rows:
        if text is not None:
            info[str(parameter)] = str(text)
        elif isinstance(real, float) and real != -1.0:
            info[str(parameter)] = real
        elif isinstance(whole, int):
            info[str(parameter)] = whole
    return info


def _positive(path: Path, info: Mapping[str, Any], parameter: str, limit: int) -> int:
    value = info.get(parameter)
    if not isinstance(value, int) or not 0 < value <= limit:
        raise _broken(path, f"the policy has no usable '{parameter}'")
    return value


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _key(path: Path, layer: object, signature: object, index: object) -> tuple[int, int, int]:
    if not (isinstance(layer, int) and isinstance(signature, int) and isinstance(index, int)):
        raise _broken(path, "the weights are not numbered")
    if not (0 <= layer <= MAX_LAYERS and 0 <= signature < 4 and 0 <= index < 10_000):
        raise _broken(path, "the weights are numbered wrongly")
    return layer, signature, index


def _array(path: Path, name: str, blob: object) -> Floats:
    if blob is None:
        return np.empty(0, dtype=np.float32)
    if not isinstance(blob, bytes) or len(blob) % 4:
        raise _broken(path, f"the weights of '{name}' are not an array of 32-bit floats")
    array = np.frombuffer(blob, dtype="<f4").astype(np.float32)
    if not np.isfinite(array).all():
        raise _broken(path, f"the weights of '{name}' contain values that are not numbers")
    return array


def _in_order(path: Path, all_names: Mapping[tuple[Part, int], str], part: Part) -> tuple[str, ...]:
    names = {index: name for (own, index), name in all_names.items() if own is part}
    if sorted(names) != list(range(len(names))):
        raise _broken(path, "the weights of some actions or predicates are missing")
    return tuple(names[index] for index in range(len(names)))


def _broken(path: Path, message: str) -> PolicyError:
    return PolicyError(message, Location.of(path), "copy the file again from its source")
