"""A small task with bugs, an executor without processes, and a workspace's contents to compare."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.campaign.config_reader import parse_config
from engine.campaign.inputs import policy_inputs, problem_inputs
from engine.records.config import CampaignConfig, Unit
from engine.workspace.workspace import Workspace
from reference.bug_workspace import DOMAIN, InThreads, problem_text


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    for loads in (1, 2, 3):
        (tmp_path / f"p{loads}.pddl").write_text(problem_text(loads))
    (tmp_path / "many-states.pddl").write_text(problem_text(9))
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
    """All that a campaign leaves behind, except for times and the order among units."""

    def read(store: Workspace) -> dict[str, list[Any]]:
        tables = store.dump()
        by_id = {name: {row.get("id"): row for row in rows} for name, rows in tables.items()}

        def unit(number: int) -> tuple[Any, ...]:
            row = by_id["units"][number]
            problem, policy = by_id["problems"][row["problem"]], by_id["policies"][row["policy"]]
            return problem["name"], policy["name"], row["seed"]

        def state(number: int | None) -> bytes | None:
            return None if number is None else by_id["states"][number]["packed"]

        def finding(number: int | None) -> tuple[Any, ...] | None:
            if number is None:
                return None
            row = by_id["findings"][number]
            return unit(row["unit"]), state(row["state"])

        def cause(number: int | None) -> tuple[Any, ...] | None:
            if number is None:
                return None
            row = by_id["root_causes"][number]
            return row["kind"], row["action"], state(row["state"])

        meanings = {
            "unit": unit,
            "state": state,
            "finding": finding,
            "region": finding,
            "root_cause": cause,
        }
        found = {
            name: [
                (
                    *((finding(row["id"]),) if name == "findings" else ()),
                    *(
                        meanings.get(column, lambda value: value)(value)
                        for column, value in row.items()
                        if column not in ("id", "seconds", "cpu", "naive_searches")
                    ),
                )
                for row in tables[name]
            ]
            for name in COMPARED
        }
        found["units"] = [(*unit(row["id"]), row["status"]) for row in tables["units"]]
        statistics = [json.loads(row["statistics"]) for row in tables["units"]]
        found["statistics"] = [_timeless(item) for item in statistics]
        return {name: sorted(rows, key=repr) for name, rows in found.items()}

    return read


COMPARED = (
    "findings",
    "evidence",
    "runs",
    "pool",
    "answers",
    "flags",
    "localizations",
    "localized_steps",
    "history",
)


def _timeless(statistics: dict[str, Any]) -> dict[str, Any]:
    times = dict.fromkeys(("seconds", "cpu", "setup_seconds", "setup_cpu"), 0)
    oracles = [{**item, **times} for item in statistics.get("oracles", [])]
    uncertain = ("seconds", "policy_seconds", "peak_megabytes")
    return {**statistics, **dict.fromkeys(uncertain, 0), "oracles": oracles}
