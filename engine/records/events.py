"""Events that use cases send while they run, as small frozen records.

Events go from a unit to the workspace and then to listeners; nothing else is known of a running
campaign, comparison or training. `unit` is the unit's number in the workspace, `seconds` the time
the unit has worked so far, pauses left out. States are tuples of values in the encoding of the
unit's task.
"""

from __future__ import annotations

from enum import StrEnum

from engine.records.codec import Amount, Count, Record, Seconds, Text
from engine.records.comparison import Parameters, Side
from engine.records.evidence import Evidence, State
from engine.records.experiment import TrialResult
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
    """The task as it was translated; stored, it keeps all states readable."""

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
    """One oracle's answer about one state; `bound` is what it showed to suffice.

    Where oracles work as a team, it may rest on what others have proved.
    """

    oracle: str
    verdict: OracleVerdict
    bound: Cost | None
    seconds: Seconds
    cpu: Seconds
    limited: bool = False  # a limit ended the examination


class PoolFlag(Record):
    """An oracle that works by itself proves a pool state to be a bug, at once or later.

    `cpu` and `seconds` are its own clock at that moment.
    """

    number: Count  # of the pool state
    oracle: str
    bound: Cost
    cpu: Seconds
    seconds: Seconds


class StateTested(Record):
    unit: Count
    number: Count
    answers: tuple[OracleAnswer, ...]
    seconds: Seconds
    flags: tuple[PoolFlag, ...] = ()  # new or with a lower bound, where oracles are compared


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
    better: Evidence | None  # a plan that came to light and proves more
    seconds: Seconds


class OracleStatistics(Record):
    """What an oracle did to pool states.

    In a team, `bugs` are those it found or confirmed with what all know. Compared with others, they
    are those it proved with what it knows itself, also later than it examined them; `unique` ones
    no other oracle proved.
    """

    oracle: str
    examined: Count = 0
    examined_unsolved: Count = 0  # those of them that the policy does not solve
    bugs: Count = 0
    bugs_unsolved: Count = 0
    unique: Count = 0
    optimal: Count = 0
    first: Count = 0  # findings it was the first to prove, outside the pool too
    seconds: Seconds = 0.0  # on the wall clock, `setup_seconds` included
    cpu: Seconds = 0.0  # of CPU time, `setup_cpu` included
    setup_seconds: Seconds = 0.0  # before the first state: above all for a dominance function
    setup_cpu: Seconds = 0.0
    limit: str = ""  # the one that ended its work early, in words
    factors: str = ""  # of its dominance function, as far as it could be computed


class RivalStatistics(Record):
    """How often an oracle ran a policy of the portfolio, and how often that proved a bug."""

    oracle: str
    policy: str
    runs: Count
    bugs: Count


class UnitStatistics(Record):
    states: Count = 0
    solved: Count = 0  # states of the pool from which the policy reaches the goal
    size: Count = 0  # how many states there will be
    bugs: Count = 0  # of the pool and further ones
    pool_bugs: Count = 0
    localized: Count = 0  # bugs whose runs were examined for bad steps
    walks: Count = 0
    duplicates: Count = 0
    filtered: Count = 0
    failed_walks: Count = 0
    complete: bool = False  # walks can reach no other states
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
    """Something the user should know; `unit` None means the whole campaign."""

    unit: Count | None
    text: str


class UnitFinished(Record):
    """It is done, or has reached a limit; then its statistics say which."""

    unit: Count
    statistics: UnitStatistics


class UnitStopped(Record):
    """The user stopped it; its findings are kept, and it can be resumed."""

    unit: Count


class UnitFailed(Record):
    """The input is wrong, or the process died; `error` says which."""

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


class TrialFinished(Record):
    """A trial of an experiment has its answer, or reached a limit without one."""

    unit: Count
    result: TrialResult
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
TrialEvent = UnitStarted | TrialFinished | Warned | UnitStopped | UnitFailed
"""`unit` is then the number of a trial."""


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
"""Events that the window receives from a running campaign; the rest is in the workspace."""


class ExperimentBegun(Record):
    experiment: Count
    units: Count  # how many trials and units are left to do, as far as that is known


class ExperimentAdvanced(Record):
    """The workspace has news of an experiment."""

    done: Count
    units: Count


ExperimentNews = ExperimentBegun | ExperimentAdvanced | UnitFailed | Warned


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
    policy: Text  # file
    reason: str


TrainingEvent = ProblemPrepared | ProblemSkipped | StepFinished | EpochFinished | TrainingFinished
Event = CampaignEvent | CampaignNews | ExperimentNews | ComparisonEvent | TrainingEvent
