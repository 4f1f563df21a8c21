"""Input files in a temporary folder, as long as they are needed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.files import scratch_errors, scratch_folder
from engine.records.inputs import File, PolicyInput, ProblemInput
from engine.records.policy_spec import PolicySpec
from engine.task.load import load_task_files
from engine.task.task import Task
from engine.task.translation_cache import TranslationCache
from engine.workers.link import NULL_LINK
from engine.workers.translator import Translator

_LONGEST_NAME = 60  # letters; file systems count bytes, 255 at most


def safe_name(name: str) -> str:
    """Return a name for a copy of a file that cannot lead to another folder."""
    letters = re.sub(r"[^\w.+-]", "_", name)[-_LONGEST_NAME:]
    return f"file{letters}" if letters.startswith((".", "-")) or not letters else letters


@dataclass(frozen=True)
class UnpackedInputs:
    """Input files on disk; `original` restores the user's names in texts about them."""

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
        """The specs of the portfolio by the names of its policies."""
        return {policy.name: self._spec(policy) for policy in self.portfolio}

    def _spec(self, policy: PolicyInput) -> str:
        if policy.file is None or policy.is_external:
            return policy.spec
        return str(PolicySpec.parse(policy.spec).at(str(self._path(policy.file))))

    def original(self, text: str) -> str:
        for file in self._files():
            text = text.replace(str(self._path(file)), file.path)
        return text

    def load_task(
        self,
        cancelled: Callable[[], bool] = NULL_LINK.cancelled,
        cache: TranslationCache | None = None,
        translator: Translator | None = None,
    ) -> Task:
        return load_task_files(
            self.task_files,
            unit_costs=self.problem.unit_costs,
            cancelled=cancelled,
            cache=cache,
            translator=translator,
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
