"""States as sets of PDDL atoms.

The full PDDL state is what the variables say plus the static atoms, which hold in every state
and have no variable. Ground actions are written `(pick b1 rooma left)`.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.pddl.model import Atom, Term
from engine.task.task import GroundAtom, Task, atom_of_fact


def ground_atom(atom: Atom) -> GroundAtom:
    return (atom.predicate, *(term.name for term in atom.arguments))


def model_atom(atom: GroundAtom) -> Atom:
    return Atom(atom[0], tuple(Term(name) for name in atom[1:]))


def format_atom(atom: GroundAtom) -> str:
    return f"({' '.join(atom)})"


def format_fact(name: str) -> str:
    """A fact as people write it: `(at b1 rooma)`, `(not (at b1 rooma))`, `<none of those>`.

    The translator gives names of its own to conditions that it turns into axioms.
    """
    if atom := atom_of_fact(name):
        return _condition_words(atom) if is_made_up(atom) else format_atom(atom)
    if denied := atom_of_fact(name.removeprefix("Negated")):
        return f"(not {_condition_words(denied) if is_made_up(denied) else format_atom(denied)})"
    return name


def is_made_up(atom: GroundAtom) -> bool:
    """Whether the translator invented the predicate, which no domain can have."""
    return "@" in atom[0]


def _condition_words(atom: GroundAtom) -> str:
    number = atom[0].rpartition("@")[2]
    about = f" of {' '.join(atom[1:])}" if atom[1:] else ""
    return f"<condition {number}{about}>"


def fluent_atoms(task: Task, values: Sequence[int]) -> list[GroundAtom]:
    """The atoms that the state variables make true, in the order of the variables."""
    atoms = (atoms[value] for atoms, value in zip(task.fact_atoms, values, strict=True))
    return [atom for atom in atoms if atom is not None]


def state_atoms(task: Task, values: Sequence[int]) -> frozenset[GroundAtom]:
    """The full PDDL state; of a `.sas` task only what its variables say."""
    return task.static_atoms.union(fluent_atoms(task, values))
