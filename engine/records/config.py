"""The configuration of a campaign with all its settings spelled out, and a unit of it.

What a preset or a default fills in stands explicitly in a configuration, so that a stored one
never changes its meaning.
"""

from __future__ import annotations

import re
from enum import StrEnum

from msgspec.structs import replace

from engine.errors import UsageError
from engine.records.codec import Count, Record, Seconds, Text
from engine.records.evidence import State
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.records.policy_spec import require_specs

MERGED_TRANSITIONS = 10_000
"""Transitions of a merged factor, if nothing else is asked for."""


class Factorization(Record):
    """Atomic factors, or merged ones of at most this many transitions."""

    transitions: Count | None = None

    @classmethod
    def parse(cls, text: str) -> Factorization:
        """`atomic`, `merged` or `merged:TRANSITIONS`."""
        if text == "atomic":
            return cls()
        found = re.fullmatch(r"merged(?::([1-9][0-9]{0,8}))?", text)
        if found is None:
            raise UsageError(
                f"'{text}' is not a factorization",
                hint="write atomic, merged or merged:TRANSITIONS, for example merged:1000",
            )
        return cls(int(found[1]) if found[1] else MERGED_TRANSITIONS)

    def __str__(self) -> str:
        return "atomic" if self.transitions is None else f"merged:{self.transitions}"


class Mode(StrEnum):
    """How the oracles of a campaign work."""

    HUNT = "hunt"  # as a team that shares everything, to find as many bugs as possible
    COMPARE = "compare"  # each by itself, to see which proves how much in which time


class Unsolved(StrEnum):
    """What to do with a candidate on which the policy fails."""

    PREFER = "prefer"  # the walk goes there, as the reference tool does
    INSERT_AND_AVOID = "insert-and-avoid"  # into the pool with it, and on elsewhere: the paper


class FuzzSettings(Record):
    size: Count = 100
    walk_length: Count = 5
    bias: str = "none"
    horizon: Count = 50  # 0: whole runs
    budget: Count = 200  # 0: no limit
    novelty: Count = 0
    seconds: Seconds | None = None  # for walks; without it, their number has a limit
    unsolved: Unsolved = Unsolved.INSERT_AND_AVOID


class OracleSettings(Record):
    oracles: tuple[Text, ...]
    objective: str = "any"
    step_limit: Count = 10_000
    skip_known_bugs: bool = False  # whether the other oracles leave a state alone once it is a bug
    mode: Mode = Mode.HUNT

    @property
    def factors(self) -> Factorization:
        """Those of dominance functions for oracles that name none."""
        merged = self.mode is Mode.COMPARE
        return Factorization(MERGED_TRANSITIONS) if merged else Factorization()


class UnitLimits(Record):
    """What one unit may use; a limit in seconds costs repeatability."""

    unit_seconds: Seconds | None = None
    unit_megabytes: Count | None = None
    oracle_seconds: Seconds | None = None  # of CPU time for one oracle, all states together
    state_seconds: Seconds | None = None  # of CPU time for one oracle and one state


class LocalizationSettings(Record):
    """Whether bad steps are looked for on the runs of all bugs, and with how much effort.

    What the expansions do not decide stays undecided; a limit in seconds costs repeatability.
    """

    enabled: bool = False
    search_expansions: Count = 10_000
    bug_expansions: Count = 50_000
    unit_expansions: Count = 1_000_000
    bug_seconds: Seconds | None = None


NO_LOCALIZATION = LocalizationSettings()


class MinimizationSettings(Record):
    """Whether a smallest witness is looked for at every root cause, after localization."""

    enabled: bool = False
    tries: Count = 3000  # problems per root cause


NO_MINIMIZATION = MinimizationSettings()


class CampaignConfig(Record):
    """`domain` is None if the problems are `.sas` files. Paths are absolute."""

    domain: Text | None
    problems: tuple[Text, ...]
    policies: tuple[Text, ...]
    seeds: tuple[Count, ...]
    unit_costs: bool
    fuzzing: FuzzSettings
    testing: OracleSettings
    limits: UnitLimits
    portfolio: tuple[Text, ...] = ()  # policies that some oracles compare with
    pool: Text | None = None  # a file of states to test instead of those that walks find
    localization: LocalizationSettings = NO_LOCALIZATION
    minimization: MinimizationSettings = NO_MINIMIZATION

    def __post_init__(self) -> None:
        require_specs((*self.policies, *self.portfolio))

    def with_seeds(self, *seeds: int) -> CampaignConfig:
        return replace(self, seeds=seeds)


class MadeState(Record):
    """A state of a pool that was made before: a walk from the entry `reference` led to it."""

    state: State
    reference: int
    operators: tuple[Count, ...]


class Unit(Record):
    """All that is needed to do the work, here or on another machine."""

    number: Count  # in the store
    problem: ProblemInput
    policy: PolicyInput
    seed: Count
    fuzzing: FuzzSettings
    testing: OracleSettings
    limits: UnitLimits
    portfolio: tuple[PolicyInput, ...] = ()
    localization: LocalizationSettings = NO_LOCALIZATION
    pool: File | None = None  # states to test instead of those that walks find
    made: tuple[MadeState, ...] = ()  # what these walks found before, if that is known
    made_complete: bool = False  # whether walks can reach no other states
