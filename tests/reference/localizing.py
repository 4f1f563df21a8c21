"""Runs of table policies, and what is true of their steps, by the definition alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.localize.localizer import Localizer
from engine.policies.runs import PolicyRun, PolicyRuns
from engine.records.finding import RunOutcome
from engine.records.localization import Localization, LocalizedStep, StepVerdict
from engine.task.states import StateTable
from reference import fdr
from reference.soundness import Table, TablePolicy, Truth


@dataclass
class Runner:
    """A policy on a task, and a localizer that shares its table."""

    truth: Truth
    runs: PolicyRuns
    localizer: Localizer

    @classmethod
    def of(cls, truth: Truth, policy: Table, **options: Any) -> Runner:
        table = StateTable(truth.task)
        return cls(truth, PolicyRuns(TablePolicy(policy), table), Localizer(table, **options))

    def run(self, state: fdr.State, step_limit: int | None = None) -> tuple[PolicyRun, int | None]:
        """The run from a state and the decision that ends it, if it fails."""
        (number,) = self.runs.table.add(state).tolist()
        self.runs.run([number], step_limit)
        run = self.runs.trace(number)
        if run.outcome is not RunOutcome.FAILED:
            return run, None
        return run, int(self.runs.decisions([run.states[-1]])[0])

    def localize(self, state: fdr.State, step_limit: int | None = None) -> Localization:
        return self.localizer.localize(*self.run(state, step_limit))

    def states(self, state: fdr.State, found: Localization) -> list[fdr.State]:
        """The states of the path that was examined."""
        states = [state]
        for step in found.steps:
            states.append(
                fdr.apply(self.truth.task, self.truth.task.operators[step.operator], states[-1])
            )
        return states

    def violations(
        self, state: fdr.State, found: Localization, complete: bool = True, plans: bool = True
    ) -> list[str]:
        """What is wrong or missing in what was said; without limits nothing may be missing.

        Bisection has a better plan for every bad step.
        """
        states = self.states(state, found)
        wrong = [
            f"step {step.index}: {text}"
            for step in found.steps
            for text in self._step_violations(step, states[step.index], states[step.index + 1])
        ]
        wrong += [
            f"step {k}: there is no better plan"
            for k in found.bad_steps
            if plans and found.steps[k].better_plan is None
        ]
        if complete and (found.undecided_steps or found.limited):
            wrong.append("something is undecided without a limit")
        return wrong

    def _step_violations(
        self, step: LocalizedStep, state: fdr.State, following: fdr.State
    ) -> list[str]:
        best = self.truth.hstar[state]
        cost = self.truth.task.operators[step.operator].cost
        beyond = self.truth.hstar[following]
        after = fdr.INFINITY if beyond == fdr.INFINITY else cost + beyond
        wrong = []
        if not step.optimal_low <= best <= step.optimal_high:
            wrong.append(f"h* = {best} is not in {step.optimal_low}..{step.optimal_high}")
        if not step.after_low <= after <= step.after_high:
            wrong.append(f"{after} is not in {step.after_low}..{step.after_high}")
        if step.verdict is not StepVerdict.UNDECIDED and (
            (step.verdict is StepVerdict.OPTIMAL) != (best == after)
        ):
            wrong.append(f"{step.verdict}, but h* = {best} and {after} with this step")
        if step.lost != (best == fdr.INFINITY) and (
            step.lost or step.verdict is StepVerdict.OPTIMAL
        ):
            wrong.append(f"lost is {step.lost}, but h* = {best}")
        loss = 0 if best == fdr.INFINITY else after - best if after < fdr.INFINITY else fdr.INFINITY
        if not step.loss_low <= loss <= step.loss_high:
            wrong.append(f"a loss of {loss} is not in {step.loss_low}..{step.loss_high}")
        if step.better_plan is not None:
            wrong += self._plan_violations(step, state, after)
        return wrong

    def _plan_violations(self, step: LocalizedStep, state: fdr.State, after: int) -> list[str]:
        plan = step.better_plan or ()
        cost = fdr.plan_cost(self.truth.task, plan, state, self.truth.task.goal)
        if cost != step.optimal_high or step.better_operator != plan[0]:
            return [f"the better plan costs {cost}, not {step.optimal_high}"]
        return [] if cost < after else [f"the better plan costs {cost}, which is not below {after}"]
