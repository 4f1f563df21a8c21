"""Forgeries of what experiments, campaigns and units claim as a whole, and of imported pools.

The forgers are careful: they renew keys. What passes nevertheless has to be named as unchecked.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from reference.newer_claims import (
    NewerForger,
    make_experiments,
    make_imported,
    make_parts,
    make_several,
    make_undecided,
    make_witnesses,
)

from engine.records.codec import pack

Forgery = Callable[[NewerForger], None]
Verify = Callable[[Path], tuple[int, dict[str, Any]]]
MAKERS = {
    "parts": make_parts,
    "experiments": make_experiments,
    "witnesses": make_witnesses,
    "several": make_several,
    "imported": make_imported,
    "undecided": make_undecided,
}


@pytest.fixture(scope="module")
def workspaces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: make(tmp_path_factory.mktemp(name)) for name, make in MAKERS.items()}


def sql(*statements: str) -> Forgery:
    def forge(forger: NewerForger) -> None:
        for statement in statements:
            forger.do(statement)

    return forge


def rekeyed(forgery: Forgery) -> Forgery:
    """With the key of the experiment that it becomes."""

    def forge(forger: NewerForger) -> None:
        forgery(forger)
        forger.rekey_experiments()

    return forge


def settings(change: Callable[[Any], object]) -> Forgery:
    return rekeyed(lambda f: f.change("experiments", "config", _done(change), "id = 1"))


def plan(number: int, change: Callable[[Any], object], column: str = "plan") -> Forgery:
    return rekeyed(lambda f: f.change("trials", column, _done(change), f"id = {number}"))


def runs(change: Callable[[Any], object]) -> Forgery:
    return lambda f: f.change("trials", "result", lambda d: _done(change)(d["runs"]), "id = 5")


def attempt(change: Callable[[Any], object]) -> Forgery:
    return lambda f: f.change("witnesses", "document", _done(change), "finding NOT NULL")


def _done(change: Callable[[Any], object]) -> Callable[[Any], None]:
    def do(document: Any) -> None:
        change(document)

    return do


def swapped(table: str, column: str, first: object, second: object) -> str:
    other = f"CASE {column} WHEN {first} THEN {second} ELSE {first} END"
    return f"UPDATE {table} SET {column} = {other}"


def without_second_unit(forger: NewerForger) -> None:
    """Nothing is left of a unit, but its campaign is called finished."""
    forger.sqlite.execute("DELETE FROM flags WHERE unit = 2")
    forger.sqlite.execute("DELETE FROM answers WHERE unit = 2")
    for table in ("history", "runs", "evidence"):
        of_it = "finding IN (SELECT id FROM findings WHERE unit = 2)"
        forger.sqlite.execute(f"DELETE FROM {table} WHERE {of_it}")
    forger.sqlite.execute("DELETE FROM findings WHERE unit = 2")
    forger.sqlite.execute("DELETE FROM pool WHERE unit = 2")
    forger.do("UPDATE units SET status = 'waiting', statistics = ? WHERE id = 2", "{}")
    forger.do("UPDATE experiments SET status = 'running'")


def imported(change: Callable[[list[str]], object]) -> Forgery:
    """Another file of states, with the campaign's key."""

    def forge(forger: NewerForger) -> None:
        lines = forger.content("states.pool").decode().splitlines()
        change(lines)
        digest = forger.add_input("states.pool", "\n".join([*lines, ""]).encode())
        forger.do("UPDATE pools SET file = ?", digest)
        forger.rekey()

    return forge


def never_imported(forger: NewerForger) -> None:
    forger.do("DELETE FROM pools")
    forger.edit_config(lambda config: config.update(pool=None))
    forger.rekey()


def renamed(table: str, *statements: str) -> Forgery:
    """Other names of problems or policies, with the key of the campaign."""

    def forge(forger: NewerForger) -> None:
        for statement in statements:
            forger.do(f"UPDATE {table} SET name = {statement}")
        forger.rekey()

    return forge


def a_witness_that_tested(forger: NewerForger) -> None:
    """A state that an oracle is said to have examined, in the unit of a witness."""
    unit, finding, state = forger.sqlite.execute(
        "SELECT f.unit, f.id, f.state FROM findings f WHERE unit > 1 LIMIT 1"
    ).fetchone()
    pool = "INSERT INTO pool VALUES (?, 0, ?, -1, ?, 0, 'solved', 'goal', 1, 1)"
    forger.do(pool, unit, state, pack(()))
    answer = "INSERT INTO answers VALUES (?, 0, 'astar', 'no bug, proven optimal', 1, 0, 0, 0)"
    forger.do(answer, unit)
    forger.do("UPDATE findings SET pool_number = 0 WHERE id = ?", finding)


def lent_root_cause(forger: NewerForger) -> None:
    """The root cause of a bug whose steps show none."""
    number = forger.one("SELECT finding FROM localizations WHERE root_cause IS NULL")
    forger.do(
        "INSERT INTO root_causes SELECT 9, u.policy, f.state, 0, 'detour', 'drive a b' "
        "FROM findings f JOIN units u ON u.id = f.unit WHERE f.id = ?",
        number,
    )
    forger.do("UPDATE localizations SET root_cause = 9 WHERE finding = ?", number)


FORGERIES: dict[str, dict[str, Forgery]] = {
    "undecided": {"a root cause of steps that are not bad": lent_root_cause},
    "parts": {
        "campaigns with each other's variants": sql(
            swapped("parts", "variant", "''", "'novelty off'")
        ),
        "a campaign of another domain": sql("UPDATE parts SET domain = 'ferry' WHERE campaign = 1"),
        "a campaign of a variant that is not asked for": sql(
            "UPDATE parts SET variant = 'best' WHERE campaign = 1"
        ),
        "a campaign that is missing": sql("DELETE FROM parts WHERE campaign = 2"),
        "all campaigns missing": sql("DELETE FROM parts"),
        "a finished experiment with an open trial": sql(
            "UPDATE trials SET status = 'waiting', result = NULL"
        ),
        "a finished experiment with a failed unit": sql(
            "UPDATE campaigns SET status = 'incomplete'",
            "UPDATE units SET status = 'failed', error = 'x' WHERE id = 2",
        ),
        "a finished campaign with a failed unit": sql(
            "UPDATE experiments SET status = 'incomplete'",
            "UPDATE units SET status = 'failed', error = 'x' WHERE id = 2",
        ),
        "a finished campaign with a unit that was not begun": without_second_unit,
        "another label of a trial": rekeyed(sql("UPDATE trials SET label = 'builtin:gc'")),
        "another domain of a trial": rekeyed(sql("UPDATE trials SET domain = 'ferry'")),
        "another name of the suite": settings(lambda c: c["suites"][0].update(name="ferry")),
        "more problems": settings(lambda c: c["suites"][0]["problems"].append("p3.pddl")),
        "another policy": settings(lambda c: c["suites"][0].update(policies=["builtin:gc"])),
        "a portfolio": settings(lambda c: c["suites"][0].update(portfolio=["builtin:gc"])),
        "other seeds": settings(lambda c: c.update(seeds=[7])),
        "more seeds": settings(lambda c: c.update(seeds=[0, 1])),
        "a larger pool": settings(lambda c: c["fuzzing"].update(size=5000)),
        "longer walks": settings(lambda c: c["fuzzing"].update(walk_length=9)),
        "another step limit": settings(lambda c: c["testing"].update(step_limit=77)),
        "an oracle more": settings(lambda c: c["testing"]["oracles"].append("aras")),
        "another variant": settings(lambda c: c["variants"][1].update(novelty=1)),
        "one variant more": settings(
            lambda c: c["variants"].append({**c["variants"][1], "name": "n", "novelty": 1})
        ),
        "only problems that the policy solves": settings(lambda c: c.update(only_solved=True)),
        "unit costs": settings(lambda c: c.update(unit_costs=True)),
        "other limits": settings(lambda c: c["limits"].update(unit_seconds=5.0)),
        "a domain that was not read": settings(lambda c: c["suites"][0].update(domain=None)),
    },
    "experiments": {
        "another label of a question": rekeyed(sql("UPDATE trials SET label = 'x' WHERE id = 2")),
        "another version of a pair": rekeyed(sql("UPDATE trials SET label = 'x' WHERE id = 6")),
        "another heuristic": plan(2, lambda p: p.update(heuristic="blind")),
        "another seed": plan(2, lambda p: p.update(seed=9)),
        "another time for each question": plan(2, lambda p: p["settings"].update(seconds=1)),
        "fewer policies": plan(5, lambda p: p.update(most=1)),
        "policies in another order": plan(5, lambda p: p.update(ranked=not p["ranked"])),
        "less time": plan(5, lambda p: p.update(unit_seconds=1.0), "limits"),
        "a trial of another experiment": rekeyed(
            sql("UPDATE trials SET experiment = 1 WHERE id = 5")
        ),
        "a trial twice": rekeyed(
            sql(
                "INSERT INTO trials SELECT 7, experiment, domain, label, plan, limits, problem, "
                "status, started, error, seconds, result FROM trials WHERE id = 2"
            )
        ),
        "a failed trial with a result": sql(
            "UPDATE experiments SET status = 'incomplete'",
            "UPDATE trials SET status = 'lost' WHERE id = 2",
        ),
        "a finished experiment with a failed trial": sql(
            "UPDATE trials SET status = 'failed', result = NULL WHERE id = 2"
        ),
        "a failed run with other steps": runs(lambda r: r[1].update(plan=["(fly a b)"])),
        "a failed run without steps": runs(lambda r: r[1].update(plan=[])),
        "a failed run that goes on": runs(lambda r: r[1]["plan"].append(r[1]["plan"][0])),
        "a stopped run that cannot be taken": runs(
            lambda r: r[0].update(
                outcome="aborted", reason="time-limit", cost=None, plan=["(fly a b)"]
            )
        ),
        "a result that cannot be read": lambda f: f.change(
            "trials", "result", lambda d: d["comparison"].update(readings=[]), "id = 6"
        ),
        "settings that cannot be read": sql("UPDATE experiments SET config = '7' WHERE id = 1"),
    },
    "witnesses": {
        "a witness that tested states": a_witness_that_tested,
        "a witness of a step under a root cause": sql(
            "UPDATE witnesses SET step = 0 WHERE finding NOT NULL"
        ),
        "a root cause in a state of a smaller problem": sql(
            "UPDATE root_causes SET state = (SELECT f.state FROM findings f WHERE f.unit > 1)"
        ),
        "a witness whose unit has totals": sql(
            "UPDATE units SET statistics = (SELECT statistics FROM units WHERE id = 1) WHERE id = 2"
        ),
        "a witness whose unit failed": sql("UPDATE units SET status = 'failed' WHERE id = 2"),
        "a witness with a region": sql("UPDATE findings SET region = id WHERE unit = 2"),
        "a witness with the name of its origin": sql(
            "UPDATE problems SET name = 'p2.pddl' WHERE origin NOT NULL"
        ),
        "a smallest witness whose making was stopped": attempt(
            lambda a: a.update(minimal=True, stopped_by="time")
        ),
        "a witness that is neither smallest nor stopped": attempt(
            lambda a: a.update(minimal=not a["minimal"])
        ),
        "a witness, and why there is none": attempt(lambda a: a.update(reason="none exists")),
        "a finished campaign with an open unit": sql(
            "UPDATE units SET status = 'stopped' WHERE id = 1"
        ),
    },
    "several": {
        "problems under each other's names": renamed(
            "problems",
            "'old ' || name",
            "CASE name WHEN 'old p1.pddl' THEN 'p2.pddl' ELSE 'p1.pddl' END",
        ),
        "a policy under another name": renamed("policies", "'best.pt' WHERE id = 1"),
        "a state of another problem": sql(
            "UPDATE states SET problem = 2 WHERE id = (SELECT state FROM findings WHERE id = 1)"
        ),
        "units with each other's seeds": sql(
            "UPDATE units SET seed = seed + 10", "UPDATE units SET seed = 11 - seed"
        ),
        "units with each other's policies": sql(
            "UPDATE units SET policy = policy + 10", "UPDATE units SET policy = 13 - policy"
        ),
        "units with each other's problems": sql(
            "UPDATE units SET problem = problem + 10", "UPDATE units SET problem = 13 - problem"
        ),
        "policies with each other's names": sql(
            swapped("policies", "name", "'builtin:gc'", "'builtin:hadd'")
        ),
        "policies with each other's specs": sql(
            "UPDATE policies SET name = 'x' || id",
            swapped("policies", "spec", "'builtin:gc'", "'builtin:hadd'"),
        ),
        "problems with each other's names": sql(
            swapped("problems", "name", "'p1.pddl'", "'p2.pddl'")
        ),
        "totals of another unit": sql(
            "UPDATE units SET statistics = (SELECT statistics FROM units WHERE id = 4) WHERE id = 1"
        ),
        "a lost unit": sql("UPDATE units SET status = 'lost' WHERE id = 2"),
    },
    "imported": {
        "a file with a state less": imported(lambda lines: lines.pop()),
        "a file with other bytes": lambda f: f.do(
            "UPDATE pools SET file = ?", f.add_input("s", f.content("states.pool") + b"\n")
        ),
        "a file that is no pool": sql(
            "UPDATE pools SET file = (SELECT sha256 FROM inputs WHERE name = 'p2.pddl')"
        ),
        "no file": sql("DELETE FROM pools"),
        "states that were walked to": never_imported,
        "a state with a walk": sql("UPDATE pool SET reference = 0 WHERE number = 3"),
        "a state in another's place": sql(
            "UPDATE pool SET state = (SELECT state FROM pool WHERE number = 4) WHERE number = 3"
        ),
        "a complete pool": lambda f: f.change(
            "units", "statistics", lambda d: d.update(complete=True), "id = 1"
        ),
        "more states": lambda f: f.change(
            "units", "statistics", lambda d: d.update(size=99), "id = 1"
        ),
    },
}

PASSING: dict[str, tuple[str, Forgery, str]] = {
    "a unit that failed for no reason": (
        "several",
        sql(
            "UPDATE campaigns SET status = 'incomplete'",
            "UPDATE units SET status = 'failed', error = 'no memory' WHERE id = 2",
        ),
        "whether and why units",
    ),
    "another preset": ("parts", settings(lambda c: c.update(preset="eisenhut-2024")), "preset"),
    "another scale": ("parts", settings(lambda c: c.update(scale=1)), "scale"),
    "oracles instead of fuzzing": (
        "parts",
        settings(lambda c: c.update(kind="oracles")),
        "about oracles or fuzzing",
    ),
    "another name of an oracle": (
        "parts",
        settings(lambda c: c["oracles"][0].update(label="best")),
        "calls its oracles",
    ),
    "another group of oracles": (
        "parts",
        settings(lambda c: c.update(qualitative=["undo"])),
        "groups them",
    ),
    "fewer states for a recall": (
        "parts",
        settings(lambda c: c.update(min_states=1)),
        "how many states it asks",
    ),
    "another expectation of a pair": (
        "experiments",
        rekeyed(
            lambda f: f.change(
                "experiments",
                "config",
                lambda c: c["pairs"][0].update(expected="not-equivalent"),
                "id = 3",
            )
        ),
        "expects of a pair",
    ),
    "another reason of an answer": (
        "experiments",
        lambda f: f.change(
            "trials", "result", lambda d: d["answers"][0].update(reason="a miracle"), "id = 2"
        ),
        "says decided about an action",
    ),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_untouched_workspaces_hold(kind: str, workspaces: dict[str, Path], verify: Verify) -> None:
    code, answer = verify(workspaces[kind])
    assert answer["failed"] == answer["undecided"] == []
    assert code == 0


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in FORGERIES.items() for name in names]
)
def test_forgeries_are_noticed(
    kind: str, name: str, workspaces: dict[str, Path], tmp_path: Path, verify: Verify
) -> None:
    code, answer = verify(_forged(workspaces[kind], tmp_path, FORGERIES[kind][name]))
    assert answer["failed"], answer
    assert code == 1


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_named_as_unchecked(
    name: str, workspaces: dict[str, Path], tmp_path: Path, verify: Verify
) -> None:
    kind, forgery, words = PASSING[name]
    code, answer = verify(_forged(workspaces[kind], tmp_path, forgery))
    assert code == 0, answer
    assert any(words in text for text in answer["unchecked"])


def _forged(workspace: Path, folder: Path, forgery: Forgery) -> Path:
    path = Path(shutil.copy(workspace, folder / "forged.plumb"))
    with closing(sqlite3.connect(path)) as connection:
        forgery(NewerForger(path, connection))
        connection.commit()
    return path
