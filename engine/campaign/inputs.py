"""The files of a campaign as they were when it began, by content.

A unit works on these copies, wherever it runs and whenever it is taken up again. A plug-in is the
exception: it may need the files beside it, so it runs where it stands, and only its own file is
kept for the record.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.campaign.config_reader import CampaignConfig
from engine.errors import Location, UnreadableFileError
from engine.files import scratch_errors, scratch_folder
from engine.pddl import check_files
from engine.pddl.diagnostics import raise_errors
from engine.task.load import load_sas, load_task_files
from engine.task.task import Task
from engine.task.translation_cache import TranslationCache
from engine.workers.link import NULL_LINK

_LONGEST_NAME = 60  # letters; file systems count bytes, 255 at most


@dataclass(frozen=True, slots=True)
class File:
    """`path` is where the user has it; only `name` and `content` matter to a unit."""

    name: str
    content: bytes
    path: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class ProblemInput:
    """A domain and a problem, or a `.sas` file alone."""

    name: str
    problem: File
    domain: File | None
    unit_costs: bool

    @property
    def files(self) -> tuple[File, ...]:
        return (self.problem,) if self.domain is None else (self.domain, self.problem)


@dataclass(frozen=True, slots=True)
class PolicyInput:
    """`spec` as the user wrote it; `file` is there unless the policy is built in or remote."""

    name: str
    spec: str
    file: File | None

    @property
    def is_external(self) -> bool:
        return self.file is None or self.spec != self.file.path


def safe_name(name: str) -> str:
    """A name for a copy of a file, whatever a workspace calls it: never a way to another folder."""
    letters = re.sub(r"[^\w.+-]", "_", name)[-_LONGEST_NAME:]
    return f"file{letters}" if letters.startswith((".", "-")) or not letters else letters


def read_file(path: str) -> File:
    if Path(path).exists() and not Path(path).is_file():  # a pipe could make us wait for ever
        raise UnreadableFileError("cannot be read: it is no regular file", Location.of(path))
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
    return _policy_inputs(config.policies)


def portfolio_inputs(config: CampaignConfig) -> tuple[PolicyInput, ...]:
    return _policy_inputs(config.portfolio)


def pool_input(config: CampaignConfig) -> File | None:
    return None if config.pool is None else read_file(config.pool)


def _policy_inputs(specs: Sequence[str]) -> tuple[PolicyInput, ...]:
    return tuple(map(PolicyInput, short_names(specs), specs, map(_policy_file, specs)))


def _policy_file(spec: str) -> File | None:
    if spec.startswith(("builtin:", "grpc://")):
        return None
    path, colon, _ = spec.rpartition(":")
    return read_file(path if colon and path.endswith(".py") else spec)


def short_names(paths: Sequence[str]) -> list[str]:
    """File names, with as many folders before them as it takes to tell them apart."""
    for parts in range(1, max((len(Path(path).parts) for path in paths), default=1) + 1):
        names = [path if "://" in path else "/".join(Path(path).parts[-parts:]) for path in paths]
        if len(set(names)) == len(names):
            return names
    return list(paths)


@dataclass(frozen=True)
class UnpackedInputs:
    """Input files on disk; `original` gives texts that speak of them the user's names back."""

    folder: Path
    problem: ProblemInput
    policy: PolicyInput | None
    portfolio: tuple[PolicyInput, ...]

    @property
    def task_files(self) -> list[Path]:
        return [self._path(file) for file in self.problem.files]

    @property
    def policy_spec(self) -> str:
        assert self.policy is not None
        return self._spec(self.policy)

    @property
    def portfolio_specs(self) -> dict[str, str]:
        """By the names of the policies."""
        return {policy.name: self._spec(policy) for policy in self.portfolio}

    def _spec(self, policy: PolicyInput) -> str:
        if policy.file is None or policy.is_external:
            return policy.spec
        return str(self._path(policy.file))

    def original(self, text: str) -> str:
        for file in self._files():
            text = text.replace(str(self._path(file)), file.path)
        return text

    def load_task(
        self,
        cancelled: Callable[[], bool] = NULL_LINK.cancelled,
        cache: TranslationCache | None = None,
    ) -> Task:
        return load_task_files(
            self.task_files,
            unit_costs=self.problem.unit_costs,
            cancelled=cancelled,
            cache=cache,
        )

    def write(self) -> None:
        for file in self._files():
            path = self._path(file)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)

    def _files(self) -> Iterator[File]:
        yield from self.problem.files
        for policy in (self.policy, *self.portfolio):
            if policy is not None and policy.file is not None:
                yield policy.file

    def _path(self, file: File) -> Path:
        return self.folder / file.sha256[:16] / safe_name(file.name)


@contextmanager
def unpack_inputs(
    problem: ProblemInput,
    policy: PolicyInput | None = None,
    portfolio: tuple[PolicyInput, ...] = (),
) -> Iterator[UnpackedInputs]:
    """The files in a temporary folder, as long as they are needed."""
    with scratch_folder("unit") as folder:
        files = UnpackedInputs(folder, problem, policy, portfolio)
        with scratch_errors():
            files.write()
        yield files
