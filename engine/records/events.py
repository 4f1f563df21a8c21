"""What happens in a campaign, as small frozen records.

Events go from a unit to the store and then to whoever listens; they are all anybody learns of a
running campaign. `unit` is the unit's number in the store, `seconds` the time the unit has worked
so far, pauses left out. States are tuples of values in the encoding of the unit's task.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.records.localization import Localization

State = tuple[int, ...]

NO_DECISION = -3
"""The policy's last decision is not an operator that could be written down."""


@dataclass(frozen=True, slots=True)
class UnitStarted:
    unit: int
    problem: str
    policy: str
    seed: int


@dataclass(frozen=True, slots=True)
class TaskReady:
    """The task as it was translated: stored, it makes all states readable for ever."""

    unit: int
    sas: str
    task_hash: str
    variables: int
    operators: int
    seconds: float


@dataclass(frozen=True, slots=True)
class StateAdded:
    """A pool state: a walk of `operators` from the entry `reference` led to it."""

    unit: int
    number: int
    state: State
    reference: int
    operators: tuple[int, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class RunFinished:
    """How the policy does in a pool state; the cost is a lower bound if it was aborted."""

    unit: int
    number: int
    outcome: str
    reason: str
    policy_cost: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Answer:
    """One oracle's answer about one state; `bound` is what it proved by itself."""

    oracle: str
    verdict: str
    bound: int | None
    seconds: float


@dataclass(frozen=True, slots=True)
class StateTested:
    unit: int
    number: int
    answers: tuple[Answer, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class StoredRun:
    """The policy's run from a bug state: `operators`, and what came next if it failed.

    After the operators, `last_decision` closes a loop (an operator), or is one of the policy's
    marks for doing nothing, or `NO_DECISION`.
    """

    outcome: str
    reason: str
    cost: int | None
    operators: tuple[int, ...]
    last_decision: int = NO_DECISION


@dataclass(frozen=True, slots=True)
class BugFound:
    """A state is a bug; `evidence` is the JSON text of its proof."""

    unit: int
    state: State
    kind: str
    policy_cost: int | None
    bound: int
    gap: int | None
    oracle: str
    evidence: str
    evidence_kind: str
    run: StoredRun
    retrospective: bool  # a pool state that the oracles had examined without success
    seconds: float


@dataclass(frozen=True, slots=True)
class BugImproved(BugFound):
    """A known bug turned out to be worse: the bound fell."""


@dataclass(frozen=True, slots=True)
class RegionsChanged:
    """Bug states with the first found bug state of their region, where that is news."""

    unit: int
    regions: tuple[tuple[State, State], ...]


@dataclass(frozen=True, slots=True)
class BugLocalized:
    """Which steps of the run from a bug state are bad, as far as that was decided."""

    unit: int
    state: State
    localization: Localization
    seconds: float


@dataclass(frozen=True, slots=True)
class OracleStatistics:
    """What an oracle did to pool states; `unique` bugs were proven by no other oracle."""

    oracle: str
    examined: int = 0
    bugs: int = 0
    unique: int = 0
    optimal: int = 0
    first: int = 0  # findings it was the first to prove, outside the pool too
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RivalStatistics:
    """How often an oracle ran a policy of the portfolio, and how often that proved a bug."""

    oracle: str
    policy: str
    runs: int
    bugs: int


@dataclass(frozen=True, slots=True)
class UnitStatistics:
    states: int = 0
    size: int = 0  # how many states there will be
    bugs: int = 0
    localized: int = 0  # bugs whose runs were examined for bad steps
    walks: int = 0
    duplicates: int = 0
    filtered: int = 0
    failed_walks: int = 0
    policy_calls: int = 0
    policy_states: int = 0
    policy_seconds: float = 0.0
    touched_states: int = 0
    peak_megabytes: float = 0.0
    seconds: float = 0.0
    oracles: tuple[OracleStatistics, ...] = ()
    portfolio: tuple[RivalStatistics, ...] = ()
    limit: str = ""  # the one that ended the unit before it was done, in words


@dataclass(frozen=True, slots=True)
class Progress:
    unit: int
    statistics: UnitStatistics


@dataclass(frozen=True, slots=True)
class Warned:
    """Something the user should know; `unit` None speaks of the whole campaign."""

    unit: int | None
    text: str


@dataclass(frozen=True, slots=True)
class UnitFinished:
    """It is done, or has reached a limit; then its statistics say which."""

    unit: int
    statistics: UnitStatistics


@dataclass(frozen=True, slots=True)
class UnitStopped:
    """The user stopped it; what it found is kept, and it can be taken up again."""

    unit: int


@dataclass(frozen=True, slots=True)
class UnitFailed:
    """The input is wrong, or the process died; `error` says so in words for the user."""

    unit: int
    error: str
    lost: bool = False  # the process died, or the policy's server is gone


@dataclass(frozen=True, slots=True)
class CampaignStarted:
    campaign: int
    units: tuple[int, ...]  # those that are left to do


@dataclass(frozen=True, slots=True)
class ClusterChanged:
    """Workers of the cluster came or went."""

    workers: int
    places: int  # how many units run at a time


@dataclass(frozen=True, slots=True)
class CampaignFinished:
    campaign: int
    status: str  # "finished", "stopped"
    seconds: float


UnitEvent = (
    UnitStarted
    | TaskReady
    | StateAdded
    | RunFinished
    | StateTested
    | BugFound
    | BugImproved
    | RegionsChanged
    | BugLocalized
    | Progress
    | Warned
    | UnitFinished
    | UnitStopped
    | UnitFailed
)
Event = UnitEvent | CampaignStarted | ClusterChanged | CampaignFinished
