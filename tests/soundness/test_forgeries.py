"""A changed workspace is detected: one claim at a time is made false, and is named.

Most forgers are careful: what follows from a change is changed as well, also the campaign's key.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference.forged_claims import Forger, forging_claims

from engine.records.codec import pack, unpack
from engine.records.verification import ClaimKind

Forgery = str | Callable[[Forger], None]
BUGS, BOUNDS, RUNS, STATES, OPTIMAL, CAUSES, LOCALIZATIONS, STATISTICS, INPUTS, *_ = ClaimKind


def sql(*statements: str) -> Callable[[Forger], None]:
    def change(forger: Forger) -> None:
        for statement in statements:
            forger.do(statement)

    return change


def evidence(bug: str, change: Callable[[Any], None]) -> Callable[[Forger], None]:
    return lambda forger: forger.edit_evidence(bug, change)


def statistics(change: Callable[[Any], None]) -> Callable[[Forger], None]:
    return lambda forger: forger.edit_statistics(change)


def oracle_count(name: str, more: float = 1) -> Callable[[Forger], None]:
    def change(document: Any) -> None:
        document["oracles"][-1][name] += more

    return statistics(change)


def total(name: str, more: int = 1) -> Callable[[Forger], None]:
    return statistics(lambda document: document.update({name: document[name] + more}))


def steps(bug: str, change: Callable[[list[list[Any]]], None]) -> Callable[[Forger], None]:
    return lambda forger: forger.edit_steps(bug, change)


def failure(**changes: object) -> Callable[[Forger], None]:
    return lambda forger: forger.edit_failure(lambda document: document.update(changes))


def config(change: Callable[[Any], None]) -> Callable[[Forger], None]:
    """With the key of the configuration that it becomes."""

    def forge(forger: Forger) -> None:
        forger.edit_config(change)
        forger.rekey()

    return forge


def lower_bound_everywhere(forger: Forger) -> None:
    """A bound that nothing proves, wherever it is written."""
    forger.do("UPDATE findings SET bound = bound - 1, gap = gap + 1 WHERE id = {q}")
    forger.do(
        "UPDATE history SET bound = bound - 1, gap = gap + 1 WHERE finding = {q} AND bound = "
        "(SELECT min(bound) FROM history WHERE finding = {q})"
    )
    forger.edit_evidence("q", lambda document: document.update(bound=document["bound"] - 1))


def raise_gain(forger: Forger) -> None:
    def change(document: Any) -> None:
        morph = next(step for step in document["steps"] if "morph" in step)
        morph["gain"] += 1
        document["bound"] -= 1

    forger.edit_evidence("d", change)
    forger.do("UPDATE findings SET bound = bound - 1 WHERE id = {d}")
    forger.do(
        "UPDATE history SET bound = bound - 1 WHERE finding = {d} AND bound = "
        "(SELECT min(bound) FROM history WHERE finding = {d})"
    )


def morph_elsewhere(document: Any) -> None:
    morph = next(step for step in document["steps"] if "morph" in step)
    morph["morph"] = document["state"]


def swap_policy(forger: Forger, *, careful: bool) -> None:
    """Other decisions under the old name."""
    lines = forger.content("detours.cache").decode().splitlines()
    halted = [f"-1 {line.partition(' ')[2]}" for line in lines]
    digest = forger.add_input("detours.cache", "\n".join(halted).encode())
    forger.do(f"UPDATE policies SET file = '{digest}' WHERE name = 'detours.cache'")
    if careful:
        forger.rekey()


def cheaper_domain(forger: Forger) -> None:
    """A domain in which loads are taken for nothing, with its key, but with the old task."""
    text = forger.content("domain.pddl").decode().replace("(total-cost) 1", "(total-cost) 0", 1)
    digest = forger.add_input("domain.pddl", text.encode())
    forger.do(f"UPDATE problems SET domain_file = '{digest}'")
    forger.rekey()


def cheaper_task(forger: Forger) -> None:
    """A task in which the first operator costs nothing, with its hash."""
    from dataclasses import replace

    from engine.task.sas import write_sas

    first, *others = forger.task.operators
    task = replace(forger.task, operators=(replace(first, cost=0), *others))
    digest = forger.add_input("task.sas", write_sas(task).encode())
    forger.do(f"UPDATE problems SET sas_file = '{digest}', task_hash = '{task.hash}'")


def delete_a_bug(forger: Forger) -> None:
    """A bug is made a proof of optimality, and the totals agree."""
    number = forger.bugs["q"]
    unit, place, oracle = forger.sqlite.execute(
        "SELECT f.unit, p.number, f.oracle FROM findings f JOIN pool p ON p.unit = f.unit "
        "AND p.state = f.state WHERE f.id = ?",
        (number,),
    ).fetchone()
    assert unit == 1
    before = forger.sqlite.execute(
        "SELECT oracle, verdict FROM answers WHERE unit = 1 AND number = ?", (place,)
    ).fetchall()
    proven = [name for name, verdict in before if verdict == "bug"]
    forger.sqlite.execute("UPDATE findings SET region = id WHERE region = ?", (number,))
    for table, column in (
        ("localized_steps", "finding"),
        ("localizations", "finding"),
        ("evidence", "finding"),
        ("runs", "finding"),
        ("history", "finding"),
        ("findings", "id"),
    ):
        forger.do(f"DELETE FROM {table} WHERE {column} = {number}")
    forger.do(
        "UPDATE answers SET verdict = 'no bug, proven optimal', bound = NULL "
        f"WHERE unit = 1 AND number = {place} AND verdict = 'bug'"
    )

    def count(document: Any) -> None:
        document["bugs"] -= 1
        document["localized"] -= 1
        for item in document["oracles"]:
            item["bugs"] -= item["oracle"] in proven
            item["optimal"] += item["oracle"] in proven
            item["unique"] -= proven == [item["oracle"]]
            item["first"] -= item["oracle"] == oracle

    forger.edit_statistics(count)


def turn_around(rows: list[list[Any]]) -> None:
    """The first bad step is good, with costs that say so."""
    bad = next(row for row in rows if row[1] == "not-optimal")
    bad[1], bad[4], bad[7] = "optimal", bad[5], None
    bad[3] = bad[4] = bad[6]


def first_with(verdict: str, change: Callable[[list[Any]], None]) -> Callable[[list[Any]], None]:
    return lambda rows: change(next(row for row in rows if row[1] == verdict))


FORGERIES: dict[str, tuple[ClaimKind, Forgery]] = {
    # Bugs
    "a failure called too expensive": (
        BUGS,
        "UPDATE findings SET kind = 'quantitative' WHERE id = {l}",
    ),
    "an expensive run called failure": (
        BUGS,
        "UPDATE findings SET kind = 'qualitative', policy_cost = NULL, gap = NULL WHERE id = {q}",
    ),
    "an expensive run called stopped": (
        BUGS,
        "UPDATE findings SET kind = 'unclassified' WHERE id = {q}",
    ),
    "a larger gap": (BUGS, "UPDATE findings SET gap = gap + 1 WHERE id = {q}"),
    "a larger policy cost": (
        BUGS,
        "UPDATE findings SET policy_cost = policy_cost + 1, gap = gap + 1 WHERE id = {q}",
    ),
    "a cost of a failure": (BUGS, "UPDATE findings SET policy_cost = 7 WHERE id = {l}"),
    "a cost and a gap of a failure": (
        BUGS,
        "UPDATE findings SET policy_cost = bound + 7, gap = 7 WHERE id = {l}",
    ),
    "another place in the pool": (
        STATES,
        "UPDATE findings SET pool_number = pool_number + 1 WHERE pool_number IS NOT NULL",
    ),
    "not in the pool": (STATES, "UPDATE findings SET pool_number = NULL WHERE retrospective = 0"),
    "in the pool": (
        STATES,
        "UPDATE findings SET pool_number = 0 WHERE pool_number IS NULL",
    ),
    "another kind of evidence": (BUGS, "UPDATE findings SET evidence_kind = 'plan' WHERE id = {d}"),
    "an oracle that was not used": (BUGS, "UPDATE findings SET oracle = 'ehc' WHERE id = {q}"),
    "a tested state that was not": (BUGS, "UPDATE findings SET retrospective = 1 WHERE id = {n}"),
    "another objective": (BUGS, config(lambda c: c["testing"].update(objective="goal"))),
    "a bug without evidence": (BUGS, "DELETE FROM evidence WHERE finding = {q}"),
    "a bug without a run": (BUGS, "DELETE FROM runs WHERE finding = {q}"),
    "evidence that is no record": (BUGS, "UPDATE evidence SET document = '[7' WHERE finding = {q}"),
    "evidence without a type": (BUGS, "UPDATE evidence SET document = '{{}}' WHERE finding = {q}"),
    "a run that is no sequence": (BUGS, "UPDATE runs SET operators = x'07' WHERE finding = {q}"),
    "a verdict in other words": (
        BUGS,
        "UPDATE answers SET verdict = 'passed' WHERE unit = 1 AND number = 0",
    ),
    "a verdict 'bug' without a bug": (
        BUGS,
        "UPDATE answers SET verdict = 'bug', bound = 0 WHERE (unit, number, oracle) IN (SELECT "
        "unit, number, oracle FROM answers WHERE verdict = 'no bug, proven optimal' LIMIT 1)",
    ),
    "an oracle with a better bound": (
        BUGS,
        "UPDATE answers SET bound = 0 WHERE (unit, number, oracle) IN "
        "(SELECT unit, number, oracle FROM answers WHERE verdict = 'bug' LIMIT 1)",
    ),
    # Bounds
    "a smaller bound": (BOUNDS, "UPDATE findings SET bound = bound - 1 WHERE id = {q}"),
    "a smaller bound everywhere": (BOUNDS, lower_bound_everywhere),
    "a plan that ends early": (BOUNDS, evidence("q", lambda d: d["steps"][-1]["walk"].pop())),
    "a plan with an operator of its own": (
        BOUNDS,
        evidence("q", lambda d: d["steps"][0]["walk"].__setitem__(0, 999)),
    ),
    "a plan that cannot be executed": (
        BOUNDS,
        evidence("q", lambda d: d["steps"][-1]["walk"].reverse()),
    ),
    "no plan at all": (BOUNDS, evidence("q", lambda d: d.update(steps=[]))),
    "evidence for another state": (
        BOUNDS,
        "UPDATE evidence SET document = (SELECT document FROM evidence e JOIN findings f "
        "ON f.id = e.finding WHERE f.state != (SELECT state FROM findings WHERE id = {q})) "
        "WHERE finding = {q}",
    ),
    "a larger dominance value": (BOUNDS, raise_gain),
    "a dominance value of other states": (BOUNDS, evidence("d", morph_elsewhere)),
    "a history that ends elsewhere": (
        BOUNDS,
        "INSERT INTO history SELECT finding, min(bound) - 1, min(gap) + 1, 1.0 FROM history "
        "WHERE finding = {q}",
    ),
    "a history with another gap": (
        BOUNDS,
        "UPDATE history SET gap = ifnull(gap, 0) + 1 WHERE finding = {h} AND bound = "
        "(SELECT max(bound) FROM history WHERE finding = {h})",
    ),
    "a history without its end": (
        BOUNDS,
        "DELETE FROM history WHERE finding = {h} AND bound = "
        "(SELECT min(bound) FROM history WHERE finding = {h})",
    ),
    "no history": (BOUNDS, "DELETE FROM history WHERE finding = {q}"),
    "a bug found at another time": (
        BOUNDS,
        "UPDATE findings SET seconds = seconds + 9 WHERE id = {q}",
    ),
    # Runs
    "an invented run of an embedded policy": (RUNS, lambda forger: forger.invent_run("q")),
    "an invented run of a built-in policy": (RUNS, lambda forger: forger.invent_run("last")),
    "a failure by an error of the policy": (
        RUNS,
        "UPDATE runs SET reason = 'policy-error', last_decision = -3 WHERE finding = {l}",
    ),
    "a failure by a limit": (RUNS, "UPDATE runs SET reason = 'step-limit' WHERE finding = {l}"),
    "a failure by giving up": (
        RUNS,
        "UPDATE runs SET reason = 'no-action', last_decision = -1 WHERE finding = {l}",
    ),
    "a failure by nonsense": (
        RUNS,
        "UPDATE runs SET reason = 'inapplicable', last_decision = -3 WHERE finding = {l}",
    ),
    "a failure by an action without effect": (
        RUNS,
        "UPDATE runs SET last_decision = -2 WHERE finding = {l}",
    ),
    "a loop that is none": (RUNS, "UPDATE runs SET last_decision = 999 WHERE finding = {l}"),
    "a run that stops early": (
        RUNS,
        lambda forger: forger.do(
            "UPDATE runs SET operators = ? WHERE finding = {q}",
            pack(
                unpack(
                    forger.one("SELECT operators FROM runs WHERE finding = ?", forger.bugs["q"])
                )[:-1]
            ),
        ),
    ),
    "a run with another cost": (RUNS, "UPDATE runs SET cost = cost + 1 WHERE finding = {q}"),
    "a solved run called stopped": (
        RUNS,
        sql(
            "UPDATE runs SET outcome = 'aborted', reason = 'step-limit' WHERE finding = {q}",
            "UPDATE findings SET kind = 'unclassified' WHERE id = {q}",
        ),
    ),
    "a tested state with another cost": (
        RUNS,
        "UPDATE pool SET policy_cost = policy_cost + 1 WHERE unit = 1 AND outcome = 'solved'",
    ),
    "a tested state in which the policy fails": (
        RUNS,
        "UPDATE pool SET outcome = 'failed', reason = 'loop', policy_cost = NULL "
        "WHERE unit = 1 AND outcome = 'solved'",
    ),
    "a tested state with another end": (
        RUNS,
        "UPDATE pool SET reason = 'no-action' WHERE unit = 2 AND reason = 'loop'",
    ),
    "a tested state whose run was stopped": (
        RUNS,
        "UPDATE pool SET outcome = 'aborted', reason = 'step-limit' "
        "WHERE unit = 1 AND outcome = 'solved'",
    ),
    "a failure with a cost in the pool": (
        RUNS,
        "UPDATE pool SET policy_cost = 7 WHERE unit = 2 AND outcome = 'failed'",
    ),
    "other bytes of a policy, all keys renewed": (
        RUNS,
        lambda forger: swap_policy(forger, careful=True),
    ),
    "another built-in policy, all keys renewed": (
        RUNS,
        lambda forger: (
            forger.do("UPDATE policies SET spec = 'builtin:hadd' WHERE spec = 'builtin:gc'"),
            config(lambda c: c.update(policies=[c["policies"][0], "builtin:hadd"]))(forger),
        )[1],
    ),
    # States
    "a walk that leads elsewhere": (
        STATES,
        lambda forger: forger.do(
            "UPDATE pool SET walk = (SELECT walk FROM pool WHERE unit = 1 AND number = 1) "
            "WHERE unit = 1 AND number = 2"
        ),
    ),
    "a walk without steps": (STATES, "UPDATE pool SET walk = x'01' WHERE unit = 1 AND number = 3"),
    "a walk with an operator of its own": (
        STATES,
        "UPDATE pool SET walk = x'01FF' WHERE unit = 1 AND number = 3",
    ),
    "a walk from a later state": (
        STATES,
        "UPDATE pool SET reference = 7 WHERE unit = 1 AND number = 3",
    ),
    "a walk from nowhere": (STATES, "UPDATE pool SET reference = -1 WHERE unit = 1 AND number = 3"),
    "another first state": (
        STATES,
        "UPDATE pool SET state = (SELECT state FROM pool WHERE unit = 1 AND number = 5) "
        "WHERE unit = 1 AND number = 0",
    ),
    "a state that cannot be reached": (
        STATES,
        lambda forger: forger.set_state(
            "pool SET state = ? WHERE unit = 1 AND number = 4", forger.unreachable()[0]
        ),
    ),
    "a true bug where nothing leads to": (STATES, lambda forger: forger.add_unreachable_bug(2)),
    "a state twice": (
        STATES,
        lambda forger: forger.do(
            "UPDATE pool SET (state, reference, walk) = (SELECT state, reference, walk FROM pool "
            "WHERE unit = 1 AND number = 1) WHERE unit = 1 AND number = 2"
        ),
    ),
    "a state that is missing": (
        STATES,
        sql(
            "DELETE FROM answers WHERE unit = 1 AND number = 3",
            "DELETE FROM pool WHERE unit = 1 AND number = 3",
        ),
    ),
    "values that are no state": (
        STATES,
        "UPDATE states SET packed = x'01FFFFFFFF' WHERE id = "
        "(SELECT state FROM pool WHERE unit = 1 AND number = 6)",
    ),
    # Optimality
    "a bug called optimal": (
        OPTIMAL,
        "UPDATE answers SET verdict = 'no bug, proven optimal', bound = NULL "
        "WHERE (unit, number, oracle) IN "
        "(SELECT unit, number, oracle FROM answers WHERE verdict = 'bug' LIMIT 1)",
    ),
    "a bug that was made a proof": (OPTIMAL, delete_a_bug),
    # Localizations
    "a bad step called good": (
        LOCALIZATIONS,
        steps("q", first_with("not-optimal", lambda row: row.__setitem__(1, "optimal"))),
    ),
    "a bad step made good": (LOCALIZATIONS, steps("q", turn_around)),
    "a good step called bad": (
        LOCALIZATIONS,
        steps("q", first_with("optimal", lambda row: row.__setitem__(1, "not-optimal"))),
    ),
    "a decided step called undecided": (
        LOCALIZATIONS,
        steps("q", first_with("not-optimal", lambda row: row.__setitem__(1, "undecided"))),
    ),
    "a better plan that is none": (
        LOCALIZATIONS,
        steps("q", first_with("not-optimal", lambda row: row[9].pop())),
    ),
    "no better plan": (
        LOCALIZATIONS,
        steps("q", first_with("not-optimal", lambda row: row.__setitem__(9, None))),
    ),
    "other costs of the policy": (
        LOCALIZATIONS,
        steps("q", lambda rows: rows[0].__setitem__(2, rows[0][2] + 1)),
    ),
    "a larger cost-to-go": (
        LOCALIZATIONS,
        steps("q", lambda rows: rows[0].__setitem__(3, rows[0][3] + 1)),
    ),
    "a smaller cost-to-go": (
        LOCALIZATIONS,
        steps("q", lambda rows: rows[0].__setitem__(4, rows[0][4] - 1)),
    ),
    "steps of another run": (
        LOCALIZATIONS,
        steps("q", lambda rows: rows[0].__setitem__(0, rows[0][0] + 1)),
    ),
    "fewer steps": (LOCALIZATIONS, steps("q", lambda rows: rows[-1:].clear() or rows.pop())),
    "steps that cannot be read": (
        LOCALIZATIONS,
        "UPDATE localized_steps SET steps = x'00' WHERE finding = {q}",
    ),
    "a goal lost elsewhere": (LOCALIZATIONS, failure(first_unsolvable=0)),
    "a loop that begins elsewhere": (LOCALIZATIONS, failure(loop_begin=None)),
    "a loop that begins nowhere": (LOCALIZATIONS, failure(loop_begin=77)),
    "a goal that is lost nowhere": (
        LOCALIZATIONS,
        failure(last_solvable=10**6, first_unsolvable=10**6 + 1),
    ),
    "a failure without a plan": (LOCALIZATIONS, failure(plan=None)),
    "a limit that was not reached": (
        LOCALIZATIONS,
        "UPDATE localizations SET limited = 1 - limited WHERE finding = {q}",
    ),
    "other searches that were spared": (
        LOCALIZATIONS,
        "UPDATE localizations SET naive_searches = naive_searches + 5 WHERE finding = {q}",
    ),
    "a bad step that loses less": (
        LOCALIZATIONS,
        steps("q", first_with("not-optimal", lambda row: row.__setitem__(7, row[7] - 1))),
    ),
    "a bad step that may lose more": (
        LOCALIZATIONS,
        steps("q", first_with("not-optimal", lambda row: row.__setitem__(8, row[8] + 1))),
    ),
    "a good step that loses": (
        LOCALIZATIONS,
        steps("q", first_with("optimal", lambda row: row.__setitem__(8, 3))),
    ),
    "a bad step that loses the goal": (
        LOCALIZATIONS,
        steps("q", first_with("not-optimal", lambda row: row.__setitem__(8, None))),
    ),
    "another worst step": (
        LOCALIZATIONS,
        "UPDATE localizations SET worst_step = worst_step + 1 WHERE finding = {q}",
    ),
    "no worst step": (
        LOCALIZATIONS,
        "UPDATE localizations SET worst_step = NULL WHERE finding = {q}",
    ),
    "a worst step with another action": (
        LOCALIZATIONS,
        "UPDATE localizations SET worst_action = 'drive a isle' WHERE finding = {q}",
    ),
    "a worst step that is listed with another loss": (
        LOCALIZATIONS,
        "UPDATE localizations SET loss = loss + 1 WHERE finding = {q}",
    ),
    "a worst step that is listed with a larger loss": (
        LOCALIZATIONS,
        "UPDATE localizations SET loss_high = NULL WHERE finding = {q}",
    ),
    "no plan better than the run": (
        LOCALIZATIONS,
        "UPDATE localizations SET better_plan = NULL WHERE finding = {q}",
    ),
    "a plan that is not better than the run": (
        LOCALIZATIONS,
        "UPDATE localizations SET better_plan = '[0]' WHERE finding = {q}",
    ),
    # Root causes
    "no root cause": (
        CAUSES,
        "UPDATE localizations SET root_cause = NULL, step = NULL WHERE finding = {q}",
    ),
    "a root cause in another step": (
        CAUSES,
        "UPDATE localizations SET step = step + 1 WHERE finding = {q}",
    ),
    "a root cause of another bug": (
        CAUSES,
        "UPDATE localizations SET root_cause = (SELECT root_cause FROM localizations "
        "WHERE finding = {l}) WHERE finding = {q}",
    ),
    "a root cause of another kind": (
        CAUSES,
        "UPDATE root_causes SET kind = 'fault' WHERE id = "
        "(SELECT root_cause FROM localizations WHERE finding = {q})",
    ),
    "a root cause with another action": (
        CAUSES,
        "UPDATE root_causes SET action = 'drive a isle' WHERE id = "
        "(SELECT root_cause FROM localizations WHERE finding = {q})",
    ),
    "a root cause by another operator": (
        CAUSES,
        "UPDATE root_causes SET operator = operator + 1 WHERE id = "
        "(SELECT root_cause FROM localizations WHERE finding = {q})",
    ),
    "a root cause in another state": (
        CAUSES,
        "UPDATE root_causes SET state = (SELECT state FROM pool WHERE unit = 1 AND number = 3) "
        "WHERE id = (SELECT root_cause FROM localizations WHERE finding = {q})",
    ),
    "a root cause of another policy": (
        CAUSES,
        "UPDATE root_causes SET policy = 3 - policy WHERE id = "
        "(SELECT root_cause FROM localizations WHERE finding = {q})",
    ),
    # Statistics
    "more bugs": (STATISTICS, total("bugs")),
    "fewer bugs": (STATISTICS, total("bugs", -1)),
    "more tested states": (STATISTICS, total("states")),
    "fewer tested states": (STATISTICS, total("states", -1)),
    "more states to test": (STATISTICS, total("size", 100)),
    "more localized bugs": (STATISTICS, total("localized")),
    "fewer localized bugs": (STATISTICS, total("localized", -1)),
    "more proofs of optimality": (STATISTICS, oracle_count("optimal")),
    "fewer proofs of optimality": (STATISTICS, oracle_count("optimal", -1)),
    "more bugs of an oracle": (STATISTICS, oracle_count("bugs")),
    "more bugs of one oracle alone": (STATISTICS, oracle_count("unique")),
    "more first bugs of an oracle": (STATISTICS, oracle_count("first")),
    "more states examined": (STATISTICS, oracle_count("examined", 3)),
    "a slower oracle": (STATISTICS, oracle_count("seconds", 60)),
    "a pool that is said to be complete": (
        STATISTICS,
        statistics(lambda document: document.update(complete=True)),
    ),
    "an oracle without totals": (STATISTICS, statistics(lambda d: d["oracles"].pop())),
    "an answer that is missing": (
        STATISTICS,
        "DELETE FROM answers WHERE unit = 1 AND number = 2 AND oracle = 'bmo'",
    ),
    "an answer of another oracle": (
        STATISTICS,
        "UPDATE answers SET oracle = 'ehc' WHERE unit = 1 AND number = 2 AND oracle = 'bmo'",
    ),
    "a state that was not tested": (
        STATISTICS,
        "UPDATE pool SET tested = 0 WHERE unit = 1 AND number = 2",
    ),
    "a run that is missing": (
        STATISTICS,
        "UPDATE pool SET outcome = NULL, reason = NULL, policy_cost = NULL "
        "WHERE unit = 1 AND number = 2",
    ),
    "a region that is none": (
        STATISTICS,
        "UPDATE findings SET region = id WHERE id = "
        "(SELECT id FROM findings WHERE region != id LIMIT 1)",
    ),
    "no region": (STATISTICS, "UPDATE findings SET region = NULL WHERE id = {q}"),
    "a region of another unit": (
        STATISTICS,
        "UPDATE findings SET region = (SELECT min(id) FROM findings WHERE unit = 2) "
        "WHERE id = (SELECT min(id) FROM findings WHERE unit = 1)",
    ),
    "totals that are no record": (STATISTICS, "UPDATE units SET statistics = '[' WHERE id = 1"),
    # Inputs
    "another seed of a unit": (INPUTS, "UPDATE units SET seed = 7 WHERE id = 1"),
    "another seed of a campaign": (INPUTS, config(lambda c: c.update(seeds=[7]))),
    "another key": (INPUTS, "UPDATE campaigns SET key = 'abc' WHERE id = 1"),
    "another step limit": (
        INPUTS,
        lambda forger: forger.edit_config(lambda c: c["testing"].update(step_limit=77)),
    ),
    "an oracle that does not exist": (
        INPUTS,
        config(lambda c: c["testing"].update(oracles=["truth"])),
    ),
    "a configuration that is no record": (INPUTS, "UPDATE campaigns SET config = '7' WHERE id = 1"),
    "other bytes of a policy": (INPUTS, lambda forger: swap_policy(forger, careful=False)),
    "other bytes under the old hash": (
        INPUTS,
        "UPDATE inputs SET content = (SELECT content FROM inputs WHERE name = 'p2.pddl') "
        "WHERE name = 'detours.cache'",
    ),
    "bytes that cannot be expanded": (
        INPUTS,
        "UPDATE inputs SET content = x'00' WHERE name = 'domain.pddl'",
    ),
    "a policy from elsewhere": (
        INPUTS,
        "UPDATE policies SET path = '/tmp/other.cache' WHERE name = 'detours.cache'",
    ),
    "a built-in policy with a file": (
        INPUTS,
        "UPDATE policies SET file = (SELECT file FROM policies WHERE file NOT NULL), path = 'x' "
        "WHERE spec = 'builtin:gc'",
    ),
    "another name of a policy": (INPUTS, "UPDATE policies SET name = 'mine' WHERE id = 1"),
    "another name of a problem": (INPUTS, "UPDATE problems SET name = 'p9.pddl'"),
    "a cheaper domain, all keys renewed": (INPUTS, cheaper_domain),
    "a cheaper task, its hash renewed": (INPUTS, cheaper_task),
    "another hash of the task": (INPUTS, "UPDATE problems SET task_hash = 'abc'"),
    "unit costs": (INPUTS, "UPDATE problems SET unit_costs = 1"),
    "another portfolio": (
        INPUTS,
        "UPDATE portfolios SET policy = (SELECT id FROM policies WHERE spec = 'builtin:gc')",
    ),
    "no portfolio": (INPUTS, "DELETE FROM portfolios"),
    "a pool that was not imported": (
        INPUTS,
        "INSERT INTO pools SELECT 1, 'pool', sha256 FROM inputs WHERE name = 'p2.pddl'",
    ),
    "one unit less": (INPUTS, "UPDATE units SET campaign = 2, seed = 5 WHERE id = 2"),
    "a reference to nothing": (INPUTS, "UPDATE runs SET finding = 999 WHERE finding = {q}"),
}


def test_the_untouched_workspace_holds(
    true_workspace: Path, verify: Callable[[Path], tuple[int, dict[str, Any]]]
) -> None:
    code, answer = verify(true_workspace)
    assert answer["failed"] == answer["undecided"] == []
    assert code == 0
    assert set(answer["claims"]) == set(ClaimKind)
    # tests/usecases/test_minimize.py and test_experiment.py have some of these
    without = {ClaimKind.WITNESSES, ClaimKind.PATTERNS, ClaimKind.TRIALS}
    assert {kind for kind, count in answer["claims"].items() if not count} == without


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_named(
    name: str,
    true_workspace: Path,
    tmp_path: Path,
    verify: Callable[[Path], tuple[int, dict[str, Any]]],
) -> None:
    claim, forgery = FORGERIES[name]
    path = Path(shutil.copy(true_workspace, tmp_path / "forged.plumb"))
    with forging_claims(path) as forger:
        if isinstance(forgery, str):
            forger.do(forgery)
        else:
            forgery(forger)
    code, answer = verify(path)
    assert claim in {item["claim"] for item in answer["failed"]}, answer
    assert code == 1


def test_where_oracles_make_states_it_cannot_be_decided(
    true_workspace: Path, tmp_path: Path, verify: Callable[[Path], tuple[int, dict[str, Any]]]
) -> None:
    """Dominance oracles run the policy in states that nothing leads to, so this may be true."""
    path = Path(shutil.copy(true_workspace, tmp_path / "forged.plumb"))
    with forging_claims(path) as forger:
        forger.add_unreachable_bug(1)
        number = forger.one("SELECT max(id) FROM findings")
    code, answer = verify(path)
    assert [(item["claim"], item["id"]) for item in answer["undecided"]] == [("states", number)]
    assert code == 3 or answer["failed"]
