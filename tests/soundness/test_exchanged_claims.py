"""Forgeries that exchange what is true of one thing for another's, and settings that did not apply.

Everything in them is true somewhere in the workspace, and keys are renewed: only what belongs
together is torn apart. What passes nevertheless has to be named as unchecked.
"""

from __future__ import annotations

import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reference.forged_claims import Forger
from reference.newer_claims import NewerForger, make_compared, make_derived, make_several

from engine.records.codec import pack, unpack
from engine.task.sas import write_sas

Forgery = Callable[[Forger], None]
Verify = Callable[[Path], tuple[int, dict[str, Any]]]


@pytest.fixture(scope="module")
def workspaces(tmp_path_factory: pytest.TempPathFactory, true_workspace: Path) -> dict[str, Path]:
    makers = {"several": make_several, "compared": make_compared, "derived": make_derived}
    made = {name: make(tmp_path_factory.mktemp(name)) for name, make in makers.items()}
    return {"one": true_workspace, **made}


def sql(*statements: str) -> Forgery:
    def forge(forger: Forger) -> None:
        for statement in statements:
            forger.do(statement)

    return forge


def all_of(*forgeries: Forgery) -> Forgery:
    def forge(forger: Forger) -> None:
        for forgery in forgeries:
            forgery(forger)

    return forge


def config(change: Callable[[Any], object]) -> Forgery:
    """Other settings of the first campaign, with its key."""

    def forge(forger: Forger) -> None:
        forger.edit_config(lambda document: void(change(document)))
        forger.rekey()

    return forge


def void(_: object) -> None:
    """Forget what an expression returns."""


def totals(change: Callable[[Any], object]) -> Forgery:
    return lambda forger: forger.edit_statistics(lambda document: void(change(document)))


def exchange(table: str, columns: str, key: str = "finding") -> Forgery:
    """Exchange what two bugs of one unit say: `q`, and one with another state and bound."""

    def forge(forger: Forger) -> None:
        ours = forger.bugs["q"]
        other = forger.one(
            "SELECT id FROM findings f WHERE id != ? AND kind = 'quantitative' AND unit = "
            "(SELECT unit FROM findings WHERE id = ?) AND bound != "
            f"(SELECT bound FROM findings WHERE id = ?) AND EXISTS (SELECT 1 FROM {table} t "
            f"WHERE t.{key} = f.id)",
            ours,
            ours,
            ours,
        )
        rows = {
            number: forger.sqlite.execute(
                f"SELECT {columns} FROM {table} WHERE {key} = ?", (number,)
            ).fetchone()
            for number in (ours, other)
        }
        assert rows[ours] != rows[other]
        marks = ", ".join("?" for _ in columns.split(","))
        for number, source in ((ours, other), (other, ours)):
            forger.do(
                f"UPDATE {table} SET ({columns}) = ({marks}) WHERE {key} = ?",
                *rows[source],
                number,
            )

    return forge


def exchange_states(forger: Forger) -> None:
    rows = forger.sqlite.execute("SELECT id, state FROM findings WHERE unit = 1 LIMIT 2").fetchall()
    (first, state), (second, other) = rows
    forger.do("UPDATE findings SET state = 0 WHERE id = ?", first)
    forger.do("UPDATE findings SET state = ? WHERE id = ?", state, second)
    forger.do("UPDATE findings SET state = ? WHERE id = ?", other, first)


def fail_without_reason(forger: Forger) -> None:
    """A failure in a state about which no oracle says anything, with the totals."""
    unit, number = forger.sqlite.execute(
        "SELECT unit, number FROM pool p WHERE outcome = 'solved' AND NOT EXISTS (SELECT 1 FROM "
        "answers a WHERE a.unit = p.unit AND a.number = p.number AND verdict != 'not refuted')"
    ).fetchone()
    forger.do(
        "UPDATE pool SET outcome = 'failed', reason = NULL, policy_cost = NULL "
        "WHERE unit = ? AND number = ?",
        unit,
        number,
    )

    def change(document: Any) -> None:
        document["solved"] -= 1
        for item in document["oracles"]:
            item["examined_unsolved"] += 1

    forger.edit("units", "statistics", f"id = {unit}", change)


def no_bug(forger: Forger) -> None:
    """The policy's own run as evidence that it is too expensive by nothing."""
    number = forger.bugs["q"]
    run, cost = forger.sqlite.execute(
        "SELECT operators, cost FROM runs WHERE finding = ?", (number,)
    ).fetchone()

    def change(document: Any) -> None:
        walk = {**document["steps"][-1], "walk": list(unpack(run))}
        document.update(bound=cost, steps=[walk])

    forger.edit_evidence("q", change)
    forger.do("UPDATE findings SET bound = ?, gap = 0 WHERE id = {q}", cost)
    forger.do("DELETE FROM history WHERE finding = {q}")
    forger.do("INSERT INTO history SELECT id, bound, 0, seconds FROM findings WHERE id = {q}")


def detour(forger: Forger) -> None:
    """A bound above the policy's cost, by a plan that goes in circles."""
    number = forger.bugs["q"]
    (cost,) = forger.sqlite.execute("SELECT cost FROM runs WHERE finding = ?", (number,)).fetchone()
    forger.do("UPDATE findings SET bound = ? WHERE id = {q}", cost + 3)
    forger.do("UPDATE findings SET gap = -3 WHERE id = {q}")
    forger.edit_evidence("q", lambda document: document.update(bound=cost + 3))


def goes_on(forger: Forger) -> None:
    """A run that goes on behind the goal."""
    number = forger.bugs["q"]
    run = unpack(forger.one("SELECT operators FROM runs WHERE finding = ?", number))
    forger.do("UPDATE runs SET operators = ? WHERE finding = {q}", pack([*run, run[-1]]))


def walk_of_states(change: Callable[[tuple[int, ...]], list[int]]) -> Forgery:
    def forge(forger: Forger) -> None:
        number, walk = forger.sqlite.execute(
            "SELECT number, walk FROM pool WHERE unit = 1 AND length(walk) > 3"
        ).fetchone()
        changed = pack(change(tuple(unpack(walk))))
        forger.do("UPDATE pool SET walk = ? WHERE unit = 1 AND number = ?", changed, number)

    return forge


def evidence(change: Callable[[Any], object], bug: str = "q") -> Forgery:
    return lambda forger: forger.edit_evidence(bug, lambda document: void(change(document)))


def morph(change: Callable[[Any], object]) -> Forgery:
    def find(document: Any) -> None:
        change(next(step for step in document["steps"] if "morph" in step))

    return evidence(find, "d")


def steps(change: Callable[[list[list[Any]]], object], bug: str = "q") -> Forgery:
    return lambda forger: forger.edit_steps(bug, lambda rows: void(change(rows)))


def cheaper_task(forger: Forger) -> None:
    """A task in which actions cost nothing."""
    task = replace(
        forger.task, operators=tuple(replace(item, cost=0) for item in forger.task.operators)
    )
    digest = forger.add_input("task.sas", write_sas(task).encode())
    forger.do(f"UPDATE problems SET sas_file = '{digest}'")


def move(which: str, unit: int) -> Forgery:
    """Move a bug to a unit that has none in its state."""
    return sql(
        f"UPDATE findings SET unit = {unit} WHERE id = (SELECT id FROM findings WHERE {which} "
        f"AND state NOT IN (SELECT state FROM findings WHERE unit = {unit}) LIMIT 1)"
    )


def campaign_without_units(forger: Forger) -> None:
    forger.do(
        "INSERT INTO campaigns SELECT max(id) + 1, 'none', config, created, seconds, 'finished' "
        "FROM campaigns"
    )


def stopped(change: Forgery) -> Forgery:
    """A unit that is said to have been stopped, so that its totals may be older than its rows."""
    return all_of(
        sql(
            "UPDATE units SET status = 'stopped' WHERE id = 1",
            "UPDATE campaigns SET status = 'stopped' WHERE id = 1",
        ),
        change,
    )


def unlocalized(forger: Forger) -> None:
    forger.do("DELETE FROM localized_steps WHERE finding = {q}")
    forger.do("DELETE FROM localizations WHERE finding = {q}")


def loop_without_failure(forger: Forger) -> None:
    forger.do("UPDATE localizations SET failure = NULL WHERE finding = {l}")


def failure_of_another(forger: Forger) -> None:
    text = forger.one("SELECT failure FROM localizations WHERE finding = ?", forger.bugs["l"])
    forger.do("UPDATE localizations SET failure = ? WHERE finding = {q}", text)


def other_steps(forger: Forger) -> None:
    """The steps of one bug for those of another one."""
    other = forger.one(
        "SELECT finding FROM localized_steps WHERE finding != ? AND steps != "
        "(SELECT steps FROM localized_steps WHERE finding = ?)",
        forger.bugs["q"],
        forger.bugs["q"],
    )
    forger.do(
        "UPDATE localized_steps SET steps = (SELECT steps FROM localized_steps WHERE "
        f"finding = {other}) WHERE finding = {{q}}"
    )


def nested(forger: Forger) -> None:
    """Steps that no parser holds, in few bytes."""
    packed = zlib.compress(b"[" * 10**6)
    forger.do("UPDATE localized_steps SET steps = ? WHERE finding = {q}", packed)


def with_history(number: str, more: int) -> Forgery:
    return sql(
        f"UPDATE history SET bound = bound + {more} WHERE finding = {{{number}}} AND bound = "
        f"(SELECT max(bound) FROM history WHERE finding = {{{number}}})"
    )


def of_oracle(number: int, **changes: object) -> Forgery:
    return totals(lambda document: document["oracles"][number].update(changes))


def more_of_oracle(number: int, name: str, more: int) -> Forgery:
    def change(document: Any) -> None:
        document["oracles"][number][name] += more

    return totals(change)


def stopped_run(forger: Forger) -> None:
    """A run that is said to have been stopped at the limit, a step before the goal."""
    number = forger.one("SELECT id FROM findings WHERE unit = 1 ORDER BY gap DESC")
    operators = unpack(forger.one("SELECT operators FROM runs WHERE finding = ?", number))[:-1]
    cost = sum(forger.task.operators[operator].cost for operator in operators)
    assert cost > forger.one("SELECT bound FROM findings WHERE id = ?", number)
    forger.do(
        "UPDATE runs SET outcome = 'aborted', reason = 'step-limit', cost = ?, operators = ? "
        "WHERE finding = ?",
        cost,
        pack(operators),
        number,
    )
    forger.do(
        "UPDATE findings SET kind = 'unclassified', policy_cost = ?1, gap = ?1 - bound "
        "WHERE id = ?2",
        cost,
        number,
    )
    forger.do("UPDATE history SET gap = ? - bound WHERE finding = ?", cost, number)
    for table in ("localized_steps", "localizations"):
        forger.do(f"DELETE FROM {table} WHERE finding = ?", number)
    # The totals agree.
    forger.edit_config(lambda document: void(document["localization"].update(enabled=False)))
    forger.edit_statistics(lambda document: void(document.update(localized=0)))
    forger.rekey()


FORGERIES: dict[str, dict[str, Forgery]] = {
    "one": {
        "a run that was stopped before its limit": stopped_run,
        "states of two bugs": exchange_states,
        "bounds of two bugs": exchange("findings", "bound, gap", "id"),
        "costs of two bugs": exchange("findings", "policy_cost, gap, bound", "id"),
        "evidence of two bugs": exchange("evidence", "document"),
        "runs of two bugs": exchange("runs", "operators, cost"),
        "places of two bugs": exchange("findings", "pool_number", "id"),
        "steps of two bugs": other_steps,
        "a bug that is none": no_bug,
        "a bound above the cost": detour,
        "a bug of another unit": move("unit = 1", 2),
        "a bug of another campaign": move("unit = 2", 4),
        "evidence by a step that does nothing": evidence(
            lambda d: d["steps"].insert(0, {**d["steps"][-1], "walk": [0, 0]})
        ),
        "evidence that begins in another state": evidence(
            lambda d: d.update(state=[*d["state"][1:], d["state"][0]])
        ),
        "evidence of a negative bound": all_of(
            evidence(lambda d: d.update(bound=-1)),
            sql("UPDATE findings SET bound = -1 WHERE id = {q}"),
        ),
        "evidence with more fields": evidence(lambda d: d.update(trusted=True)),
        "evidence with a negative gain": morph(lambda step: step.update(gain=-1)),
        "evidence with a gain beyond all costs": morph(lambda step: step.update(gain=10**12)),
        "evidence by a state that is too short": morph(lambda step: step["morph"].pop()),
        "evidence by a dominance function of others": morph(
            lambda step: step.update(factors={"type": "Product", "size": 3})
        ),
        "evidence that goes in a circle": evidence(
            lambda d: d["steps"].extend(d["steps"]),
        ),
        "a run that goes on behind the goal": goes_on,
        "a run that solves by a loop": sql("UPDATE runs SET reason = 'loop' WHERE finding = {q}"),
        "a run that fails by the goal": sql("UPDATE runs SET reason = 'goal' WHERE finding = {l}"),
        "a run without a cost": sql("UPDATE runs SET cost = NULL WHERE finding = {q}"),
        "a failure with a cost": sql("UPDATE runs SET cost = 4 WHERE finding = {l}"),
        "a solved run with a last decision": sql(
            "UPDATE runs SET last_decision = 1 WHERE finding = {q}"
        ),
        "a tested state that is solved by a loop": sql(
            "UPDATE pool SET reason = 'loop' WHERE unit = 1 AND outcome = 'solved'"
        ),
        "a tested state that is solved for nothing": sql(
            "UPDATE pool SET policy_cost = NULL WHERE unit = 1 AND outcome = 'solved'"
        ),
        "a tested state without a reason": sql(
            "UPDATE pool SET reason = NULL WHERE unit = 1 AND number = 1"
        ),
        "a tested state that is said to fail, without a reason": fail_without_reason,
        "a tested state with a cost, but no run": sql(
            "UPDATE pool SET outcome = NULL, reason = NULL WHERE unit = 1 AND number = 1"
        ),
        "a proof of optimality with a cheaper plan": sql(
            "UPDATE answers SET bound = 0 WHERE verdict = 'no bug, proven optimal'"
        ),
        "a bug without a bound": sql(
            "UPDATE answers SET bound = NULL WHERE unit = 1 AND verdict = 'bug'"
        ),
        "a state that is not refuted within a bound that is too small": sql(
            "UPDATE answers SET bound = 0 WHERE unit = 1 AND verdict = 'not refuted'"
        ),
        "a cheaper task without its hash": all_of(
            cheaper_task, sql("UPDATE problems SET task_hash = NULL")
        ),
        "a hash without its task": sql("UPDATE problems SET sas_file = NULL"),
        "totals that are empty": sql("UPDATE units SET statistics = '{{}}' WHERE id = 1"),
        "a walk with a step less": walk_of_states(lambda walk: [*walk[:-1]]),
        "a walk the other way round": walk_of_states(lambda walk: [*reversed(walk)]),
        "a walk from itself": sql("UPDATE pool SET reference = number WHERE unit = 1 AND number=3"),
        "a first state with a walk": sql(
            "UPDATE pool SET walk = (SELECT walk FROM pool WHERE unit = 1 AND number = 1) "
            "WHERE unit = 1 AND number = 0"
        ),
        "a proof of optimality of a failure": sql(
            "UPDATE answers SET verdict = 'no bug, proven optimal', bound = NULL WHERE unit = 2 "
            "AND oracle LIKE 'astar%' AND number = (SELECT number FROM pool WHERE unit = 2 "
            "AND outcome = 'failed' LIMIT 1)"
        ),
        "a proof by an oracle that cannot prove": sql(
            "UPDATE answers SET verdict = 'no bug, proven optimal' WHERE (unit, number, oracle) IN "
            "(SELECT unit, number, oracle FROM answers WHERE unit = 1 AND oracle LIKE 'look%' "
            "AND verdict = 'not refuted' LIMIT 1)"
        ),
        "a flag in a campaign of a team": sql(
            "INSERT INTO flags SELECT unit, number, oracle, bound, 0, 0 FROM answers "
            "WHERE verdict = 'bug' LIMIT 1"
        ),
        "a bug in an answer about another state": sql(
            "UPDATE answers SET verdict = 'bug', bound = 1 WHERE unit = 1 AND oracle = 'bmo' AND "
            "number = (SELECT min(number) FROM answers WHERE unit = 1 AND oracle = 'bmo' "
            "AND verdict != 'bug')"
        ),
        "a localization that is missing": unlocalized,
        "a failure that is not told": loop_without_failure,
        "a failure of a run that reaches the goal": failure_of_another,
        "steps that are nested": nested,
        "a step twice": steps(lambda rows: rows.append(rows[-1])),
        "steps the other way round": steps(lambda rows: rows.reverse()),
        "all steps undecided": steps(
            lambda rows: [row.__setitem__(1, "undecided") for row in rows]
        ),
        "a better plan of another step": steps(
            lambda rows: [row.__setitem__(9, rows[0][9]) for row in rows]
        ),
        "a root cause without a step": sql(
            "UPDATE localizations SET step = NULL WHERE finding = {q}"
        ),
        "an earlier bound below the last": with_history("h", -99),
        "a longer walk than the settings allow": config(
            lambda c: c["fuzzing"].update(walk_length=1)
        ),
        "a larger pool than the settings ask for": config(lambda c: c["fuzzing"].update(size=4)),
        "a smaller pool than the settings ask for": config(lambda c: c["fuzzing"].update(size=40)),
        "oracles that are compared": config(lambda c: c["testing"].update(mode="compare")),
        "oracles in another order": config(lambda c: c["testing"]["oracles"].reverse()),
        "an oracle twice": config(
            lambda c: c["testing"]["oracles"].append(c["testing"]["oracles"][0])
        ),
        "an oracle that was not asked": config(lambda c: c["testing"]["oracles"].append("aras")),
        "an oracle with other options": config(
            lambda c: c["testing"]["oracles"].__setitem__(1, "lookahead:depth=9")
        ),
        "a unit costs campaign": config(lambda c: c.update(unit_costs=True)),
        "policies in another order": config(lambda c: c["policies"].reverse()),
        "a policy twice": config(lambda c: c["policies"].append(c["policies"][0])),
        "a problem more": config(lambda c: c["problems"].append("p9.pddl")),
        "a seed more": config(lambda c: c["seeds"].append(3)),
        "a portfolio more": config(lambda c: c["portfolio"].append("builtin:gc")),
        "no domain": config(lambda c: c.update(domain=None)),
        "a campaign without units": campaign_without_units,
        "a campaign that is over": all_of(
            sql("UPDATE units SET status = 'waiting' WHERE id = 1"),
        ),
        "a stopped unit with more bugs": stopped(totals(lambda d: d.update(bugs=d["bugs"] + 1))),
        "a stopped unit with more proofs": stopped(more_of_oracle(-1, "optimal", 1)),
        "a stopped unit with more states": stopped(totals(lambda d: d.update(states=99))),
        "totals of an oracle twice": totals(
            lambda d: d["oracles"].append(d["oracles"][0]),
        ),
        "totals of oracles in another order": totals(lambda d: d["oracles"].reverse()),
        "more solved states": totals(lambda d: d.update(solved=d["solved"] + 1)),
        "fewer bugs in the pool": totals(lambda d: d.update(pool_bugs=d["pool_bugs"] - 1)),
        "more failures examined": more_of_oracle(0, "examined_unsolved", 1),
        "fewer bugs in failures": more_of_oracle(-1, "bugs_unsolved", 1),
    },
    "several": {
        "a bug of another seed": sql(
            "UPDATE OR REPLACE findings SET unit = (SELECT id FROM units WHERE seed = 1 LIMIT 1) "
            "WHERE id = 1"
        ),
        "states of another seed": sql(
            "UPDATE pool SET state = (SELECT state FROM pool WHERE unit = 2 AND number = 2), "
            "tested = 1 WHERE unit = 1 AND number = 2"
        ),
        "answers of another unit": sql(  # with smaller bounds; larger ones would be true
            "DELETE FROM answers WHERE unit = 4",
            "INSERT INTO answers SELECT 4, number, oracle, verdict, bound, seconds, cpu, limited "
            "FROM answers WHERE unit = 1",
        ),
        "a region of another problem": sql(
            "UPDATE findings SET region = (SELECT max(id) FROM findings WHERE region NOT NULL) "
            "WHERE id = (SELECT min(id) FROM findings WHERE region NOT NULL)"
        ),
        "a root cause of another problem": sql(
            "UPDATE localizations SET root_cause = (SELECT max(id) FROM root_causes) "
            "WHERE finding = (SELECT min(finding) FROM localizations WHERE root_cause NOT NULL)"
        ),
        "a task of another problem": sql(
            "UPDATE problems SET (sas_file, task_hash) = "
            "(SELECT sas_file, task_hash FROM problems WHERE id = 2) WHERE id = 1"
        ),
        "a problem file of another problem": all_of(
            sql(
                "UPDATE problems SET problem_file = (SELECT problem_file FROM problems "
                "WHERE id = 2) WHERE id = 1"
            ),
            Forger.rekey,
        ),
    },
    "compared": {
        "a flag that is missing": sql(
            "DELETE FROM flags WHERE unit = 1 AND number = "
            "(SELECT min(number) FROM flags WHERE unit = 1)"
        ),
        "a flag with a cheaper bound": sql(
            "UPDATE flags SET bound = 0 WHERE unit = 1 AND number = "
            "(SELECT min(number) FROM flags WHERE unit = 1)"
        ),
        "answers without flags": sql("DELETE FROM flags"),
        "a team": config(lambda c: c["testing"].update(mode="hunt")),
    },
    "derived": {
        "tested states of another unit": sql(
            "UPDATE pool SET outcome = 'solved', reason = 'goal', policy_cost = 1 WHERE unit = 1 "
            "AND number = 2"
        ),
        "a bug that is found in another state": sql(
            "UPDATE findings SET state = (SELECT state FROM pool p WHERE unit = 2 AND state "
            "NOT IN (SELECT state FROM findings WHERE unit = 2) LIMIT 1) "
            "WHERE id = (SELECT max(id) FROM findings WHERE unit = 2)"
        ),
        "costs of actions forgotten": sql("UPDATE problems SET unit_costs = 1"),
    },
}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in FORGERIES.items() for name in names]
)
def test_forgeries_are_noticed(
    kind: str, name: str, workspaces: dict[str, Path], tmp_path: Path, verify: Verify
) -> None:
    code, answer = verify(forged(workspaces[kind], tmp_path, kind, FORGERIES[kind][name]))
    assert answer["failed"], answer
    assert code == 1


PASSING: dict[str, tuple[Forgery, str]] = {
    "fewer steps than runs take": (
        config(lambda c: c["testing"].update(step_limit=1)),
        "limits",
    ),
    "less time for a unit": (config(lambda c: c["limits"].update(unit_seconds=0.5)), "limits"),
    "less time for a state": (config(lambda c: c["limits"].update(state_seconds=1.0)), "limits"),
    "fewer expansions for a bug": (
        config(lambda c: c["localization"].update(bug_expansions=1)),
        "limits",
    ),
    "known bugs that were skipped": (
        config(lambda c: c["testing"].update(skip_known_bugs=True)),
        "settings that nothing contradicts",
    ),
    "another bias": (config(lambda c: c["fuzzing"].update(bias="gap")), "settings of fuzzing"),
    "novelty": (config(lambda c: c["fuzzing"].update(novelty=1)), "settings of fuzzing"),
    "another limit of a unit": (totals(lambda d: d.update(limit="stopped")), "limits"),
    "another dominance function in words": (of_oracle(0, factors="all"), "dominance functions"),
    "a bug that an oracle of the campaign found": (
        sql("UPDATE findings SET oracle = 'bmo' WHERE id = {q}"),
        "which oracle",
    ),
    "a bug that was found before": (
        sql("UPDATE findings SET seconds = seconds / 2", "UPDATE history SET seconds = seconds/2"),
        "times",
    ),
    "an earlier bound that is weaker": (with_history("h", 999), "weaker"),
    "more walks": (totals(lambda d: d.update(walks=10**6, duplicates=7)), "effort of walks"),
    "another note": (sql("UPDATE findings SET note = 'x', status = 'ignored'"), "triage"),
    "another path": (sql("UPDATE problems SET path = '/x', domain_path = '/y'"), "paths"),
    "another log": (sql("INSERT INTO log VALUES (99, 0, 'error', 1, 'x')"), "log"),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_passes_is_named_as_unchecked(
    name: str, workspaces: dict[str, Path], tmp_path: Path, verify: Verify
) -> None:
    forgery, words = PASSING[name]
    code, answer = verify(forged(workspaces["one"], tmp_path, "one", forgery))
    assert code == 0, answer
    assert any(words in text for text in answer["unchecked"])


def forged(workspace: Path, folder: Path, kind: str, forgery: Forgery) -> Path:
    path = Path(shutil.copy(workspace, folder / "forged.plumb"))
    maker = Forger if kind == "one" else NewerForger
    with closing(sqlite3.connect(path)) as connection:
        forgery(maker(path, connection))
        connection.commit()
    return path
