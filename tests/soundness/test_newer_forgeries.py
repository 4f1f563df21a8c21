"""Forgeries of what witnesses, compared oracles, experiments, axioms and localizations claim.

One true workspace per kind; every forgery makes one thing of a copy false. The command says so,
or that it cannot decide; it never says that all holds.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from reference.forged_claims import Forger
from reference.newer_claims import (
    NewerForger,
    make_compared,
    make_derived,
    make_experiments,
    make_witnesses,
)

from engine.records.codec import decode, pack, unpack
from engine.records.pattern import Certificate
from engine.task.sas import write_sas
from engine.task.task import Operator, Task

Forgery = Callable[[NewerForger], None]
Verify = Callable[[Path], tuple[int, dict[str, Any]]]
MAKERS = {
    "witnesses": make_witnesses,
    "compared": make_compared,
    "derived": make_derived,
    "experiments": make_experiments,
}


@pytest.fixture(scope="module")
def workspaces(tmp_path_factory: pytest.TempPathFactory, true_workspace: Path) -> dict[str, Path]:
    made = {name: make(tmp_path_factory.mktemp(name)) for name, make in MAKERS.items()}
    return {**made, "localized": true_workspace}


def sql(*statements: str) -> Callable[[Forger], None]:
    def forge(forger: Forger) -> None:
        for statement in statements:
            forger.do(statement)

    return forge


# Witnesses and patterns


def witness(change: Callable[[Any], None]) -> Forgery:
    """Say something else about the witness."""
    return lambda forger: forger.change(
        "witnesses", "document", lambda document: change(document["witness"]), "finding NOT NULL"
    )


def certificate(change: Callable[[Any], None]) -> Forgery:
    """Another certificate, with its key."""

    def forge(forger: NewerForger) -> None:
        forger.change("patterns", "certificate", change, "id = 1")
        text = forger.one("SELECT certificate FROM patterns WHERE id = 1")
        forger.do("UPDATE patterns SET key = ? WHERE id = 1", decode(text, Certificate).key)

    return forge


def problem_of_witness(old: str, new: str, *, careful: bool = True) -> Forgery:
    """Another PDDL problem under the name of the witness; a careful forger drops the old task."""

    def forge(forger: NewerForger) -> None:
        name = forger.one("SELECT name FROM problems WHERE origin NOT NULL")
        text = forger.content(name).decode()
        assert old in text, text
        digest = forger.add_input(name, text.replace(old, new, 1).encode())
        forger.do("UPDATE problems SET problem_file = ? WHERE origin NOT NULL", digest)
        if careful:
            forger.do("UPDATE problems SET task_hash = NULL, sas_file = NULL WHERE origin NOT NULL")

    return forge


WITNESS = "(SELECT finding FROM witnesses WHERE finding NOT NULL)"

OF_WITNESSES: dict[str, Forgery] = {
    "a witness of another kind": witness(lambda w: w.update(kind="detour")),
    "a witness with another bad action": witness(lambda w: w.update(action="drive a d")),
    "a witness with no bad action": witness(lambda w: w.update(action="")),
    "another better action": witness(lambda w: w.update(better_actions=["drive a b"])),
    "one better action more": witness(lambda w: w["better_actions"].append("drive b d")),
    "no better action": witness(lambda w: w.update(better_actions=[])),
    "a witness that was smaller": witness(lambda w: w["after"].update(objects=3)),
    "a witness with fewer facts": witness(lambda w: w["after"].update(facts=1)),
    "a witness with fewer goals": witness(lambda w: w["after"].update(goals=1)),
    "a witness with a shorter run": witness(lambda w: w["after"].update(run=1)),
    "a larger origin": witness(lambda w: w["before"].update(objects=70)),
    "an origin with more facts": witness(lambda w: w["before"].update(facts=99)),
    "an origin with more goals": witness(lambda w: w["before"].update(goals=9)),
    "a witness that loses more": witness(lambda w: w.update(loss_after=w["loss_after"] + 1)),
    "a witness that loses the goal": witness(lambda w: w.update(loss_after=None)),
    "an object that became another": witness(lambda w: w["mapping"][0].__setitem__(1, "b")),
    "an object that the origin does not have": witness(lambda w: w["mapping"].append(["z", "a"])),
    "an object that is not mapped": witness(lambda w: w["mapping"].pop(0)),
    "objects in another order": witness(lambda w: w["order"].reverse()),
    "an object twice in the order": witness(lambda w: w["order"].append(w["order"][0])),
    "the loss kept, but it is another": lambda forger: (
        forger.do("UPDATE witnesses SET same = 'loss'"),
        forger.change("witnesses", "document", lambda d: d.update(same="loss"), "id = 1"),
    )[0],
    "two answers about what is the same": sql("UPDATE witnesses SET same = 'schema'"),
    "a witness of a step that is not bad": sql("UPDATE witnesses SET step = 1, root_cause = NULL"),
    "a witness of a step that is not there": sql("UPDATE witnesses SET step = 77"),
    "a witness without its root cause": sql("UPDATE witnesses SET root_cause = NULL"),
    "a bug of a campaign called a witness": sql("UPDATE witnesses SET finding = 1"),
    "a witness with a cheaper plan": sql(f"UPDATE findings SET bound = 1 WHERE id = {WITNESS}"),
    "a witness that some oracle found": sql(
        f"UPDATE findings SET oracle = 'truth' WHERE id = {WITNESS}"
    ),
    "a witness that is only too expensive": sql(
        f"UPDATE findings SET kind = 'quantitative', policy_cost = 9, gap = 5 WHERE id = {WITNESS}"
    ),
    "a witness with another run": sql(
        f"UPDATE runs SET operators = x'01', reason = 'no-action', last_decision = -1 "
        f"WHERE finding = {WITNESS}"
    ),
    "a witness with another seed": sql("UPDATE units SET seed = 9 WHERE id = 2"),
    "a witness without its problem's origin": sql("UPDATE problems SET origin = NULL"),
    "a witness that is its own origin": sql("UPDATE problems SET origin = 2 WHERE id = 2"),
    "a tested problem with an origin": sql("UPDATE problems SET origin = 2 WHERE id = 1"),
    "a witness with a cheaper road": problem_of_witness("(= (length a b) 1)", "(= (length a b) 0)"),
    "a witness with a fact of its own": problem_of_witness("(at a)", "(at a) (free)"),
    "a witness without a goal": problem_of_witness("(lies load1 d)", ""),
    "another problem under the old task": problem_of_witness("(at a)", "(at b)", careful=False),
    "a pattern of another domain": certificate(lambda c: c.update(domain="0" * 16)),
    "a pattern of another kind": certificate(lambda c: c.update(kind="detour")),
    "a pattern with unit costs": certificate(lambda c: c.update(unit_costs=True)),
    "a pattern with another object": certificate(lambda c: c["colors"].append("place")),
    "a pattern with one fact less": certificate(lambda c: c["tuples"].pop(1)),
    "a pattern of another scheme": certificate(lambda c: c.update(version=2)),
    "a pattern under another key": sql("UPDATE patterns SET key = 'abc'"),
    "a pattern of another family": sql("UPDATE patterns SET family = 'loop: fly instead of walk'"),
    "a pattern without a witness": sql(
        "INSERT INTO patterns SELECT 2, 'abc', certificate, family FROM patterns"
    ),
    "a witness that never was": sql(
        "INSERT INTO witnesses SELECT 2, 1, root_cause, NULL, same, 1, pattern, document "
        "FROM witnesses WHERE id = 1"
    ),
    "a smallest witness that is not stored": sql(
        "INSERT INTO witnesses SELECT 2, 1, root_cause, NULL, same, NULL, pattern, document "
        "FROM witnesses WHERE id = 1"
    ),
    "a bug with a pattern that is not its own": sql(
        "INSERT INTO witnesses SELECT 2, 1, root_cause, 0, same, NULL, pattern, "
        "json_set(document, '$.witness', NULL, '$.reason', 'none') FROM witnesses WHERE id = 1"
    ),
}

# Oracles that are compared


def totals(change: Callable[[Any], None]) -> Forgery:
    return lambda forger: forger.change("units", "statistics", change, "id = 1")


def of_oracle(number: int, name: str, more: int) -> Forgery:
    def change(document: Any) -> None:
        document["oracles"][number][name] += more

    return totals(change)


def walk(change: Callable[[list[int]], None]) -> Forgery:
    """Another plan as the evidence of what the undo oracle found."""

    def forge(forger: NewerForger) -> None:
        number = forger.one("SELECT min(id) FROM findings WHERE oracle = 'undo'")
        document = json.loads(forger.one("SELECT document FROM evidence WHERE finding = ?", number))
        change(document["steps"][0]["walk"])
        forger.do(
            "UPDATE evidence SET document = ? WHERE finding = ?", json.dumps(document), number
        )

    return forge


def undo_by_a_morph(forger: NewerForger) -> None:
    """A dominance value where the campaign used no dominance function."""
    number = forger.one("SELECT min(id) FROM findings WHERE oracle = 'undo'")
    document = json.loads(forger.one("SELECT document FROM evidence WHERE finding = ?", number))
    state = document["state"]
    document["steps"].insert(0, {"type": "Morph", "morph": state, "gain": 0, "origin": "undo"})
    forger.do("UPDATE evidence SET document = ? WHERE finding = ?", json.dumps(document), number)
    forger.do("UPDATE findings SET evidence_kind = 'dominance' WHERE id = ?", number)


UNDO = "oracle = 'undo' AND unit = 1"
OF_COMPARED: dict[str, Forgery] = {
    "a flag that is missing": sql(f"DELETE FROM flags WHERE {UNDO} AND number = 2"),
    "all flags of an oracle missing": sql(f"DELETE FROM flags WHERE {UNDO}"),
    "a flag and its answer missing": sql(
        f"DELETE FROM flags WHERE {UNDO} AND number = 2",
        f"DELETE FROM answers WHERE {UNDO} AND number = 2",
    ),
    "a flag taken back": sql(
        f"DELETE FROM flags WHERE {UNDO} AND number = 2",
        f"UPDATE answers SET verdict = 'not refuted', bound = NULL WHERE {UNDO} AND number = 2",
    ),
    "a flag of an oracle that proves nothing": sql(
        "INSERT INTO flags SELECT unit, number, 'lookahead:depth=2', bound, seconds, cpu "
        f"FROM flags WHERE {UNDO} AND number = 2"
    ),
    "a flag of an oracle that was not used": sql(
        f"UPDATE flags SET oracle = 'bmo' WHERE {UNDO} AND number = 2"
    ),
    "a flag with a better bound": sql(f"UPDATE flags SET bound = 1 WHERE {UNDO} AND number = 2"),
    "a flag with a bound below zero": sql(
        f"UPDATE flags SET bound = -5 WHERE {UNDO} AND number = 2"
    ),
    "an answer with a better bound": sql(
        f"UPDATE answers SET bound = 1 WHERE {UNDO} AND number = 2"
    ),
    "an answer that proves what it flags optimal": sql(
        f"UPDATE answers SET verdict = 'no bug, proven optimal' WHERE {UNDO} AND number = 2"
    ),
    "a third verdict": sql(f"UPDATE answers SET verdict = 'perhaps' WHERE {UNDO} AND number = 2"),
    "flags of a team": lambda forger: (
        forger.edit_config(lambda c: c["testing"].update(mode="hunt")),
        forger.rekey(),
    )[1],
    "an oracle that proves more alone": of_oracle(0, "unique", 1),
    "an oracle that proves fewer": of_oracle(0, "bugs", -1),
    "an oracle that proves more failures": of_oracle(1, "bugs_unsolved", 1),
    "an oracle that examined fewer failures": of_oracle(1, "examined_unsolved", -1),
    "an oracle that was first more often": of_oracle(0, "first", 1),
    "an oracle that proves what none proves": of_oracle(2, "bugs", 3),
    "an oracle that proves states optimal": of_oracle(2, "optimal", 1),
    "an oracle that examined more": of_oracle(2, "examined", 4),
    "a quicker oracle": of_oracle(0, "seconds", 5),
    "an oracle of less computing time": of_oracle(0, "cpu", 5),
    "more solved states": totals(lambda d: d.update(solved=2)),
    "more bugs in the pool": totals(lambda d: d.update(pool_bugs=d["pool_bugs"] + 1)),
    "fewer touched states": totals(lambda d: d.update(touched_states=1)),
    "an undo that walks on after the goal": walk(lambda w: w.append(w[0])),
    "an undo with a step less": walk(lambda w: w.pop(0)),
    "an undo that ends before the goal": walk(lambda w: w.pop()),
    "an undo the other way round": walk(lambda w: w.reverse()),
    "an undo by an operator of its own": walk(lambda w: w.__setitem__(0, 999)),
    "an undo by a dominance value": undo_by_a_morph,
}

# Trials of experiments


def trial(number: int, change: Callable[[Any], None]) -> Forgery:
    return lambda forger: forger.change("trials", "result", change, f"id = {number}")


def first_run(**changes: object) -> Forgery:
    return trial(5, lambda d: d["runs"][0].update(changes))


def answer(number: int, **changes: object) -> Forgery:
    return trial(2, lambda d: d["answers"][number].update(changes))


def reading(change: Callable[[Any], None]) -> Forgery:
    return trial(6, lambda d: change(d["comparison"]["readings"][0]))


def failed_run_that_solves(document: Any) -> None:
    run = {**document["runs"][0], "policy": "builtin:gc"}
    document["runs"][1] = run


OF_EXPERIMENTS: dict[str, Forgery] = {
    "an optimal action called bad": answer(-1, verdict="not-optimal"),
    "a bad action called optimal": answer(0, verdict="optimal"),
    "an action that is not applicable": answer(0, action="(take load0 b)"),
    "an action that does not exist": answer(0, action="(fly a b)"),
    "an algorithm that was not asked": answer(0, algorithm="guess"),
    "a cheaper cheapest plan": trial(2, lambda d: d["search"].update(cost=21)),
    "a dearer cheapest plan": trial(2, lambda d: d["search"].update(cost=23)),
    "more applicable actions": trial(2, lambda d: d.update(applicable=9)),
    "an answer twice": trial(2, lambda d: d["answers"].append(d["answers"][0])),
    "an answer less": trial(2, lambda d: d["answers"].pop()),
    "a cheaper run": first_run(cost=21),
    "a dearer run": first_run(cost=30),
    "a run without its plan": first_run(plan=[]),
    "a run that leaves out a step": trial(5, lambda d: d["runs"][0]["plan"].pop(3)),
    "a run that goes another way": trial(5, lambda d: d["runs"][0]["plan"].insert(0, "(fly a b)")),
    "a run of a policy that was not asked": first_run(policy="builtin:random"),
    "a run that solves and fails": first_run(reason="loop"),
    "a run that fails and has a cost": trial(5, lambda d: d["runs"][1].update(cost=3)),
    "a run that fails by reaching the goal": trial(5, lambda d: d["runs"][1].update(reason="goal")),
    "a policy that is said to solve": trial(5, failed_run_that_solves),
    "policies in another order": trial(5, lambda d: d["runs"].reverse()),
    "a policy that was run twice": trial(5, lambda d: d["runs"].append(d["runs"][0])),
    "domains called different": reading(lambda r: r.update(verdict="not-equivalent")),
    "a predicate that means another": reading(lambda r: r["mapping"][3].update(b="free")),
    "a predicate without a partner": reading(lambda r: r["mapping"].pop()),
    "an operator that is not covered": reading(lambda r: r["operators"][0].update(covered=False)),
    "an operator that is left out": reading(lambda r: r["operators"].pop()),
    "a macro with another operator": reading(
        lambda r: r["operators"][0]["macros"][0]["cases"][0]["steps"][0].update(operator="take")
    ),
    "a macro without steps": reading(
        lambda r: r["operators"][0]["macros"][0]["cases"][0].update(steps=[])
    ),
    "more predicates": trial(6, lambda d: d.update(predicates=9)),
    "more operators": trial(6, lambda d: d.update(operators=[9, 9])),
    "another reading of the same pair": reading(lambda r: r.update(parameters="pddl")),
    "a pair of other domains": sql(
        "UPDATE trial_files SET file = (SELECT sha256 FROM inputs WHERE name = 'p2.pddl') "
        "WHERE position = 1"
    ),
    "an answer to another question": sql(
        "UPDATE trials SET result = (SELECT result FROM trials WHERE id = 5) WHERE id = 2"
    ),
    "an answer about another problem": sql("UPDATE trials SET problem = NULL WHERE id = 2"),
    "an experiment under another key": sql("UPDATE experiments SET key = 'abc' WHERE id = 1"),
    "a finished trial without a result": sql("UPDATE trials SET result = NULL WHERE id = 2"),
    "an experiment without one of its trials": sql("DELETE FROM trials WHERE id = 2"),
    "a trial of another policy": sql(
        "UPDATE trial_policies SET policy = 3 - policy WHERE position = 0"
    ),
}

# Conditional effects and axioms


def derived_value(forger: NewerForger, table: str, where: str) -> None:
    """Turn a derived fact around in a state and wherever it is written."""
    task = forger.task
    variable = next(n for n, item in enumerate(task.variables) if item.layer >= 0)
    number = forger.one(f"SELECT state FROM {table} WHERE {where}")
    state = list(unpack(forger.one("SELECT packed FROM states WHERE id = ?", number)))
    state[variable] = 1 - state[variable]
    forger.do("UPDATE states SET packed = ? WHERE id = ?", pack(state), number)
    for finding, text in forger.sqlite.execute(
        "SELECT finding, document FROM evidence JOIN findings ON finding = id WHERE state = ?",
        (number,),
    ).fetchall():
        document = {**json.loads(text), "state": state}
        forger.do(
            "UPDATE evidence SET document = ? WHERE finding = ?", json.dumps(document), finding
        )


def another_domain(old: str, new: str) -> Forgery:
    """Other rules, with the campaign's key and without the old task."""

    def forge(forger: NewerForger) -> None:
        text = forger.content("lamps.pddl").decode()
        assert old in text
        digest = forger.add_input("lamps.pddl", text.replace(old, new, 1).encode())
        forger.do("UPDATE problems SET domain_file = ?", digest)
        forger.rekey()

    return forge


def another_task(**changes: Callable[[Task], Any]) -> Forgery:
    """Another translation, with its hash."""

    def forge(forger: NewerForger) -> None:
        task = replace(forger.task, **{name: of(forger.task) for name, of in changes.items()})
        digest = forger.add_input("task.sas", write_sas(task).encode())
        forger.do("UPDATE problems SET sas_file = ?, task_hash = ?", digest, task.hash)

    return forge


def without_conditions(task: Task) -> tuple[Operator, ...]:
    """Operators whose conditional effects always take place."""
    return tuple(
        replace(item, conditional=tuple(((), *one[1:]) for one in item.conditional))
        for item in task.operators
    )


OF_DERIVED: dict[str, Forgery] = {
    "a start state with another derived value": lambda forger: derived_value(
        forger, "pool", "unit = 1 AND number = 0"
    ),
    "a tested state with another derived value": lambda forger: derived_value(
        forger, "pool", "unit = 1 AND number = 3"
    ),
    "a bug in a state with another derived value": lambda forger: derived_value(
        forger, "findings", "id = (SELECT max(id) FROM findings)"
    ),
    "a root cause in a state with another derived value": lambda forger: derived_value(
        forger, "root_causes", "id = 1"
    ),
    "an axiom less": another_domain("(lit ?a) (exists", "(exists"),
    "an axiom that says the opposite": another_domain("(or (lit ?a)", "(or (not (lit ?a))"),
    "an effect without its condition": another_domain("(when (bright ?b) (done))", "(done)"),
    "a condition that says the opposite": another_domain(
        "(when (bright ?b) (done))", "(when (not (bright ?b)) (done))"
    ),
    "an effect that is missing": another_domain("(when (lit ?a) (not (lit ?a)))", ""),
    "a task with an axiom less": another_task(axioms=lambda task: task.axioms[1:]),
    "a task without axioms": another_task(axioms=lambda _: ()),
    "a task without conditions of effects": another_task(operators=without_conditions),
}

# Losses, worst steps and better plans; {q} is a run that costs too much, {l} one that loops


def steps(bug: str, change: Callable[[list[list[Any]]], None]) -> Callable[[Forger], None]:
    return lambda forger: forger.edit_steps(bug, change)


def all_steps(column: int, value: object) -> Callable[[list[list[Any]]], None]:
    def change(rows: list[list[Any]]) -> None:
        for row in rows:
            row[column] = value

    return change


def lose_elsewhere(forger: Forger) -> None:
    """Another worst step, with its own action and loss, but the step before."""
    number = forger.bugs["q"]
    worst = forger.one("SELECT worst_step FROM localizations WHERE finding = ?", number)
    run = unpack(forger.one("SELECT operators FROM runs WHERE finding = ?", number))
    other = worst - 1 if worst else worst + 1
    action = forger.task.operators[run[other]].name
    forger.do(
        "UPDATE localizations SET worst_step = ?, worst_action = ? WHERE finding = ?",
        other,
        action,
        number,
    )


def improve(by: int) -> Callable[[Forger], None]:
    """A bound that an improvement is said to have proven, wherever it is written."""

    def forge(forger: Forger) -> None:
        forger.do(
            f"INSERT INTO history SELECT finding, min(bound) - {by}, max(gap) + {by}, "
            "max(seconds) + 1 FROM history WHERE finding = {q} GROUP BY finding"
        )
        forger.do(f"UPDATE findings SET bound = bound - {by}, gap = gap + {by} WHERE id = {{q}}")
        forger.edit_evidence("q", lambda document: document.update(bound=document["bound"] - by))

    return forge


def better_plan(change: Callable[[list[int]], object]) -> Callable[[Forger], None]:
    def forge(forger: Forger) -> None:
        plan = json.loads(
            forger.one("SELECT better_plan FROM localizations WHERE finding = ?", forger.bugs["q"])
        )
        change(plan)
        forger.do("UPDATE localizations SET better_plan = ? WHERE finding = {q}", json.dumps(plan))

    return forge


OF_LOCALIZED: dict[str, Callable[[Forger], None]] = {
    "no step loses anything": steps("q", all_steps(7, 0)),
    "every step loses one": steps("q", all_steps(7, 1)),
    "every step may lose the goal": steps("q", all_steps(8, None)),
    "no step may lose anything": steps("q", all_steps(8, 0)),
    "a loss below zero": steps("q", lambda rows: rows[0].__setitem__(7, -1)),
    "a loss of the goal in the first step": steps("q", lambda rows: rows[0].__setitem__(7, None)),
    "losses in another order": steps(
        "q", lambda rows: [row.__setitem__(8, row[8] or 1) for row in rows] and None
    ),
    "a worst step with its action, but another": lose_elsewhere,
    "a worst step after the end": sql(
        "UPDATE localizations SET worst_step = 99 WHERE finding = {q}"
    ),
    "a worst step before the start": sql(
        "UPDATE localizations SET worst_step = -1 WHERE finding = {q}"
    ),
    "a worst step of a loop elsewhere": sql(
        "UPDATE localizations SET worst_step = ifnull(worst_step, 0) + 1 WHERE finding = {l}"
    ),
    "a loop whose worst step loses nothing": sql(
        "UPDATE localizations SET worst_step = NULL, worst_action = '', loss = NULL, "
        "loss_high = NULL WHERE finding = {l}"
    ),
    "a loop that loses a little": sql(
        "UPDATE localizations SET loss = 1, loss_high = 1 WHERE finding = {l}"
    ),
    "a worst action that the policy does not take": sql(
        "UPDATE localizations SET worst_action = 'drive c a' WHERE finding = {l}"
    ),
    "a worst action without a name": sql(
        "UPDATE localizations SET worst_action = '' WHERE finding = {q}"
    ),
    "a listed loss of the goal": sql(
        "UPDATE localizations SET loss = NULL, loss_high = NULL WHERE finding = {q}"
    ),
    "an improved bound that nothing proves": improve(1),
    "an improved bound far below": improve(5),
    "an improvement that is not the bound": sql(
        "INSERT INTO history SELECT finding, min(bound) - 1, max(gap) + 1, max(seconds) + 1 "
        "FROM history WHERE finding = {q} GROUP BY finding"
    ),
    "an improvement without its gap": sql("UPDATE history SET gap = NULL WHERE finding = {q}"),
    "an improvement before the bug was found": sql(
        "UPDATE findings SET seconds = seconds + 5 WHERE id = {q}"
    ),
    "a better plan with a step less": better_plan(lambda plan: plan.pop()),
    "a better plan that begins elsewhere": better_plan(lambda plan: plan.pop(0)),
    "a better plan that goes on": better_plan(lambda plan: plan.append(plan[-1])),
    "a better plan of another task": better_plan(lambda plan: plan.insert(0, 9999)),
}

ALL: dict[tuple[str, str], Callable[[Any], None]] = {
    (kind, name): forgery
    for kind, forgeries in {
        "witnesses": OF_WITNESSES,
        "compared": OF_COMPARED,
        "experiments": OF_EXPERIMENTS,
        "derived": OF_DERIVED,
        "localized": OF_LOCALIZED,
    }.items()
    for name, forgery in forgeries.items()
}


@pytest.mark.parametrize("kind", MAKERS)
def test_untouched_workspaces_hold(kind: str, workspaces: dict[str, Path], verify: Verify) -> None:
    code, answer = verify(workspaces[kind])
    assert answer["failed"] == answer["undecided"] == []
    assert code == 0


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_forgeries_are_noticed(
    kind: str, name: str, workspaces: dict[str, Path], tmp_path: Path, verify: Verify
) -> None:
    path = Path(shutil.copy(workspaces[kind], tmp_path / "forged.plumb"))
    maker = Forger if kind == "localized" else NewerForger
    with closing(sqlite3.connect(path)) as connection:
        ALL[kind, name](maker(path, connection))
        connection.commit()
    code, answer = verify(path)
    assert code in (1, 3)
    assert answer["failed"] if code == 1 else answer["undecided"]
