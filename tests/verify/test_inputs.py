"""Files, tasks and units are those that a campaign names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from reference.random_tasks import make_task

from engine.records.config import CampaignConfig, FuzzSettings, OracleSettings, UnitLimits
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.task.task import Operator
from engine.verify.inputs import (
    CampaignInputs,
    GivenFiles,
    check_campaign,
    check_given_policy,
    check_given_portfolio,
    check_given_problem,
    check_policy,
    check_task,
)
from engine.workspace.rows import UnitInputs

DOMAIN = File("d.pddl", b"domain", "/d.pddl")
PROBLEM = ProblemInput("p.pddl", File("p.pddl", b"problem", "/p.pddl"), DOMAIN, False)
NETWORK = PolicyInput("n.pt", "/n.pt", File("n.pt", b"network", "/n.pt"))
GREEDY = PolicyInput("builtin:gc", "builtin:gc", None)
CONFIG = CampaignConfig(
    domain="/d.pddl",
    problems=("/p.pddl",),
    policies=("/n.pt", "builtin:gc"),
    seeds=(0, 1),
    unit_costs=False,
    fuzzing=FuzzSettings(),
    testing=OracleSettings(("astar",)),
    limits=UnitLimits(),
)
UNITS = tuple(
    UnitInputs(number, 1, policy, seed)
    for number, (policy, seed) in enumerate([(1, 0), (1, 1), (2, 0), (2, 1)], 1)
)
INPUTS = CampaignInputs(CONFIG, [PROBLEM], [NETWORK, GREEDY], [], None, UNITS)


def test_a_true_campaign_holds_with_its_key() -> None:
    assert check_campaign(INPUTS, has_key=True).standing == "holds"
    assert check_campaign(INPUTS, has_key=False).standing == "false"


@pytest.mark.parametrize(
    "change",
    [
        {"units": UNITS[:3]},
        {"units": (replace(UNITS[0], seed=7), *UNITS[1:])},
        {"units": UNITS[::-1]},
        {"policies": [GREEDY, NETWORK]},
        {"portfolio": [GREEDY]},
        {"pool": DOMAIN},
        {"problems": [structs.replace(PROBLEM, unit_costs=True)]},
        {"problems": [structs.replace(PROBLEM, domain=None)]},
        {"problems": [structs.replace(PROBLEM, name="q.pddl")]},
        {"policies": [structs.replace(NETWORK, name="best.pt"), GREEDY]},
        {"policies": [NETWORK, structs.replace(GREEDY, name="builtin:hff")]},
        {"config": CONFIG.with_seeds(0)},
        {"config": structs.replace(CONFIG, problems=("/p.pddl", "/q.pddl"))},
    ],
)
def test_other_inputs_are_false(change: dict[str, object]) -> None:
    assert check_campaign(replace(INPUTS, **change), has_key=True).standing == "false"


def test_names_are_the_ends_of_paths() -> None:
    config = structs.replace(CONFIG, problems=("/a/p.pddl", "/b/p.pddl"))
    problems = [structs.replace(PROBLEM, name=f"{folder}/p.pddl") for folder in "ab"]
    units = [UnitInputs(n, n, 1, 0) for n in (1, 2)]
    config = structs.replace(config, policies=("/n.pt",), seeds=(0,))
    for names, holds in ((problems, True), (problems[::-1], False)):
        inputs = CampaignInputs(config, names, [NETWORK], [], None, units)
        assert (check_campaign(inputs, has_key=True).standing == "holds") is holds


def test_a_policy_is_where_its_name_says() -> None:
    program = PolicyInput("x.py:make", "/x.py:make", File("x.py", b"", "/x.py"))
    for policy in (NETWORK, GREEDY, program):
        assert check_policy(policy).standing == "holds"
    for policy in (
        structs.replace(NETWORK, file=None),
        structs.replace(GREEDY, file=DOMAIN),
        structs.replace(NETWORK, spec="/other.pt"),
        structs.replace(program, spec="/y.py:make"),
    ):
        assert check_policy(policy).standing == "false"


UP = Operator("up", ((0, 0),), ((0, 1),), 2)
TASK = make_task((2, 2), (UP,), (0, 0), ((0, 1),))


def test_a_task_is_what_its_files_mean() -> None:
    assert check_task(TASK, TASK, TASK.hash).standing == "holds"
    assert check_task(TASK, TASK, "another").standing == "false"
    cheaper = replace(TASK, operators=(replace(UP, cost=0),))
    assert "costs 2, not 0" in check_task(TASK, cheaper, cheaper.hash).reason
    for other in (
        replace(TASK, init=(1, 0)),
        replace(TASK, goal=((1, 1),)),
        replace(TASK, mutexes=(((0, 0), (1, 0)),)),
    ):
        assert check_task(TASK, other, other.hash).standing == "false"


def test_another_encoding_decides_nothing() -> None:
    """Another version of the translator may order variables and values otherwise."""
    other = replace(TASK, operators=(UP, replace(UP, name="up again")))
    assert check_task(TASK, other, other.hash).standing == "undecided"


def test_files_of_the_user_are_compared_by_contents() -> None:
    mine = File("d.pddl", b"domain", "/home/me/copy of d.pddl")
    other = File("d.pddl", b"other", "/home/me/d.pddl")
    problem = File("p.pddl", b"other", str(Path("/home/me/p.pddl")))
    assert check_given_problem(PROBLEM, GivenFiles()).standing == "holds"
    assert check_given_problem(PROBLEM, GivenFiles(domain=mine)).standing == "holds"
    assert check_given_problem(PROBLEM, GivenFiles(domain=other)).standing == "false"
    assert check_given_problem(PROBLEM, GivenFiles(problems=(problem,))).standing == "false"
    assert check_given_problem(PROBLEM, GivenFiles(problems=(mine,))).standing == "undecided"
    alone = structs.replace(PROBLEM, domain=None)
    assert check_given_problem(alone, GivenFiles(domain=mine)).standing == "false"


def test_policies_of_the_user_are_compared_by_contents() -> None:
    copied = PolicyInput("m.pt", "/m.pt", File("m.pt", b"network", "/m.pt"))
    swapped = structs.replace(NETWORK, file=File("n.pt", b"swapped", "/home/me/n.pt"))
    for policy, given, standing in (
        (NETWORK, copied, "holds"),
        (NETWORK, swapped, "false"),
        (NETWORK, GREEDY, "undecided"),
        (GREEDY, GREEDY, "holds"),
        (GREEDY, NETWORK, "undecided"),
    ):
        assert check_given_policy(policy, GivenFiles(policies=(given,))).standing == standing
    assert check_given_policy(NETWORK, GivenFiles()).standing == "holds"


def test_a_file_of_another_name_does_not_stand_for_its_namesake() -> None:
    """The workspace has the contents of `q` under the name of `p`."""
    mine = File("p.pddl", b"mine", "/home/me/p.pddl")
    other = File("q.pddl", b"problem", "/home/me/q.pddl")
    assert check_given_problem(PROBLEM, GivenFiles(problems=(other,))).standing == "holds"
    assert check_given_problem(PROBLEM, GivenFiles(problems=(mine, other))).standing == "false"
    same = File("p.pddl", b"problem", "/home/me/b/p.pddl")
    assert check_given_problem(PROBLEM, GivenFiles(problems=(mine, same))).standing == "holds"


def test_a_portfolio_is_compared_with_files_of_the_same_name() -> None:
    swapped = structs.replace(NETWORK, file=File("n.pt", b"swapped", "/home/me/n.pt"))
    other = PolicyInput("m.pt", "/m.pt", File("m.pt", b"other", "/m.pt"))
    for given, standing in ((swapped, "false"), (other, "holds"), (NETWORK, "holds")):
        found = check_given_portfolio(NETWORK, GivenFiles(policies=(given,)))
        assert found.standing == standing
