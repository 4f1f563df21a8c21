"""Work on `w.plumb` in a process that is traced; a digest of the workspace is acknowledged after
every transaction, when the caller may tell the user that it is kept.

python -m reference.traced_work FOLDER triage|careless|campaign
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.workspace.connection import Connection
from engine.workspace.workspace import Workspace
from reference.bug_workspace import make_workspace
from reference.lost_writes import ACKNOWLEDGED

SMALL = """\
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:hadd", "builtin:gc"]
fuzzing.size = 12
testing.oracles = ["bmo", "astar:expansions=2000"]
"""


def digest(store: Workspace) -> str:
    tables = store.dump()
    del tables["writer"]  # who writes is no content
    return hashlib.sha256(repr(tables).encode()).hexdigest()[:16]


@contextmanager
def acknowledging(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder / ACKNOWLEDGED, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    writing = Connection.writing

    @contextmanager
    def told(self: Connection, *patience: float) -> Iterator[Any]:
        with writing(self, *patience) as connection:
            yield connection
        os.write(descriptor, f"{digest(Workspace(self.path, self))}\n".encode())

    Connection.writing = told  # type: ignore[method-assign]
    try:
        yield
    finally:
        Connection.writing = writing  # type: ignore[method-assign]
        os.close(descriptor)


def triage(path: Path, *, careless: bool = False) -> None:
    with Workspace.open(path) as store:
        if careless:
            store._connection.rows("PRAGMA synchronous = OFF")
        bugs = [row.id for row in store.bugs()]
        for number, status in enumerate(("confirmed", "ignored", "new", "confirmed") * 6):
            store.set_status(bugs[number % 5 : number % 5 + 3], status, f"note {number}" * 99)


def main(folder: Path, work: str) -> None:
    with acknowledging(folder):
        if work == "campaign":
            make_workspace(folder, SMALL)
        else:
            triage(folder / "carter.plumb", careless=work == "careless")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
