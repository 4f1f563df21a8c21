"""`plumbline validate`: check a plan against the PDDL and explain the step that fails."""

from __future__ import annotations

import argparse
from fractions import Fraction

from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode
from engine.pddl import read_domain, read_problem, without_costs
from engine.task.plans import Plan, read_plan
from engine.task.validate import Verdict, validate_plan


def configure(options: Options) -> None:
    options.domain()
    options.problem()
    options.text("plan", "PLAN", "one '(action object object)' per line")
    options.unit_costs()


def run(args: argparse.Namespace, console: Console) -> int:
    domain = read_domain(args.domain)
    problem = read_problem(args.problem, domain)
    if args.unit_costs:
        domain, problem = without_costs(domain, problem)
    plan = read_plan(args.plan)
    verdict = validate_plan(domain, problem, plan)
    cost = _number(verdict.cost)
    document = {
        "valid": verdict.valid,
        "cost": cost,
        "failed_step": verdict.failed_step,
        "reason": verdict.reason,
    }
    if verdict.valid and plan.stated_cost not in (None, cost):
        console.message(
            f"warning: {args.plan}: states the cost {plan.stated_cost}, but it is {cost}"
        )
    console.result(document, _text(plan, verdict))
    return ExitCode.DONE if verdict.valid else ExitCode.ANSWER_IS_NO


def _text(plan: Plan, verdict: Verdict) -> str:
    if verdict.valid:
        steps = "1 step" if len(plan.steps) == 1 else f"{len(plan.steps)} steps"
        return f"valid: {steps}, cost {_number(verdict.cost)}"
    place = str(verdict.location) or plan.path
    return f"not valid: {place}: {verdict.reason}"


def _number(value: Fraction | None) -> int | float | None:
    if value is None:
        return None
    return value.numerator if value.denominator == 1 else float(value)
