"""Whole experiments: what they leave, stopped and resumed, and the tables that follow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from reference.bug_workspace import InThreads
from reference.recording_link import RecordingLink

from engine.errors import UsageError, WorkspaceError
from engine.experiments.config_reader import preset_experiment
from engine.experiments.plan import plan_trials
from engine.experiments.results import experiment_results
from engine.fuzzing.fuzzer import Fuzzer
from engine.policies.consent import Consent
from engine.records.config import UnitLimits
from engine.records.events import (
    CampaignStatus,
    ExperimentAdvanced,
    TrialFinished,
    UnitStopped,
    Warned,
)
from engine.records.experiment import (
    DomainPair,
    ExperimentConfig,
    ExperimentResults,
    NamedOracle,
    Suite,
    Table,
)
from engine.usecases import experiment
from engine.usecases.experiment import resume_experiment, run_experiment
from engine.usecases.trial import run_trial
from engine.usecases.verify import verify
from engine.workers.link import NULL_LINK
from engine.workspace.workspace import Workspace

TRUST = Consent(to_all=True)


@pytest.fixture(autouse=True)
def _no_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "make_executor", lambda _: InThreads(2))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Workspace.create(tmp_path / "w.plumb"):
        return tmp_path / "w.plumb"


@pytest.fixture
def suite(folder: Path) -> Suite:
    return Suite(
        "loads",
        str(folder / "domain.pddl"),
        (str(folder / "p2.pddl"), str(folder / "p3.pddl")),
        ("builtin:hadd",),
        ("builtin:gc", "builtin:optimal"),
    )


@pytest.fixture
def make(suite: Suite) -> Callable[..., ExperimentConfig]:
    def make(preset: str, scale: int = 20, **changes: Any) -> ExperimentConfig:
        config = preset_experiment(preset, [suite], scale=scale)
        changes = {"only_solved": False, **changes}
        return replace(config, limits=UnitLimits(oracle_seconds=30.0), **changes)

    return make


def run(config: ExperimentConfig, path: Path, **options: Any) -> ExperimentResults:
    end = run_experiment(RecordingLink(), path, config, "local:2", TRUST, **options)
    assert end.status is CampaignStatus.FINISHED
    with Workspace.open(path) as store:
        return experiment_results(store, end.experiment)


def column(table: Table, title: str) -> list[Any]:
    titles = [item.title for item in table.columns]
    return [row[titles.index(title)] for row in table.rows]


def test_recall_is_over_the_states_that_all_examined(
    make: Callable[..., ExperimentConfig], path: Path
) -> None:
    config = make("eisenhut-2023")
    results = run(config, path)
    recall, effort = results.tables
    assert column(recall, "domain") == ["loads"]
    assert column(recall, "problems") == [2]
    (joint,) = column(recall, "J")
    with Workspace.open(path) as store:
        assert joint == store.pool_states()
    (best,) = column(recall, "BestOf")
    shares = [column(recall, item.label)[0] for item in config.oracles]
    assert 0 < best <= 100
    assert max(shares) <= best <= sum(shares)
    (figure,) = results.figures
    by_label = {series.label: series.y[-1] for series in figure.series}
    assert by_label == dict(zip(column(effort, "oracle"), column(effort, "bugs"), strict=True))


def test_fuzzers_are_compared(make: Callable[..., ExperimentConfig], path: Path) -> None:
    results = run(make("steinmetz-2022", scale=40), path)
    oracles, bias, novelty, _ = results.tables
    assert column(oracles, "#") == [2]
    assert column(oracles, "solved") == [0]  # the greedy policy drives to and fro
    assert [table.name for table in (bias, novelty)] == ["fuzzing-bias-off", "fuzzing-novelty-off"]
    for table in (bias, novelty):
        assert all(cell is None or isinstance(cell, float) for cell in table.rows[0][1:])
        assert len(table.rows[0]) == len(table.columns)
    with Workspace.open(path) as store:
        assert [part.variant for part in store.experiments.parts(1)] == [
            "",
            "bias off",
            "novelty off",
        ]


def test_portfolios_only_get_better(make: Callable[..., ExperimentConfig], path: Path) -> None:
    portfolios, recall, _ = run(make("sievers-2026"), path).tables
    # Policies in their order: hadd and gc solve nothing, the third solves both problems.
    assert portfolios.rows[0] == ("loads", 2, 0, 0, 2, 2, None, None, None, None)
    assert "No portfolio has more than 3 policies" in portfolios.notes[1]
    assert recall.rows[0][0] == "loads"


def test_actions_are_decided_alike(make: Callable[..., ExperimentConfig], path: Path) -> None:
    settings = make("eisenhut-2025", scale=100)
    settings = replace(
        settings,
        actions=replace(
            settings.actions, algorithms=("dominance", "sms", "aoca"), heuristics=("lmcut",)
        ),
    )
    coverage, domains, questions = run(settings, path).tables
    assert coverage.rows[0][0] == "loads (4)"
    assert column(coverage, "SMS")[0] == column(coverage, "AOCA*")[0] == 4
    assert not any("contradict" in note for note in coverage.notes)
    assert [row[0] for row in domains.rows] == ["D", "SMS", "AOCA*"]
    assert questions.rows[2][3] is None


def test_pairs_are_compared(path: Path, folder: Path) -> None:
    domain = (folder / "domain.pddl").read_text()
    (folder / "renamed.pddl").write_text(domain.replace("loads", "cargo"))
    pairs = [
        DomainPair("loads", "renamed", str(folder / "domain.pddl"), str(folder / "renamed.pddl"))
    ]
    table, _ = run(preset_experiment("d-val", pairs=pairs, scale=60), path).tables
    assert column(table, "distinct") == ["yes"]
    assert column(table, "verified") == ["yes"]


def test_stopped_and_resumed_gives_the_same(
    make: Callable[..., ExperimentConfig], path: Path, tmp_path: Path
) -> None:
    config = make("eisenhut-2023", scale=40)
    link = RecordingLink(stops_at=lambda event: isinstance(event, ExperimentAdvanced))
    end = run_experiment(link, path, config, "local:1", TRUST)
    assert end.status is CampaignStatus.STOPPED
    with pytest.raises(WorkspaceError, match="already exists"):
        run_experiment(RecordingLink(), path, config, "local:1", TRUST, resume=False)
    end = resume_experiment(RecordingLink(), path, end.experiment, "local:2", TRUST)
    assert end.status is CampaignStatus.FINISHED
    with Workspace.create(tmp_path / "other.plumb"):
        pass
    whole = run(config, tmp_path / "other.plumb")
    with Workspace.open(path) as store:
        resumed = experiment_results(store, end.experiment)
    assert resumed.tables[0] == whole.tables[0]


@pytest.mark.parametrize("preset", ["sievers-2026", "eisenhut-2025", "d-val"])
def test_what_a_stop_cuts_off_is_no_answer(
    preset: str, make: Callable[..., ExperimentConfig], folder: Path
) -> None:
    """Otherwise it would pass for a problem that was not solved in time, also after a resume."""
    domain = str(folder / "domain.pddl")
    pairs = [DomainPair("loads", "again", domain, domain)]
    is_pair = preset == "d-val"
    config = preset_experiment(preset, pairs=pairs, scale=60) if is_pair else make(preset)
    trial = plan_trials(config)[0]
    endings = set()
    for moment in (1, 2, 3, 5, 8, 13, 21, 34, 10**9):
        asked = 0

        def is_stopped(moment: int = moment) -> bool:
            nonlocal asked
            asked += 1
            return asked > moment

        link = RecordingLink(cancelled=is_stopped)
        run_trial(link, trial)
        is_finished = bool(link.heard(TrialFinished))
        assert is_finished is not bool(link.heard(UnitStopped))
        assert is_finished is (asked <= moment)
        endings.add(is_finished)
    assert endings == {True, False}


def test_a_policy_that_gives_no_answers_is_named(
    make: Callable[..., ExperimentConfig], suite: Suite, folder: Path
) -> None:
    body = "def decide(self, states):\n        raise RuntimeError('out of order')"
    plugin = folder / "broken.py"
    plugin.write_text(f"class factory:\n    def __init__(self, task): ...\n    {body}")
    broken = replace(suite, policies=(f"{plugin}:factory",))
    link = RecordingLink()
    run_trial(link, plan_trials(make("sievers-2026", suites=(broken,)))[0])
    assert link.heard(TrialFinished)
    (warning,) = link.heard(Warned)
    assert warning.text.startswith("broken.py:factory failed: ")
    assert "out of order" in warning.text


def test_pools_are_made_once_and_shared(
    make: Callable[..., ExperimentConfig], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = make("eisenhut-2023", scale=20)
    first = run(config, path).tables[0]

    def no_fuzzing(*_: object) -> None:
        raise AssertionError("the pool is there already")

    monkeypatch.setattr(Fuzzer, "grow", no_fuzzing)
    fuzzing = replace(config.fuzzing, seconds=9999.0)  # the pools are full
    again = replace(config, fuzzing=fuzzing, min_states=1)
    assert run(again, path).tables[0].rows == first.rows
    with Workspace.open(path) as store:
        one, two = ([store.pool(unit.id) for unit in store.units(campaign)] for campaign in (1, 2))
        walks = [[(row.state, row.reference, row.walk) for row in pool] for pool in (*one, *two)]
        assert walks[: len(one)] == walks[len(one) :]
        assert any(walk for pool in walks for _, _, walk in pool)
        units = [unit for campaign in (1, 2) for unit in store.units(campaign)]
        complete = [unit.statistics.complete for unit in units]
        assert complete[: len(one)] == complete[len(one) :]
        assert False in complete  # where the pool is full, there are other states
    assert not [item for item in verify(NULL_LINK, path, TRUST).problems if "state" in item.text]


@pytest.mark.parametrize(
    ("changes", "walks"),
    [({"seconds": 9999.0}, 0), ({"size": 7}, 2), ({"novelty": 1}, 2), ({"bias": "none"}, 2)],
)
def test_other_walks_make_other_pools(
    make: Callable[..., ExperimentConfig],
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    walks: int,
) -> None:
    config = make("eisenhut-2023", scale=40, oracles=(NamedOracle("A*", "astar"),))
    config = replace(config, testing=replace(config.testing, oracles=("astar",)))
    run(config, path)
    grown, grow = [], Fuzzer.grow
    monkeypatch.setattr(Fuzzer, "grow", lambda fuzzer: (grown.append(fuzzer), grow(fuzzer))[1])
    run(replace(config, min_states=1, fuzzing=replace(config.fuzzing, **changes)), path)
    assert len(grown) == walks


def test_only_problems_that_the_policy_solves_are_tested(
    make: Callable[..., ExperimentConfig], path: Path, suite: Suite
) -> None:
    able = replace(suite, name="able", policies=("builtin:optimal",))
    config = make("eisenhut-2023", scale=40, suites=(suite, able), only_solved=True)
    recall, _ = run(config, path).tables
    assert column(recall, "domain") == ["able"]
    assert column(recall, "BestOf") == [0.0]  # nothing is wrong with the optimal policy


def test_an_experiment_can_be_removed(make: Callable[..., ExperimentConfig], path: Path) -> None:
    run(make("eisenhut-2025", scale=1000), path)
    with Workspace.open(path) as store:
        before = store.dump()
        assert before["trials"]
        removed = store.experiments.remove(1)
        assert not any(
            store.dump()[table]
            for table in ("experiments", "trials", "trial_policies", "trial_files", "parts")
        )
        assert store.dangling() == ""
        with pytest.raises(UsageError, match="unknown experiment 1"):
            store.experiments.row(1)
        store.experiments.restore(removed)
        assert store.dump() == before
        with pytest.raises(UsageError, match="experiment 1 cannot be restored"):
            store.experiments.restore(removed)
        assert store.dump() == before
