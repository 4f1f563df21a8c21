"""Witnesses in a workspace: kept, verified, found once, deleted and put back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from reference.bug_workspace import DOMAIN, InThreads, make_workspace, problem_text
from reference.clock import Clock
from reference.forging import forge
from reference.recording_link import RecordingLink

from engine.campaign.config_reader import parse_config
from engine.campaign.patterns import PatternChange, pattern_bugs
from engine.cli import main
from engine.commands.minimize import exit_code
from engine.errors import CancelledError, ExitCode, UsageError
from engine.policies.consent import NO_CONSENT, Consent
from engine.records.localization import CauseKind
from engine.records.pattern import Attempt, Same, StoppedBy
from engine.records.verification import ClaimKind
from engine.search.forward import SearchLimits, search
from engine.search.results import SearchResult
from engine.usecases import minimize as minimizing
from engine.usecases.campaign import run, run_campaign
from engine.usecases.changes import find_changes
from engine.usecases.export import export_bundles
from engine.usecases.minimize import MinimizeOptions, Minimizing, WitnessResult, minimize
from engine.usecases.verify import verify
from engine.verify.stored import VerifyOptions
from engine.workers import link
from engine.workers.link import NULL_LINK
from engine.workspace.workspace import Workspace

CONFIG = """\
domain = "domain.pddl"
problems = ["p2.pddl"]
policies = ["builtin:hadd", "builtin:random"]
fuzzing.size = 8
testing.oracles = ["astar:expansions=2000"]
localization.enabled = true
"""


@pytest.fixture(autouse=True)
def without_val(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.verify.stored.val_program", lambda: None)


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_workspace(tmp_path_factory.mktemp("tested"), CONFIG)


@pytest.fixture(scope="module")
def done(tested: Path) -> tuple[Path, tuple[WitnessResult, ...], RecordingLink]:
    """All root causes minimized."""
    path, link = Path(shutil.copy(tested, tested.with_name("done.plumb"))), RecordingLink()
    return path, minimize(link, path, None, NO_CONSENT), link


@pytest.fixture
def workspace(done: tuple[Path, object, object], tmp_path: Path) -> Path:
    """A copy with witnesses."""
    return Path(shutil.copy(done[0], tmp_path / "w.plumb"))


def check(path: Path, **options: object) -> dict[ClaimKind, list[str]]:
    found = verify(NULL_LINK, path, NO_CONSENT, VerifyOptions(**options))  # type: ignore[arg-type]
    reasons: dict[ClaimKind, list[str]] = {}
    for item in found.problems:
        reasons.setdefault(item.claim, []).append(f"{item.text}: {item.verdict.reason}")
    return reasons


def test_every_root_cause_has_a_verified_witness_or_a_reason(
    done: tuple[Path, tuple[WitnessResult, ...], RecordingLink],
) -> None:
    path, results, link = done
    with Workspace.open(path) as store:
        causes = store.root_causes()
        assert [item.root_cause for item in results] == [cause.id for cause in causes]
        random = {cause.id for cause in causes if cause.policy == "builtin:random"}
        bugs = {row.id for row in store.bugs()}
    assert random
    assert len(random) < len(results)
    for item in results:
        if item.root_cause in random:
            assert item.attempt.stopped_by is StoppedBy.POLICY
            assert "random" in item.attempt.reason
        else:
            assert item.verified
            assert item.attempt.minimal
            assert item.witness not in bugs  # lists leave it out
            assert item.pattern is not None
    events = [event for event in link.events if isinstance(event, WitnessResult)]
    assert [event.bug for event in events] == [item.bug for item in results]
    assert any(isinstance(event, Minimizing) for event in link.events)


def test_a_witness_is_a_bug_of_its_own_and_smaller(
    done: tuple[Path, tuple[WitnessResult, ...], object],
) -> None:
    path, results, _ = done
    found = next(item for item in results if item.witness is not None)
    assert found.witness is not None
    with Workspace.open(path) as store:
        bug, origin = store.bug(found.witness), store.bug(found.bug)
        task = store.task(bug.problem_id)
        row = store.witness_of(found.witness)
        assert row is not None
        assert row.bug == found.bug
        assert bug.finding.state == task.init
        assert bug.row.campaign == origin.row.campaign
        assert bug.row.pattern == store.bug_rows([found.bug])[0].pattern == found.pattern
        counts, units = store.counts(), store.units()
        assert counts[1].bugs + counts[1].further == len(store.bugs())
        assert all("witness" not in unit.problem for unit in units)
    about = found.attempt.witness
    assert about is not None
    assert about.after.objects < about.before.objects


def test_the_bundle_of_a_witness_tells_where_it_comes_from(
    done: tuple[Path, tuple[WitnessResult, ...], object], tmp_path: Path
) -> None:
    """What was removed and what is left are together what the origin has."""
    path, results, _ = done
    found = [item for item in results if item.witness is not None]
    numbers = [item.witness for item in found if item.witness is not None]
    bundles = export_bundles(NULL_LINK, path, numbers, tmp_path)
    for bundle, item in zip(bundles, found, strict=True):
        text = (bundle.folder / "README.md").read_text()
        told = json.loads((bundle.folder / "bug.json").read_text())["witness_of"]
        about = item.attempt.witness
        assert about is not None
        assert (told["bug"], told["root_cause"]) == (item.bug, item.root_cause)
        assert told["mapping"] == dict(about.mapping)
        removed = told["removed"]["objects"]
        assert len(removed) + len(about.mapping) == about.before.objects
        problem = (bundle.folder / "problem.pddl").read_text()
        assert f"witness of bug {item.bug} " in text
        for name in removed:
            assert f"`{name}`" in text
            assert f" {name} " not in problem
        for fact in told["removed"]["facts"]:
            assert f"`{fact}`" in text
            assert fact not in problem.partition("(:goal")[0]
    origin = export_bundles(NULL_LINK, path, [found[0].bug], tmp_path)[0]
    assert "Where it comes from" not in (origin.folder / "README.md").read_text()


def test_everything_a_workspace_with_witnesses_claims_holds(workspace: Path) -> None:
    found = verify(NULL_LINK, workspace, NO_CONSENT)
    assert not found.failed, found.failed
    counts = {count.claim: count.held for count in found.counts}
    assert counts[ClaimKind.WITNESSES] > 0
    assert counts[ClaimKind.PATTERNS] > counts[ClaimKind.WITNESSES]


def test_16_a_second_run_finds_nothing_new(workspace: Path) -> None:
    with Workspace.open(workspace) as store:
        before = store.dump()
    again = minimize(NULL_LINK, workspace, None, NO_CONSENT)
    assert all(item.verified for item in again if item.witness is not None)
    with Workspace.open(workspace) as store:
        after = store.dump()
    for table in ("witnesses", "patterns", "findings", "problems", "units"):
        assert _timeless(before[table]) == _timeless(after[table])


def _timeless(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    kept = [row for row in rows if '"policy"' not in str(row.get("document", ""))]
    return [{name: value for name, value in row.items() if name != "id"} for row in kept]


def test_16_another_order_gives_the_same_witnesses(
    tested: Path, done: tuple[Path, tuple[WitnessResult, ...], object], tmp_path: Path
) -> None:
    results = done[1]
    wanted = [item for item in results if item.witness is not None][:3]
    path = Path(shutil.copy(tested, tmp_path / "w.plumb"))
    again = minimize(NULL_LINK, path, [item.bug for item in reversed(wanted)], NO_CONSENT)
    for one, other in zip(wanted, reversed(again), strict=True):
        assert one.attempt.witness == other.attempt.witness
        assert one.witness is not None
        assert other.witness is not None
        with Workspace.open(done[0]) as a, Workspace.open(path) as b:
            texts = [
                store.problem(store.bug(number).problem_id).problem.content
                for store, number in ((a, one.witness), (b, other.witness))
            ]
            rows = [a.witness_of(one.witness), b.witness_of(other.witness)]
        assert texts[0] == texts[1]
        assert rows[0] is not None
        assert rows[1] is not None
        assert rows[0].key == rows[1].key


def test_who_stops_keeps_what_was_found(tested: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(tested, tmp_path / "w.plumb"))

    class Stopping(RecordingLink):
        def emit(self, event: object) -> None:
            super().emit(event)
            if isinstance(event, WitnessResult) and event.witness is not None:
                self.stop()

    with pytest.raises(CancelledError):
        minimize(Stopping(), path, None, NO_CONSENT)
    with Workspace.open(path) as store:
        assert sum(row.finding is not None for row in store.witnesses()) == 1


def test_a_limit_of_tries_can_be_raised_later(tested: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(tested, tmp_path / "w.plumb"))
    with Workspace.open(path) as store:
        bug = next(c for c in store.root_causes() if c.policy == "builtin:hadd").smallest_bug
    (few,) = minimize(NULL_LINK, path, [bug], NO_CONSENT, MinimizeOptions(tries=2))
    assert few.attempt.stopped_by is StoppedBy.TRIES
    (more,) = minimize(NULL_LINK, path, [bug], NO_CONSENT)
    assert more.attempt.minimal
    with Workspace.open(path) as store:
        assert len(store.witnesses()) == 1
    assert not check(path)


def test_another_step_than_the_root_cause(tested: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(tested, tmp_path / "w.plumb"))
    with Workspace.open(path) as store:
        several = [
            (row.id, found.bad_steps[0])
            for row in store.bugs()
            if (found := store.localization(row.id)) is not None
            and row.policy == "builtin:hadd"
            and found.cause is not None
            and found.bad_steps
            and found.bad_steps[0] != found.cause.index
        ]
    bug, step = several[0]
    (found,) = minimize(NULL_LINK, path, [bug], NO_CONSENT, MinimizeOptions(step=step))
    assert found.verified
    assert not check(path)
    with pytest.raises(UsageError, match="not proven to be bad"):
        minimize(NULL_LINK, path, [bug], NO_CONSENT, MinimizeOptions(step=999))


@pytest.mark.parametrize("same", [Same.SCHEMA, Same.LOSS])
def test_what_is_the_same_is_kept_and_verified(
    tested: Path, done: tuple[Path, tuple[WitnessResult, ...], object], tmp_path: Path, same: Same
) -> None:
    path = Path(shutil.copy(tested, tmp_path / "w.plumb"))
    bug = next(item.bug for item in done[1] if item.witness is not None)
    (found,) = minimize(NULL_LINK, path, [bug], NO_CONSENT, MinimizeOptions(same))
    assert found.verified
    assert found.attempt.same is same


def test_the_memory_limit_is_that_of_every_search(
    tested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, seen = Path(shutil.copy(tested, tmp_path / "w.plumb")), list[int | None]()
    with Workspace.open(path) as store:
        bug = next(c for c in store.root_causes() if c.policy == "builtin:hadd").smallest_bug

    def watched(*words: Any, limits: SearchLimits, **options: Any) -> SearchResult:
        seen.append(limits.bytes)
        return search(*words, limits=limits, **options)

    monkeypatch.setattr("engine.minimize.mistake.search", watched)
    assert main(["minimize", str(path), "--bug", str(bug), "--memory-limit", "64"]) == ExitCode.DONE
    assert set(seen) == {64 * 2**20}


def test_a_witness_is_not_minimized_again(workspace: Path) -> None:
    with Workspace.open(workspace) as store:
        witness = next(row.finding for row in store.witnesses() if row.finding is not None)
    with pytest.raises(UsageError, match="is a witness already"):
        minimize(NULL_LINK, workspace, [witness], NO_CONSENT)


def test_deleted_witnesses_are_gone_and_can_be_put_back(workspace: Path) -> None:
    with Workspace.open(workspace) as store:
        before = store.dump()
        deleted = store.delete_witnesses([row.id for row in store.witnesses()])
        assert store.witnesses() == []
        assert store.patterns() == []
        assert all("witness" not in row["name"] for row in store.dump()["problems"])
        assert len(store.dump()["findings"]) == len(store.bugs())
        assert len(store.dump()["inputs"]) < len(before["inputs"])
        store.restore_witnesses(deleted)
        assert store.dump() == before
        with pytest.raises(UsageError, match="taken by others"):
            store.restore_witnesses(deleted)
    assert not check(workspace)


def test_a_campaign_may_minimize_at_its_end(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "p2.pddl").write_text(problem_text(2))
    text = CONFIG.replace(', "builtin:random"', "").replace("size = 8", "size = 3")
    config = parse_config(f"{text}minimization.enabled = true\n", tmp_path / "c.toml")
    path = tmp_path / "w.plumb"
    with Workspace.create(path):
        pass
    run_campaign(RecordingLink(), path, config, "local:1", Consent())
    with Workspace.open(path) as store:
        rows = store.witnesses()
        assert len(rows) == len(store.root_causes()) > 0
        assert all(row.finding is not None for row in rows)
        assert pattern_bugs(store, store.bugs())
    assert not check(path)


DOCUMENT = "UPDATE witnesses SET document = replace(document, ?, ?)"
CERTIFICATE = "UPDATE patterns SET certificate = replace(certificate, ?, ?)"
WITNESSES, PATTERNS = ClaimKind.WITNESSES, ClaimKind.PATTERNS
FORGERIES: list[tuple[str, tuple[str, ...], ClaimKind, str]] = [
    (CERTIFICATE, ('"fact","at"', '"fact","on"'), PATTERNS, "key"),
    ("UPDATE patterns SET family = 'detour: fly instead of walk'", (), PATTERNS, "family"),
    ("UPDATE witnesses SET pattern = NULL", (), PATTERNS, "missing"),
    (DOCUMENT, ('"loss_after":', '"loss_after":7'), WITNESSES, "too much"),
    (DOCUMENT, ('"order":["', '"order":["x'), PATTERNS, "order"),
    (DOCUMENT, ('"mapping":[["', '"mapping":[["x'), WITNESSES, "not an object of its origin"),
    ("UPDATE witnesses SET document = '{}'", (), WITNESSES, "damaged"),
    ("UPDATE problems SET origin = NULL", (), WITNESSES, "has no origin"),
    ("DELETE FROM witnesses", (), WITNESSES, "belongs to neither a campaign"),
    (
        "UPDATE witnesses SET root_cause = (SELECT max(id) FROM root_causes)",
        (),
        WITNESSES,
        "root cause",
    ),
]


@pytest.mark.parametrize(("statement", "words", "claim", "reason"), FORGERIES)
def test_23_what_does_not_fit_is_noticed(
    workspace: Path, statement: str, words: tuple[str, ...], claim: ClaimKind, reason: str
) -> None:
    forge(workspace, statement, words)
    found = check(workspace)
    assert any(reason in text for text in found.get(claim, [])), found


def test_23_a_witness_with_another_problem_is_noticed(workspace: Path) -> None:
    """Two witnesses change places: neither fits its record."""
    with Workspace.open(workspace) as store:
        a, b = [row for row in store.witnesses() if row.finding is not None][:2]
    forge(workspace, "UPDATE witnesses SET finding = NULL WHERE id = ?", (a.id,))
    forge(workspace, "UPDATE witnesses SET finding = ? WHERE id = ?", (a.finding, b.id))
    forge(workspace, "UPDATE witnesses SET finding = ? WHERE id = ?", (b.finding, a.id))
    assert check(workspace).get(ClaimKind.WITNESSES)


def test_23_two_patterns_that_are_the_same_are_noticed(workspace: Path) -> None:
    """The same witness under another numbering of its objects."""
    from msgspec.structs import replace

    with Workspace.open(workspace) as store:
        pattern, row = store.patterns()[0], store.witnesses()[0]
        one = pattern.certificate
    size = len(one.colors)
    other = replace(
        one,
        colors=tuple(reversed(one.colors)),
        tuples=tuple(
            sorted((mark, label, tuple(size - 1 - n for n in ns)) for mark, label, ns in one.tuples)
        ),
    )
    assert other.key != one.key
    forge(
        workspace,
        "INSERT INTO patterns (key, certificate, family) VALUES (?, ?, ?)",
        (other.key, other.text, pattern.family),
    )
    found = check(workspace, bugs=(row.finding,))
    assert any("the same up to renaming" in text for text in found[ClaimKind.PATTERNS])


def test_23_a_policy_file_that_is_gone_is_a_reason(tested: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(tested, tmp_path / "w.plumb"))
    gone = str(tmp_path / "gone.pt")
    forge(path, "UPDATE policies SET spec = ?", (gone,))
    results = minimize(NULL_LINK, path, None, NO_CONSENT)
    assert {item.attempt.stopped_by for item in results} == {StoppedBy.POLICY}
    assert "not in the workspace" in results[0].attempt.reason


def test_the_command_and_its_document(tested: Path, tmp_path: Path, capsys) -> None:
    path = Path(shutil.copy(tested, tmp_path / "w.plumb"))
    with Workspace.open(path) as store:
        causes = {cause.policy: cause.smallest_bug for cause in store.root_causes()}
    good, bad = causes["builtin:hadd"], causes["builtin:random"]
    assert main(["minimize", str(path), "--bug", str(good), "--json"]) == ExitCode.DONE
    document = json.loads(capsys.readouterr().out)
    (witness,) = document["witnesses"]
    assert witness["bug"] == good
    assert witness["verified"]
    assert witness["minimal"]
    assert witness["stopped_by"] is None
    assert witness["objects"][1] <= witness["objects"][0]
    assert [pattern["id"] for pattern in document["patterns"]] == [witness["pattern"]]
    assert document["patterns"][0]["witnesses"] == [witness["id"]]
    assert main(["minimize", str(path), "--bug", str(bad)]) == ExitCode.ANSWER_IS_NO
    assert "no witness" in capsys.readouterr().out
    assert main(["bugs", str(path), "--group", "pattern"]) == ExitCode.DONE
    text = capsys.readouterr().out
    assert "instead of" in text
    assert "1 pattern, 1 family" in text
    assert ": No witness: builtin:random depends on the numbers of facts" in text
    assert main(["bugs", str(path), "--json"]) == ExitCode.DONE
    listed = json.loads(capsys.readouterr().out)
    assert listed["patterns"][0]["witness"] == witness["id"]
    assert {bug["id"] for bug in listed["bugs"] if bug["pattern"]} >= {good}
    assert main(["export", str(path), "--bug", str(witness["id"]), "--out", str(tmp_path)]) == 0
    assert (tmp_path / f"bug-{witness['id']}" / "problem.pddl").exists()


def test_patterns_between_two_campaigns(workspace: Path, tmp_path: Path) -> None:
    """The same policy with another seed: what one campaign does not find is not gone."""
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "p2.pddl").write_text(problem_text(2))
    text = CONFIG.replace("size = 8", "size = 6").replace(', "builtin:random"', "")
    config = parse_config(f"seeds = [5]\n{text}", tmp_path / "c.toml")
    with Workspace.open(workspace) as store:
        run(config, store, executor=InThreads(1))
        known = {row.root_cause for row in store.witnesses()}
        new = [cause for cause in store.root_causes(2) if cause.id not in known]
    changes = find_changes(NULL_LINK, workspace).patterns
    assert changes
    if new:
        allowed = {PatternChange.STILL, PatternChange.NOT_EXAMINED}
        assert {item.change for item in changes} <= allowed
    minimize(NULL_LINK, workspace, None, NO_CONSENT)
    after = {item.id: item.change for item in find_changes(NULL_LINK, workspace).patterns}
    with Workspace.open(workspace) as store:
        counts = [{row.pattern for row in store.bugs(number)} - {None} for number in (1, 2)]
    assert counts[0] != counts[1]
    expected = dict.fromkeys(counts[0] ^ counts[1], PatternChange.NOT_EXAMINED)
    expected |= dict.fromkeys(counts[0] & counts[1], PatternChange.STILL)
    assert after == expected


def test_patterns_of_another_policy_are_new_or_gone(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(DOMAIN)
    (tmp_path / "p2.pddl").write_text(problem_text(2))
    text = CONFIG.replace(', "builtin:random"', "").replace("builtin:hadd", "builtin:gc")
    with Workspace.open(workspace) as store:
        run(parse_config(text, tmp_path / "c.toml"), store, executor=InThreads(1))
    minimize(NULL_LINK, workspace, None, NO_CONSENT)
    changes = {item.id: item.change for item in find_changes(NULL_LINK, workspace).patterns}
    with Workspace.open(workspace) as store:
        first, second = ({row.pattern for row in store.bugs(n)} - {None} for n in (1, 2))
        examined = all(row.root_cause is not None for row in store.bugs(2))
    expected = dict.fromkeys(first - second, PatternChange.GONE)
    assert examined
    assert first - second
    assert {number: changes[number] for number in first - second} == expected


def test_what_a_limit_left_is_no_reason_to_call_a_pattern_gone(
    tested: Path, tmp_path: Path
) -> None:
    """The bugs of the second campaign may show the same mistakes, which is not known."""
    path = Path(shutil.copy(tested, tmp_path / "w.plumb"))
    with Workspace.open(path) as store:
        config = replace(store.campaign(1).config, seeds=(5,), policies=("builtin:gc",))
        files = tuple(str(tested.parent / name) for name in ("domain.pddl", "p3.pddl"))
        config = replace(config, domain=files[0], problems=files[1:])
        run(config, store, executor=InThreads(1))
    minimize(NULL_LINK, path, None, NO_CONSENT, MinimizeOptions(campaign=1))
    few = MinimizeOptions(campaign=2, tries=1)
    results = minimize(NULL_LINK, path, None, NO_CONSENT, few)
    assert not any(item.attempt.minimal for item in results)
    changes = find_changes(NULL_LINK, path).patterns
    assert changes
    assert PatternChange.GONE not in {item.change for item in changes}


def test_the_report_has_the_patterns_with_their_pictures(workspace: Path, tmp_path: Path) -> None:
    page, data = tmp_path / "r.html", tmp_path / "r.json"
    for path in (page, data):
        assert main(["report", str(workspace), "--out", str(path)]) == ExitCode.DONE
    text = page.read_text()
    assert "<h2>Patterns</h2>" in text
    assert "No witness: builtin:random depends on the numbers of facts" in text
    assert "instead of" in text
    assert "<svg" in text
    assert json.loads(data.read_text())["patterns"][0]["bugs"]


def test_the_time_limit_counts_while_bugs_are_localized(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = CONFIG.replace("localization.enabled = true\n", "")
    path = make_workspace(tmp_path, config)
    with Workspace.open(path) as store:
        bug = store.bugs()[0].id
    words = ["minimize", str(path), "--bug", str(bug), "--time-limit", "0.000001", "--json"]
    assert main(words) == ExitCode.LIMIT_REACHED
    (short,) = json.loads(capsys.readouterr().out)["witnesses"]
    assert (short["id"], short["stopped_by"]) == (None, "time")
    with Workspace.open(path) as store:
        found = store.localization(bug)
        assert found is not None
        assert found.limited
    (whole,) = minimize(NULL_LINK, path, [bug], NO_CONSENT, MinimizeOptions(total_seconds=600.0))
    assert whole.witness is not None


@pytest.mark.parametrize(
    ("witness", "stopped_by", "refuted", "code"),
    [
        (7, None, False, ExitCode.LIMIT_REACHED),  # it could not be verified in time
        (7, None, True, ExitCode.ANSWER_IS_NO),
        (None, StoppedBy.TIME, False, ExitCode.LIMIT_REACHED),
        (None, StoppedBy.REBINDING, False, ExitCode.ANSWER_IS_NO),
    ],
)
def test_a_limit_is_no_answer(
    witness: int | None, stopped_by: StoppedBy | None, refuted: bool, code: ExitCode
) -> None:
    attempt = Attempt(Same.ACTION, None, False, stopped_by, 1, 0.5)
    good = WitnessResult(1, 1, 6, CauseKind.DETOUR, attempt, verified=True)
    other = WitnessResult(2, 2, witness, CauseKind.DETOUR, attempt, refuted=refuted)
    assert exit_code([good]) == ExitCode.DONE
    assert exit_code([good, other]) == code


@pytest.mark.parametrize("moment", ["verifying", "states: bug", "witnesses: bug"])
def test_the_time_limit_counts_while_witnesses_are_verified(
    tested: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """A witness that there was no time to verify is kept, and verified the next time.

    That it is a bug is checked first, then that it shows the same mistake, then its pattern.
    """
    path = Path(shutil.copy(tested, tmp_path / "w.plumb"))
    with Workspace.open(path) as store:
        bug = next(c for c in store.root_causes() if c.policy == "builtin:hadd").smallest_bug
    clock = Clock()

    class Late(RecordingLink):
        def progress(self, done: float, total: float | None = None, text: str = "") -> None:
            clock.now += 100 * text.startswith(moment)

    with monkeypatch.context() as patch:
        for module in (link, minimizing):
            patch.setattr(module, "time", clock)
        (found,) = minimize(Late(), path, [bug], NO_CONSENT, MinimizeOptions(total_seconds=50.0))
    assert found.attempt.minimal
    assert found.witness is not None
    assert not found.verified
    (again,) = minimize(NULL_LINK, path, [bug], NO_CONSENT)
    assert again.witness == found.witness
    assert again.verified
