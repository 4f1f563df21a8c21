"""What policies and pools are and whether they fit, in the words of their cards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.policies.kinds import kind_named
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.records.project import PolicyChecked, PoolChecked
from engine.report.words import count_text

Verdict = tuple[str, str, str]
"""Icon, color and words."""


@dataclass(frozen=True, slots=True)
class TaskFit:
    """Problems it fits, and why it does not fit others; all, once it `is_known`."""

    problems: tuple[str, ...] = ()
    misfits: tuple[str, ...] = ()
    is_known: bool = False
    has_domain: bool = True  # or there are tasks only, and nothing else to fit

    @property
    def is_none(self) -> bool:
        """Whether it certainly fits nothing."""
        return self.is_known and bool(self.misfits) and not self.problems


def fit_verdict(fit: TaskFit) -> Verdict:
    if fit.problems:
        first, *rest = (Path(problem).name for problem in fit.problems)
        more = f" and {len(rest)} more" if rest else " only" if fit.misfits else ""
        return "check", "proven", f"Fits {first}{more}"
    if fit.is_none:
        return "error", "bad", f"Fits none of the problems: {fit.misfits[0]}"
    if fit.is_known:
        return "info", "muted", "Add the problem it belongs to."
    return "", "muted", "Comparing with the problems…"


BUILTIN = {
    "random": "Chooses a random applicable action, always the same in the same state.",
    "gc": "Chooses the successor that satisfies most goals.",
    "hadd": "Chooses the successor with the best additive heuristic value.",
    "hff": "Chooses the successor with the best FF heuristic value.",
    "optimal": "Always chooses an optimal action; for up to a million states.",
}

_PLUGIN_WAITS = "Not trusted yet; review the plug-in and trust it to run it."
_PLUGIN_FITS = "Trusted; checked against the domain when it runs."
_DOMAIN_WAITS = "Fix the domain errors to check whether the policy fits."
_SERVER_WAITS = "Not connected yet; no states are sent before you agree."


def policy_name(spec: str) -> str:
    """Return a short name that still identifies the policy."""
    return PolicySpec.parse(spec).name


def policy_kind(checked: PolicyChecked) -> str:
    details = checked.details
    words = [kind_named(checked.kind).title] if checked.kind else []
    if checked.kind == "builtin":
        return BUILTIN.get(str(details.get("name")), words[0])
    if "states" in details:
        words.append(count_text(details["states"], "state"))
    if "address" in details:
        words.append(
            f"a task with {details['variables']:,} variables and {details['operators']:,} operators"
        )
    if checked.domain:
        words.append(f"for domain {checked.domain}")
    if "layers" in details and "hidden" in details:
        words.append(f"{count_text(details['layers'], 'layer')} of {details['hidden']} units")
    elif "iterations" in details and "hidden" in details:
        rounds = count_text(details["iterations"], "message-passing round")
        words.append(f"{rounds} with {details['hidden']} features")
    return ", ".join(words)


def policy_training(checked: PolicyChecked) -> str:
    """What is stored of its training, if anything is."""
    details, training = checked.details, checked.details.get("training")
    words = []
    if isinstance(training, Mapping):
        words.append(_training(training))
    if "epoch" in details:
        words.append(f"epoch {details['epoch']}")
    if "num_samples" in details:
        words.append(f"{details['num_samples']} samples")
    success = details.get("success", details.get("success_rate"))
    if isinstance(success, int | float):
        words.append(f"solved {success:.0%} of its validation problems")
    return ", ".join(word for word in words if word)


def policy_verdict(checked: PolicyChecked | None, trusted: bool, fit: TaskFit) -> Verdict:
    """Whether it can be used, as far as that is known."""
    if checked is None:
        return "", "muted", "Checking…"
    if checked.error:
        return "error", "bad", checked.error
    if checked.misfits:
        first, *rest = checked.misfits
        more = f", and {count_text(len(rest), 'more reason')}" if rest else ""
        return "error", "bad", f"Does not fit the domain: {first}{more}"
    if not trusted:
        is_server = PolicySpec.parse(checked.spec).kind is SpecKind.SERVER
        return "warning", "undecided", _SERVER_WAITS if is_server else _PLUGIN_WAITS
    if kind_named(checked.kind).of_task or not fit.has_domain:
        return fit_verdict(fit)
    return _domain_verdict(checked)


def _domain_verdict(checked: PolicyChecked) -> Verdict:
    if not checked.compared:
        return "unknown", "undecided", _DOMAIN_WAITS
    is_plugin = PolicySpec.parse(checked.spec).kind is SpecKind.PLUGIN
    return "check", "proven", _PLUGIN_FITS if is_plugin else "Fits the domain"


def _training(training: Mapping[str, Any]) -> str:
    words = "trained"
    if problems := training.get("problems"):
        words += f" on {count_text(len(problems), 'small problem')}"
    if teacher := training.get("teacher"):
        words += f" by the teacher '{teacher}'"
    return words if words != "trained" else ""


def pool_text(checked: PoolChecked | None) -> str:
    if checked is None or checked.contents is None:
        return ""
    found = checked.contents
    states = count_text(found.states, "state")
    if found.bugs is None:
        return f"Pool of {states}"
    if found.bugs == 0:
        return f"Bugs file: {states}, no bugs"
    bugs = count_text(found.bugs, "bug")
    return (
        f"Bugs file: {bugs}, {found.fails:,} of them failures"
        if found.fails
        else f"Bugs file: {bugs}"
    )


def pool_verdict(checked: PoolChecked | None, fit: TaskFit) -> Verdict:
    if checked is None:
        return "", "muted", "Checking…"
    if checked.error:
        return "error", "bad", checked.error
    return fit_verdict(fit)
