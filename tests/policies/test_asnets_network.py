"""Grounding and network agree with loops over single numbers, on random domains and weights."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.amount import amount

from engine.errors import UnsupportedError
from engine.pddl import parse_domain, parse_problem
from engine.pddl.model import Domain, Problem
from engine.policies.asnets import reachability
from engine.policies.asnets.compiled import CompiledNetwork
from engine.policies.asnets.grounding import Grounding, ground
from engine.policies.asnets.network import Asnets
from engine.policies.asnets.relatedness import relate
from engine.policies.asnets.tensors import TensorWiring
from engine.policies.asnets.wiring import Wiring
from engine.task.task import Task, Variable
from tests.reference import asnets as reference
from tests.reference.random_domains import domains, problems


def weights_of(network: Asnets) -> reference.Weights:
    weights: dict = {}
    for name, parameter in network.named_parameters():
        part, layer, index, role = name.split(".")
        relatedness = network.relatedness
        if part == "action":
            key = ("action", int(layer), relatedness.schemas[int(index)].name)
        else:
            key = ("predicate", int(layer), relatedness.predicates[int(index)])
        matrix, bias = weights.get(key, (None, None))
        values = parameter.tolist()
        weights[key] = (values, bias) if role == "weight" else (matrix, values)
    return weights


def random_network(domain: Domain, layers: int, seed: int) -> Asnets:
    network = Asnets(relate(domain), hidden=3, layers=layers).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return network


def task_of_facts(grounding: Grounding) -> Task:
    """Every fact is a variable of its own."""
    variables = tuple(
        Variable(f"var{i}", ("<none of those>", f"Atom {fact[0]}({', '.join(fact[1:])})"), -1)
        for i, fact in enumerate(grounding.facts)
    )
    return Task(variables, (), (0,) * len(variables), ())


def compare(domain: Domain, problem: Problem, layers: int, seed: int, states: int) -> None:
    grounding = ground(relate(domain), domain, problem)
    expected = reference.ground(domain, problem)
    assert list(grounding.operators) == [operator.name for operator in expected.operators]
    assert set(grounding.facts) == expected.facts
    assert {f for f, wanted in zip(grounding.facts, grounding.goal, strict=True) if wanted} == (
        expected.goal
    )
    if not expected.operators:
        return
    network = random_network(domain, layers, seed)
    wiring = Wiring(grounding)
    drawn = np.random.default_rng(seed).random((len(grounding.facts), states)) < 0.5
    truth = torch.from_numpy(drawn[wiring.facts]).double()
    with torch.inference_mode():
        tensors = TensorWiring(wiring, torch.float64)
        logits, applicable = network(tensors, network.arrange(), truth)
    kernel = CompiledNetwork(grounding, task_of_facts(grounding), 3, layers).with_weights(
        network.modules_by_part()
    )
    close, same = kernel.logits(drawn.T.astype(np.int32))
    assert np.array_equal(same.T, applicable)
    np.testing.assert_allclose(close.T, logits, rtol=1e-4, atol=1e-4)
    weights = weights_of(network)
    for column in range(states):
        state = frozenset(
            f for f, held in zip(grounding.facts, drawn[:, column], strict=True) if held
        )
        wanted = reference.logits(domain, expected, weights, state, layers=layers, hidden=3)
        assert logits[:, column].tolist() == pytest.approx(list(wanted.values()), abs=1e-9)
        assert applicable[:, column].tolist() == [
            operator.is_applicable(state) for operator in expected.operators
        ]


@settings(max_examples=amount(35, 12))
@given(st.data())
def test_random_domains(data: st.DataObject) -> None:
    domain = data.draw(domains())
    problem = data.draw(problems(domain))
    compare(domain, problem, data.draw(st.integers(1, 3)), data.draw(st.integers(0, 99)), states=3)


def test_the_small_domain(domain: Domain, problem: Problem) -> None:
    compare(domain, problem, layers=2, seed=5, states=4)


def test_an_atom_that_is_no_fact_counts_as_minus_one() -> None:
    domain = parse_domain(
        """(define (domain d) (:predicates (here ?x) (never ?x) (done ?x))
           (:action act :parameters (?x) :precondition (here ?x)
             :effect (and (done ?x) (not (never ?x)))))"""
    )
    problem = parse_problem(
        """(define (problem p) (:domain d) (:objects a b)
           (:init (here a) (here b)) (:goal (done a)))""",
        domain,
    )
    assert (ground(relate(domain), domain, problem).related[0][:, 2] == -1).all()
    compare(domain, problem, layers=2, seed=3, states=2)


def test_pruning_by_pairs_and_merging_of_equal_operators() -> None:
    """Standing on one stone at a time: `jump` needs two, `step` has an idle parameter.

    What is deleted is not compared: `jump a b` and `jump b a` count as equal.
    """
    domain = parse_domain(
        """(define (domain stones) (:predicates (on ?s) (dry ?s))
           (:action step :parameters (?from ?to ?why) :precondition (and (on ?from) (dry ?to))
             :effect (and (on ?to) (not (on ?from))))
           (:action jump :parameters (?a ?b)
             :precondition (and (on ?a) (on ?b) (not (= ?a ?b))) :effect (not (dry ?a))))"""
    )
    problem = parse_problem(
        """(define (problem p) (:domain stones) (:objects a b)
           (:init (on a) (dry a) (dry b)) (:goal (on b)))""",
        domain,
    )
    grounding = ground(relate(domain), domain, problem)
    assert grounding.operators == ("step a b a", "step b a a")
    assert (grounding.reachable_operators, grounding.pruned_operators) == (6, 1)


def test_batches_do_not_change_logits(domain: Domain, problem: Problem) -> None:
    grounding = ground(relate(domain), domain, problem)
    network, wiring = random_network(domain, 2, 1).float(), TensorWiring(Wiring(grounding))
    drawn = np.random.default_rng(1).random((len(Wiring(grounding).facts), 40)) < 0.5
    truth = torch.from_numpy(drawn).float()
    with torch.inference_mode():
        arrangement = network.arrange()
        together, _ = network(wiring, arrangement, truth)
        alone = [network(wiring, arrangement, truth[:, i : i + 1])[0] for i in range(40)]
    torch.testing.assert_close(together, torch.cat(alone, dim=1), atol=1e-4, rtol=1e-5)


def test_the_network_can_be_trained(domain: Domain, problem: Problem) -> None:
    grounding = ground(relate(domain), domain, problem)
    network, wiring = random_network(domain, 2, 1), Wiring(grounding)
    truth = torch.ones((len(wiring.facts), 2), dtype=torch.float64)
    logits, _ = network(TensorWiring(wiring, torch.float64), network.arrange(), truth)
    logits.square().sum().backward()
    assert all(parameter.grad is not None for parameter in network.parameters())
    assert any(parameter.grad.abs().sum() > 0 for parameter in network.parameters())


def test_a_task_that_is_too_large_is_refused(
    domain: Domain, problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reachability, "MAX_BINDINGS", 3)
    with pytest.raises(UnsupportedError, match="more than 3 bindings"):
        ground(relate(domain), domain, problem)


def test_a_goal_with_a_negation_is_refused(domain: Domain) -> None:
    text = """(define (problem p) (:domain couriers) (:objects a - rider)
              (:init (idle a)) (:goal (not (idle a))))"""
    with pytest.raises(UnsupportedError, match="conjunction of atoms"):
        ground(relate(domain), domain, parse_problem(text, domain))
