"""Claims about what was tested: files, tasks, units, and the key that names all of it.

A change of a stored file can be accompanied by a change of all that refers to it. The user's own
files cannot be changed in this way: given files are compared with the copies by content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from engine.records.codec import Record
from engine.records.config import CampaignConfig
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.records.policy_spec import PolicySpec
from engine.records.verification import HOLDS, Standing, Verdict, false, undecided
from engine.task.task import Fact, GroundAtom, Task
from engine.workspace.rows import UnitInputs

ANOTHER_ENCODING = (
    "the installed translator encodes the task differently, so stored states cannot be read; "
    "install the version that was used"
)


class GivenFiles(Record):
    """Files of the user, to compare with those in a workspace."""

    domain: File | None = None
    problems: tuple[File, ...] = ()
    policies: tuple[PolicyInput, ...] = ()


@dataclass(frozen=True, slots=True)
class CampaignInputs:
    """What a workspace has of the inputs of a campaign."""

    config: CampaignConfig
    problems: Sequence[ProblemInput]
    policies: Sequence[PolicyInput]
    portfolio: Sequence[PolicyInput]
    pool: File | None
    units: Sequence[UnitInputs]


def check_campaign(inputs: CampaignInputs, has_key: bool) -> Verdict:
    """Whether a campaign has the files and units of its configuration, and the key of both."""
    if problem := next(_mismatches(inputs), ""):
        return false(problem)
    return HOLDS if has_key else false("its key does not match its configuration and inputs")


def _mismatches(inputs: CampaignInputs) -> Iterator[str]:
    config = inputs.config
    problems = list(dict.fromkeys(unit.problem for unit in inputs.units))
    policies = list(dict.fromkeys(unit.policy for unit in inputs.units))
    units = [(unit.problem, unit.policy, unit.seed) for unit in inputs.units]
    if units != list(product(problems, policies, config.seeds)):
        yield "its units do not combine every problem, policy and seed"
    if len(problems) != len(config.problems) or len(policies) != len(config.policies):
        yield "its units do not match its configuration"
    for name, stored, said in (
        ("policy", inputs.policies, config.policies),
        ("policy of the portfolio", inputs.portfolio, config.portfolio),
    ):
        if [policy.spec for policy in stored] != list(said):
            yield f"its configuration names another {name}"
    if (inputs.pool is None) != (config.pool is None):
        yield "it imports states and its configuration does not, or the reverse"
    if any(
        (problem.domain is None) != (config.domain is None)
        or problem.unit_costs != config.unit_costs
        for problem in inputs.problems
    ):
        yield "its problems and its configuration differ in domain or unit costs"
    for name in _strange_names(inputs):
        yield f"its configuration has no '{name}'"


def _strange_names(inputs: CampaignInputs) -> Iterator[str]:
    """Names of problems and policies that are not the ends of the paths in the configuration."""
    for problem, path in zip(inputs.problems, inputs.config.problems, strict=True):
        parts = Path(path).parts
        if problem.name not in (path, *("/".join(parts[-n:]) for n in range(1, len(parts) + 1))):
            yield problem.name
    for policy in (*inputs.policies, *inputs.portfolio):
        spec = PolicySpec.parse(policy.spec)
        parts = () if spec.path is None else spec.path.parts
        if policy.name not in (
            policy.spec,
            *(spec.short_name(n) for n in range(1, max(1, len(parts)) + 1)),
        ):
            yield policy.name


def check_policy(policy: PolicyInput) -> Verdict:
    """Whether a policy is where its name says: in a file, or nowhere."""
    path = PolicySpec.parse(policy.spec).path
    if (path is None) != (policy.file is None):
        return false("its name does not match its file")
    if policy.file is not None and path != Path(policy.file.path):
        return false("its file has another path than its name")
    return HOLDS


def check_task(task: Task, stored: Task, said_hash: str) -> Verdict:
    """Whether the stored task is what its files mean; `task` was translated from them now."""
    if stored.hash != said_hash:
        return false("the stored task does not match its hash")
    if task.hash == said_hash:
        same = stored.mutexes == task.mutexes and stored.has_costs == task.has_costs
        return HOLDS if same else false("the stored task does not match its files")
    problem = _find_other_meaning(task, stored)
    return false(problem) if problem else undecided(ANOTHER_ENCODING)


def _find_other_meaning(task: Task, stored: Task) -> str:
    """What no encoding of the same files can change: the costs of actions, initial facts, goals."""
    costs = {operator.name: operator.cost for operator in task.operators}
    for operator in stored.operators:
        if (cost := costs.get(operator.name)) is not None and cost != operator.cost:
            return f"({operator.name}) costs {cost}, not {operator.cost} as in the stored task"
    if _atoms(task, enumerate(task.init)) != _atoms(stored, enumerate(stored.init)):
        return "the stored task has another initial state"
    if _atoms(task, task.goal) != _atoms(stored, stored.goal):
        return "the stored task has another goal"
    return ""


def _atoms(task: Task, facts: Iterable[Fact]) -> set[GroundAtom]:
    return {
        atom for variable, value in facts if (atom := task.fact_atoms[variable][value]) is not None
    }


def check_given_problem(problem: ProblemInput, given: GivenFiles) -> Verdict:
    """Whether a problem and its domain are files of the user."""
    if given.domain is not None:
        if problem.domain is None:
            return false("it has no domain, but one was given")
        if problem.domain.content != given.domain.content:
            return false(f"its domain is not {given.domain.path}")
    return _among(problem.problem, problem.name, given.problems)


def check_given_policy(policy: PolicyInput, given: GivenFiles) -> Verdict:
    if policy.file is None:
        if not given.policies or policy.spec in {item.spec for item in given.policies}:
            return HOLDS
        return undecided("it was not given")
    files = tuple(item.file for item in given.policies if item.file is not None)
    if given.policies and not files:
        return undecided("no file was given for it")
    return _among(policy.file, policy.file.path, files)


def check_given_portfolio(policy: PolicyInput, given: GivenFiles) -> Verdict:
    """Only files of the same name are compared: the others need not be given."""
    verdict = check_given_policy(policy, given)
    return verdict if verdict.standing is Standing.FALSE else HOLDS


def _among(stored: File, name: str, given: Sequence[File]) -> Verdict:
    """By contents; a file of the same name with other contents is not what was tested."""
    if not given:
        return HOLDS
    namesakes = [file for file in given if Path(file.path).name == Path(name).name]
    if any(file.content == stored.content for file in namesakes or given):
        return HOLDS
    if namesakes:
        return false(f"it is not {namesakes[0].path}: the contents differ")
    return undecided("no file was given for it")
