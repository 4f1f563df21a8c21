"""Comparing two domain models in the background, and checking what came out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from engine.campaign.inputs import File
from engine.errors import CancelledError
from engine.pddl import parse_domain
from engine.workers.link import Link


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What is asked of a comparison."""

    parameters: tuple[str, ...] = ("distinct", "pddl")
    permute_arguments: bool = False
    seconds: float = 300.0

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> CompareOptions:
        return cls(
            tuple(map(str, document["parameters"])),
            bool(document["permute_arguments"]),
            float(document["seconds"]),
        )


def compare(link: Link, a: File, b: File, question: CompareOptions) -> dict[str, Any]:
    """The answer as `plumbline compare --json` gives it, with the verification of its evidence.

    The events of the engine are passed on as they are.
    """
    from engine.equivalence import (
        CompareOptions,
        Limits,
        Parameters,
        compare_domains,
        verify_certificate,
    )

    first, second = (parse_domain(file.content.decode("utf-8-sig"), file.path) for file in (a, b))
    options = CompareOptions(
        tuple(map(Parameters, question.parameters)),
        question.permute_arguments,
        Limits(seconds=question.seconds),
    )
    comparison = compare_domains(first, second, options, link.emit, link.cancelled)
    if comparison.stopped:
        raise CancelledError
    answer = comparison.to_json()
    answer["verification"] = {
        reading.parameters.value: verify_certificate(reading, first, second)
        for reading in comparison.readings
    }
    return answer
