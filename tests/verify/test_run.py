"""Whether a policy takes its runs: who is asked, who is not, and what a difference means."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from reference.bug_workspace import InThreads
from reference.forging import forge

from engine.policies.consent import Consent, consent_name
from engine.records.config import CampaignConfig
from engine.records.project import Project
from engine.records.verification import ClaimKind, PolicyAnswer, PolicyReply, Standing, Verification
from engine.usecases.campaign import run
from engine.usecases.verify import FINDERS
from engine.verify.stored import Verifier
from engine.workspace.workspace import Workspace

Configure = Callable[..., CampaignConfig]

PLUGIN = """\
import pathlib
class Ranked:
    def __init__(self, task):
        self.task = task
        place = pathlib.Path(__file__).parent / "rank.txt"
        self.rank = int(place.read_text())
    def decide(self, states):
        return [self.one(state) for state in states]
    def one(self, state):
        if self.rank == 99:
            raise ValueError("out of order")
        able = [n for n, op in enumerate(self.task.operators)
                if all(state[v] == x for v, x in op.precondition)]
        unable = [n for n in range(len(self.task.operators)) if n not in able]
        return unable[0] if self.rank < 0 else able[self.rank % len(able)]
def make(task): return Ranked(task)
"""


@pytest.fixture(autouse=True)
def without_val(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second opinion about plans is not what this is about."""
    monkeypatch.setattr("engine.verify.stored.val_program", lambda: None)


@pytest.fixture
def tested(configure: Configure, tmp_path: Path) -> Iterator[Callable[[str], Workspace]]:
    """The workspace of a campaign with some policies."""
    opened: list[Workspace] = []

    def make(policies: str, problems: str = '"p2.pddl"') -> Workspace:
        store = Workspace.create(tmp_path / f"{len(opened)}.plumb")
        opened.append(store)
        more = 'fuzzing.size = 6\ntesting.oracles = ["astar"]\n'
        run(configure(problems, policies, more), store, executor=InThreads(1))
        assert store.bugs()
        return store

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def plugin(folder: Path) -> Path:
    path = folder / "ranked.py"
    path.write_text(PLUGIN)
    (folder / "rank.txt").write_text("0")
    return path


def verified(store: Workspace, consent: Consent) -> Verification:
    verifier = Verifier(store, FINDERS, consent=consent)
    for _ in verifier.claims():
        pass
    return verifier.result()


def replies(store: Workspace, trust_policies: bool = False) -> list[PolicyReply]:
    """What policies say about bugs, whose evidence holds anyway."""
    found = verified(store, Consent(to_all=trust_policies))
    assert [reply.bug for reply in found.replies] == list(found.bugs)
    assert {item.claim for item in found.undecided} <= {ClaimKind.RUNS, ClaimKind.STATES}
    return list(found.replies)


def test_policies_that_are_functions_take_the_same_runs(tested: Callable[..., Workspace]) -> None:
    store = tested('"builtin:hadd", "builtin:random", "builtin:gc"', '"p2.pddl", "p3.pddl"')
    said = replies(store)
    assert len(said) == len(store.bugs())
    assert {reply.answer for reply in said} == {PolicyAnswer.SAME}


def test_a_network_is_asked_as_the_workspace_keeps_it(
    configure: Configure, tested: Callable[..., Workspace], folder: Path
) -> None:
    example = Path(__file__).parents[2] / "resources/examples/ferry"
    policy = folder / "policy.pt"
    policy.write_bytes((example / "policies/policy.pt").read_bytes())
    (folder / "domain.pddl").write_bytes((example / "domain.pddl").read_bytes())
    (folder / "p2.pddl").write_bytes((example / "problems/p04.pddl").read_bytes())
    store = tested('"policy.pt"')
    policy.unlink()
    assert {reply.answer for reply in replies(store)} == {PolicyAnswer.SAME}


def test_a_program_is_asked_only_with_consent(
    tested: Callable[..., Workspace], plugin: Path
) -> None:
    store = tested(f'"{plugin}:make"')
    said = replies(store)
    assert {reply.answer for reply in said} == {PolicyAnswer.NOT_ASKED}
    assert "is not trusted" in said[0].reason
    assert {reply.answer for reply in replies(store, trust_policies=True)} == {PolicyAnswer.SAME}
    agreed = Consent(frozenset([consent_name(f"{plugin}:make")]))
    found = verified(store, agreed)
    assert {reply.answer for reply in found.replies} == {PolicyAnswer.SAME}
    assert found.problems == ()


def test_another_program_is_not_asked(tested: Callable[..., Workspace], plugin: Path) -> None:
    store = tested(f'"{plugin}:make"')
    plugin.write_text(PLUGIN + "# better\n")
    said = replies(store, trust_policies=True)
    assert {reply.answer for reply in said} == {PolicyAnswer.NOT_ASKED}
    assert said[0].reason == f"the policy was not asked: {plugin} has changed since"
    plugin.unlink()
    assert "the file does not exist" in replies(store, trust_policies=True)[0].reason


def test_a_policy_that_decides_otherwise_does_not_unmake_its_bugs(
    tested: Callable[..., Workspace], plugin: Path, folder: Path
) -> None:
    """The file is the same, but not what it reads."""
    store = tested(f'"{plugin}:make"')
    (folder / "rank.txt").write_text("1")
    said = replies(store, trust_policies=True)
    other = [reply for reply in said if reply.answer is PolicyAnswer.OTHER]
    assert other
    assert "instead of (" in other[0].reason
    assert other[0].reason.startswith("the policy now runs differently: in step ")
    found = verified(store, Consent(to_all=True))
    assert found.failed == ()
    assert {item.claim for item in found.undecided} == {ClaimKind.RUNS}


@pytest.mark.parametrize(("rank", "words"), [("99", "out of order"), ("nonsense", "invalid")])
def test_a_policy_that_fails_says_nothing(
    tested: Callable[..., Workspace], plugin: Path, folder: Path, rank: str, words: str
) -> None:
    store = tested(f'"{plugin}:make"')
    (folder / "rank.txt").write_text(rank)
    said = replies(store, trust_policies=True)
    assert {reply.answer for reply in said} == {PolicyAnswer.NOT_ASKED}
    assert words in said[0].reason


def test_that_an_answer_was_not_applicable_can_be_asked_for(
    tested: Callable[..., Workspace], plugin: Path, folder: Path
) -> None:
    (folder / "rank.txt").write_text("-1")
    store = tested(f'"{plugin}:make"')
    assert {store.bug(row.id).finding.run.reason for row in store.bugs()} == {"inapplicable"}
    assert {reply.answer for reply in replies(store, trust_policies=True)} == {PolicyAnswer.SAME}
    (folder / "rank.txt").write_text("0")
    said = replies(store, trust_policies=True)
    assert {reply.answer for reply in said} == {PolicyAnswer.OTHER}
    assert "instead of an inapplicable action" in said[0].reason


def test_an_address_is_not_called_unasked(tested: Callable[..., Workspace]) -> None:
    store = tested('"builtin:gc"')
    forge(store.path, "UPDATE policies SET spec = 'grpc://127.0.0.1:1'")
    said = replies(store)
    assert {reply.answer for reply in said} == {PolicyAnswer.NOT_ASKED}
    assert "is not trusted" in said[0].reason
    store.set_project(Project(policies=("grpc://127.0.0.1:1",)))  # it says so itself
    assert "is not trusted" in replies(store)[0].reason
    assert "is not trusted" not in replies(store, trust_policies=True)[0].reason


def test_a_long_run_is_asked_in_parts(
    tested: Callable[..., Workspace], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.verify.run.AT_ONCE", 2)
    store = tested('"builtin:hadd"')
    assert any(len(store.bug(row.id).finding.run.operators) > 2 for row in store.bugs())
    assert {reply.answer for reply in replies(store)} == {PolicyAnswer.SAME}


def test_a_policy_in_the_workspace_that_takes_another_run_makes_it_false(
    tested: Callable[..., Workspace],
) -> None:
    store = tested('"builtin:hadd"')
    forge(store.path, "UPDATE policies SET spec = 'builtin:random'")
    said = replies(store)
    assert PolicyAnswer.OTHER in {reply.answer for reply in said}
    found = verified(store, Consent())
    wrong = {item.id: item for item in found.failed if item.claim is ClaimKind.RUNS}
    for reply in said:
        is_other = reply.answer is PolicyAnswer.OTHER
        assert (reply.bug in wrong) == is_other
        if is_other:
            assert wrong[reply.bug].verdict.standing is Standing.FALSE
            assert "the policy runs differently: in step" in wrong[reply.bug].verdict.reason
