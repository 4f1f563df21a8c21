"""An experiment: what is compared on which domains, its trials, its tables and its figures.

An experiment is made of campaigns, whose units test policies, and of trials: single questions
whose answers tables are made of, such as whether a policy solves a problem or an action is optimal.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec.structs import replace

from engine.records.codec import Count, Record, Seconds, Text
from engine.records.comparison import CompareOptions, Comparison, Parameters
from engine.records.config import CampaignConfig, FuzzSettings, OracleSettings, UnitLimits
from engine.records.finding import Cost, RunOutcome
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.records.localization import StepVerdict
from engine.records.policy_spec import require_specs


class ExperimentKind(StrEnum):
    """What an experiment compares."""

    ORACLES = "oracles"
    FUZZING = "fuzzing"
    ACTIONS = "actions"
    PORTFOLIO = "portfolio"
    EQUIVALENCE = "equivalence"


class Suite(Record):
    """A domain of an experiment. Paths are absolute; `domain` is None for `.sas` files."""

    name: Text
    domain: Text | None
    problems: tuple[Text, ...]
    policies: tuple[Text, ...] = ()
    portfolio: tuple[Text, ...] = ()

    def __post_init__(self) -> None:
        require_specs((*self.policies, *self.portfolio))


class DomainPair(Record):
    """Two versions of a domain, and what others say about them."""

    domain: Text
    version: Text
    a: Text
    b: Text
    expected: Text = ""


class NamedOracle(Record):
    """An oracle under the name that it has in tables."""

    label: Text
    oracle: Text


class FuzzVariant(Record):
    """Another way of fuzzing; what is None stays as in the settings."""

    name: Text
    bias: Text | None = None
    novelty: Count | None = None

    def of(self, settings: FuzzSettings) -> FuzzSettings:
        bias = settings.bias if self.bias is None else self.bias
        novelty = settings.novelty if self.novelty is None else self.novelty
        return replace(settings, bias=bias, novelty=novelty)


AS_SET = FuzzVariant("")
"""The settings as they are."""


class ActionSettings(Record):
    """Which actions of initial states are asked about, and how."""

    actions: Count = 2  # drawn at random from the applicable ones
    algorithms: tuple[Text, ...] = ()
    heuristics: tuple[Text, ...] = ()
    factors: Text = "merged:10000"  # of the dominance function
    greedy: bool = True  # let AOCA* look for some plan first
    seconds: Seconds = 1800.0  # for each question
    megabytes: Count = 8192


class PortfolioRanking(StrEnum):
    """Which policies of a portfolio come first."""

    RECORDED = "recorded"  # by what their training wrote into them, else as listed
    LISTED = "listed"  # as they are named


class PortfolioSettings(Record):
    sizes: Annotated[tuple[Count, ...], msgspec.Meta(min_length=1)] = (1, 2, 5, 10)
    ranking: PortfolioRanking = PortfolioRanking.RECORDED
    seconds: Seconds = 7200.0  # for all policies on one problem
    megabytes: Count | None = None


class EquivalenceSettings(Record):
    parameters: tuple[Parameters, ...] = tuple(Parameters)
    seconds: Seconds = 1800.0  # for each pair
    all_macros: bool = False
    verify: bool = True


class ExperimentConfig(Record):
    """All settings, also those that its kind does not use; `scale` has been applied to them."""

    kind: ExperimentKind
    preset: Text  # empty: none
    scale: Count
    seeds: tuple[Count, ...]
    unit_costs: bool
    suites: tuple[Suite, ...]
    fuzzing: FuzzSettings
    testing: OracleSettings  # its oracles are those that are named
    limits: UnitLimits
    oracles: tuple[NamedOracle, ...] = ()
    variants: tuple[FuzzVariant, ...] = (AS_SET,)
    qualitative: tuple[Text, ...] = ()  # labels of oracles that prove failures; empty: all
    quantitative: tuple[Text, ...] = ()  # of those that prove runs too expensive
    only_solved: bool = False  # test only problems that the policy solves from the initial state
    min_states: Count = 25  # per problem; an oracle that examines fewer is left out of recall
    actions: ActionSettings = ActionSettings()
    portfolio: PortfolioSettings = PortfolioSettings()
    equivalence: EquivalenceSettings = EquivalenceSettings()
    pairs: tuple[DomainPair, ...] = ()

    @property
    def labels(self) -> dict[str, str]:
        """What oracles are called, by their texts."""
        return {item.oracle: item.label for item in self.oracles}

    def tests(self, result: TrialResult | None) -> bool:
        """Whether campaigns test the problem of a trial with this result."""
        if not self.only_solved:
            return True
        return isinstance(result, RunResult) and result.is_solved_by_first

    def campaign(self, suite: Suite, variant: FuzzVariant) -> CampaignConfig:
        """The campaign that tests the policies of a suite."""
        return CampaignConfig(
            domain=suite.domain,
            problems=suite.problems,
            policies=suite.policies,
            seeds=self.seeds,
            unit_costs=self.unit_costs,
            fuzzing=variant.of(self.fuzzing),
            testing=self.testing,
            limits=self.limits,
            portfolio=suite.portfolio,
        )


class RunPlan(Record):
    """Run policies from the initial state, one after the other, within one limit."""

    seed: Count
    step_limit: Count
    most: Count = 1  # policies, the one under test included
    ranked: bool = False  # the others by what their training recorded
    seconds: Seconds | None = None


class ActionPlan(Record):
    """Ask about random actions of the initial state; with a heuristic also search by A*."""

    seed: Count
    settings: ActionSettings
    heuristic: Text  # empty: dominance alone


class PairPlan(Record):
    """Compare two domains."""

    options: CompareOptions


TrialPlan = RunPlan | ActionPlan | PairPlan


class Trial(Record):
    """All that is needed to answer one question, here or on another machine."""

    number: Count  # in the store
    domain: Text  # as tables call it
    label: Text  # what is asked, such as the version of a domain
    plan: TrialPlan
    limits: UnitLimits
    problem: ProblemInput | None = None
    policies: tuple[PolicyInput, ...] = ()
    files: tuple[File, ...] = ()


class PolicyRun(Record):
    """How a policy does from the initial state; the cost is None unless it reaches the goal."""

    policy: Text
    outcome: RunOutcome
    reason: Text
    cost: Cost | None
    plan: tuple[Text, ...]  # steps that were executed, as in a plan file
    seconds: Seconds


class RunResult(Record):
    """The runs of the policies that were run before the limit."""

    runs: tuple[PolicyRun, ...]

    @property
    def is_solved_by_first(self) -> bool:
        """Whether the policy under test solves the problem."""
        return bool(self.runs) and self.runs[0].outcome is RunOutcome.SOLVED


class ActionAnswer(Record):
    action: Text
    algorithm: Text
    verdict: StepVerdict
    reason: Text  # what decided it, or why nothing did
    seconds: Seconds  # wall-clock time until the decision
    expanded: Count


class SearchAnswer(Record):
    """What A* from the initial state gives, to compare with."""

    cost: Cost | None  # None: not found within the limits
    seconds: Seconds
    expanded: Count


class ActionResult(Record):
    applicable: Count  # actions in the initial state; with fewer than two nothing is asked
    answers: tuple[ActionAnswer, ...]
    search: SearchAnswer | None = None


class PairResult(Record):
    comparison: Comparison
    predicates: Count  # of the first domain
    operators: tuple[Count, Count]  # of both


TrialResult = RunResult | ActionResult | PairResult


Cell = str | int | float | None


class Column(Record):
    """`group` stands above neighboring columns that share it; `decimals` of its numbers."""

    title: Text
    group: Text = ""
    decimals: Count = 0


class Table(Record):
    """`notes` stand below it. The first column names what a row is about."""

    name: Text  # of its files
    title: Text
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[Text, ...] = ()
    rules: tuple[Count, ...] = ()  # rows before which a line is drawn


class FigureForm(StrEnum):
    STEPS = "steps"  # numbers that grow over time
    SCATTER = "scatter"  # points over the diagonal


Numbers = tuple[Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)], ...]


class Series(Record):
    """`solid_until` on the x axis: the line is dashed from there on."""

    label: Text
    x: Numbers
    y: Numbers
    solid_until: Seconds | None = None


class Figure(Record):
    name: Text
    title: Text
    x_title: Text
    y_title: Text
    series: tuple[Series, ...]
    form: FigureForm = FigureForm.STEPS
    log_x: bool = False
    log_y: bool = False
    notes: tuple[Text, ...] = ()


class ExperimentResults(Record):
    """Everything that an experiment says, finished or not."""

    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
