"""Comparing two domain models in the background, and checking what came out."""

from __future__ import annotations

from msgspec.structs import replace

from engine.errors import CancelledError
from engine.pddl import parse_domain
from engine.records.comparison import CompareOptions, Comparison
from engine.records.inputs import File
from engine.workers.link import Link


def compare(link: Link, a: File, b: File, question: CompareOptions) -> Comparison:
    """The comparison, with what the verifier says about its evidence.

    The events of the engine are passed on as they are.
    """
    from engine.equivalence import CompareOptions as SearchOptions
    from engine.equivalence import Limits, compare_domains, verify_certificate

    first, second = (parse_domain(file.content.decode("utf-8-sig"), file.path) for file in (a, b))
    options = SearchOptions(
        question.parameters,
        question.permute_arguments,
        Limits(seconds=question.seconds),
    )
    comparison = compare_domains(first, second, options, link.emit, link.cancelled)
    if comparison.stopped:
        raise CancelledError
    readings = [
        replace(reading, objections=tuple(verify_certificate(reading, first, second)))
        for reading in comparison.readings
    ]
    return replace(comparison, readings=tuple(readings))
