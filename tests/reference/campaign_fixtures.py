"""A small task with bugs, an executor without processes, and a workspace's contents to compare."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.campaign.config_reader import CampaignConfig, parse_config
from engine.campaign.inputs import policy_inputs, problem_inputs
from engine.campaign.unit import Unit
from engine.workspace.workspace import Workspace
from reference.bug_workspace import DOMAIN, InThreads, problem_text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    for loads in (1, 2, 3):
        (tmp_path / f"p{loads}.pddl").write_text(problem_text(loads))
    return tmp_path


@pytest.fixture
def configure(folder: Path) -> Callable[..., CampaignConfig]:
    """A configuration for the small task; the text may override any key."""

    def make(problems: str = '"p2.pddl"', policies: str = '"builtin:hadd"', more: str = ""):
        text = f'domain = "domain.pddl"\nproblems = [{problems}]\npolicies = [{policies}]\n{more}'
        if "size" not in more:
            text = f"fuzzing.size = 24\n{text}"
        return parse_config(text, folder / "campaign.toml")

    return make


@pytest.fixture
def make_unit(configure: Callable[..., CampaignConfig]) -> Callable[..., Unit]:
    def make(seed: int = 0, **arguments: str) -> Unit:
        config = configure(**arguments)
        (problem,), (policy,) = problem_inputs(config), policy_inputs(config)
        settings = config.fuzzing, config.testing, config.limits
        return Unit(1, problem, policy, seed, *settings, localization=config.localization)

    return make


@pytest.fixture
def in_threads() -> Callable[[], InThreads]:
    return lambda: InThreads(2)


@pytest.fixture
def contents() -> Callable[[Workspace], dict[str, list[Any]]]:
    """All that a campaign leaves behind, but for times and the order among units."""

    def read(store: Workspace) -> dict[str, list[Any]]:
        unit = "p.name, y.name, u.seed"
        units = "JOIN units u ON u.id = x.unit JOIN problems p ON p.id = u.problem "
        units += "JOIN policies y ON y.id = u.policy"
        queries = {
            "units": f"SELECT {unit}, u.status FROM units u JOIN problems p ON p.id = u.problem "
            "JOIN policies y ON y.id = u.policy",
            "findings": f"SELECT {unit}, s.packed, x.kind, x.policy_cost, x.bound, x.gap, "
            "x.oracle, x.retrospective, e.document, r.outcome, r.reason, r.cost, r.operators, "
            "r.last_decision, (SELECT t.packed FROM findings g JOIN states t ON t.id = g.state "
            f"WHERE g.id = x.region) FROM findings x {units} JOIN states s ON s.id = x.state "
            "JOIN evidence e ON e.finding = x.id JOIN runs r ON r.finding = x.id",
            "pool": f"SELECT {unit}, x.number, s.packed, x.reference, x.walk, x.outcome, "
            f"x.reason, x.policy_cost, x.tested FROM pool x {units} "
            "JOIN states s ON s.id = x.state",
            "answers": f"SELECT {unit}, x.number, x.oracle, x.verdict, x.bound "
            f"FROM answers x {units}",
            "localizations": f"SELECT {unit}, s.packed, l.step, l.searches, l.expanded, "
            "l.limited, l.failure, l.steps, c.kind, c.action, (SELECT packed FROM states "
            "WHERE id = c.state) FROM localizations l JOIN findings x ON x.id = l.finding "
            "LEFT JOIN root_causes c ON c.id = l.root_cause "
            f"JOIN states s ON s.id = x.state {units}",
            "history": f"SELECT {unit}, s.packed, h.bound, h.gap FROM history h "
            f"JOIN findings x ON x.id = h.finding JOIN states s ON s.id = x.state {units}",
        }
        found = {
            name: store.connection.execute(query).fetchall() for name, query in queries.items()
        }
        statistics = [json.loads(text) for (text,) in _statistics(store)]
        found["statistics"] = [_timeless(item) for item in statistics]
        return {name: sorted(rows, key=repr) for name, rows in found.items()}

    return read


def _statistics(store: Workspace) -> list[Any]:
    return store.connection.execute("SELECT statistics FROM units ORDER BY id").fetchall()


def _timeless(statistics: dict[str, Any]) -> dict[str, Any]:
    oracles = [{**item, "seconds": 0} for item in statistics.get("oracles", [])]
    uncertain = ("seconds", "policy_seconds", "peak_megabytes")
    return {**statistics, **dict.fromkeys(uncertain, 0), "oracles": oracles}
