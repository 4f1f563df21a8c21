"""GNN checkpoints: values as in the formulas, groups that do not disturb each other, refusals."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.errors import PolicyError, UnsupportedError
from engine.pddl import parse_domain
from engine.pddl.model import Domain
from engine.policies.gnn import policy as gnn_policy
from engine.policies.gnn.noise import torch_normal
from engine.policies.gnn.policy import BoundGnn, GnnPolicy
from engine.policies.policy import open_policy
from engine.policies.torch_file import load_checkpoint
from engine.task.atoms import state_atoms
from engine.task.load import load_task
from engine.task.states import StateTable
from engine.task.task import Task
from tests.reference import fdr
from tests.reference import gnn as reference
from tests.reference.policy_files import gnn_contents

HIDDEN = 4
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, domain: Domain) -> Write:
    def write_checkpoint(change: Callable[[dict], object] | None = None, **options) -> Path:
        contents = gnn_contents(domain, hidden=HIDDEN, **options)
        if change is not None:
            change(contents)
        torch.save(contents, tmp_path / "net.ckpt")
        return tmp_path / "net.ckpt"

    return write_checkpoint


def expected_scores(
    bound: BoundGnn, contents: dict, task: Task, state: fdr.State
) -> list[tuple[str, float]]:
    """Candidates of one decision in order, with scores by the formulas."""
    goal = [(f"{atom[0]}_goal", *atom[1:]) for atom in goal_of(task)]
    successors = {task.operators[o].name: after for o, after in fdr.successors(task, state)}
    texts = {f"{n.split(' ')[0]}({', '.join(n.split(' ')[1:])})": n for n in successors}
    names = [texts[text] for text in sorted(texts)]
    noise = {
        name: row.tolist() for name, row in zip(bound.encoding.nodes, bound.noise, strict=True)
    }
    values = reference.values(
        contents["state_dict"],
        contents["hyper_parameters"],
        noise,
        [[*state_atoms(task, successors[name]), *goal] for name in names],
    )
    scores = [value + (0.0 if logit is None or logit > 0 else 100000.0) for value, logit in values]
    return list(zip(names, scores, strict=True))


def goal_of(task: Task) -> list[tuple[str, ...]]:
    return [atom for variable, value in task.goal if (atom := task.fact_atoms[variable][value])]


def some_states(task: Task, count: int) -> np.ndarray:
    return np.array(fdr.reachable_states(task)[::7][:count], dtype=np.int32)


@pytest.mark.parametrize("solvable", [False, True])
def test_scores_and_decisions_follow_the_formulas(write: Write, task: Task, solvable: bool) -> None:
    path = write(solvable=solvable)
    contents = torch.load(path, weights_only=True)
    bound = GnnPolicy.from_checkpoint(path, load_checkpoint(path), seed=4).bind(task)
    states = some_states(task, 6)
    scored = {state: (operators, scores) for state, operators, scores in bound.scored(states)}
    decisions = bound.decide(states)
    for number, state in enumerate(states):
        expected = expected_scores(bound, contents, task, tuple(state.tolist()))
        operators, scores = scored[number]
        assert [task.operators[o].name for o in operators] == [name for name, _ in expected]
        assert scores.tolist() == pytest.approx([score for _, score in expected], rel=1e-4)
        best = min(expected, key=lambda pair: pair[1])[0]
        assert task.operators[decisions[number]].name == best


def test_other_decisions_in_the_batch_change_nothing(
    write: Write, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    bound = open_policy(str(write())).bind(task)
    states = some_states(task, 12)
    together = bound.decide(states)
    assert together.tolist() == [int(bound.decide(states[i : i + 1])[0]) for i in range(12)]
    monkeypatch.setattr(gnn_policy, "CHUNK_MESSAGES", 1)
    assert open_policy(str(write())).bind(task).decide(states).tolist() == together.tolist()


@pytest.mark.parametrize("solvable", [False, True])
def test_a_state_is_decided_alone_as_in_batches(write: Write, task: Task, solvable: bool) -> None:
    bound = open_policy(str(write(solvable=solvable))).bind(task)
    states = np.array(fdr.reachable_states(task)[:512], dtype=np.int32)
    alone = [int(bound.decide(state[None])[0]) for state in states[::5]]
    for size in (16, 128, 512):
        parts = [bound.decide(states[i : i + size]) for i in range(0, len(states), size)]
        assert np.concatenate(parts)[::5].tolist() == alone


@pytest.mark.parametrize("size", [7, 64])
def test_near_ties_are_decided_alone(
    write: Write, task: Task, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With scores that change a lot when other states are in the batch."""
    bound, states = open_policy(str(write())).bind(task), some_states(task, 60)
    alone = [int(bound.decide(state[None])[0]) for state in states]
    gaps = [np.diff(np.sort(scores)[:2])[0] for _, _, scores in bound.scored(states)]
    change, noise, scored = float(np.median(gaps)), np.random.default_rng(0), bound.scored

    def noisy(batch: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        for state, operators, scores in scored(batch):
            shift = noise.uniform(-change, change, len(scores)) if len(batch) > 1 else 0.0
            yield state, operators, (scores + shift).astype(np.float32)

    def in_batches() -> list[int]:
        parts = [bound.decide(states[i : i + size]) for i in range(0, len(states), size)]
        decisions: list[int] = np.concatenate(parts).tolist()
        return decisions

    monkeypatch.setattr(bound, "scored", noisy)
    assert in_batches() != alone
    monkeypatch.setattr(gnn_policy, "BATCH_MARGIN", 2.01 * change)
    assert in_batches() == alone


def test_near_ties_of_large_scores_are_decided_alone(
    write: Write, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no successor is judged solvable, the last place of a score is nearly a hundredth."""
    hopeless = put("solvable_readout.post.2.bias", torch.tensor([-1e9]))
    bound = open_policy(str(write(hopeless, solvable=True))).bind(task)
    states = some_states(task, 60)
    alone = [int(bound.decide(state[None])[0]) for state in states]
    noise, scored = np.random.default_rng(0), bound.scored

    def rounded(batch: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """As when every value changes in its last place before the penalty is added."""
        for state, operators, scores in scored(batch):
            places = noise.integers(-1, 2, len(scores)) if len(batch) > 1 else 0
            assert scores.min() >= 100000
            yield state, operators, (scores + places * np.spacing(scores)).astype(np.float32)

    def in_batches() -> list[int]:
        decisions: list[int] = bound.decide(states).tolist()
        return decisions

    monkeypatch.setattr(bound, "scored", rounded)
    assert in_batches() == alone
    monkeypatch.setattr(gnn_policy, "RELATIVE_BATCH_MARGIN", 0.0)
    assert in_batches() != alone


def test_scores_that_are_no_numbers_are_an_error_of_the_policy(write: Write, task: Task) -> None:
    vast = put("model.relation_network.update.0.weight", torch.full((8, 8), 3e38))
    bound = open_policy(str(write(vast))).bind(task)
    with pytest.raises(PolicyError, match="too large to be numbers"):
        bound.decide(np.array([task.init], np.int32))


def test_relations_with_more_atoms_than_nodes(
    write: Write, task: Task, domain_path: Path, problem_path: Path
) -> None:
    """Every place linked with every other: the first layer is then applied to nodes."""
    places = ("hub", "north", "south")
    links = " ".join(f"(link {a} {b})" for a in places for b in places)
    problem_path.write_text(problem_path.read_text().replace("(link hub hub)", links))
    full = load_task(domain_path, problem_path)
    path = write()
    contents = torch.load(path, weights_only=True)
    bound = GnnPolicy.from_checkpoint(path, load_checkpoint(path)).bind(full)
    assert len([atom for atom in full.static_atoms if atom[0] == "link"]) > len(bound.noise)
    (_, _, scores) = next(iter(bound.scored(np.array([full.init], dtype=np.int32))))
    expected = expected_scores(bound, contents, full, full.init)
    assert scores.tolist() == pytest.approx([score for _, score in expected], rel=1e-4)


def test_the_seed_decides_the_noise(write: Write, task: Task) -> None:
    state = np.array([task.init], dtype=np.int32)

    def scores(seed: int) -> list[float]:
        bound = open_policy(str(write()), seed=seed).bind(task)
        return next(iter(bound.scored(state)))[2].tolist()

    assert scores(1) == scores(1)
    assert scores(1) != scores(2)


def test_the_distribution_is_the_share_of_the_others(write: Write, task: Task) -> None:
    bound = open_policy(str(write())).bind(task)
    state = np.array([task.init], dtype=np.int32)
    (_, operators, scores) = next(iter(bound.scored(state)))
    total = scores.sum(dtype=np.float64)
    weights = (total - scores) / (total - scores).sum()
    assert bound.distribution(state)[0, operators] == pytest.approx(weights)
    assert bound.distribution(state).sum() == pytest.approx(1.0)


def test_no_action_in_a_dead_end(write: Write, domain_path: Path, problem_path: Path) -> None:
    problem_path.write_text(
        """(define (problem stuck) (:domain couriers) (:objects ada - rider box - parcel
             far - place)
           (:init (at ada hub) (idle ada) (link hub far)) (:goal (at ada hub)))"""
    )
    stuck = load_task(domain_path, problem_path)
    bound = open_policy(str(write())).bind(stuck)
    table = StateTable(stuck)
    _, after = table.successors(int(table.add(stuck.init)[0]))
    assert bound.decide(table.values(after)).tolist() == [-1]


def test_what_the_checkpoint_says(write: Write, domain: Domain) -> None:
    info = open_policy(str(write(solvable=True)), domain).describe()
    assert (info.kind, info.domain) == ("gnn", None)
    assert info.details["predicates"][0] == "noted/1"
    assert info.details["solvable_head"]


def test_another_domain_does_not_fit(write: Write) -> None:
    other = parse_domain(
        """(define (domain other) (:predicates (link ?a ?b ?c) (at ?c ?p) (warm))
           (:action heat :parameters () :precondition () :effect (warm)))"""
    )
    assert open_policy(str(write())).misfits(other) == (
        "the policy does not know the predicates warm",
        "the domain lacks the predicates noted, idle, holds, lies",
        "predicate 'link' has 3 arguments, the policy expects 2",
    )


def drop(name: str) -> Callable[[dict], object]:
    return lambda contents: contents["state_dict"].pop(name)


def put(name: str, value: object) -> Callable[[dict], object]:
    return lambda contents: contents["state_dict"].update({name: value})


def setting(**values: object) -> Callable[[dict], object]:
    return lambda contents: contents["hyper_parameters"].update(values)


UPDATE = "model.relation_network.update.0.weight"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("readout.linear.weight", torch.zeros(1)), "older readout"),
        (put("value_readout.pre.0.weight", torch.zeros(1)), "value_readout"),
        (put("global_readout.weight", torch.zeros(1)), "global_readout"),
        (put(UPDATE, torch.zeros(2 * HIDDEN, 3 * HIDDEN)), "'addmax'"),
        (setting(aggregation="add"), "'add'"),
        (put(UPDATE, torch.zeros(1).expand(2**20, 2**20)), "larger than the file"),
        (put(UPDATE, torch.full((2 * HIDDEN, 2 * HIDDEN), torch.nan)), "not numbers"),
        (put(UPDATE, "weights"), "wrong size"),
        (put("extra.weight", torch.zeros(1)), "another kind of network"),
        (lambda contents: contents["state_dict"].update({7: 1}), "weights without a name"),
        (drop("readout.post.2.bias"), "missing"),
        (setting(hidden_size=0), "unusable sizes"),
        (setting(iterations=10**9), "unusable sizes"),
        (setting(hidden_size="x"), "usable settings"),
        (setting(predicates=[("p", 1)]), "goal version"),
        (setting(predicates=[("p", 99), ("p_goal", 99)]), "arity"),
        (lambda contents: contents.pop("hyper_parameters"), "not a checkpoint"),
    ],
)
def test_variants_and_damage_are_refused(
    write: Write, change: Callable[[dict], object], message: str
) -> None:
    with pytest.raises(PolicyError, match=message):
        open_policy(str(write(change)))


def test_a_goal_that_is_no_conjunction_of_atoms(
    write: Write, domain_path: Path, problem_path: Path
) -> None:
    text = problem_path.read_text().replace("(lies tin north)", "(not (idle ada))")
    problem_path.write_text(text)
    domain_path.write_text(
        domain_path.read_text().replace(":equality", ":equality :negative-preconditions")
    )
    with pytest.raises(UnsupportedError, match="conjunction of atoms"):
        open_policy(str(write())).bind(load_task(domain_path, problem_path))


def test_a_task_without_pddl_is_refused(write: Write, task: Task) -> None:
    from dataclasses import replace

    with pytest.raises(PolicyError, match="needs the PDDL files"):
        open_policy(str(write())).bind(replace(task, source=None))


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (2, 8), (7, 3), (33, 13)])
def test_the_noise_is_that_of_torch(shape: tuple[int, int]) -> None:
    for seed in (0, 7, 2**32 - 1):
        expected = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
        assert torch_normal(*shape, seed) == pytest.approx(expected.numpy(), abs=1e-6)


def test_no_torch_is_needed_to_decide(write: Write, domain_path: Path, problem_path: Path) -> None:
    command = ["run", str(write()), str(domain_path), str(problem_path)]
    program = (
        f"import sys; from engine import cli; cli.main({command!r});"
        "sys.exit('torch' in sys.modules or 'engine.policies.gnn.network' not in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, capture_output=True)
