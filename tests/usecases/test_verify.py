"""What campaigns write is true, whatever they use and whatever happens."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from reference.bug_workspace import DOMAIN, InThreads
from reference.forging import forge
from reference.recording_link import RecordingLink

from engine.cli import main
from engine.errors import ExitCode
from engine.oracles.registry import ORACLES
from engine.policies.consent import Consent
from engine.records.config import CampaignConfig
from engine.records.events import StateTested
from engine.records.verification import ClaimKind, Standing, Verification
from engine.usecases.campaign import run
from engine.usecases.verify import read_given, verify
from engine.verify.stored import VerifyOptions
from engine.workers.link import NULL_LINK
from engine.workspace.workspace import Workspace

Configure = Callable[..., CampaignConfig]


@pytest.fixture(autouse=True)
def without_val(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.verify.stored.val_program", lambda: None)


@pytest.fixture
def tested(configure: Configure, tmp_path: Path) -> Callable[..., Path]:
    """The workspace of a campaign."""

    def make(more: str, problems: str = '"p2.pddl"', policies: str = '"builtin:hadd"') -> Path:
        path = tmp_path / "w.plumb"
        with Workspace.create(path) as store:
            run(configure(problems, policies, more), store, executor=InThreads(1))
        return path

    return make


def check(path: Path, **options: object) -> Verification:
    return verify(NULL_LINK, path, Consent(), VerifyOptions(**options))


def named(found: Verification) -> set[tuple[str, int | str]]:
    return {(item.claim, item.id) for item in found.failed}


@pytest.mark.parametrize("policy", ["builtin:hadd", "builtin:random"])
def test_the_findings_of_all_oracles_hold(tested: Callable[..., Path], policy: str) -> None:
    """Except for states that oracles made, which cannot be reached."""
    oracles = ", ".join(f'"{name}"' for name in ORACLES if name != "lama")
    path = tested(
        'fuzzing.size = 6\nportfolio = ["builtin:gc", "builtin:hff"]\nlocalization.enabled = true\n'
        f"testing.skip_known_bugs = false\ntesting.oracles = [{oracles}]\n",
        policies=f'"{policy}"',
    )
    found = check(path)
    assert found.bugs
    assert found.failed == ()
    assert {item.claim for item in found.undecided} <= {ClaimKind.STATES}
    assert found.verified == found.bugs


@pytest.mark.parametrize("more", ['testing.objective = "goal"', "testing.step_limit = 2"])
def test_other_settings_hold(tested: Callable[..., Path], more: str) -> None:
    path = tested(f'fuzzing.size = 8\ntesting.oracles = ["astar", "lookahead"]\n{more}\n')
    assert check(path).problems == ()


def test_an_imported_pool_holds(
    configure: Configure, tested: Callable[..., Path], tmp_path: Path
) -> None:
    from engine.fuzzing.pool_file import PoolEntry, write_pool
    from engine.task.load import load_task

    task = load_task(tmp_path / "domain.pddl", tmp_path / "p2.pddl")
    states = [task.init, tuple(size - 1 for size in task.domain_sizes), task.init]
    (tmp_path / "some.pool").write_text(write_pool(task, [PoolEntry(s) for s in states]))
    path = tested('pool = "some.pool"\ntesting.oracles = ["astar"]\n')
    assert check(path).problems == ()
    forge(path, "UPDATE pool SET state = 3 - state")
    assert ("states", "unit 1, state 0") in named(check(path))


def test_an_interrupted_campaign_holds_before_and_after_it_is_resumed(
    configure: Configure, tmp_path: Path
) -> None:
    more = 'fuzzing.size = 12\ntesting.oracles = ["bmo", "astar"]\nlocalization.enabled = true\n'
    config = configure('"p2.pddl", "p3.pddl"', '"builtin:hadd", "builtin:gc"', more)
    path, tested, stops = tmp_path / "w.plumb", list[object](), 0
    with Workspace.create(path) as store:
        for count in (3, 20, 35):
            link = RecordingLink(hear=tested.append, cancelled=partial(has_tested, tested, count))
            stops += not run(config, store, link, executor=InThreads(1), resume=True).finished
    assert stops
    assert check(path).failed == ()
    with Workspace.open(path) as store:
        assert run(config, store, executor=InThreads(1), resume=True).finished
    found = check(path)
    assert found.failed == ()
    assert {item.claim for item in found.undecided} <= {ClaimKind.STATES}


def has_tested(events: list[object], count: int) -> bool:
    return sum(isinstance(event, StateTested) for event in events) >= count


def test_one_damaged_bug_keeps_no_other_from_being_verified(tested: Callable[..., Path]) -> None:
    path = tested('fuzzing.size = 10\ntesting.oracles = ["astar"]\n')
    total = len(check(path).bugs)
    assert total > 3
    forge(path, "UPDATE evidence SET document = '{\"' WHERE finding = 1")
    forge(path, "UPDATE runs SET operators = x'03' WHERE finding = 2")
    forge(
        path, "UPDATE states SET packed = x'' WHERE id = (SELECT state FROM findings WHERE id = 3)"
    )
    found = check(path)
    assert found.verified == tuple(range(4, total + 1))
    some = check(path, bugs=(1, 4))
    assert some.verified == (4,)


def test_a_damaged_part_of_another_campaign_does_not_matter(
    configure: Configure, tested: Callable[..., Path]
) -> None:
    path = tested('fuzzing.size = 6\ntesting.oracles = ["astar"]\n')
    with Workspace.open(path) as store:
        more = 'fuzzing.size = 6\ntesting.oracles = ["lookahead"]\n'
        run(configure(more=more), store, executor=InThreads(1))
    bugs = {1: len(check(path).bugs)}
    forge(path, "UPDATE campaigns SET config = '{' WHERE id = 2")
    found = check(path)
    assert ("inputs", "campaign 2") in named(found)
    with sqlite3.connect(path) as connection:
        (bugs[2],) = connection.execute("SELECT count(*) FROM findings WHERE unit = 2").fetchone()
    assert len(found.verified) == bugs[1] - bugs[2] > 0


def test_the_files_of_the_user_are_compared(tested: Callable[..., Path], tmp_path: Path) -> None:
    path = tested('fuzzing.size = 4\ntesting.oracles = ["astar"]\n', '"p2.pddl", "p3.pddl"')
    domain, problems = str(tmp_path / "domain.pddl"), [str(tmp_path / f"p{n}.pddl") for n in (2, 3)]
    same = read_given(domain, problems, ["builtin:hadd"])
    assert check(path, given=same).problems == ()
    assert check(path, given=read_given(None, [], [])).problems == ()

    one = check(path, given=read_given(domain, problems[:1], []))
    assert one.failed == ()
    assert [(item.claim, item.id) for item in one.undecided] == [("inputs", "problem p3.pddl")]

    other = check(path, given=read_given(domain, problems, ["builtin:gc"]))
    assert [(item.claim, item.id) for item in other.undecided] == [
        ("inputs", "policy builtin:hadd")
    ]

    (tmp_path / "mine").mkdir()
    mine = tmp_path / "mine" / "p2.pddl"
    mine.write_text((tmp_path / "p2.pddl").read_text().replace("(at a)", "(at b)", 1))
    assert named(check(path, given=read_given(domain, [str(mine), problems[1]], []))) == {
        ("inputs", "problem p2.pddl")
    }
    changed = tmp_path / "mine" / "domain.pddl"
    changed.write_text(DOMAIN.replace("(total-cost) 1", "(total-cost) 2"))
    assert named(check(path, given=read_given(str(changed), problems, []))) == {
        ("inputs", "problem p2.pddl"),
        ("inputs", "problem p3.pddl"),
    }


def test_a_policy_of_the_same_name_with_other_bytes_is_another_one(
    tested: Callable[..., Path], tmp_path: Path
) -> None:
    from engine.policies.cache_file import write_policy_cache
    from engine.task.load import load_task

    task = load_task(tmp_path / "domain.pddl", tmp_path / "p2.pddl")
    policy = tmp_path / "mine.cache"
    policy.write_text(write_policy_cache([(task.init, -1)]))
    path = tested('fuzzing.size = 1\ntesting.oracles = ["astar"]\n', policies='"mine.cache"')
    assert check(path, given=read_given(None, [], [str(policy)])).problems == ()
    policy.write_text(write_policy_cache([(task.init, 0)]))
    assert named(check(path, given=read_given(None, [], [str(policy)]))) == {
        ("inputs", "policy mine.cache")
    }


def test_a_limit_of_the_searches_leaves_claims_undecided(tested: Callable[..., Path]) -> None:
    path = tested('fuzzing.size = 10\ntesting.oracles = ["astar"]\nlocalization.enabled = true\n')
    found = check(path, states=10)
    assert found.failed == ()
    kinds = {item.claim for item in found.undecided}
    assert ClaimKind.LOCALIZATIONS in kinds
    assert {item.verdict.standing for item in found.undecided} == {Standing.UNDECIDED}
    assert found.verified == found.bugs


@pytest.mark.parametrize("claims", [0, 1, 20, 40])
def test_what_was_not_checked_in_time_is_undecided(
    tested: Callable[..., Path], claims: int
) -> None:
    path = tested('fuzzing.size = 4\ntesting.oracles = ["astar"]\n')
    everything = check(path)
    link = RecordingLink()
    asked = iter(range(claims))
    link.cancelled = lambda: next(asked, None) is None  # type: ignore[method-assign]
    found = verify(link, path, Consent(), VerifyOptions(seconds=5))
    assert found.undecided
    assert not found.failed
    assert set(found.verified) < set(everything.verified)
    assert {"it was not checked within 5 s"} == {item.verdict.reason for item in found.undecided}


def test_a_command_that_has_no_time_left_says_so(tested: Callable[..., Path]) -> None:
    path = tested('fuzzing.size = 4\ntesting.oracles = ["astar"]\n')
    assert main(["verify", str(path), "--time-limit", "0.000001"]) == ExitCode.LIMIT_REACHED
