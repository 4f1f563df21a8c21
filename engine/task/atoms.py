"""States as sets of PDDL atoms, and back.

The full PDDL state is what the variables say plus the static atoms, which hold in every state
and have no variable. Ground actions are written `(pick b1 rooma left)`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.errors import UnsupportedError
from engine.pddl.model import Atom, Term
from engine.task.task import GroundAtom, Task, atom_of_fact


def ground_atom(atom: Atom) -> GroundAtom:
    return (atom.predicate, *(term.name for term in atom.arguments))


def model_atom(atom: GroundAtom) -> Atom:
    return Atom(atom[0], tuple(Term(name) for name in atom[1:]))


def format_atom(atom: GroundAtom) -> str:
    return f"({' '.join(atom)})"


def format_fact(name: str) -> str:
    """A fact as people write it: `(at b1 rooma)`, `(not (at b1 rooma))`, `<none of those>`."""
    if atom := atom_of_fact(name):
        return format_atom(atom)
    if denied := atom_of_fact(name.removeprefix("Negated")):
        return f"(not {format_atom(denied)})"
    return name


def fluent_atoms(task: Task, values: Sequence[int]) -> list[GroundAtom]:
    """The atoms that the variables make true, in the order of the variables."""
    atoms = (atoms[value] for atoms, value in zip(task.fact_atoms, values, strict=True))
    return [atom for atom in atoms if atom is not None]


def state_atoms(task: Task, values: Sequence[int]) -> frozenset[GroundAtom]:
    """The full PDDL state; of a `.sas` task only what its variables say."""
    return task.static_atoms.union(fluent_atoms(task, values))


def state_from_atoms(task: Task, atoms: Iterable[GroundAtom]) -> tuple[int, ...]:
    """The values for a full PDDL state; an error if the task cannot represent it."""
    true = frozenset(atoms)
    if missing := task.static_atoms - true:
        raise UnsupportedError(f"{_list(missing)} cannot become false in this task")
    values = tuple(_value(task, variable, true) for variable in range(len(task.variables)))
    if strange := true - state_atoms(task, values):
        raise UnsupportedError(f"{_list(strange)} cannot become true in this task")
    return values


def _value(task: Task, variable: int, true: frozenset[GroundAtom]) -> int:
    atoms = task.fact_atoms[variable]
    chosen = [value for value, atom in enumerate(atoms) if atom is not None and atom in true]
    if len(chosen) > 1:
        both = _list(atom for atom in atoms if atom in true and atom is not None)
        raise UnsupportedError(f"{both} cannot be true together in this task")
    if chosen:
        return chosen[0]
    if None in atoms:
        return atoms.index(None)
    one_of = _list(atom for atom in atoms if atom is not None)
    raise UnsupportedError(f"one of {one_of} must be true in this task")


def _list(atoms: Iterable[GroundAtom]) -> str:
    names = sorted(format_atom(atom) for atom in atoms)
    shown = ", ".join(names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown
