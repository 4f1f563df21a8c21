"""A bug as a folder of files: PDDL, both plans, the facts as JSON, and how to reproduce it.

The bundle has the problem that was tested, in which the policy always does what it did there, and
a problem whose initial state is the bug state, in which it may do something else. A task that came
from a `.sas` file has no PDDL; `task.sas` with the bug state as its initial state stands in for it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine.campaign.reproduction import NOT_TRIED, Reproduction, reproduction_text
from engine.campaign.witness_origin import WitnessOrigin, origin_text, witness_origin
from engine.files import disk_error, write_bytes, write_text
from engine.oracles.better_plan import better_plan
from engine.pddl import format_domain
from engine.pddl.reader import text_of
from engine.plain_text import inline
from engine.policies.kinds import policy_suffixes
from engine.policies.runs import STEP_LIMIT
from engine.records.codec import to_json
from engine.records.inputs import PolicyInput, ProblemInput
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.task.atoms import format_atom, state_atoms
from engine.task.export import export_domain, export_state_text
from engine.task.plans import format_operator_plan
from engine.task.sas import write_sas
from engine.task.task import Task
from engine.verify.claims import SOLVED, require_fit
from engine.workspace.filter import KIND_WORDS
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import Bug


@dataclass(frozen=True, slots=True)
class Bundle:
    folder: Path
    bug: int
    has_better_plan: bool
    reproduction: Reproduction


Run = Callable[[Bug, Task, Mapping[str, str]], Reproduction]
"""Runs the policy in the exported task, whose files it is given."""


def write_bundle(
    store: WorkspaceReader, number: int, out: Path, task: Task | None = None, run: Run | None = None
) -> Bundle:
    """Write the bundle of one bug into a folder of its own below `out`."""
    bug = store.bug(number)
    task = task or store.task(bug.problem_id)
    require_fit(bug, task)
    policy = store.policy(bug.policy_id)
    plan = _better_plan(bug, task)
    folder = out / f"bug-{number}"
    files = task_files(store, bug, task)
    found = NOT_TRIED if run is None else run(bug, task, files)
    commands = reproduce_commands(store, bug, task, plan is not None)
    origin = witness_origin(store, bug, task)
    files |= {
        "policy.plan": _policy_plan(bug, task),
        "bug.json": json.dumps(_document(bug, task, plan, found, origin), indent=2) + "\n",
    }
    if plan is not None:
        files["better.plan"] = format_operator_plan(task, plan)
    files["README.md"] = _readme(bug, policy, files, found, commands)
    if origin is not None:
        files["README.md"] += f"\n{origin_text(origin)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(error, folder) from error
    for name, text in files.items():
        write_text(folder / name, text, own_folder=True)
    for name, content in _original_files(store.problem(bug.problem_id)).items():
        write_bytes(folder / name, content, own_folder=True)
    if policy.file is not None:
        write_bytes(folder / _policy_name(policy), policy.file.content, own_folder=True)
    return Bundle(folder, number, plan is not None, found)


def _original_files(source: ProblemInput) -> dict[str, bytes]:
    """Return the task as it was tested, without its domain if `domain.pddl` is the same."""
    if source.domain is None:
        return {"original.sas": source.problem.content}
    originals = {"original-problem.pddl": source.problem.content}
    if source.unit_costs:
        originals["original-domain.pddl"] = source.domain.content
    return originals


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
        domain = text_of(source.domain.content)
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


def _document(
    bug: Bug,
    task: Task,
    plan: tuple[int, ...] | None,
    found: Reproduction,
    origin: WitnessOrigin | None,
) -> dict[str, Any]:
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
        **reproduction_document(found),
        "found_by": row.found_by,
        "status": row.status,
        "note": row.note,
        "state": sorted(format_atom(atom) for atom in state_atoms(task, bug.finding.state)),
        "values": list(bug.finding.state),
        "task_hash": task.hash,
        "evidence": to_json(bug.finding.evidence),
        **({} if origin is None else {"witness_of": origin.document()}),
    }


def reproduction_document(found: Reproduction) -> dict[str, Any]:
    """`reproduces` null: the policy was not run in the exported problem."""
    return {
        "reproduces": found.reproduces,
        "cost_there": found.cost,
        "outcome_there": None if found.reproduces is None else found.outcome.value,
        "bug_there": found.is_bug,
    }


def _policy_name(policy: PolicyInput) -> str:
    assert policy.file is not None
    suffix = Path(policy.file.name).suffix
    return f"policy{suffix}" if suffix in (*policy_suffixes(), ".py") else "policy"


def reproduce_commands(
    store: WorkspaceReader, bug: Bug, task: Task, has_better_plan: bool
) -> list[str]:
    """Return the commands that show the bug again, to be typed in the folder of a bundle.

    The first runs the policy as it was tested, the second in the exported problem.
    """
    policy, source = store.policy(bug.policy_id), store.problem(bug.problem_id)
    exported = "domain.pddl problem.pddl" if task.source is not None else "task.sas"
    if task.source is None:
        original = "original.sas"
    else:
        domain = "original-domain.pddl" if source.unit_costs else "domain.pddl"
        original = f"{domain} original-problem.pddl"
    spec = PolicySpec.parse(policy.spec)
    if policy.file is not None:
        spec = spec.at(_policy_name(policy))
    limit = store.campaign(bug.row.campaign).config.testing.step_limit
    options = f"--seed {bug.row.seed}" + (f" --step-limit {limit}" if limit != STEP_LIMIT else "")
    run = f"plumbline run {shlex.quote(str(spec))}"
    state = ",".join(map(str, bug.finding.state))
    unit_costs = " --unit-costs" if source.unit_costs else ""
    commands = [
        f"{run} {original}{unit_costs} --state {state} {options}",
        f"{run} {exported} {options}",
    ]
    if task.source is not None and has_better_plan:
        commands.append("plumbline validate domain.pddl problem.pddl better.plan")
    if task.source is not None and bug.finding.run.outcome == SOLVED:
        commands.append("plumbline validate domain.pddl problem.pddl policy.plan")
    commands.append(f"plumbline search {exported} --algorithm astar --heuristic lmcut")
    return commands


def _readme(
    bug: Bug,
    policy: PolicyInput,
    files: Mapping[str, str],
    found: Reproduction,
    commands: Sequence[str],
) -> str:
    exported = "problem.pddl" if "problem.pddl" in files else "task.sas"
    row = bug.row
    if row.policy_cost is None:
        told = f"never reaches the goal ({bug.finding.run.reason})"
    elif bug.finding.run.outcome == SOLVED:
        told = f"reaches the goal at a cost of {row.policy_cost}"
    else:
        told = f"has spent {row.policy_cost} without reaching the goal when it is stopped"
    first, second, *others = (f"    {command}" for command in commands)
    warning = _warning(PolicySpec.parse(policy.spec))
    written = "better.plan" in files
    better = "`better.plan` is such a plan" if written else "no such plan was written out"
    rest = "\n".join(others)
    return f"""\
# Bug {row.id}: {KIND_WORDS[row.kind]}

While testing `{inline(row.problem)}` the policy `{inline(row.policy)}` {told}
from the state that is the initial state of `{exported}` here,
but a plan of cost {row.bound} exists: {better}.
It was found by `{inline(row.found_by)}` (seed {row.seed}).

The policy's run is in `policy.plan`, everything else in `bug.json`. {warning}To reproduce the bug,
run in this folder:

{first}

This starts the policy in the bug state of the problem that was tested, and always shows the run
that was found. {_there(found)}

{second}

To check the plans and to find the optimal cost:

{rest}
"""


def _there(found: Reproduction) -> str:
    if found.reproduces is None:
        return f"In the exported problem alone it is **{reproduction_text(found)}**."
    text = f"In the exported problem alone it **{reproduction_text(found)}**."
    if not found.reproduces:
        text += (
            "\nA policy may decide differently in another problem, for example because its network "
            "is built\nfor everything that is reachable from the initial state."
        )
    return text


def _warning(spec: PolicySpec) -> str:
    """Return the warning before commands that run code of others or connect to servers."""
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
