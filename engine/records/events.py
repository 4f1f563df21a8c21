"""What use cases tell while they run, as small frozen records.

Events go from a unit to the workspace and then to whoever listens; they are all anybody learns of
a running campaign, comparison or training. `unit` is the unit's number in the workspace, `seconds`
the time the unit has worked so far, pauses left out. States are tuples of values in the encoding of
the unit's task.
"""

from __future__ import annotations

from enum import StrEnum

from engine.records.codec import Amount, Count, Record, Seconds, Text
from engine.records.comparison import Parameters, Side
from engine.records.evidence import Evidence, State
from engine.records.finding import Cost, EndReason, Finding, RunOutcome
from engine.records.localization import Localization
from engine.records.training import EpochRecord


class OracleVerdict(StrEnum):
    """What an oracle says about the policy in a state; none of them is "passed"."""

    BUG = "bug"
    OPTIMAL = "no bug, proven optimal"
    NOT_REFUTED = "not refuted"


class UnitStarted(Record):
    unit: Count
    problem: str
    policy: str
    seed: int


class TaskReady(Record):
    """The task as it was translated: stored, it makes all states readable for ever."""

    unit: Count
    sas: str
    task_hash: str
    variables: Count
    operators: Count
    seconds: Seconds


class StateAdded(Record):
    """A pool state: a walk of `operators` from the entry `reference` led to it."""

    unit: Count
    number: Count
    state: State
    reference: int
    operators: tuple[Count, ...]
    seconds: Seconds


class RunFinished(Record):
    """How the policy does in a pool state; the cost is a lower bound if it was aborted."""

    unit: Count
    number: Count
    outcome: RunOutcome
    reason: EndReason
    policy_cost: Cost | None
    seconds: Seconds


class OracleAnswer(Record):
    """One oracle's answer about one state; `bound` is what it proved by itself."""

    oracle: str
    verdict: OracleVerdict
    bound: Cost | None
    seconds: Seconds


class StateTested(Record):
    unit: Count
    number: Count
    answers: tuple[OracleAnswer, ...]
    seconds: Seconds


class FindingReported(Record):
    """A state is a bug, or a known bug turned out to be worse because the bound fell."""

    unit: Count
    finding: Finding
    retrospective: bool  # a pool state that the oracles had examined without success
    seconds: Seconds


class RegionsChanged(Record):
    """Bug states with the first found bug state of their region, where that is news."""

    unit: Count
    regions: tuple[tuple[State, State], ...]


class BugLocalized(Record):
    """Which steps of the run from a bug state are bad, as far as that was decided."""

    unit: Count
    state: State
    localization: Localization
    better: Evidence | None  # a plan that came to light, for a bug that had only a bound
    seconds: Seconds


class OracleStatistics(Record):
    """What an oracle did to pool states; `unique` bugs were proven by no other oracle."""

    oracle: str
    examined: Count = 0
    bugs: Count = 0
    unique: Count = 0
    optimal: Count = 0
    first: Count = 0  # findings it was the first to prove, outside the pool too
    seconds: Seconds = 0.0


class RivalStatistics(Record):
    """How often an oracle ran a policy of the portfolio, and how often that proved a bug."""

    oracle: str
    policy: str
    runs: Count
    bugs: Count


class UnitStatistics(Record):
    states: Count = 0
    size: Count = 0  # how many states there will be
    bugs: Count = 0
    localized: Count = 0  # bugs whose runs were examined for bad steps
    walks: Count = 0
    duplicates: Count = 0
    filtered: Count = 0
    failed_walks: Count = 0
    policy_calls: Count = 0
    policy_states: Count = 0
    policy_seconds: Seconds = 0.0
    touched_states: Count = 0
    peak_megabytes: Amount = 0.0
    seconds: Seconds = 0.0
    oracles: tuple[OracleStatistics, ...] = ()
    portfolio: tuple[RivalStatistics, ...] = ()
    limit: str = ""  # the one that ended the unit before it was done, in words


class UnitProgress(Record):
    unit: Count
    statistics: UnitStatistics


class Warned(Record):
    """Something the user should know; `unit` None speaks of the whole campaign."""

    unit: Count | None
    text: str


class UnitFinished(Record):
    """It is done, or has reached a limit; then its statistics say which."""

    unit: Count
    statistics: UnitStatistics


class UnitStopped(Record):
    """The user stopped it; what it found is kept, and it can be taken up again."""

    unit: Count


class UnitFailed(Record):
    """The input is wrong, or the process died; `error` says so in words for the user."""

    unit: Count
    error: str
    lost: bool = False  # the process died, or the policy's server is gone


class CampaignStarted(Record):
    campaign: Count
    units: tuple[Count, ...]  # those that are left to do


class ClusterSize(Record):
    workers: Count
    places: Count  # how many units run at a time: one per thread of a worker


class ClusterChanged(Record):
    """Workers of the cluster came or went."""

    size: ClusterSize


class CampaignStatus(StrEnum):
    """How a campaign ended."""

    FINISHED = "finished"  # every unit is done
    INCOMPLETE = "incomplete"  # units failed or were lost
    STOPPED = "stopped"


class CampaignFinished(Record):
    campaign: Count
    status: CampaignStatus
    seconds: Seconds


UnitEvent = (
    UnitStarted
    | TaskReady
    | StateAdded
    | RunFinished
    | StateTested
    | FindingReported
    | RegionsChanged
    | BugLocalized
    | UnitProgress
    | Warned
    | UnitFinished
    | UnitStopped
    | UnitFailed
)
CampaignEvent = UnitEvent | CampaignStarted | ClusterChanged | CampaignFinished


class Begun(Record):
    campaign: Count
    units: Count  # how many are left to do


class Advanced(Record):
    """The workspace has news of a campaign."""

    bugs: bool  # also among the bugs


class ClusterStatus(Record):
    """How it goes where the units run."""

    cluster: ClusterSize | None = None  # None: this machine, or nothing is known yet
    restarted: Count = 0  # units that lost their workers and began again


class AlreadyDone(Record):
    """The workspace holds this campaign, finished."""

    campaign: Count


CampaignNews = Begun | Advanced | ClusterStatus | UnitStarted | UnitFailed | Warned
"""What the window hears of a running campaign; the rest is in the workspace."""


class StageStarted(Record):
    """`stage` is one of: operators, first mapping, projections, mappings, counterexample."""

    parameters: Parameters
    stage: str


class ComparisonProgress(Record):
    """Numbers so far for one reading of the parameters."""

    parameters: Parameters
    stage: str
    candidates: Count
    conflicts: Count
    operators_covered: Count
    operators: Count
    states: Count
    seconds: Seconds


class OperatorChecked(Record):
    """One operator of A or B (`side`) under the mapping that is being tried."""

    parameters: Parameters
    side: Side
    operator: str
    covered: bool
    states: Count


ComparisonEvent = StageStarted | ComparisonProgress | OperatorChecked


class ProblemPrepared(Record):
    problem: str
    teacher: str  # how it knows what is right, in words


class ProblemSkipped(Record):
    problem: str
    reason: str


class StepFinished(Record):
    epoch: Count
    step: Count
    steps: Count


class EpochFinished(Record):
    record: EpochRecord


class TrainingFinished(Record):
    best_epoch: Count
    policy: Text  # file
    reason: str


TrainingEvent = ProblemPrepared | ProblemSkipped | StepFinished | EpochFinished | TrainingFinished
Event = CampaignEvent | CampaignNews | ComparisonEvent | TrainingEvent
