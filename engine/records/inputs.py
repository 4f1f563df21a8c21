"""Files of the user as they were when a campaign began, by content."""

from __future__ import annotations

import hashlib

from engine.records.codec import Record, Text
from engine.records.policy_spec import PolicySpec, require_specs


class File(Record):
    """`path` is where the user has it; only `name` and `content` matter to a unit."""

    name: Text
    content: bytes
    path: Text

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


class ProblemInput(Record):
    """A domain and a problem, or a `.sas` file alone."""

    name: Text
    problem: File
    domain: File | None
    unit_costs: bool

    @property
    def files(self) -> tuple[File, ...]:
        return (self.problem,) if self.domain is None else (self.domain, self.problem)


class PolicyInput(Record):
    """`spec` as the user wrote it; `file` is there unless the policy is built in or remote."""

    name: Text
    spec: Text
    file: File | None

    def __post_init__(self) -> None:
        require_specs([self.spec])

    @property
    def is_external(self) -> bool:
        """Whether it is used where it is, rather than from the copy."""
        return PolicySpec.parse(self.spec).is_external
