"""A workspace with very many findings: python benchmarks/many_findings.py OUT.plumb

Two small campaigns on an example are run for real, one that finds and localizes many bugs and one
that tests many states and finds few; some bugs are minimized. Then their problems are copied under
other names with all that belongs to them, units, states, pools, answers, bugs, proofs, runs and
localizations, until there are as many as wanted. Every copy is what a campaign on a problem of that
name would have stored, so the file opens and is listed as any workspace, and every bug is verified;
false is only what the configurations say, which do not name the copies.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from measurement import EXAMPLES

from engine.campaign.config_reader import read_config
from engine.policies.consent import NO_CONSENT
from engine.usecases.campaign import run as run_campaign
from engine.usecases.minimize import minimize
from engine.workers.link import NULL_LINK
from engine.workspace.workspace import Workspace

FINDINGS, STATES = 10**6, 10**7
_CONFIG = """\
domain = "{folder}/domain.pddl"
problems = ["{folder}/problems/p0[56].pddl"]
policies = ["{folder}/policies/policy.pt"]
seeds = [{seed}]

[fuzzing]
size = {size}

[testing]
oracles = ["{oracle}"]

[localization]
enabled = {localize}
"""
SHARED = {"inputs", "policies", "campaigns", "patterns", "portfolios", "project"}
"""Tables whose rows all copies refer to, or that there is only one of."""
MINIMIZED = 3


def make_base(path: Path) -> None:
    """The real campaigns: one finding for about ten states."""
    campaigns = (
        {"seed": 0, "size": 400, "oracle": "lookahead:depth=2", "localize": "true"},
        {"seed": 1, "size": 3000, "oracle": "astar:expansions=2", "localize": "false"},
    )
    with tempfile.TemporaryDirectory(prefix="plumbline-findings-") as folder:
        for settings in campaigns:
            file = Path(folder) / "campaign.toml"
            file.write_text(_CONFIG.format(folder=EXAMPLES / "ferry", **settings))
            with Workspace.create(path) as store:
                assert run_campaign(read_config(file), store).finished
    with Workspace.open(path) as store:
        bugs = [cause.smallest_bug for cause in store.root_causes()[:MINIMIZED]]
    minimize(NULL_LINK, path, bugs, NO_CONSENT)


def fill(path: Path, findings: int, states: int) -> None:
    """Copy problems with everything that belongs to them."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -500000"):
            connection.execute(f"PRAGMA {setting}")
        found, tested = (
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("findings", "pool")
        )
        copies = max(-(-findings // found), -(-states // tested)) - 1
        tables = _copied_tables(connection)
        connection.execute("BEGIN")
        connection.execute("CREATE TEMP TABLE copies (k INTEGER PRIMARY KEY)")
        connection.executemany("INSERT INTO copies VALUES (?)", ((k + 1,) for k in range(copies)))
        for table in tables:
            connection.execute(_copy_statement(connection, table, tables))
        connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = DELETE")


def _copied_tables(connection: sqlite3.Connection) -> dict[str, int]:
    """The tables and how far the numbers of a copy are from those of the one before."""
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    strides = {}
    for (table,) in found:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        if table in SHARED:
            continue
        key = "id" if "id" in columns else None
        (stride,) = connection.execute(
            f"SELECT ifnull(max({key}), 0) FROM {table}" if key else "SELECT 0"
        ).fetchone()
        strides[table] = stride
    return strides


def _copy_statement(connection: sqlite3.Connection, table: str, strides: dict[str, int]) -> str:
    """All copies of a table's rows, in the order of their numbers."""
    targets = {
        row[3]: row[2]
        for row in connection.execute(f"PRAGMA foreign_key_list({table})")
        if row[2] in strides and row[3] != "number"
    }
    if table in ("answers", "flags"):
        targets["unit"] = "units"  # by way of the pool
    if table == "localized_steps":
        targets["finding"] = "findings"  # by way of the localizations
    if table == "findings":
        targets["region"] = "findings"
    columns = []
    for _, name, *_ in connection.execute(f"PRAGMA table_info({table})"):
        if name == "id":
            columns.append(f"t.id + k * {strides[table]}")
        elif name in targets:
            columns.append(f"t.{name} + k * {strides[targets[name]]}")
        elif table == "problems" and name == "name":
            columns.append(f"t.name || '-' || (t.id + k * {strides[table]})")  # as no base has it
        else:
            columns.append(f"t.{name}")
    connection.execute(f"CREATE TEMP TABLE base_{table} AS SELECT * FROM {table}")
    return (
        f"INSERT INTO {table} SELECT {', '.join(columns)} FROM temp.copies "
        f"CROSS JOIN temp.base_{table} t"
    )


def make(
    path: Path, findings: int = FINDINGS, states: int = STATES, base: Path | None = None
) -> None:
    """Make the workspace, from a `base` with real bugs if there is one already."""
    if base is None:
        make_base(path)
    else:
        with Workspace.open(base) as store:
            store.save_copy(path)
    fill(path, findings, states)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("--findings", type=int, default=FINDINGS)
    parser.add_argument("--states", type=int, default=STATES)
    parser.add_argument("--base", type=Path, help="a workspace with real bugs to copy")
    args = parser.parse_args()
    begin = time.perf_counter()
    make(args.out, args.findings, args.states, args.base)
    print(
        f"{args.out}: {args.out.stat().st_size / 1e6:.0f} MB, {time.perf_counter() - begin:.0f} s"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
