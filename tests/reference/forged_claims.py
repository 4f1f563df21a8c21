"""A workspace in which everything is true, and the tools of those who make some of it false."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from engine.campaign.config_reader import parse_config
from engine.policies.cache_file import write_policy_cache
from engine.policies.policy import open_policy
from engine.records.codec import pack, unpack
from engine.records.evidence import State
from engine.records.inputs import File
from engine.task.load import load_task
from engine.task.successors import applicable_operators, is_goal, successor
from engine.task.task import Task
from engine.usecases.campaign import run
from engine.verify.cost_to_go import CostToGo
from engine.workspace.workspace import Workspace, campaign_key
from reference.bug_workspace import DOMAIN, InThreads, problem_text

FIRST = """\
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["detours.cache", "builtin:gc"]
portfolio = ["builtin:hff"]
fuzzing.size = 8
testing.oracles = ["bmo", "lookahead:depth=2", "astar:expansions=2000"]
testing.skip_known_bugs = false
localization.enabled = true
"""
SECOND = """\
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:gc"]
fuzzing.size = 4
testing.oracles = ["lookahead:depth=2", "astar:expansions=2000"]
"""
"""Without dominance functions, so that all its states can be reached."""
THIRD = """\
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["detours.cache"]
fuzzing.size = 5
testing.oracles = ["bmo:lookahead=0"]
"""
"""Without localization, so that no plan takes the place of dominance values."""


def make_true_workspace(folder: Path) -> Path:
    (folder / "domain.pddl").write_text(DOMAIN)
    (folder / "p2.pddl").write_text(problem_text(2))
    (folder / "detours.cache").write_text(_detours(load_task(*_files(folder))))
    path = folder / "true.plumb"
    with Workspace.create(path) as store:
        for text in (FIRST, SECOND, THIRD):
            run(parse_config(text, folder / "campaign.toml"), store, executor=InThreads(1))
    return path


def _files(folder: Path) -> tuple[Path, Path]:
    return folder / "domain.pddl", folder / "p2.pddl"


def _detours(task: Task) -> str:
    """A policy that reaches the goal from wherever it can, but not always the shortest way."""
    costs = CostToGo(task)
    costs.explore([task.init])
    states = [state for state in all_states(task) if costs.is_reachable(state)]
    choices = {state: _ranked(task, costs, state) for state in states}
    decisions = {state: ranked[0] if ranked else -1 for state, ranked in choices.items()}

    def solves(state: State) -> bool:
        seen = set()
        while not is_goal(task, state):
            if state in seen or decisions[state] < 0:
                return False
            seen.add(state)
            state = successor(task, task.operators[decisions[state]], state)
        return True

    for state in states[1::3]:
        best = decisions[state]
        if solves(state):
            for other in choices[state][:0:-1]:
                decisions[state] = other
                if solves(state):
                    break
                decisions[state] = best
    return write_policy_cache(decisions.items())


def _ranked(task: Task, costs: CostToGo, state: State) -> list[int]:
    def value(operator: int) -> int:
        step = task.operators[operator]
        return step.cost + costs.low(successor(task, step, state))

    return sorted(applicable_operators(task, state), key=value)


def all_states(task: Task) -> list[State]:
    return list(product(*map(range, task.domain_sizes)))


@dataclass
class Forger:
    """Changes a workspace behind Plumbline's back, and knows what can be changed."""

    path: Path
    sqlite: sqlite3.Connection

    @cached_property
    def task(self) -> Task:
        with Workspace.open(self.path) as store:
            return store.task(1)

    @cached_property
    def bugs(self) -> dict[str, int]:
        """Bugs of different kinds by a letter."""
        in_pool = "state IN (SELECT state FROM pool WHERE unit = findings.unit)"
        return {
            "q": self.one(
                "SELECT id FROM findings WHERE kind = 'quantitative' AND evidence_kind = 'plan' "
                f"AND {in_pool}"
            ),
            "l": self.one("SELECT finding FROM runs WHERE reason = 'loop' AND last_decision >= 0"),
            "d": self.one("SELECT id FROM findings WHERE evidence_kind = 'dominance'"),
            "h": self.one("SELECT finding FROM history GROUP BY finding HAVING count(*) > 1"),
            "n": self.one(f"SELECT id FROM findings WHERE NOT {in_pool}"),
            "last": self.one("SELECT max(id) FROM findings"),
        }

    def one(self, query: str, *parameters: object) -> Any:
        row = self.sqlite.execute(query, parameters).fetchone()
        assert row is not None, query
        return row[0]

    def do(self, statement: str, *parameters: object) -> None:
        """`{q}` and the like stand for numbers of bugs."""
        cursor = self.sqlite.execute(statement.format(**self.bugs), parameters)
        assert cursor.rowcount > 0, statement

    def edit(self, table: str, column: str, where: str, change: Callable[[Any], None]) -> None:
        """Change a record in JSON."""
        where = where.format(**self.bugs)
        document = json.loads(self.one(f"SELECT {column} FROM {table} WHERE {where}"))
        change(document)
        self.do(f"UPDATE {table} SET {column} = ? WHERE {where}", json.dumps(document))

    def edit_evidence(self, bug: str, change: Callable[[Any], None]) -> None:
        self.edit("evidence", "document", f"finding = {{{bug}}}", change)

    def edit_statistics(self, change: Callable[[Any], None]) -> None:
        self.edit("units", "statistics", "id = 1", change)

    def edit_config(self, change: Callable[[Any], None]) -> None:
        self.edit("campaigns", "config", "id = 1", change)

    def edit_steps(self, bug: str, change: Callable[[list[list[Any]]], None]) -> None:
        number = self.bugs[bug]
        rows = self.one("SELECT steps FROM localized_steps WHERE finding = ?", number)
        steps = json.loads(zlib.decompress(rows))
        change(steps)
        packed = zlib.compress(json.dumps(steps).encode())
        self.do("UPDATE localized_steps SET steps = ? WHERE finding = ?", packed, number)

    def edit_failure(self, change: Callable[[Any], None]) -> None:
        self.edit("localizations", "failure", "finding = {l}", change)

    def add_input(self, name: str, content: bytes) -> str:
        """A file with its true hash."""
        file = File(name, content, name)
        self.do("INSERT INTO inputs VALUES (?, ?, ?)", file.sha256, name, zlib.compress(content))
        return file.sha256

    def content(self, name: str) -> bytes:
        return zlib.decompress(self.one("SELECT content FROM inputs WHERE name = ?", name))

    def rekey(self) -> None:
        """Let the key of each campaign be that of what is there now."""
        self.sqlite.commit()
        with Workspace.open(self.path) as store:
            keys = {campaign.id: _key(store, campaign.id) for campaign in store.campaigns()}
        for campaign, key in keys.items():
            self.do("UPDATE campaigns SET key = ? WHERE id = ?", key, campaign)

    def set_state(self, where: str, state: State) -> None:
        """Another state for a row of `pool` or `findings`."""
        self.sqlite.execute(
            "INSERT OR IGNORE INTO states (problem, packed) VALUES (1, ?)", (pack(state),)
        )
        number = self.one("SELECT id FROM states WHERE packed = ?", pack(state))
        self.do(f"UPDATE {where}", number)

    def unreachable(self) -> list[State]:
        costs = CostToGo(self.task)
        costs.explore([self.task.init])
        return [state for state in all_states(self.task) if not costs.is_reachable(state)]

    def state_of(self, bug: str) -> State:
        return unpack(
            self.one(
                "SELECT packed FROM states s JOIN findings f ON f.state = s.id WHERE f.id = ?",
                self.bugs[bug],
            )
        )

    def invent_run(self, bug: str) -> None:
        """A dearer run of the policy, with all that follows from it."""
        number, state = self.bugs[bug], self.state_of(bug)
        (taken,) = self.sqlite.execute(
            "SELECT operators FROM runs WHERE finding = ?", (number,)
        ).fetchone()
        operators = _another_way(self.task, state, unpack(taken)[0])
        cost = sum(self.task.operators[operator].cost for operator in operators)
        self.do(
            "UPDATE runs SET outcome = 'solved', reason = 'goal', last_decision = -3, cost = ?, "
            "operators = ? WHERE finding = ?",
            cost,
            pack(operators),
            number,
        )
        self.do(
            "UPDATE findings SET kind = 'quantitative', policy_cost = ?, gap = ? - bound "
            "WHERE id = ?",
            cost,
            cost,
            number,
        )
        self.do("UPDATE history SET gap = ? - bound WHERE finding = ?", cost, number)
        for table in ("localized_steps", "localizations"):
            self.sqlite.execute(f"DELETE FROM {table} WHERE finding = ?", (number,))
        self.sqlite.execute(
            "UPDATE pool SET outcome = 'solved', reason = 'goal', policy_cost = ? WHERE state = "
            "(SELECT state FROM findings WHERE id = ?) AND unit = (SELECT unit FROM findings "
            "WHERE id = ?)",
            (cost, number, number),
        )

    def add_unreachable_bug(self, campaign: int) -> None:
        """A true bug of a built-in policy in a state that nothing leads to."""
        unit = self.one(
            "SELECT u.id FROM units u JOIN policies p ON p.id = u.policy "
            "WHERE campaign = ? AND spec = 'builtin:gc'",
            campaign,
        )
        bound = open_policy("builtin:gc").bind(self.task)
        for state in self.unreachable():
            operators, last = _looping_run(self.task, bound, state)
            plan = _cheapest_plan(self.task, state)
            if last is not None and plan:
                break
        cost = sum(self.task.operators[operator].cost for operator in plan)
        self.sqlite.execute("INSERT INTO states (problem, packed) VALUES (1, ?)", (pack(state),))
        self.do(
            "INSERT INTO findings (unit, state, kind, bound, oracle, evidence_kind, "
            "retrospective, seconds) SELECT ?, max(id), 'qualitative', ?, "
            "'lookahead:depth=2', 'plan', 0, 1.0 FROM states",
            unit,
            cost,
        )
        number = self.one("SELECT max(id) FROM findings")
        steps = [{"type": "Walk", "walk": plan, "origin": "lookahead:depth=2"}]
        evidence = {"type": "Evidence", "state": state, "steps": steps, "bound": cost}
        self.do("INSERT INTO evidence VALUES (?, ?)", number, json.dumps(evidence))
        self.do("INSERT INTO history VALUES (?, ?, NULL, 1.0)", number, cost)
        self.do(
            "INSERT INTO runs VALUES (?, 'failed', 'loop', NULL, ?, ?)",
            number,
            pack(operators),
            last,
        )
        # The totals and regions know of it.
        self.do("UPDATE findings SET region = id WHERE id = ?", number)
        if self.one("SELECT count(*) FROM units WHERE id = ? AND status = 'finished'", unit):
            self.edit("units", "statistics", f"id = {unit}", _count_one_more)


def _count_one_more(statistics: Any) -> None:
    statistics["bugs"] += 1
    statistics["localized"] += bool(statistics["localized"])
    for oracle in statistics["oracles"]:
        oracle["first"] += oracle["oracle"] == "lookahead:depth=2"


@contextmanager
def forging_claims(path: Path) -> Iterator[Forger]:
    connection = sqlite3.connect(path)
    try:
        yield Forger(path, connection)
        connection.commit()
    finally:
        connection.close()


def _key(store: Workspace, campaign: int) -> str:
    units = store.unit_inputs(campaign)
    return campaign_key(
        store.campaign(campaign).config,
        [store.problem(number) for number in dict.fromkeys(unit.problem for unit in units)],
        [store.policy(number) for number in dict.fromkeys(unit.policy for unit in units)],
        store.portfolio(campaign),
        store.imported_pool(campaign),
    )


def _another_way(task: Task, start: State, not_first: int) -> list[int]:
    """A way to the goal without a state twice that begins otherwise."""

    def extend(states: list[State], operators: list[int]) -> list[int] | None:
        if is_goal(task, states[-1]):
            return operators
        if len(operators) == 25:
            return None
        for number in applicable_operators(task, states[-1]):
            following = successor(task, task.operators[number], states[-1])
            if following in states or (not operators and number == not_first):
                continue
            if found := extend([*states, following], [*operators, number]):
                return found
        return None

    found = extend([start], [])
    assert found is not None
    return found


def _looping_run(task: Task, bound: Any, state: State) -> tuple[list[int], int | None]:
    states, operators = [state], list[int]()
    while not is_goal(task, states[-1]):
        (decision,) = bound.decide(np.array(states[-1:], np.int32)).tolist()
        if decision < 0:
            break
        following = successor(task, task.operators[decision], states[-1])
        if following in states:
            return operators, decision
        states.append(following)
        operators.append(decision)
    return operators, None


def _cheapest_plan(task: Task, state: State) -> list[int]:
    costs, plan = CostToGo(task), list[int]()
    costs.explore([state])
    while not is_goal(task, state):
        best = _ranked(task, costs, state)[:1]
        if not best or costs.high(state) > 10**9:
            return []
        plan += best
        state = successor(task, task.operators[best[0]], state)
    return plan
