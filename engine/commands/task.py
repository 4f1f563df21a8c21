"""`plumbline task`: translate a domain and a problem and describe the grounded task."""

from __future__ import annotations

import argparse

from engine.commands.arguments import load_task_argument
from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode
from engine.pddl import format_condition
from engine.pddl.model import conjuncts
from engine.task.atoms import fluent_atoms, format_atom, format_fact, state_atoms
from engine.task.task import Task
from engine.usecases.task import declined

SHOWN = 20
"""How many atoms the text output names."""


def configure(options: Options) -> None:
    options.task()
    options.limits()


def run(args: argparse.Namespace, console: Console) -> int:
    task = load_task_argument(args, console)
    console.result(_document(task), _text(task))
    return ExitCode.DONE


def _document(task: Task) -> dict[str, object]:
    return {
        "variables": len(task.variables),
        "operators": len(task.operators),
        "facts": sum(task.domain_sizes),
        "goals": len(task.goal),
        "initial_state": list(task.init),
        "translate_seconds": round(task.translate_seconds, 3),
        "has_costs": task.has_costs,
        "mutex_groups": len(task.mutexes),
        "atoms": sorted(format_atom(atom) for atom in state_atoms(task, task.init)),
        "static_atoms": len(task.static_atoms),
        "hash": task.hash,
        "conditional_effects": task.n_conditional_effects,
        "derived_variables": len(task.derived_variables),
        "axioms": len(task.axioms),
        "declined": [
            {"technique": technique, "reason": reason} for technique, reason in declined(task)
        ],
        "warnings": list(task.notes),
    }


def _text(task: Task) -> str:
    goal = _goal(task)
    costs = sorted({operator.cost for operator in task.operators})
    spread = f"costs from {costs[0]} to {costs[-1]}" if costs else "costs"
    lines = [
        f"variables     {len(task.variables)} with {sum(task.domain_sizes)} facts",
        f"operators     {len(task.operators)}, {spread if task.has_costs else 'each costs 1'}",
        f"goal          {_shorten(goal)}",
        f"initial state {_shorten([format_atom(atom) for atom in fluent_atoms(task, task.init)])}",
    ]
    if task.n_conditional_effects:
        count = sum(bool(operator.conditional) for operator in task.operators)
        lines.append(f"conditional   {task.n_conditional_effects} effects of {count} operators")
    if task.derived_variables:
        derived = len(task.derived_variables)
        lines.append(f"axioms        {len(task.axioms)} for {derived} derived variables")
    lines += [f"declined      {reason}" for _, reason in declined(task)]
    if task.source is not None:
        lines.append(f"static facts  {len(task.static_atoms)}")
        lines.append(f"translated in {task.translate_seconds:.2f} s")
    return "\n".join(lines)


def _goal(task: Task) -> list[str]:
    """The goal as the problem states it where the translator made axioms of parts of it."""
    if task.source is not None and task.derived_variables:
        return [format_condition(part) for part in conjuncts(task.source.problem.goal)]
    return [format_fact(task.variables[variable].values[value]) for variable, value in task.goal]


def _shorten(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return " ".join(names[:SHOWN]) + more
