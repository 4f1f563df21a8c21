"""Campaign settings as the form shows them: choices, presets, seeds, oracles, executor."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from msgspec import structs

from app.services.jobs import in_words
from app.services.settings import Settings
from engine.campaign.presets import DEFAULT_PRESET, PRESETS
from engine.oracles.kind import OracleKind
from engine.oracles.registry import factorizations, parse_oracle
from engine.records.config import CampaignConfig, FuzzSettings, Mode, OracleSettings, UnitLimits
from engine.records.events import ClusterSize, ClusterStatus
from engine.records.project import PoolChecked, Project, is_grounded
from engine.report.policy_text import TaskFit
from engine.report.words import count_text
from engine.workers.cluster import problem_with_address
from engine.workspace.rows import CampaignRow

MAX_SEED = 2**32 - 1
MAX_SEEDS = 1000
MAX_WORKERS = 256
_KEY = "campaign/where"

BIASES = {
    "none": "None: all steps are equally likely",
    "plan-length": "Plan length: prefer states with long policy runs",
    "detour": "Detour: prefer states where the policy takes a detour between two states",
    "loopiness": "Loopiness: prefer states where the policy almost returns to an earlier state",
    "surface": "Surface: prefer states where the policy's steps do not approach the goal",
    "heuristic": "Heuristic: prefer states with a high heuristic value",
}
NOVELTY = {
    0: "Any state",
    1: "A new fact",
    2: "A new pair of facts",
    3: "A new triple of facts",
}
UNSOLVED = {
    "insert-and-avoid": "Add and avoid: add the state to the pool and continue elsewhere",
    "prefer": "Stop there: end the walk in this state",
}
MODES = {
    Mode.HUNT: "Hunt: oracles work as a team and share what they prove",
    Mode.COMPARE: "Compare oracles: each works by itself, with its own clock",
}
OBJECTIVES = {
    "any": "Any bug: the policy fails or is too expensive",
    "goal": "Failures only: the policy fails although a plan exists",
}


def default_config(project: Project) -> CampaignConfig:
    """All files of a project with the default preset."""
    preset = PRESETS[DEFAULT_PRESET].values
    return CampaignConfig(
        domain=project.domain,
        problems=project.problems,
        policies=project.policies,
        seeds=(0,),
        unit_costs=project.unit_costs,
        fuzzing=FuzzSettings(**preset["fuzzing"]),
        testing=_testing(preset["testing"]),
        limits=UnitLimits(),
        portfolio=project.portfolio,
        pool=project.pools[-1] if project.pools else None,
    )


def domain_for(project: Project, problems: Sequence[str]) -> str | None:
    """Return the domain, or None for grounded problems, even if the project has one."""
    return None if problems and all(map(is_grounded, problems)) else project.domain


def mixture_problem(problems: Sequence[str]) -> str:
    """Return why problems of different kinds cannot be tested together, or an empty string."""
    grounded = sum(map(is_grounded, problems))
    if grounded in (0, len(problems)):
        return ""
    return "Select either PDDL problems or .sas files, not both."


def problem_of(fit: TaskFit) -> str:
    """Return the problem that the states belong to, in PDDL if possible."""
    return min(fit.problems, key=is_grounded, default="")


def pool_problem(
    path: str, checked: PoolChecked | None, fit: TaskFit, problems: Sequence[str]
) -> str:
    """Return why the states of a file cannot be tested with these problems, or an empty string."""
    name = Path(path).name
    if not os.path.isfile(path):
        return f"{path} no longer exists."
    if checked is not None and checked.error:
        return checked.error
    if fit.is_none:
        return f"{name} fits none of the problems: {fit.misfits[0]}"
    if len(problems) == 1 and (not fit.problems or problems[0] in fit.problems):
        return ""
    whose = Path(problem_of(fit)).name or "the problem they belong to"
    return f"To test the states of {name}, select only {whose}."


def with_preset(config: CampaignConfig, name: str) -> CampaignConfig:
    """Apply a preset's fuzzing, testing and localization; leave other settings unchanged."""
    values = PRESETS[name].values
    fuzzing, testing = FuzzSettings(**values["fuzzing"]), _testing(values["testing"])
    localizes = bool(values.get("localization", {}).get("enabled"))
    localization = structs.replace(config.localization, enabled=localizes)
    return structs.replace(config, fuzzing=fuzzing, testing=testing, localization=localization)


def preset_of(config: CampaignConfig) -> str:
    """Return the preset with these settings, or an empty string."""
    for name in PRESETS:
        if with_preset(config, name) == config:
            return name
    return ""


def _testing(values: Mapping[str, Any]) -> OracleSettings:
    return OracleSettings(**{**values, "oracles": tuple(values["oracles"])})


def plan_text(config: CampaignConfig, states: int, past: Iterable[CampaignRow] = ()) -> str:
    """Describe in one sentence what a campaign will do; `states` are those of one unit."""
    parts = [count_text(len(config.problems), "problem")]
    for count, name in ((len(config.policies), "policy"), (len(config.seeds), "seed")):
        if count != 1:
            parts.append(count_text(count, name))
    each = "" if _units(config) == 1 else " each"
    parts.append(f"{count_text(states, 'state')}{each}")
    oracles = count_text(len(config.testing.oracles), "oracle")
    if len(config.testing.oracles) > 1:
        oracles += _MODE_WORDS[config.testing.mode]
    parts.append(oracles)
    if config.testing.objective == "goal":
        parts.append("failures only")
    if config.localization.enabled:
        parts.append("every bug localized")
    if (seconds := _expected_seconds(config, states, past)) is not None:
        parts.append(f"about {in_words(seconds)}")
    return f"{', '.join(parts)}."


def declined_text(config: CampaignConfig, without_dominance: Mapping[str, str]) -> str:
    """Describe what oracles cannot do on some problems and what they do instead, or nothing."""
    affected = [path for path in config.problems if path in without_dominance]
    if not affected or not factorizations(config.testing.oracles):
        return ""
    note = without_dominance[affected[0]]
    names = ", ".join(Path(path).name for path in affected)
    return f"{names}: {note}."


_MODE_WORDS = {Mode.HUNT: " as a team", Mode.COMPARE: ", each by itself"}


def _units(config: CampaignConfig) -> int:
    return len(config.problems) * len(config.policies) * len(config.seeds)


def _expected_seconds(
    config: CampaignConfig, states: int, past: Iterable[CampaignRow]
) -> float | None:
    """Estimate from the last campaign with the same testing; None: unknown."""
    for row in past:
        known = row.config
        alike = known.testing == config.testing and known.localization == config.localization
        if row.status == "finished" and row.seconds and alike:
            return row.seconds * _units(config) * states / (_units(known) * known.fuzzing.size)
    return None


def parse_seeds(text: str) -> tuple[int, ...]:
    """`0, 3, 5-9`; raises ValueError with a sentence for the user."""
    seeds: dict[int, None] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        low, dash, high = part.partition("-")
        if not (low.strip().isdecimal() and (high.strip().isdecimal() or not dash)):
            raise ValueError(f"invalid seed '{part}'; enter whole numbers, such as 0, 1 or 5-9")
        first, last = int(low), int(high or low)
        if max(first, last) > MAX_SEED:
            raise ValueError(f"seed '{part}' is too large; the largest seed is {MAX_SEED}")
        if first > last:
            raise ValueError(f"invalid range '{part}'; did you mean {last}-{first}?")
        if len(seeds) + last - first >= MAX_SEEDS:
            raise ValueError(f"too many seeds; enter at most {MAX_SEEDS}")
        seeds.update(dict.fromkeys(range(first, last + 1)))
    if not seeds:
        raise ValueError("enter at least one seed, such as 0")
    return tuple(seeds)


def seeds_text(seeds: Iterable[int]) -> str:
    """Format seeds, with runs of three or more as a range."""
    runs: list[list[int]] = []
    for seed in seeds:
        if runs and seed == runs[-1][-1] + 1:
            runs[-1].append(seed)
        else:
            runs.append([seed])
    texts = [
        [f"{run[0]}-{run[-1]}"] if len(run) > 2 else [str(seed) for seed in run] for run in runs
    ]
    return ", ".join(text for group in texts for text in group)


def oracle_text(kind: OracleKind, options: Mapping[str, str]) -> str:
    """Return the text of an oracle with these options; empty ones keep their defaults."""
    given = ",".join(f"{name}={value}" for name, value in options.items() if value)
    return f"{kind.name}:{given}" if given else kind.name


def written_options(text: str) -> dict[str, str]:
    """Return the options in an oracle's text."""
    kind, _ = parse_oracle(text)
    parts = filter(None, text.removeprefix(kind.name).removeprefix(":").split(","))
    return dict(part.split("=", 1) for part in parts)


@dataclass(frozen=True, slots=True)
class ExecutorChoice:
    on_cluster: bool
    workers: int  # processes of this machine at a time
    address: str  # of the scheduler, even while it is not used

    @property
    def executor(self) -> str:
        return f"dask:{self.address}" if self.on_cluster else f"local:{self.workers}"

    def problem(self) -> str:
        """Return what is wrong with the choice, or an empty string."""
        return problem_with_address(self.address) if self.on_cluster else ""


def default_workers() -> int:
    return max(1, min(4, (os.cpu_count() or 2) - 1))


def where(settings: Settings) -> ExecutorChoice:
    """Return the executor that was chosen last, without invalid values."""
    kept: dict[str, object] = settings.get(_KEY, {})
    workers, address = kept.get("workers"), kept.get("address")
    choice = ExecutorChoice(kept.get("on_cluster") is True, default_workers(), "")
    if isinstance(workers, int) and 1 <= workers <= MAX_WORKERS:
        choice = replace(choice, workers=workers)
    return replace(choice, address=address) if isinstance(address, str) else choice


def keep_where(settings: Settings, choice: ExecutorChoice) -> None:
    settings.set(
        _KEY,
        {
            "on_cluster": choice.on_cluster,
            "workers": choice.workers,
            "address": choice.address,
        },
    )


def size_text(size: ClusterSize) -> str:
    workers, units = count_text(size.workers, "worker"), count_text(size.places, "unit")
    return f"{workers}, {units} at a time"


def scene_text(executor: str, scene: ClusterStatus) -> str:
    """Where the units run now, for a line beside the progress."""
    kind, _, what = executor.partition(":")
    if kind == "local":
        return f"On this machine, {count_text(int(what), 'unit')} at a time"
    if scene.cluster is None:
        return f"Connecting to {what}…"
    if scene.cluster.workers == 0:
        words = f"No workers at {what}; units wait until one connects"
    else:
        words = f"On {what}: {size_text(scene.cluster)}"
    if scene.restarted:
        words += f" · lost workers, restarted {count_text(scene.restarted, 'unit')}"
    return words
