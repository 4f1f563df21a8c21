"""Patterns of mistakes in words: only what is proven, never a reason.

Objects have letters in the order of the actions of a witness and of its certificate, so that all
witnesses of a pattern read the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from engine.campaign.patterns import PatternBugs
from engine.records.localization import CauseKind
from engine.records.pattern import Attempt, Certificate, StoppedBy, Witness
from engine.workspace.reader import WorkspaceReader
from engine.workspace.rows import WitnessRow

MAX_NAMES = 6
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

_OUTCOMES = {
    CauseKind.DEAD_END: "loses the goal",
    CauseKind.LOOP: "never reaches the goal",
    CauseKind.NO_ACTION: "gives up",
    CauseKind.FAULT: "cannot be executed",
}
STOPPED_TEXTS = {
    StoppedBy.REBINDING: "the policy decides differently if the state is a problem of its own",
    StoppedBy.SEARCH: "a search reached its limit",
    StoppedBy.TRIES: "the limit of tries was reached",
    StoppedBy.TIME: "the time limit was reached",
    StoppedBy.POLICY: "the policy works only on its own problem",
    StoppedBy.NO_PDDL: "the problem has no PDDL",
}


def letter(number: int) -> str:
    """A, B, ..., Z, AA, AB, ..."""
    text = ""
    while number >= 0:
        text = LETTERS[number % 26] + text
        number = number // 26 - 1
    return text


def short_names(certificate: Certificate, witness: Witness) -> dict[str, str]:
    """By the names of a witness, what its objects are called in a title: `A`, `robot`.

    Letters come in the order in which a title has them, and none is given twice, as actions say
    nothing of types. The only object of a type is called by it; constants keep their names.
    """
    count = Counter(certificate.colors)
    colors = dict(zip(witness.order, certificate.colors, strict=True))
    actions = " ".join([witness.action, *witness.better_actions]).split(" ")
    names: dict[str, str] = {}
    given = 0
    for own in dict.fromkeys([word for word in actions if word in colors] + list(witness.order)):
        color = colors[own]
        if color.startswith("="):
            names[own] = color[1:]
        elif count[color] == 1:
            names[own] = color
        else:
            names[own] = letter(given)
            given += 1
    return names


def action_text(action: str, names: Mapping[str, str]) -> str:
    """`sail A B`; empty for no action."""
    schema, *objects = action.split(" ")
    return " ".join([schema, *(names.get(name, name) for name in objects)])


def pattern_title(certificate: Certificate, witness: Witness) -> str:
    """`sail A B instead of sail A C: never reaches the goal`."""
    names = short_names(certificate, witness)
    bad = action_text(witness.action, names) or "nothing"
    better = [action_text(action, names) for action in witness.better_actions]
    if len(better) > 2:
        better = sorted({action.partition(" ")[0] for action in better})
    instead = f" instead of {' or '.join(better)}" if better else ""
    return f"{bad}{instead}: {outcome_text(witness)}"


def pattern_titles(store: WorkspaceReader) -> dict[int, str]:
    """The titles of all patterns of a workspace, by number, each from its first witness."""
    witnesses = [row for row in store.witnesses() if row.attempt.witness is not None]
    first = {row.pattern: row.attempt.witness for row in reversed(witnesses)}
    return {
        row.id: pattern_title(row.certificate, about)
        for row in store.patterns()
        if (about := first.get(row.id)) is not None
    }


def outcome_text(witness: Witness) -> str:
    """What the mistake amounts to."""
    if witness.kind is CauseKind.DETOUR:
        return f"costs {witness.loss_after} more"
    return _OUTCOMES[witness.kind]


def attempt_text(attempt: Attempt, witness: int | None, pattern: int | None) -> str:
    """What became of a bug that was minimized: the number of its witness, or why it has none."""
    about = attempt.witness
    if about is None:
        assert attempt.stopped_by is not None
        return f"No witness: {attempt.reason or STOPPED_TEXTS[attempt.stopped_by]}."
    sizes = f"{about.before.objects} objects became {about.after.objects}"
    return f"{sizes} (witness: bug {witness}, pattern {pattern})."


def without_witness_text(row: WitnessRow, bugs: int) -> str:
    """Why some bugs have no pattern although their root cause was minimized."""
    text = attempt_text(row.attempt, row.finding, row.pattern)
    return f"Root cause {row.root_cause}, {_count(bugs, 'bug')}: {text}"


def pattern_facts(pattern: PatternBugs) -> list[str]:
    """What is proven of a pattern and how often it occurs, one line each."""
    about = pattern.about
    better = ", ".join(f"({action})" for action in about.better_actions)
    bad = f"({about.action})" if about.action else "no action"
    title = pattern_title(pattern.certificate, about).split(": ")[0].split(" ")
    letters = short_names(pattern.certificate, about)
    named = [f"{name} is {own}" for own, name in letters.items() if name in title and own != name]
    gap = "the policy fails" if pattern.fails else f"largest gap {pattern.largest_gap}"
    problems = ", ".join(pattern.problems[:MAX_NAMES])
    more = "" if len(pattern.problems) <= MAX_NAMES else ", …"
    return [
        f"Policy: {bad}. Optimal: {better}." + (f" Here {', '.join(named)}." if named else ""),
        f"{_count(len(pattern.bugs), 'bug')}, {_count(len(pattern.root_causes), 'root cause')} "
        f"in {_count(len(pattern.problems), 'problem')} ({problems}{more}); {gap}.",
        f"Witness: bug {pattern.witness}, {_count(about.after.objects, 'object')} of "
        f"{about.before.objects}, {_count(about.after.facts, 'fact')} of {about.before.facts}, "
        f"{_count(about.after.goals, 'goal')} of {about.before.goals}.",
        f"Family: {pattern.family}.",
    ]


def trend_text(trend: Sequence[tuple[int, int]]) -> str:
    """How many bugs of a pattern each campaign has; empty for one campaign."""
    if len(trend) < 2:
        return ""
    parts = [f"campaign {campaign}: {_count(bugs, 'bug')}" for campaign, bugs in trend]
    return f"Trend: {', '.join(parts)}."


def counts_text(bugs: int, root_causes: int, patterns: int, families: int) -> str:
    """`447 bugs, 63 root causes, 23 patterns, 9 families`."""
    return ", ".join(
        (
            _count(bugs, "bug"),
            _count(root_causes, "root cause"),
            _count(patterns, "pattern"),
            _count(families, "family", "families"),
        )
    )


def _count(number: int, word: str, plural: str = "") -> str:
    return f"{number:,} {word if number == 1 else plural or word + 's'}"
