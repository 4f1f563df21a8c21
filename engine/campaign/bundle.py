"""A bug to take home: PDDL files, both plans, the facts as JSON, and how to reproduce it.

A task that came from a `.sas` file has no PDDL; its bundle has `task.sas` with the bug state as
its initial state instead.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.files import disk_error, write_bytes, write_text
from engine.oracles.better_plan import better_plan
from engine.pddl import format_domain
from engine.policies.kinds import policy_suffixes
from engine.records.codec import to_json
from engine.records.inputs import PolicyInput
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.task.atoms import format_atom, state_atoms
from engine.task.export import export_domain, export_state_text
from engine.task.plans import format_operator_plan
from engine.task.sas import write_sas
from engine.task.task import Task
from engine.verify.claims import SOLVED, require_fit
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import Bug


@dataclass(frozen=True, slots=True)
class Bundle:
    folder: Path
    bug: int
    has_better_plan: bool


def write_bundle(
    store: WorkspaceReader, number: int, out: Path, task: Task | None = None
) -> Bundle:
    """The bundle of one bug in a folder of its own below `out`."""
    bug = store.bug(number)
    task = task or store.task(bug.problem_id)
    require_fit(bug, task)
    policy = store.policy(bug.policy_id)
    plan = _better_plan(bug, task)
    folder = out / f"bug-{number}"
    files = task_files(store, bug, task) | {
        "policy.plan": _policy_plan(bug, task),
        "bug.json": json.dumps(_document(bug, task, plan), indent=2) + "\n",
        "README.md": _readme(bug, task, policy, plan),
    }
    if plan is not None:
        files["better.plan"] = format_operator_plan(task, plan)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, folder) from error
    for name, text in files.items():
        write_text(folder / name, text, own_folder=True)
    if policy.file is not None:
        write_bytes(folder / _policy_name(policy), policy.file.content, own_folder=True)
    return Bundle(folder, number, plan is not None)


def _better_plan(bug: Bug, task: Task) -> tuple[int, ...] | None:
    if bug.finding.evidence.is_plan:
        return bug.finding.evidence.operators
    return better_plan(task, bug.finding.state, bug.row.policy_cost)


def task_files(store: WorkspaceReader, bug: Bug, task: Task) -> dict[str, str]:
    if task.source is None:
        return {"task.sas": write_sas(replace(task, init=bug.finding.state))}
    source = store.problem(bug.problem_id)
    if source.domain is None or source.unit_costs:
        domain = format_domain(export_domain(task))
    else:
        domain = source.domain.content.decode("utf-8-sig")
    return {
        "domain.pddl": domain,
        "problem.pddl": export_state_text(task, bug.finding.state, f"bug-{bug.row.id}"),
    }


def _policy_plan(bug: Bug, task: Task) -> str:
    plan = format_operator_plan(task, bug.finding.run.operators)
    if bug.finding.run.outcome == SOLVED:
        return plan
    last = bug.finding.run.last_decision
    after = f"; then ({task.operators[last].name}) closes a loop\n" if last >= 0 else ""
    return f"; the policy does not reach the goal: {bug.finding.run.reason}\n{plan}{after}"


def _document(bug: Bug, task: Task, plan: tuple[int, ...] | None) -> dict[str, Any]:
    row = bug.row
    return {
        "id": row.id,
        "kind": row.kind,
        "problem": row.problem,
        "policy": row.policy,
        "seed": row.seed,
        "policy_cost": row.policy_cost,
        "policy_outcome": bug.finding.run.outcome,
        "policy_reason": bug.finding.run.reason,
        "policy_plan": [f"({task.operators[number].name})" for number in bug.finding.run.operators],
        "bound": row.bound,
        "gap": row.gap,
        "better_plan": [f"({task.operators[n].name})" for n in plan] if plan is not None else None,
        "found_by": row.found_by,
        "status": row.status,
        "note": row.note,
        "state": sorted(format_atom(atom) for atom in state_atoms(task, bug.finding.state)),
        "values": list(bug.finding.state),
        "task_hash": task.hash,
        "evidence": to_json(bug.finding.evidence),
    }


def _policy_name(policy: PolicyInput) -> str:
    assert policy.file is not None
    suffix = Path(policy.file.name).suffix
    return f"policy{suffix}" if suffix in (*policy_suffixes(), ".py") else "policy"


def reproduce_commands(
    bug: Bug, task: Task, policy: PolicyInput, has_better_plan: bool
) -> list[str]:
    """What to type in the folder of a bundle to see the bug again; the first runs the policy."""
    files = "domain.pddl problem.pddl" if task.source is not None else "task.sas"
    spec = PolicySpec.parse(policy.spec)
    if policy.file is not None:
        spec = spec.at(_policy_name(policy))
    commands = [f"plumbline run {shlex.quote(str(spec))} {files} --seed {bug.row.seed}"]
    if task.source is not None and has_better_plan:
        commands.append("plumbline validate domain.pddl problem.pddl better.plan")
    if task.source is not None and bug.finding.run.outcome == SOLVED:
        commands.append("plumbline validate domain.pddl problem.pddl policy.plan")
    commands.append(f"plumbline search {files} --algorithm astar --heuristic lmcut")
    return commands


def _readme(bug: Bug, task: Task, policy: PolicyInput, plan: tuple[int, ...] | None) -> str:
    row = bug.row
    if row.policy_cost is None:
        told = f"never reaches the goal ({bug.finding.run.reason})"
    elif bug.finding.run.outcome == SOLVED:
        told = f"reaches the goal at a cost of {row.policy_cost}"
    else:
        told = f"has spent {row.policy_cost} without reaching the goal when it is stopped"
    commands = reproduce_commands(bug, task, policy, plan is not None)
    lines = "\n".join(f"    {command}" for command in commands)
    warning = _warning(PolicySpec.parse(policy.spec))
    better = "`better.plan` is such a plan" if plan is not None else "no such plan was written out"
    return f"""\
# Bug {row.id}: {row.kind}

In the initial state of this problem the policy `{_inline(row.policy)}` {told},
but a plan of cost {row.bound} exists: {better}.
It was found by `{_inline(row.found_by)}` while testing `{_inline(row.problem)}` (seed {row.seed}).

What the policy does is in `policy.plan`, everything else in `bug.json`. {warning}To see it again,
in this folder:

{lines}

The first command shows the policy's run, `validate` checks the plans, and the search finds the
optimal cost.
"""


def _warning(spec: PolicySpec) -> str:
    """Before anybody is told to run code of others or to connect to them."""
    if spec.kind is SpecKind.PLUGIN:
        return (
            "\n\n**Warning:** the policy is a program. The first command below runs it with your "
            "rights.\nRead it first, and run it only if you trust where it came from.\n\n"
        )
    if spec.kind is SpecKind.SERVER:
        return (
            "\n\n**Warning:** the policy is a server. The first command below connects to it.\n"
            "Connect only if you trust its address.\n\n"
        )
    return ""


def _inline(name: str) -> str:
    """A name must not look like a paragraph or a command of this text."""
    return " ".join(name.split()).replace("`", "'")
