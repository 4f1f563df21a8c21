"""Decides whether two domain models mean the same, and checks the evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.campaign.inputs import File
from engine.errors import CancelledError
from engine.files import decode_text
from engine.pddl import parse_domain
from engine.records.comparison import Parameters, Verdict
from engine.report.comparison_text import describe
from engine.workers.link import Link


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """`seconds` hold for all readings of the parameters together."""

    parameters: tuple[str, ...] = tuple(Parameters)
    permute_arguments: bool = False
    seconds: float = 300.0
    verify: bool = False  # check the evidence with separate code
    seed: int = 0  # of the states that this check tries

    def to_json(self) -> dict[str, Any]:
        """What decides about the answer."""
        return {
            "parameters": self.parameters,
            "permute_arguments": self.permute_arguments,
            "seconds": self.seconds,
        }


DEFAULT_OPTIONS = CompareOptions()


@dataclass(frozen=True, slots=True)
class Compared:
    """`problems` are those that the check of the evidence found, by reading; None: no check."""

    answer: dict[str, Any]  # as `plumbline compare --json` gives it
    text: str
    verdict: Verdict  # of the first reading
    stopped: bool
    problems: dict[str, list[str]] | None

    @property
    def document(self) -> dict[str, Any]:
        """The answer as it is stored."""
        checked = {} if self.problems is None else {"verification": self.problems}
        return {**self.answer, **checked}


def compare(link: Link, a: File, b: File, options: CompareOptions = DEFAULT_OPTIONS) -> Compared:
    """Compare under every reading; stopped, the verdicts that were found by then.

    The events of the engine are passed on as they are.
    """
    from engine import equivalence  # it brings z3, which is slow to import

    first, second = (
        parse_domain(decode_text(file.content, file.path, "a domain"), file.path) for file in (a, b)
    )
    asked = equivalence.CompareOptions(
        tuple(map(Parameters, options.parameters)),
        options.permute_arguments,
        equivalence.Limits(seconds=options.seconds),
    )
    comparison = equivalence.compare_domains(first, second, asked, link.emit, link.cancelled)
    undecided = all(item.verdict is Verdict.UNDECIDED for item in comparison.readings)
    if comparison.stopped and undecided:
        raise CancelledError
    problems = None
    if options.verify:
        problems = {
            reading.parameters.value: equivalence.verify_certificate(
                reading, first, second, options.seed
            )
            for reading in comparison.readings
        }
    return Compared(
        comparison.to_json(),
        describe(comparison),
        comparison.first.verdict,
        comparison.stopped,
        problems,
    )
