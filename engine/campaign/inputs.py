"""Reads the files of a campaign and checks them, before anything is computed.

A unit works on these copies, wherever it runs and whenever it is taken up again. A plug-in is the
exception: it may need the files beside it, so it runs where it stands, and only its own file is
kept for the record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from engine.errors import Location, UnreadableFileError
from engine.files import decode_text
from engine.pddl import parse_domain, parse_problem
from engine.pddl.reader import decode
from engine.records.config import CampaignConfig
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.records.policy_spec import PolicySpec
from engine.task.load import SAS_FILE
from engine.task.sas import parse_sas


def read_file(path: str) -> File:
    if Path(path).exists() and not Path(path).is_file():  # a pipe could make us wait for ever
        raise UnreadableFileError("cannot be read: it is not a regular file", Location.of(path))
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnreadableFileError(f"cannot be read: {reason}", Location.of(path)) from error
    return File(Path(path).name, content, path)


Read = Callable[[str], File]


def problem_inputs(config: CampaignConfig, read: Read = read_file) -> tuple[ProblemInput, ...]:
    """All problems, each checked as far as that goes without translating it."""
    domain = None if config.domain is None else read(config.domain)
    model = None if domain is None else parse_domain(_pddl(domain), domain.path)
    names = short_names(config.problems)
    inputs = []
    for path, name in zip(config.problems, names, strict=True):
        problem = read(path)
        if model is None:
            parse_sas(decode_text(problem.content, path, SAS_FILE), path)
        else:
            parse_problem(_pddl(problem), model, path)
        inputs.append(ProblemInput(name, problem, domain, config.unit_costs))
    return tuple(inputs)


def _pddl(file: File) -> str:
    return decode(file.content, file.path)


def policy_inputs(config: CampaignConfig, read: Read = read_file) -> tuple[PolicyInput, ...]:
    return read_policies(config.policies, read)


def portfolio_inputs(config: CampaignConfig, read: Read = read_file) -> tuple[PolicyInput, ...]:
    return read_policies(config.portfolio, read)


def pool_input(config: CampaignConfig, read: Read = read_file) -> File | None:
    return None if config.pool is None else read(config.pool)


def read_policies(specs: Sequence[str], read: Read = read_file) -> tuple[PolicyInput, ...]:
    """Policies by their names, with the files that they are in."""
    names = short_names(specs, lambda spec, parts: PolicySpec.parse(spec).short_name(parts))
    files = [_policy_file(spec, read) for spec in specs]
    return tuple(map(PolicyInput, names, specs, files))


def _policy_file(spec: str, read: Read) -> File | None:
    path = PolicySpec.parse(spec).path
    return None if path is None else read(str(path))


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
