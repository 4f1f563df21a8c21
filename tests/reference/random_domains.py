"""Small random STRIPS domains with a problem, as hypothesis strategies.

With types, constants, repeated arguments, (in)equalities, negative preconditions, parameters that
no precondition binds, and effects that contradict each other.
"""

from __future__ import annotations

from hypothesis import strategies as st

from engine.pddl.model import (
    Action,
    Add,
    And,
    Atom,
    Condition,
    Delete,
    Domain,
    Effect,
    EffectAnd,
    Equality,
    Not,
    Predicate,
    Problem,
    Term,
    TypedName,
)

TYPES = (TypedName("thing"), TypedName("tool", ("thing",)), TypedName("spot"))
KINDS = (("object",), ("thing",), ("tool",), ("spot",), ("tool", "spot"))
CONSTANTS = (TypedName("c0", ("tool",)),)
OBJECTS = ("o0", "o1", "o2")


@st.composite
def domains(draw: st.DrawFn, negative: bool = True) -> Domain:
    arities = draw(st.lists(st.integers(0, 2), min_size=2, max_size=4))
    predicates = tuple(
        Predicate(f"p{number}", tuple(TypedName(f"?x{i}") for i in range(arity)))
        for number, arity in enumerate(arities)
    )
    actions = tuple(
        draw(_actions(f"a{number}" if number else "a0-b", predicates, negative))
        for number in range(draw(st.integers(1, 3)))
    )
    return Domain(
        "random", types=TYPES, constants=CONSTANTS, predicates=predicates, actions=actions
    )


@st.composite
def _actions(
    draw: st.DrawFn, name: str, predicates: tuple[Predicate, ...], negative: bool
) -> Action:
    parameters = tuple(
        TypedName(f"?v{number}", draw(st.sampled_from(KINDS)))
        for number in range(draw(st.integers(0, 3)))
    )
    terms = [Term(item.name) for item in (*parameters, *CONSTANTS)]
    atoms = st.sampled_from(predicates).flatmap(
        lambda predicate: st.tuples(*[st.sampled_from(terms)] * predicate.arity).map(
            lambda arguments: Atom(predicate.name, tuple(arguments))
        )
    )
    conditions: list[Condition] = []
    for _ in range(draw(st.integers(0, 3))):
        atom = draw(atoms)
        conditions.append(Not(atom) if negative and draw(st.integers(0, 4)) == 0 else atom)
    if parameters and draw(st.booleans()):
        equality = Equality(draw(st.sampled_from(terms)), draw(st.sampled_from(terms)))
        conditions.append(equality if draw(st.integers(0, 3)) == 0 else Not(equality))
    effects: list[Effect] = [
        Add(atom) if draw(st.booleans()) else Delete(atom)
        for atom in draw(st.lists(atoms, min_size=1, max_size=3))
    ]
    return Action(name, parameters, And(tuple(conditions)), EffectAnd(tuple(effects)))


@st.composite
def problems(draw: st.DrawFn, domain: Domain) -> Problem:
    kinds = st.sampled_from(("thing", "tool", "spot"))
    objects = tuple(TypedName(name, (draw(kinds),)) for name in OBJECTS[: draw(st.integers(1, 3))])
    names = [Term(item.name) for item in (*objects, *CONSTANTS)]

    def atoms(most: int) -> tuple[Atom, ...]:
        found: dict[Atom, None] = {}
        for _ in range(draw(st.integers(0, most))):
            predicate = draw(st.sampled_from(domain.predicates))
            arguments = tuple(draw(st.sampled_from(names)) for _ in predicate.parameters)
            found[Atom(predicate.name, arguments)] = None
        return tuple(found)

    return Problem("random", "random", objects=objects, init=atoms(8), goal=And(atoms(3)))
