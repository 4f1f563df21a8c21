"""The tables of the campaign screen: campaigns, oracles, units, and bugs of two campaigns."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from math import inf

from app.models.campaign_controller import CampaignState
from app.models.table_model import Column
from engine.campaign.changes import Change, ComparedBug, PolicyCost, Trend
from engine.campaign.patterns import ComparedPattern, PatternChange
from engine.campaign.timeline import OracleScore
from engine.records.config import Mode
from engine.report.words import complete_text, count_text
from engine.workspace.rows import CampaignRow, UnitRow


@dataclass(frozen=True)
class CampaignLine:
    """A campaign and how it stands."""

    row: CampaignRow
    state: CampaignState
    bugs: int  # in the pool
    failed_units: int
    limited_units: int = 0  # stopped at a limit of their own
    further: int = 0  # bugs in states that are not in the pool
    experiments: tuple[int, ...] = ()  # that it is a part of

    @property
    def part_of(self) -> str:
        """The experiment that it is a part of, in words; empty if there is none."""
        numbers = ", ".join(map(str, self.experiments))
        return f"experiment {numbers}" if numbers else ""

    @property
    def words(self) -> str:
        if self.state is CampaignState.INCOMPLETE:
            return f"{self.state.value}, {self.failed_units} failed"
        if self.limited_units and self.state is CampaignState.FINISHED:
            return f"{self.state.value}, {self.limited_units} at limit"
        return self.state.value


def clock_time(seconds: float) -> str:
    """Return the time of day for today, else the date."""
    then = time.localtime(seconds)
    today = time.localtime()
    same = (then.tm_year, then.tm_yday) == (today.tm_year, today.tm_yday)
    return time.strftime("%H:%M" if same else "%Y-%m-%d", then)


def duration(seconds: float) -> str:
    """Return a short duration: 0.4 s, 12 s, 3:05 min, 2:10 h."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02} min"
    return f"{minutes // 60}:{minutes % 60:02} h"


_STATE_LOOKS = {
    CampaignState.RUNNING: ("run", "accent"),
    CampaignState.PAUSED: ("pause", "undecided"),
    CampaignState.ELSEWHERE: ("run", "muted"),
    CampaignState.INTERRUPTED: ("warning", "undecided"),
    CampaignState.STOPPED: ("stop", "muted"),
    CampaignState.INCOMPLETE: ("warning", "undecided"),
    CampaignState.FINISHED: ("check", "proven"),
}


_IMPLIED = (CampaignState.FINISHED.value, CampaignState.INCOMPLETE.value)
"""By whatever else is said."""
_MODE_WORDS = {Mode.HUNT: "Oracles as a team", Mode.COMPARE: "Oracles compared"}


def _look_of(line: CampaignLine) -> tuple[str, str]:
    if line.state is CampaignState.FINISHED and line.limited_units:
        return "warning", "undecided"
    return _STATE_LOOKS[line.state]


def _status_text(line: CampaignLine) -> str:
    """Return a short status for a narrow column; the icon shows it, too."""
    if line.state is CampaignState.ELSEWHERE:
        return "elsewhere"
    words = [*line.words.split(", "), line.part_of]
    if words[0] in _IMPLIED and any(words[1:]):
        words = words[1:]
    return ", ".join(filter(None, words))


def _summary_of(line: CampaignLine) -> str:
    config = line.row.config
    part = f"Part of {line.part_of}\n" if line.part_of else ""
    return (
        f"{line.words}\n{part}"
        f"{count_text(len(config.problems), 'problem')}, "
        f"{count_text(len(config.policies), 'policy')}, "
        f"{count_text(len(config.seeds), 'seed')}, {config.fuzzing.size} states each\n"
        f"{count_text(line.bugs, 'bug')} in the pool, {line.further} in further states\n"
        f"{_MODE_WORDS[config.testing.mode]}: {', '.join(config.testing.oracles)}"
    )


CAMPAIGNS: tuple[Column[CampaignLine], ...] = (
    Column("number", "No.", lambda line: line.row.id, numeric=True, row_tip=_summary_of),
    Column(
        "created",
        "Started",
        lambda line: line.row.created,
        text=lambda line: clock_time(line.row.created),
        row_tip=_summary_of,
    ),
    Column(
        "state",
        "Status",
        lambda line: line.words,
        text=_status_text,
        icon=lambda line: _look_of(line)[0],
        token=lambda line: _look_of(line)[1],
        row_tip=_summary_of,
    ),
    Column(
        "bugs",
        "Bugs",
        lambda line: line.bugs,
        numeric=True,
        tip="Pool states that are bugs",
        row_tip=_summary_of,
    ),
)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


_ORACLE: Column[OracleScore] = Column("oracle", "Oracle", lambda score: score.oracle, mono=True)
_EFFORT: tuple[Column[OracleScore], ...] = (
    Column(
        "optimal",
        "Optimal",
        lambda score: score.optimal,
        numeric=True,
        tip="Pool states in which this oracle proved the policy optimal",
    ),
    Column("examined", "Examined", lambda score: score.examined, numeric=True),
    Column(
        "cpu",
        "CPU time",
        lambda score: score.cpu,
        text=lambda score: duration(score.cpu),
        numeric=True,
        tip="CPU time with dominance functions, policy runs and searches, without the "
        "verification of findings",
    ),
    Column(
        "seconds",
        "Time",
        lambda score: score.seconds,
        text=lambda score: duration(score.seconds),
        numeric=True,
        tip="The same on the wall clock",
        shown=False,
    ),
    Column(
        "per_state",
        "Per state",
        lambda score: score.cpu / score.examined if score.examined else None,
        text=lambda score: f"{1000 * score.cpu / score.examined:.3g} ms" if score.examined else "",
        numeric=True,
        tip="CPU time per examined state",
    ),
)
TEAM: tuple[Column[OracleScore], ...] = (
    _ORACLE,
    Column(
        "first",
        "Found first by",
        lambda score: score.first,
        numeric=True,
        tip="Bugs that this oracle proved first, including further states. Oracles early in the "
        "list find more",
    ),
    Column(
        "bugs",
        "Confirmed by",
        lambda score: score.bugs,
        numeric=True,
        tip="Pool states that this oracle reported as bugs, using what others had proved",
    ),
    *_EFFORT,
)
"""What the members of a team did. These figures do not compare them."""
COMPARED_ORACLES: tuple[Column[OracleScore], ...] = (
    _ORACLE,
    Column(
        "recall",
        "Recall",
        lambda score: score.recall,
        text=lambda score: _percent(score.recall),
        numeric=True,
        tip="Share of the examined pool states in which this oracle proves a bug by itself",
    ),
    Column(
        "unsolved",
        "Unsolved",
        lambda score: score.recall_unsolved,
        text=lambda score: _percent(score.recall_unsolved),
        numeric=True,
        tip="The recall among the states that the policy does not solve",
    ),
    Column(
        "solved",
        "Solved",
        lambda score: score.recall_solved,
        text=lambda score: _percent(score.recall_solved),
        numeric=True,
        tip="The recall among the states that the policy solves",
    ),
    Column(
        "bugs",
        "Bugs",
        lambda score: score.bugs,
        numeric=True,
        tip="Pool states that this oracle proves to be bugs, at once or later",
    ),
    Column(
        "unique",
        "Unique",
        lambda score: score.unique,
        numeric=True,
        tip="Pool states that no other oracle of this campaign proves to be bugs",
    ),
    # There is no room for how many states an oracle examined: nearly always as many as the others.
    *(replace(column, shown=column.shown and column.name != "examined") for column in _EFFORT),
)


def _remark(unit: UnitRow) -> str:
    """Return why a unit is not done, that nothing else is to do, or an empty string."""
    if reason := unit.error or unit.statistics.limit:
        return reason
    return complete_text(unit.statistics.states) if unit.statistics.complete else ""


def _unit_status(unit: UnitRow) -> str:
    at_limit = unit.status == "finished" and unit.statistics.limit
    return "limit reached" if at_limit else unit.status


_UNIT_LOOKS = {
    "failed": ("error", "bad"),
    "lost": ("error", "bad"),
    "finished": ("check", "proven"),
    "limit reached": ("warning", "undecided"),
    "running": ("run", "accent"),
}
_PLAIN = "", "muted"

UNITS: tuple[Column[UnitRow], ...] = (
    Column("problem", "Problem", lambda unit: unit.problem, mono=True),
    Column("policy", "Policy", lambda unit: unit.policy, mono=True),
    Column("seed", "Seed", lambda unit: unit.seed, numeric=True),
    Column(
        "status",
        "Status",
        _unit_status,
        icon=lambda unit: _UNIT_LOOKS.get(_unit_status(unit), _PLAIN)[0],
        token=lambda unit: _UNIT_LOOKS.get(_unit_status(unit), _PLAIN)[1],
        row_tip=lambda unit: _remark(unit) or unit.status,
    ),
    Column("states", "States", lambda unit: unit.statistics.states, numeric=True),
    Column(
        "solved",
        "Solved",
        lambda unit: unit.statistics.solved,
        numeric=True,
        tip="Pool states from which the policy reaches the goal",
    ),
    Column("bugs", "Bugs", lambda unit: unit.statistics.pool_bugs, numeric=True),
    Column(
        "calls",
        "Policy calls",
        lambda unit: unit.statistics.policy_states,
        numeric=True,
        tip="States that the policy evaluated",
    ),
    Column(
        "seconds",
        "Time",
        lambda unit: unit.statistics.seconds,
        text=lambda unit: duration(unit.statistics.seconds) if unit.statistics.seconds else "",
        numeric=True,
    ),
    Column("error", "Remarks", _remark, row_tip=_remark),
)

_CHANGE_LOOKS = {
    Change.NEW: ("bad", "bad"),
    Change.GONE: ("check", "proven"),
    Change.STILL: ("bugs", "undecided"),
    Change.UNDECIDED: ("unknown", "muted"),
    Change.UNTESTED: ("unknown", "muted"),
}

_TREND_WORDS = {
    Trend.BETTER: "the policy got better",
    Trend.WORSE: "the policy got worse",
    Trend.SAME: "the same in both",
    Trend.UNKNOWN: "a bug in both",
}


def _why(bug: ComparedBug) -> str:
    match bug.change:
        case Change.STILL if bug.before is None or bug.after is None:
            return "found by only one campaign"
        case Change.STILL:
            return _TREND_WORDS[bug.trend]
        case Change.UNDECIDED:
            return "the other run stopped too early"
        case Change.UNTESTED:
            return "not tested by the other campaign"
        case _:
            return "the other policy is no worse than the best known"


def _cost(cost: PolicyCost | None) -> float | None:
    return None if cost is None else cost.at_least


def _cost_text(cost: PolicyCost | None) -> str:
    if cost is None:
        return ""
    if cost.at_least == inf:
        return "fails"
    return f"{cost.at_least:.0f}" if cost.at_least == cost.at_most else f"≥ {cost.at_least:.0f}"


COMPARED: tuple[Column[ComparedBug], ...] = (
    Column(
        "change",
        "Change",
        lambda bug: bug.change.value,
        icon=lambda bug: _CHANGE_LOOKS[bug.change][0],
        token=lambda bug: _CHANGE_LOOKS[bug.change][1],
        tip="New, gone or still there; undecided if the other run stopped too early; not tested "
        "if the other campaign did not test this state",
    ),
    Column("bug", "Bug", lambda bug: bug.finding.id, numeric=True),
    Column("problem", "Problem", lambda bug: bug.finding.problem, mono=True),
    Column("policy", "Policy", lambda bug: bug.finding.policy, mono=True),
    Column(
        "before",
        "Before",
        lambda bug: _cost(bug.cost_before),
        text=lambda bug: _cost_text(bug.cost_before),
        numeric=True,
        tip="Policy cost in the older campaign",
    ),
    Column(
        "after",
        "After",
        lambda bug: _cost(bug.cost_after),
        text=lambda bug: _cost_text(bug.cost_after),
        numeric=True,
        tip="Policy cost in the newer campaign",
    ),
    Column("bound", "Best known", lambda bug: bug.finding.bound, numeric=True),
    Column(
        "tested",
        "Why",
        _why,
        tip="A bug is gone only if the other campaign tested its state and the policy's cost "
        "there is at most the best known cost",
    ),
)
PATTERN_LOOKS = {
    PatternChange.NEW: _CHANGE_LOOKS[Change.NEW],
    PatternChange.GONE: _CHANGE_LOOKS[Change.GONE],
    PatternChange.STILL: _CHANGE_LOOKS[Change.STILL],
    PatternChange.NOT_EXAMINED: _CHANGE_LOOKS[Change.UNTESTED],
}


@dataclass(frozen=True, slots=True)
class PatternLine:
    """A pattern of one of two campaigns, or of both, with its title."""

    pattern: ComparedPattern
    title: str


COMPARED_PATTERNS: tuple[Column[PatternLine], ...] = (
    Column(
        "change",
        "Change",
        lambda line: line.pattern.change.value,
        icon=lambda line: PATTERN_LOOKS[line.pattern.change][0],
        token=lambda line: PATTERN_LOOKS[line.pattern.change][1],
        tip="New, gone or still there; not examined if the other campaign may have the pattern, "
        "too: it tests the same policy, or some of its bugs have not been minimized",
    ),
    Column("pattern", "Pattern", lambda line: line.pattern.id, numeric=True),
    Column(
        "before",
        "Before",
        lambda line: line.pattern.bugs_before,
        numeric=True,
        tip="Bugs with this pattern in the older campaign",
    ),
    Column(
        "after",
        "After",
        lambda line: line.pattern.bugs_after,
        numeric=True,
        tip="Bugs with this pattern in the newer campaign",
    ),
    Column("mistake", "Mistake", lambda line: line.title),
)
