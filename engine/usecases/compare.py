"""Decides whether two domain models mean the same, and checks the evidence."""

from __future__ import annotations

from msgspec.structs import replace

from engine.errors import CancelledError
from engine.pddl import parse_domain
from engine.pddl.reader import decode
from engine.records.comparison import CompareOptions, Comparison, EquivalenceVerdict
from engine.records.inputs import File
from engine.workers.link import Link

DEFAULT_OPTIONS = CompareOptions()
NOT_VERIFIED = "verifying the evidence did not end in time"


def compare(link: Link, a: File, b: File, options: CompareOptions = DEFAULT_OPTIONS) -> Comparison:
    """Compare under every reading; if stopped, return the verdicts so far.

    The events of the engine are passed on as they are.
    """
    from engine import equivalence  # it brings z3, which is slow to import

    first, second = (parse_domain(decode(file.content, file.path), file.path) for file in (a, b))
    asked = equivalence.CompareOptions(
        options.parameters,
        options.permute_arguments,
        options.all_macros,
        equivalence.Limits(seconds=options.seconds),
    )
    comparison = equivalence.compare_domains(first, second, asked, link.emit, link.cancelled)
    undecided = all(item.verdict is EquivalenceVerdict.UNDECIDED for item in comparison.readings)
    if comparison.stopped and undecided:
        raise CancelledError
    if not options.verify:
        return comparison
    left = equivalence.Limits(max(options.seconds - comparison.seconds, 0.0), states=None)
    budget = equivalence.Budget(left, link.cancelled)
    readings, stopped = [], comparison.stopped
    for reading in comparison.readings:
        try:
            found = equivalence.verify_certificate(reading, first, second, options.seed, budget)
            readings.append(replace(reading, objections=tuple(found)))
        except (equivalence.LimitExceededError, CancelledError) as error:
            stopped = stopped or isinstance(error, CancelledError)
            readings.append(replace(reading, notes=(*reading.notes, NOT_VERIFIED)))
    seconds = comparison.seconds + budget.seconds
    return replace(comparison, readings=tuple(readings), seconds=seconds, stopped=stopped)
