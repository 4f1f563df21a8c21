"""Every verdict agrees with brute force; and brute force notices when the prover is broken."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest
from reference.amount import amount
from reference.equivalence import Maker, brute_force, most_parameters, renamed

from engine.equivalence import Parameters, compare_domains, grounding, instances
from engine.equivalence import ground_cover as cover
from engine.equivalence.ground_cover import Case, Gap
from engine.pddl.model import Domain
from engine.records.comparison import EquivalenceVerdict


def verdicts(first: Domain, second: Domain):
    """Pairs of the prover's answer and the truth; undecided readings are left out."""
    objects = most_parameters(first, second)
    for reading in compare_domains(first, second).readings:
        if reading.verdict is not EquivalenceVerdict.UNDECIDED:
            distinct = reading.parameters is Parameters.DISTINCT
            truth = brute_force(first, second, distinct, objects)
            yield reading.verdict is EquivalenceVerdict.EQUIVALENT, truth


def test_verdicts_agree_with_brute_force() -> None:
    counts: Counter[tuple[bool, bool]] = Counter()
    for seed in range(amount(80, 20)):
        pair = Maker(random.Random(f"agree {seed}")).pair()
        for answer, truth in verdicts(*pair):
            assert answer == truth, f"seed {seed}"
            counts[answer, truth] += 1
    assert counts[True, True] > amount(50, 10)
    assert counts[False, False] > amount(30, 5)


def test_brute_force_itself(blocks, domain) -> None:
    """The judge on cases whose answer is known."""
    other = renamed(blocks, random.Random(1))
    assert brute_force(blocks, other, distinct=True, objects=2)
    fewer = replace(other, actions=other.actions[:3])
    assert not brute_force(blocks, fewer, distinct=True, objects=2)
    plain, needy = domain("(p)", ("a", "", "", "(p)")), domain("(p)", ("a", "?x", "", "(p)"))
    assert not brute_force(plain, needy, distinct=False, objects=1)


def caught_at(seeds: int) -> int | None:
    """The first pair on which a broken prover is wrong, or refuted by its own assertions."""
    for seed in range(seeds):
        pair = Maker(random.Random(f"broken {seed}")).pair()
        try:
            if any(answer != truth for answer, truth in verdicts(*pair)):
                return seed
        except AssertionError:
            return seed
    return None


def no_case_split(target, rules, budget, bound=None):
    return Gap(target.pre)


def one_state_is_enough(target, rules, budget, bound=None):
    plan = cover.find_plan(rules, target.pre, target.pre - target.delete | target.add, budget)
    return Gap(target.pre) if plan is None else (Case(frozenset(), frozenset(), ()),)


def delete_wins(schema, arguments):
    change = GROUND_CHANGE(schema, arguments)
    deleted = frozenset(instances.ground_atom(atom, arguments) for atom in schema.delete)
    return replace(change, add=change.add - deleted, delete=deleted - change.npre)


def no_negative_tests(schema, arguments):
    return replace(GROUND_CHANGE(schema, arguments), npre=frozenset())


def no_equality_tests(schema, arguments):
    return True


GROUND_CHANGE = instances.ground_change


@pytest.mark.parametrize(
    ("where", "name", "broken"),
    [
        ([cover], "exact_cover", no_case_split),
        ([cover], "exact_cover", one_state_is_enough),
        ([instances, grounding], "ground_change", delete_wins),
        ([instances, grounding], "ground_change", no_negative_tests),
        ([instances, grounding], "equalities_hold", no_equality_tests),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_broken_rule_is_noticed(monkeypatch, where, name, broken) -> None:
    for module in where:
        monkeypatch.setattr(module, name, broken)
    assert caught_at(400) is not None
