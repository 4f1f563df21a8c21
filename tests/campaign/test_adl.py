"""Campaigns with conditional effects and axioms: every oracle continues, nothing is false."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reference.adl_domains import DOMAINS, PROBLEM
from reference.bug_workspace import InThreads

from engine.campaign.config_reader import parse_config
from engine.campaign.summary import per_oracle
from engine.oracles.registry import ORACLES
from engine.policies.consent import NO_CONSENT
from engine.usecases.campaign import run
from engine.usecases.verify import verify
from engine.verify.stored import VerifyOptions
from engine.workers.link import NULL_LINK
from engine.workspace.workspace import Workspace

PROVE_BUGS = [name for name in ORACLES if name not in ("lama", "aras", "inverse", "smo")]
"""Those that find something here; LAMA is another program, and the others have nothing to find."""
CONFIG = f"""
domain = "domain.pddl"
problems = ["problem.pddl"]
policies = ["builtin:gc"]
portfolio = ["builtin:random", "builtin:hff"]
fuzzing.size = 8
testing.mode = "compare"
testing.oracles = {json.dumps([*PROVE_BUGS, "aras", "inverse", "smo", "undo:dominance=true"])}
localization.enabled = true
"""
NOTES = {
    "conditional effects": "",
    "quantifiers": "dominance is limited: axioms depend on 3 of the 7 variables",
    "derived predicates": "dominance is limited: axioms depend on 3 of the 7 variables",
    "many cases": (
        "dominance is unavailable: the conditional effects of (water) have more than 64 cases"
    ),
}


@pytest.mark.parametrize("kind", DOMAINS)
def test_every_oracle_works_or_says_why_not(kind: str, tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(DOMAINS[kind])
    (tmp_path / "problem.pddl").write_text(PROBLEM)
    config, path = parse_config(CONFIG, tmp_path / "campaign.toml"), tmp_path / "w.plumb"
    with Workspace.create(path) as store:
        run(config, store, executor=InThreads(1))
        (unit,) = store.units()
        assert (unit.status, unit.error) == ("finished", "")
        notes = [entry.text for entry in store.log() if "dominance" in entry.text]
        assert len(notes) == bool(NOTES[kind])
        assert all(NOTES[kind] in note for note in notes)
        found = per_oracle([unit])
        assert all(found[name]["examined"] == unit.statistics.states for name in found)
        most = found["astar"]["bugs"]
        assert all(0 < found[name]["bugs"] <= most for name in PROVE_BUGS)
        assert all(store.localization(bug.id) is not None for bug in store.bugs())
    assert not verify(NULL_LINK, path, NO_CONSENT, VerifyOptions()).problems
