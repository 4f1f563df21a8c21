"""Reads the files of a campaign and checks them, before anything is computed.

A unit works on these copies, wherever it runs and whenever it is resumed. A plug-in is the
exception: it may need the files beside it, so it runs in its own folder, and only its own file is
stored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
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
from engine.workspace.workspace import Workspace, campaign_key


def read_file(path: str) -> File:
    if os.path.exists(path) and not os.path.isfile(path):  # reading a pipe could block forever
        raise UnreadableFileError("cannot be read: it is not a regular file", Location.of(path))
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnreadableFileError(f"cannot be read: {reason}", Location.of(path)) from error
    return File(Path(path).name, content, path)


Read = Callable[[str], File]


@dataclass(frozen=True, slots=True)
class CampaignInputs:
    """All files of a campaign, read once."""

    problems: tuple[ProblemInput, ...]
    policies: tuple[PolicyInput, ...]
    portfolio: tuple[PolicyInput, ...]
    pool: File | None

    @classmethod
    def read(cls, config: CampaignConfig) -> CampaignInputs:
        read = cache(read_file)  # a policy may be in the portfolio as well
        return cls(
            problem_inputs(config, read),
            policy_inputs(config, read),
            portfolio_inputs(config, read),
            pool_input(config, read),
        )

    def key(self, config: CampaignConfig) -> str:
        return campaign_key(config, self.problems, self.policies, self.portfolio, self.pool)

    def begin(self, config: CampaignConfig, store: Workspace, resume: bool) -> int:
        return store.begin(
            config, self.problems, self.policies, resume, self.portfolio, pool=self.pool
        )


def problem_inputs(config: CampaignConfig, read: Read = read_file) -> tuple[ProblemInput, ...]:
    """Read all problems, and check each as far as possible without translating it."""
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
    """Read policies by their names, with the files that hold them."""
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
    """Return file names with as many folders as it takes to tell them apart."""
    for parts in range(1, max((len(Path(path).parts) for path in paths), default=1) + 1):
        names = [shorten(path, parts) for path in paths]
        if len(set(names)) == len(names):
            return names
    return list(paths)
