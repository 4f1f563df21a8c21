"""Answers of experiments are checked again, and forged ones are noticed."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from reference.bug_workspace import DOMAIN, InThreads, problem_text
from reference.recording_link import RecordingLink

from engine.experiments.config_reader import preset_experiment
from engine.policies.consent import Consent
from engine.records.experiment import ActionResult, RunResult, Suite
from engine.records.localization import StepVerdict
from engine.records.verification import ClaimKind, Standing
from engine.task.load import load_task
from engine.usecases import experiment
from engine.usecases.experiment import run_experiment
from engine.usecases.verify import FINDERS, read_given
from engine.verify.cost_to_go import CostToGo
from engine.verify.stored import Verifier, VerifyOptions
from engine.verify.trials import check_actions, check_runs
from engine.workspace.workspace import Workspace


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "p2.pddl").write_text(problem_text(2))
    return Suite(
        "carter",
        str(tmp_path / "domain.pddl"),
        (str(tmp_path / "p2.pddl"),),
        ("builtin:optimal",),
        ("builtin:gc",),
    )


def results(
    preset: str, suite: Suite, path: Path, monkeypatch: pytest.MonkeyPatch
) -> list[RunResult | ActionResult]:
    monkeypatch.setattr(experiment, "make_executor", lambda _: InThreads(2))
    config = replace(preset_experiment(preset, [suite], scale=200), oracles=())
    config = replace(config, testing=replace(config.testing, oracles=()))
    with Workspace.create(path):
        pass
    end = run_experiment(RecordingLink(), path, config, "local:1", Consent(to_all=True))
    with Workspace.open(path) as store:
        rows = store.experiments.trials(end.experiment)
        return [row.result for row in rows if isinstance(row.result, RunResult | ActionResult)]


def test_a_workspace_with_trials_is_verified(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.plumb"
    found = results("eisenhut-2025", suite, path, monkeypatch)
    with Workspace.open(path) as store:
        verifier = Verifier(store, FINDERS)
        list(verifier.claims())
        counts = {item.claim: item for item in verifier.result().counts}
    assert counts[ClaimKind.TRIALS].held == len(found) == 4
    assert counts[ClaimKind.TRIALS].false == 0


def test_trials_are_compared_with_files_of_the_user(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.plumb"
    results("sievers-2026", suite, path, monkeypatch)
    other = tmp_path / "other"
    other.mkdir()
    (other / "domain.pddl").write_text(DOMAIN + "; changed")
    (other / "p2.pddl").write_text(problem_text(1))
    mine, theirs = ([str(at / "domain.pddl"), str(at / "p2.pddl")] for at in (tmp_path, other))
    for (domain, problem), policy, standing in (
        (mine, "builtin:optimal", None),
        (mine, "builtin:hff", Standing.UNDECIDED),
        ((theirs[0], mine[1]), "builtin:optimal", Standing.FALSE),
        ((mine[0], theirs[1]), "builtin:optimal", Standing.FALSE),
    ):
        options = VerifyOptions(given=read_given(domain, [problem], [policy]))
        with Workspace.open(path) as store:
            verifier = Verifier(store, FINDERS, options)
            list(verifier.claims())
            found = [item.verdict.standing for item in verifier.result().problems]
        assert found == ([] if standing is None else [standing])


def test_forged_verdicts_about_actions_are_noticed(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert suite.domain is not None
    task = load_task(suite.domain, suite.problems[0])
    turned = {
        StepVerdict.OPTIMAL: StepVerdict.NOT_OPTIMAL,
        StepVerdict.NOT_OPTIMAL: StepVerdict.OPTIMAL,
    }
    for result in results("eisenhut-2025", suite, tmp_path / "w.plumb", monkeypatch):
        assert isinstance(result, ActionResult)
        assert check_actions(result, task, CostToGo(task)).standing is Standing.HOLDS
        decided = [item for item in result.answers if item.verdict in turned]
        for item in decided:
            forged = replace(result, answers=(replace(item, verdict=turned[item.verdict]),))
            assert check_actions(forged, task, CostToGo(task)).standing is Standing.FALSE
        if result.search is not None:
            for difference in (-1, 1):
                other = replace(result.search, cost=(result.search.cost or 0) + difference)
                forged = replace(result, search=other, answers=())
                assert check_actions(forged, task, CostToGo(task)).standing is Standing.FALSE
                # A limit of the verifier's own search is no proof.
                undecided = check_actions(forged, task, CostToGo(task, 10)).standing
                assert undecided is Standing.UNDECIDED


def test_forged_plans_are_noticed(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert suite.domain is not None
    task = load_task(suite.domain, suite.problems[0])
    (result,) = results("sievers-2026", suite, tmp_path / "w.plumb", monkeypatch)
    assert isinstance(result, RunResult)
    assert check_runs(result, task).standing is Standing.HOLDS
    run = result.runs[0]
    assert run.cost is not None
    for forged in (
        replace(run, cost=run.cost - 1),
        replace(run, plan=run.plan[:-1]),
        replace(run, plan=(run.plan[-1], *run.plan[:-1])),
    ):
        assert check_runs(RunResult((forged,)), task).standing is Standing.FALSE
