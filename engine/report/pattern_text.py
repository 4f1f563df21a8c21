"""Patterns of mistakes in words: only what is proven, never a reason.

Objects have letters in the order of the actions of a witness and of its certificate, so that all
witnesses of a pattern read the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set

from engine.campaign.patterns import PatternBugs
from engine.records.localization import CauseKind
from engine.records.pattern import Attempt, Certificate, StoppedBy, Witness
from engine.report.words import count_text
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
    return distinct_titles(
        {
            row.id: (row.certificate, about)
            for row in store.patterns()
            if (about := first.get(row.id)) is not None
        }
    )


def distinct_titles(patterns: Mapping[int, tuple[Certificate, Witness]]) -> dict[int, str]:
    """Patterns that would share a title are told apart by what holds in one witness only."""
    alike: defaultdict[str, dict[int, tuple[str, ...]]] = defaultdict(dict)
    for number, (certificate, witness) in patterns.items():
        title = pattern_title(certificate, witness)
        alike[title][number] = _circumstances(certificate, witness, _words(title))
    titles = {}
    for title, group in alike.items():
        for number, own in group.items():
            others = [texts for other, texts in group.items() if other != number]
            apart = "; ".join(_differences(own, others))
            titles[number] = f"{title} ({apart})" if apart else title
    return titles


def _circumstances(certificate: Certificate, witness: Witness, known: Set[str]) -> tuple[str, ...]:
    """Goals, facts and values of a witness, first those of objects that the title names."""
    names = short_names(certificate, witness)
    parts = []
    for kind, label, places in certificate.tuples:
        if kind in _PREFIXES:
            objects = [names[witness.order[place]] for place in places]
            order = not known >= set(objects), list(_PREFIXES).index(kind)
            parts.append((order, _PREFIXES[kind] + _part_text(kind, label, objects)))
    return tuple(text for _, text in sorted(parts))


_PREFIXES = {"goal": "goal ", "not": "goal not ", "fact": "", "value": ""}
"""Kinds of tuples by their relevance, and how their texts begin."""


def _part_text(kind: str, label: str, objects: Sequence[str]) -> str:
    if kind != "value":
        return " ".join([label, *objects])
    function, _, value = label.rpartition(" ")
    return f"{' '.join([function, *objects])} = {value}"


def _differences(own: Sequence[str], others: Sequence[Collection[str]]) -> Iterator[str]:
    """Few of our texts, or of those we lack, that no other one has, or lacks, together."""
    left = list(others)
    while left:
        best = max(own, key=lambda text: sum(text not in other for other in left), default="")
        rest = [other for other in left if best in other]
        if len(rest) == len(left):
            break
        yield best
        left = rest
    for other in left:
        yield from [f"without {text}" for text in other if text not in own][:1]


def _words(title: str) -> set[str]:
    return set(re.findall(r"[^\s():;,]+", title))


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
    return f"Root cause {row.root_cause}, {count_text(bugs, 'bug')}: {text}"


def pattern_facts(pattern: PatternBugs, title: str) -> list[str]:
    """What is proven of a pattern and how often it occurs, one line each.

    Letters that the title uses are explained.
    """
    about = pattern.about
    better = ", ".join(f"({action})" for action in about.better_actions)
    bad = f"({about.action})" if about.action else "no action"
    used, letters = _words(title), short_names(pattern.certificate, about)
    named = [f"{name} is {own}" for own, name in letters.items() if name in used and own != name]
    gap = "the policy fails" if pattern.fails else f"largest gap {pattern.largest_gap}"
    problems = ", ".join(pattern.problems[:MAX_NAMES])
    more = "" if len(pattern.problems) <= MAX_NAMES else ", …"
    return [
        f"Policy: {bad}. Optimal: {better}." + (f" Here {', '.join(named)}." if named else ""),
        f"{count_text(len(pattern.bugs), 'bug')}, "
        f"{count_text(len(pattern.root_causes), 'root cause')} "
        f"in {count_text(len(pattern.problems), 'problem')} ({problems}{more}); {gap}.",
        f"Witness: bug {pattern.witness}, {count_text(about.after.objects, 'object')} of "
        f"{about.before.objects}, {count_text(about.after.facts, 'fact')} of {about.before.facts}, "
        f"{count_text(about.after.goals, 'goal')} of {about.before.goals}.",
        f"Family: {pattern.family}.",
    ]


def trend_text(trend: Sequence[tuple[int, int]]) -> str:
    """How many bugs of a pattern each campaign has; empty for one campaign."""
    if len(trend) < 2:
        return ""
    parts = [f"campaign {campaign}: {count_text(bugs, 'bug')}" for campaign, bugs in trend]
    return f"Trend: {', '.join(parts)}."


def counts_text(bugs: int, root_causes: int, patterns: int, families: int) -> str:
    """`447 bugs, 63 root causes, 23 patterns, 9 families`."""
    return ", ".join(
        (
            count_text(bugs, "bug"),
            count_text(root_causes, "root cause"),
            count_text(patterns, "pattern"),
            count_text(families, "family"),
        )
    )
