"""Reads the files of a campaign and checks them, before anything is computed.

A unit works on these copies, wherever it runs and whenever it is taken up again. A plug-in is the
exception: it may need the files beside it, so it runs where it stands, and only its own file is
kept for the record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from engine.errors import Location, UnreadableFileError
from engine.pddl import check_files
from engine.pddl.diagnostics import raise_errors
from engine.records.config import CampaignConfig
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.records.policy_spec import PolicySpec
from engine.task.load import load_sas


def read_file(path: str) -> File:
    if Path(path).exists() and not Path(path).is_file():  # a pipe could make us wait for ever
        raise UnreadableFileError("cannot be read: it is not a regular file", Location.of(path))
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnreadableFileError(f"cannot be read: {reason}", Location.of(path)) from error
    return File(Path(path).name, content, path)


def problem_inputs(config: CampaignConfig) -> tuple[ProblemInput, ...]:
    """All problems, each checked as far as that goes without translating it."""
    domain = None if config.domain is None else read_file(config.domain)
    names = short_names(config.problems)
    inputs = []
    for path, name in zip(config.problems, names, strict=True):
        if config.domain is None:
            load_sas(path)
        else:
            raise_errors(check_files(config.domain, path).diagnostics)
        inputs.append(ProblemInput(name, read_file(path), domain, config.unit_costs))
    return tuple(inputs)


def policy_inputs(config: CampaignConfig) -> tuple[PolicyInput, ...]:
    return read_policies(config.policies)


def portfolio_inputs(config: CampaignConfig) -> tuple[PolicyInput, ...]:
    return read_policies(config.portfolio)


def pool_input(config: CampaignConfig) -> File | None:
    return None if config.pool is None else read_file(config.pool)


def read_policies(specs: Sequence[str]) -> tuple[PolicyInput, ...]:
    """Policies by their names, with the files that they are in."""
    names = short_names(specs, lambda spec, parts: PolicySpec.parse(spec).short_name(parts))
    return tuple(map(PolicyInput, names, specs, map(_policy_file, specs)))


def _policy_file(spec: str) -> File | None:
    path = PolicySpec.parse(spec).path
    return None if path is None else read_file(str(path))


def short_names(
    paths: Sequence[str],
    shorten: Callable[[str, int], str] = lambda path, parts: "/".join(Path(path).parts[-parts:]),
) -> list[str]:
    """File names, with as many folders before them as it takes to tell them apart."""
    for parts in range(1, max((len(Path(path).parts) for path in paths), default=1) + 1):
        names = [shorten(path, parts) for path in paths]
        if len(set(names)) == len(names):
            return names
    return list(paths)
