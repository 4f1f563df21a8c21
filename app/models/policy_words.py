"""What a policy is, in words for its card."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.work.check_inputs import PolicyChecked, plugin_file

BUILTIN = {
    "random": "Any applicable action, the same one in the same state.",
    "gc": "Greedy: to the successor with the most goals reached.",
    "hadd": "Greedy on the additive heuristic of the successor.",
    "hff": "Greedy on the FF heuristic of the successor.",
    "optimal": "Always right; for problems with up to a million states.",
}

_KINDS = {
    "asnets": "Action schema network",
    "gnn": "Graph network",
    "builtin": "Built-in policy",
    "plug-in": "Python plug-in",
    "remote": "Remote policy",
}


def policy_name(spec: str) -> str:
    """Short, but enough to know it."""
    if "://" in spec or spec.startswith("builtin:"):
        return spec
    file = plugin_file(spec)
    return Path(spec).name if file is None else f"{Path(file).name}:{spec.rpartition(':')[2]}"


def policy_kind(checked: PolicyChecked) -> str:
    details = checked.details
    words = [_KINDS.get(checked.kind, checked.kind)]
    if checked.kind == "builtin":
        return BUILTIN.get(str(details.get("name")), words[0])
    if checked.domain:
        words.append(f"for the domain {checked.domain}")
    if "layers" in details and "hidden" in details:
        words.append(f"{details['layers']} layers of {details['hidden']}")
    elif "iterations" in details and "hidden" in details:
        words.append(f"{details['iterations']} rounds of messages of {details['hidden']} numbers")
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


def _training(training: Mapping[str, Any]) -> str:
    words = "trained"
    if problems := training.get("problems"):
        words += f" on {len(problems)} small problems"
    if teacher := training.get("teacher"):
        words += f" with the teacher '{teacher}'"
    return words if words != "trained" else ""
