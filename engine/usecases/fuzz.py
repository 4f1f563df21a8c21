"""Makes a pool of test states by random walks and writes it to a file."""

from __future__ import annotations

import time
from dataclasses import dataclass
from math import inf
from pathlib import Path

from engine.errors import CancelledError, LimitReachedError, UsageError
from engine.files import write_text
from engine.fuzzing import biases
from engine.fuzzing.fuzzer import Fuzzer, FuzzOptions, FuzzStatistics
from engine.fuzzing.pool_file import write_pool
from engine.policies.builtin import open_builtin
from engine.policies.policy import close_policy, open_policy
from engine.policies.runs import PolicyRuns
from engine.task.states import StateTable
from engine.task.task import Task
from engine.workers.link import Link, giving_up_when

__all__ = ["BIASES", "BiasOptions", "FuzzOptions", "Fuzzed", "fuzz"]

BIASES = biases.BIASES


@dataclass(frozen=True, slots=True)
class BiasOptions:
    """Which states walks prefer, and the policy that this depends on."""

    name: str = "none"
    policy: str | None = None
    horizon: int = 50  # policy steps to look ahead; 0: whole runs
    budget: int = 200  # policy evaluations per step of a walk; 0: no limit

    def __post_init__(self) -> None:
        if self.name not in ("none", "heuristic") and not self.policy:
            raise UsageError(f"the bias '{self.name}' needs a policy", hint="give --policy")


@dataclass(frozen=True, slots=True)
class Fuzzed:
    states: int
    statistics: FuzzStatistics
    seconds: float
    stopped: bool  # by the user; the states so far are kept
    exhausted: bool  # walks can find no other states
    complete: bool  # because the pool has all states that walks can reach


def fuzz(link: Link, task: Task, out: Path, options: FuzzOptions, bias: BiasOptions) -> Fuzzed:
    """Grow a pool until it is full, a limit is reached, there are no other states or the user
    stops, then write it."""
    policy = (
        open_policy(bias.policy, task.source.domain if task.source else None, options.seed)
        if bias.policy
        else open_builtin("gc")  # which is not asked
    )
    started = time.monotonic()
    end = started + (inf if options.seconds is None else options.seconds)
    stopped = False

    def late() -> bool:
        return link.cancelled() or time.monotonic() > end

    try:
        with giving_up_when(late):
            table = StateTable(task)
            preference = biases.make_bias(
                bias.name,
                PolicyRuns(policy.bind(task), table),
                horizon=bias.horizon or None,
                budget=bias.budget or None,
                cancelled=link.cancelled,
            )
            fuzzer = Fuzzer(table, preference, options, link.cancelled)
            try:
                for index in fuzzer.grow():
                    link.progress(index + 1, options.size, f"{index + 1} states")
            except CancelledError:
                stopped = link.cancelled()  # or else a policy did not answer in time
    except CancelledError:
        link.check()
        raise LimitReachedError("the time limit was reached before the policy answered") from None
    finally:
        close_policy(policy)
    write_text(out, write_pool(task, fuzzer.entries))
    seconds = time.monotonic() - started
    return Fuzzed(
        len(fuzzer.entries),
        fuzzer.statistics,
        seconds,
        stopped,
        fuzzer.exhausted,
        fuzzer.complete,
    )
