"""The tables of a workspace and its version, the only one so far.

`PRAGMA user_version` is the version of a file. Every change after a release is
appended to `MIGRATIONS`; a migration that was ever released is never changed.
"""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from functools import cache

from engine.records.finding import BugKind, BugStatus, EndReason, RunOutcome

APPLICATION_ID = 0x504C4D42  # "PLMB", tells a workspace from other SQLite files
FIRST_VERSION = 9  # 1 to 8 were those of Plumbline 0.1

_TABLES = """
CREATE TABLE inputs (
    sha256 TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    content BLOB NOT NULL  -- zlib
) WITHOUT ROWID;
CREATE TABLE problems (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    path TEXT NOT NULL,
    domain_path TEXT,
    problem_file TEXT NOT NULL REFERENCES inputs,
    domain_file TEXT REFERENCES inputs,  -- NULL: the problem is a .sas file
    unit_costs INTEGER NOT NULL,
    task_hash TEXT,  -- known once it was translated
    sas_file TEXT REFERENCES inputs,
    origin INTEGER REFERENCES problems  -- what a witness was made from; no campaign tests it
);
CREATE UNIQUE INDEX problem_by_files
    ON problems (problem_file, ifnull(domain_file, ''), unit_costs, name);
CREATE TABLE policies (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    spec TEXT NOT NULL,
    path TEXT,
    file TEXT REFERENCES inputs
);
CREATE UNIQUE INDEX policy_by_file ON policies (spec, ifnull(file, ''), name);
CREATE TABLE campaigns (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,  -- hash of the configuration and of all inputs
    config TEXT NOT NULL,
    created REAL NOT NULL,
    seconds REAL NOT NULL DEFAULT 0,
    status TEXT NOT NULL DEFAULT 'running'
);
CREATE TABLE units (
    id INTEGER PRIMARY KEY,
    campaign INTEGER NOT NULL REFERENCES campaigns,
    problem INTEGER NOT NULL REFERENCES problems,
    policy INTEGER NOT NULL REFERENCES policies,
    seed INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'waiting',
    started REAL,
    error TEXT NOT NULL DEFAULT '',
    statistics TEXT NOT NULL DEFAULT '{}',
    UNIQUE (campaign, problem, policy, seed)
);
CREATE TABLE states (
    id INTEGER PRIMARY KEY,
    problem INTEGER NOT NULL REFERENCES problems,
    packed BLOB NOT NULL,
    UNIQUE (problem, packed)
);
CREATE TABLE pool (
    unit INTEGER NOT NULL REFERENCES units,
    number INTEGER NOT NULL,
    state INTEGER NOT NULL REFERENCES states,
    reference INTEGER NOT NULL,
    walk BLOB NOT NULL,
    seconds REAL NOT NULL,
    outcome TEXT,
    reason TEXT,
    policy_cost INTEGER,
    tested INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (unit, number)
) WITHOUT ROWID;
CREATE INDEX pool_by_state ON pool (unit, state);
CREATE TABLE answers (
    unit INTEGER NOT NULL,
    number INTEGER NOT NULL,
    oracle TEXT NOT NULL,
    verdict TEXT NOT NULL,
    bound INTEGER,
    seconds REAL NOT NULL,
    cpu REAL NOT NULL,
    limited INTEGER NOT NULL,
    PRIMARY KEY (unit, number, oracle),
    FOREIGN KEY (unit, number) REFERENCES pool ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE flags (  -- bugs that oracles prove by themselves, where they are compared
    unit INTEGER NOT NULL,
    number INTEGER NOT NULL,
    oracle TEXT NOT NULL,
    bound INTEGER NOT NULL,
    seconds REAL NOT NULL,  -- of the oracle's own clock when it proved the first bound
    cpu REAL NOT NULL,
    PRIMARY KEY (unit, number, oracle),
    FOREIGN KEY (unit, number) REFERENCES pool ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE findings (
    id INTEGER PRIMARY KEY,
    unit INTEGER NOT NULL REFERENCES units,
    state INTEGER NOT NULL REFERENCES states,
    kind TEXT NOT NULL,
    policy_cost INTEGER,
    bound INTEGER NOT NULL,
    gap INTEGER,
    oracle TEXT NOT NULL,
    evidence_kind TEXT NOT NULL,
    retrospective INTEGER NOT NULL,
    pool_number INTEGER,  -- the first pool state that it is in; NULL: a further state
    region INTEGER,
    seconds REAL NOT NULL,
    status TEXT NOT NULL DEFAULT 'new',
    note TEXT NOT NULL DEFAULT '',
    UNIQUE (unit, state)
);
CREATE INDEX finding_by_status ON findings (status);
CREATE INDEX finding_by_region ON findings (region);
CREATE TABLE evidence (finding INTEGER PRIMARY KEY REFERENCES findings, document TEXT NOT NULL);
CREATE TABLE runs (
    finding INTEGER PRIMARY KEY REFERENCES findings,
    outcome TEXT NOT NULL,
    reason TEXT NOT NULL,
    cost INTEGER,
    operators BLOB NOT NULL,
    last_decision INTEGER NOT NULL
);
CREATE TABLE history (
    finding INTEGER NOT NULL REFERENCES findings,
    bound INTEGER NOT NULL,
    gap INTEGER,
    seconds REAL NOT NULL,
    PRIMARY KEY (finding, bound)
) WITHOUT ROWID;
CREATE TABLE log (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    level TEXT NOT NULL,
    unit INTEGER REFERENCES units,
    text TEXT NOT NULL
);
CREATE TABLE writer (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    pid INTEGER NOT NULL,
    host TEXT NOT NULL,
    process_start TEXT NOT NULL,
    heartbeat REAL NOT NULL
);
CREATE TABLE portfolios (
    campaign INTEGER NOT NULL REFERENCES campaigns,
    position INTEGER NOT NULL,
    policy INTEGER NOT NULL REFERENCES policies,
    PRIMARY KEY (campaign, position)
) WITHOUT ROWID;
CREATE TABLE project (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    document TEXT NOT NULL  -- JSON
);
CREATE TABLE root_causes (
    id INTEGER PRIMARY KEY,
    policy INTEGER NOT NULL REFERENCES policies,
    state INTEGER NOT NULL REFERENCES states,
    operator INTEGER NOT NULL,  -- -1: none that can be executed
    kind TEXT NOT NULL,
    action TEXT NOT NULL,
    UNIQUE (policy, state, operator, kind)
);
CREATE TABLE localizations (
    finding INTEGER PRIMARY KEY REFERENCES findings,
    root_cause INTEGER REFERENCES root_causes,  -- NULL: no step is proven to be bad
    step INTEGER,
    searches INTEGER NOT NULL,
    naive_searches INTEGER NOT NULL,
    expanded INTEGER NOT NULL,
    seconds REAL NOT NULL,
    limited INTEGER NOT NULL,
    failure TEXT,  -- JSON; NULL: the run reaches the goal
    worst_step INTEGER,  -- NULL: no step is proven to lose anything
    worst_action TEXT NOT NULL,
    loss INTEGER,  -- of the worst step, at least; NULL: it loses the goal
    loss_high INTEGER,  -- at most; NULL: it may lose the goal
    better_plan TEXT  -- JSON; NULL: none is known
);
CREATE INDEX localization_by_root_cause ON localizations (root_cause);
CREATE TABLE localized_steps (  -- apart, so that lists of bugs need not read them
    finding INTEGER PRIMARY KEY REFERENCES localizations ON DELETE CASCADE,
    steps BLOB NOT NULL  -- zlib, JSON
);
CREATE TABLE patterns (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,  -- hash of the certificate
    certificate TEXT NOT NULL,  -- JSON
    family TEXT NOT NULL
);
CREATE TABLE witnesses (
    id INTEGER PRIMARY KEY,
    bug INTEGER NOT NULL REFERENCES findings,  -- what it was made from
    root_cause INTEGER REFERENCES root_causes,
    step INTEGER,  -- of the bug's run; NULL: the root cause
    same TEXT NOT NULL,
    finding INTEGER UNIQUE REFERENCES findings,  -- NULL: there is none, the document says why
    pattern INTEGER REFERENCES patterns,
    document TEXT NOT NULL  -- JSON
);
CREATE INDEX witness_by_root_cause ON witnesses (root_cause);
CREATE INDEX witness_by_bug ON witnesses (bug);
CREATE TABLE comparisons (
    id INTEGER PRIMARY KEY,
    created REAL NOT NULL,
    name_a TEXT NOT NULL,
    name_b TEXT NOT NULL,
    file_a TEXT NOT NULL REFERENCES inputs,
    file_b TEXT NOT NULL REFERENCES inputs,
    question TEXT NOT NULL,  -- JSON
    answer TEXT NOT NULL  -- JSON
);
CREATE TABLE trainings (
    folder TEXT PRIMARY KEY,
    created REAL NOT NULL,
    document TEXT NOT NULL  -- JSON
) WITHOUT ROWID;
CREATE TABLE pools (
    campaign INTEGER PRIMARY KEY REFERENCES campaigns,
    path TEXT NOT NULL,
    file TEXT NOT NULL REFERENCES inputs
);
CREATE TABLE experiments (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,  -- hash of the settings and of all inputs
    config TEXT NOT NULL,
    created REAL NOT NULL,
    seconds REAL NOT NULL DEFAULT 0,
    status TEXT NOT NULL DEFAULT 'running'
);
CREATE TABLE parts (
    experiment INTEGER NOT NULL REFERENCES experiments,
    campaign INTEGER NOT NULL REFERENCES campaigns,
    domain TEXT NOT NULL,
    variant TEXT NOT NULL,
    PRIMARY KEY (experiment, campaign)
) WITHOUT ROWID;
CREATE TABLE trials (
    id INTEGER PRIMARY KEY,
    experiment INTEGER NOT NULL REFERENCES experiments,
    domain TEXT NOT NULL,
    label TEXT NOT NULL,
    plan TEXT NOT NULL,
    limits TEXT NOT NULL,
    problem INTEGER REFERENCES problems,
    status TEXT NOT NULL DEFAULT 'waiting',
    started REAL,
    error TEXT NOT NULL DEFAULT '',
    seconds REAL NOT NULL DEFAULT 0,
    result TEXT  -- JSON
);
CREATE INDEX trial_by_experiment ON trials (experiment);
CREATE TABLE trial_policies (
    trial INTEGER NOT NULL REFERENCES trials,
    position INTEGER NOT NULL,
    policy INTEGER NOT NULL REFERENCES policies,
    PRIMARY KEY (trial, position)
) WITHOUT ROWID;
CREATE TABLE trial_files (
    trial INTEGER NOT NULL REFERENCES trials,
    position INTEGER NOT NULL,
    file TEXT NOT NULL REFERENCES inputs,
    path TEXT NOT NULL,
    PRIMARY KEY (trial, position)
) WITHOUT ROWID;
CREATE TABLE duplicates (
    finding INTEGER PRIMARY KEY REFERENCES findings,
    original INTEGER NOT NULL REFERENCES findings
);
"""

MIGRATIONS: tuple[str, ...] = ()
"""From each version to the next, beginning with FIRST_VERSION."""
VERSION = FIRST_VERSION + len(MIGRATIONS)


def create(connection: sqlite3.Connection, version: int = VERSION) -> None:
    """Make the tables of a version."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    _run(connection, _TABLES)
    connection.execute(f"PRAGMA user_version = {FIRST_VERSION}")
    migrate(connection, version)
    set_identity(connection)


def migrate(connection: sqlite3.Connection, version: int = VERSION) -> None:
    """Bring a file up to date, in the transaction of the caller."""
    (old,) = connection.execute("PRAGMA user_version").fetchone()
    for script in MIGRATIONS[old - FIRST_VERSION : version - FIRST_VERSION]:
        _run(connection, script)
    connection.execute(f"PRAGMA user_version = {version}")


def set_identity(connection: sqlite3.Connection) -> None:
    """Let the file differ from all others in a number that its journals repeat.

    SQLite only compares it with itself, to see whether the tables have changed.
    """
    connection.execute(f"PRAGMA schema_version = {random.randrange(1, 2**31)}")


def mark_first_page(connection: sqlite3.Connection) -> None:
    """Let the journal of a transaction begin with the first page, which says whose it is."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    connection.execute(f"PRAGMA user_version = {version}")


def objects_of(connection: sqlite3.Connection) -> dict[str, str]:
    """How every table, index, view and trigger of a file is defined.

    Indexes that follow from a table have no definition of their own.
    """
    return {
        f"{kind} {name}": _plain(str(sql or ""))
        for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_master")
        if not (kind == "index" and sql is None)
    }


@cache
def objects_of_version(version: int) -> Mapping[str, str]:
    """What a file of this version holds."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create(connection, version)
        return objects_of(connection)


def new_workspace() -> bytes:
    """The contents of a file without rows."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        create(connection)
        return connection.serialize()


def _plain(sql: str) -> str:
    """Without comments and line breaks: they may be written otherwise some day.

    Only what SQLite takes for white space is: another space is a letter of a name to it.
    """
    return re.sub(r"[ \t\n\f\r]+", " ", re.sub(r"--[^\n]*", "", sql)).strip(" ")


def _run(connection: sqlite3.Connection, script: str) -> None:
    """`executescript` would commit before it begins."""
    for statement in script.split(";\n"):
        connection.execute(statement)


_CLASSES = {
    "INTEGER": "typeof({0}) = 'integer'",
    "TEXT": "typeof({0}) = 'text'",
    "BLOB": "typeof({0}) = 'blob'",
    "REAL": "typeof({0}) IN ('real', 'integer') AND abs({0}) < 1e15",  # not infinity
}
_WORDS: dict[tuple[str, str], tuple[str, ...]] = {
    ("campaigns", "status"): ("running", "stopped", "incomplete", "finished"),
    ("units", "status"): ("waiting", "running", "stopped", "lost", "failed", "finished"),
    ("experiments", "status"): ("running", "stopped", "incomplete", "finished"),
    ("trials", "status"): ("waiting", "running", "stopped", "lost", "failed", "finished"),
    ("findings", "kind"): tuple(BugKind),
    ("findings", "status"): tuple(BugStatus),
    ("runs", "outcome"): tuple(RunOutcome),
    ("runs", "reason"): tuple(EndReason),
    ("pool", "outcome"): tuple(RunOutcome),
    ("pool", "reason"): tuple(EndReason),
}
_LONGEST: dict[tuple[str, str], int] = {  # in bytes, of what every bug repeats
    ("problems", "name"): 2**13,  # the system has no longer paths
    ("policies", "name"): 2**13,
    ("policies", "spec"): 2**13,
    ("findings", "oracle"): 2**13,
    ("findings", "evidence_kind"): 2**13,
    ("flags", "oracle"): 2**13,
    ("answers", "oracle"): 2**13,
    ("answers", "verdict"): 2**13,
    ("localizations", "worst_action"): 2**16,
    ("root_causes", "action"): 2**16,
    ("patterns", "family"): 2**16,
}


def tables_of(ask: Callable[[str], list[tuple[str]]]) -> list[str]:
    """The tables of a file, apart from those of SQLite itself."""
    rows = ask("SELECT name FROM sqlite_master WHERE type = 'table'")
    return [name for (name,) in rows if not name.startswith("sqlite_")]


def misplaced_value(connection: sqlite3.Connection, table: str) -> str:
    """The table and column of a value that does not belong there; empty if there is none."""
    columns = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    right = {
        name: _condition(table, name, declared, bool(required or key))
        for _, name, declared, required, _, key in columns
    }
    cases = " ".join(f"WHEN NOT ({test}) THEN '{name}'" for name, test in right.items())
    found = connection.execute(
        f'SELECT CASE {cases} END FROM "{table}" WHERE NOT ({" AND ".join(right.values())}) LIMIT 1'
    ).fetchone()
    return "" if found is None else f"{table}.{found[0]}"


def _condition(table: str, name: str, declared: str, required: bool) -> str:
    column = f'"{name}"'
    test = _CLASSES[declared].format(column)
    if (table, name) in _WORDS:
        words = ", ".join(f"'{word}'" for word in _WORDS[table, name])
        test = f"{column} IN ({words})"
    if (table, name) in _LONGEST:  # of texts, `length` counts only what stands before a zero
        test = f"{test} AND length(CAST({column} AS BLOB)) <= {_LONGEST[table, name]}"
    return f"({test})" if required else f"({column} IS NULL OR {test})"
