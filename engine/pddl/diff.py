"""What differs between two domains, part by part, as text and as data.

A structural comparison by name; whether the domains still mean the same is the question of
`engine.equivalence`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from engine.pddl.model import (
    Action,
    Condition,
    Domain,
    EffectForall,
    Exists,
    Forall,
    Function,
    Predicate,
    TypedName,
    When,
    conjuncts,
    effects,
)
from engine.pddl.printer import format_condition, format_effect, format_typed_list
from engine.pddl.traversal import subconditions, subeffects
from engine.pddl.types import Types

Item = TypeVar("Item")
VARIABLE = re.compile(r"\?[^\s()]+")


@dataclass(frozen=True, slots=True)
class Change:
    """Something both domains have, written differently."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Changes:
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@dataclass(frozen=True, slots=True)
class ActionChange:
    """What differs inside an action; conditions and effects use the parameters' old names."""

    name: str
    parameters: Change | None
    preconditions_added: tuple[str, ...]
    preconditions_removed: tuple[str, ...]
    effects_added: tuple[str, ...]
    effects_removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DomainDiff:
    name: Change | None
    requirements: Changes
    types: Changes
    constants: Changes
    predicates: Changes
    functions: Changes
    derived: Changes
    actions_added: tuple[str, ...]
    actions_removed: tuple[str, ...]
    actions_changed: tuple[ActionChange, ...]

    @property
    def is_empty(self) -> bool:
        return not self.as_text()

    def as_text(self) -> str:
        """One line per difference; nothing if there is none."""
        lines = [f"domain: {self.name.before} -> {self.name.after}"] if self.name else []
        for what, changes in (
            ("requirement", self.requirements),
            ("type", self.types),
            ("constant", self.constants),
            ("predicate", self.predicates),
            ("function", self.functions),
            ("derived predicate", self.derived),
        ):
            lines += [f"- {what} {text}" for text in changes.removed]
            lines += [f"+ {what} {text}" for text in changes.added]
            lines += [f"~ {what} {c.before} -> {c.after}" for c in changes.changed]
        lines += [f"- action {name}" for name in self.actions_removed]
        lines += [f"+ action {name}" for name in self.actions_added]
        for change in self.actions_changed:
            lines += _action_lines(change)
        return "\n".join(lines)


def diff_domains(before: Domain, after: Domain) -> DomainDiff:
    old_actions = {action.name: action for action in before.actions}
    new_actions = {action.name: action for action in after.actions}
    changed = [
        _diff_actions(old_actions[name], new_actions[name])
        for name in old_actions
        if name in new_actions
    ]
    same_name = before.name == after.name
    return DomainDiff(
        name=None if same_name else Change("domain", before.name, after.name),
        requirements=_changes(_requirements(before), _requirements(after)),
        types=_changes(_types(before), _types(after)),
        constants=_changes(_typed(before.constants), _typed(after.constants)),
        predicates=_changes(_signatures(before.predicates), _signatures(after.predicates)),
        functions=_changes(_signatures(before.functions), _signatures(after.functions)),
        derived=_changes(_rules(before), _rules(after)),
        actions_added=tuple(name for name in new_actions if name not in old_actions),
        actions_removed=tuple(name for name in old_actions if name not in new_actions),
        actions_changed=tuple(item for item in changed if item),
    )


@dataclass(frozen=True, slots=True)
class _Form:
    """How something is written, and what of it counts in a comparison."""

    text: str
    meaning: object


def _changes(before: Mapping[str, _Form], after: Mapping[str, _Form]) -> Changes:
    return Changes(
        added=tuple(form.text for name, form in after.items() if name not in before),
        removed=tuple(form.text for name, form in before.items() if name not in after),
        changed=tuple(
            Change(name, form.text, after[name].text)
            for name, form in before.items()
            if name in after and form.meaning != after[name].meaning
        ),
    )


def _requirements(domain: Domain) -> dict[str, _Form]:
    return {name: _Form(f":{name}", name) for name in domain.requirements}


def _types(domain: Domain) -> dict[str, _Form]:
    hierarchy = Types.of(domain)
    return {
        item.name: _Form(format_typed_list([item]), frozenset(hierarchy.parents(item.name)))
        for item in domain.types
    }


def _typed(names: Iterable[TypedName]) -> dict[str, _Form]:
    return {item.name: _Form(format_typed_list([item]), frozenset(item.types)) for item in names}


def _signatures(declared: Iterable[Predicate] | Iterable[Function]) -> dict[str, _Form]:
    return {item.name: _signature(item) for item in declared}


def _signature(item: Predicate | Function) -> _Form:
    text = " ".join(filter(None, [item.name, format_typed_list(item.parameters)]))
    return _Form(f"({text})", [frozenset(parameter.types) for parameter in item.parameters])


def _rules(domain: Domain) -> dict[str, _Form]:
    forms: dict[str, list[str]] = {}
    for rule in domain.derived:
        text = f"{_signature(rule.predicate).text} {format_condition(rule.condition)}"
        forms.setdefault(rule.predicate.name, []).append(text)
    return {name: _Form(" or ".join(texts), frozenset(texts)) for name, texts in forms.items()}


def _diff_actions(before: Action, after: Action) -> ActionChange | None:
    parameters = None
    if before.parameters != after.parameters:
        old, new = (f"({format_typed_list(item.parameters)})" for item in (before, after))
        parameters = Change("parameters", old, new)
    rename = _renaming(before, after)
    old_conditions = _written(conjuncts(before.precondition), format_condition)
    new_conditions = _written(conjuncts(after.precondition), format_condition, rename)
    old_effects = _written(effects(before.effect), format_effect)
    new_effects = _written(effects(after.effect), format_effect, rename)
    change = ActionChange(
        before.name,
        parameters,
        _without(new_conditions, old_conditions),
        _without(old_conditions, new_conditions),
        _without(new_effects, old_effects),
        _without(old_effects, new_effects),
    )
    empty = ActionChange(before.name, None, (), (), (), ())
    return None if change == empty else change


def _renaming(before: Action, after: Action) -> dict[str, str]:
    """The old names of parameters that got new ones at the same place.

    Not with quantifiers, whose variables could be mixed up with them.
    """
    old = [item.name for item in before.parameters]
    new = [item.name for item in after.parameters]
    if len(old) != len(new) or set(old) == set(new) or _quantified(before) or _quantified(after):
        return {}
    return dict(zip(new, old, strict=True))


def _quantified(action: Action) -> bool:
    parts = list(subeffects(action.effect))
    conditions: list[Condition] = [action.precondition]
    conditions += [part.condition for part in parts if isinstance(part, When)]
    return any(isinstance(part, EffectForall) for part in parts) or any(
        isinstance(inner, Forall | Exists)
        for condition in conditions
        for inner in subconditions(condition)
    )


def _written(
    items: Iterable[Item], form: Callable[[Item], str], rename: Mapping[str, str] | None = None
) -> list[str]:
    names = rename or {}
    return [VARIABLE.sub(lambda v: names.get(v.group(), v.group()), form(item)) for item in items]


def _without(texts: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    return tuple(text for text in dict.fromkeys(texts) if text not in others)


def _action_lines(change: ActionChange) -> list[str]:
    lines = [f"~ action {change.name}"]
    if change.parameters:
        lines.append(f"    ~ parameters {change.parameters.before} -> {change.parameters.after}")
    for what, removed, added in (
        ("precondition", change.preconditions_removed, change.preconditions_added),
        ("effect", change.effects_removed, change.effects_added),
    ):
        lines += [f"    - {what} {text}" for text in removed]
        lines += [f"    + {what} {text}" for text in added]
    return lines
