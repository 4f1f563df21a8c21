"""Whether decisions depend on what is asked together, or on the machine, and how much is asked.

    python benchmarks/batches.py [DATA] [--states 10000]

DATA holds `asnets/<domain>` and `gnn/<domain>`; without it the examples and the built-in policies
have to do. Decisions in many states are compared between blocks of 1, 7 and 64 states. The kernel
of action schema networks is compiled again for the oldest and for a newer x86-64, and all logits
are compared bit by bit. Campaigns count the states per call of the policy.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from engine.native.library import Int32Array  # before numpy, which then has one thread

# isort: split
import numpy as np
from measurement import EXAMPLES, ROOT, MissingDataError, Row, Setting, mistakes
from policies import suites

from engine.fuzzing.fuzzer import Fuzzer, FuzzOptions
from engine.native import library as native
from engine.policies.policy import Policy, Probabilistic, open_policy
from engine.policies.runs import PolicyRuns
from engine.task.load import load_task
from engine.task.states import StateTable
from engine.task.task import Task

SIZES = (1, 7, 64)
BUILTIN = ("random", "gc", "hadd", "hff")
RUN_STEPS = 200
TARGETS = {"x86-64": 4, "x86-64-v3": 8}  # SSE2; AVX2, and fused products and sums
"""With the floats of a vector."""
SOURCE = ROOT / "engine" / "native"
OPTIONS = ("-std=c++20", "-O3", "-shared", "-fPIC", "-ffp-contract=off", "-Wno-psabi")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", nargs="?", type=Path)
    parser.add_argument("--states", type=int, default=10_000)
    options = parser.parse_args()
    wrong = 0
    for row in measured(Setting(options.data), options.states):
        print(f"{row.what}: {row.ours:.4g} {row.unit} ({row.instances}) {row.remark}", flush=True)
        wrong += row.wrong
    return 1 if wrong else 0


def rows(setting: Setting) -> Iterator[Row]:
    yield from measured(setting, setting.choose(10_000, 200))


@dataclass(frozen=True)
class Case:
    """A policy and a task for it."""

    kind: str
    policy: Policy
    task: Task


def measured(setting: Setting, count: int) -> Iterator[Row]:
    """`count` states per kind of policy."""
    found = list(cases(setting))
    for kind in dict.fromkeys(case.kind for case in found):
        yield from of_kind([case for case in found if case.kind == kind], count)
    networks = [case for case in found if case.kind.startswith("asnets")]
    different, compared = between_builds(networks, max(10, count // 10 // len(networks)))
    what = "probabilities whose bits differ between SSE2, AVX2 and the machine's best"
    yield mistakes(what, different, compared)


def cases(setting: Setting) -> Iterator[Case]:
    for folder in sorted(path.parent for path in EXAMPLES.glob("*/campaign.toml")):
        task = load_task(folder / "domain.pddl", folder / "problems" / "p06.pddl")
        yield Case("asnets, own", open_policy(str(folder / "policies" / "policy.pt")), task)
        for name in BUILTIN:
            yield Case(f"builtin:{name}", open_policy(f"builtin:{name}"), task)
    try:
        published = [setting.published("asnets").parent]
    except MissingDataError:
        published = []
    for folder in published:
        for suite in suites(folder):
            task = suite.task(sorted(suite.problems, key=lambda path: path.stat().st_size)[-2])
            yield Case(f"{suite.kind}, published", suite.policy, task)


def of_kind(cases: list[Case], count: int) -> Iterator[Row]:
    kind, flips, compared, calls, asked = cases[0].kind, 0, 0, 0, 0
    for case in cases:
        bound, states = case.policy.bind(case.task), states_of(case.task, -(-count // len(cases)))
        flips, compared = flips + changed(bound, states), compared + len(states)
        table = StateTable(case.task)
        runs, ids = PolicyRuns(bound, table), table.add(states[:200])
        later = iter(table.values(ids).tolist())
        for state in ids.tolist():  # as a campaign does
            runs.ask_ahead(state, lambda most, later=later: list(islice(later, most)), RUN_STEPS)
            runs.run([state], RUN_STEPS)
        calls, asked = calls + runs.statistics.calls, asked + runs.statistics.evaluated
    sizes = ", ".join(map(str, SIZES))
    yield mistakes(f"decisions of {kind} that depend on the block ({sizes})", flips, compared)
    remark = "in the kernel, state by state" if hasattr(bound, "kernel") else "asked ahead"
    what = f"states per call of {kind}"
    yield Row(what, asked / calls, "states", instances=len(cases), remark=remark)


def states_of(task: Task, count: int) -> Int32Array:
    """States from random walks; fewer if the task has no more."""
    fuzzer = Fuzzer(StateTable(task), None, FuzzOptions(size=count, walk_length=20))
    return np.array([fuzzer.entries[number].state for number in fuzzer.grow()], np.int32)


def changed(bound: Any, states: Int32Array) -> int:
    """How many states have another decision in another block."""
    alone, *others = (
        np.concatenate([bound.decide(states[i : i + size]) for i in range(0, len(states), size)])
        for size in SIZES
    )
    return int(np.any([other != alone for other in others], axis=0).sum())


def between_builds(networks: list[Case], count: int) -> tuple[int, int]:
    """How many probabilities differ in some bit, and how many were compared."""
    different = compared = 0
    asked = [(case, states_of(case.task, count)) for case in networks]
    ours = [probabilities(case, states) for case, states in asked]
    for target, width in TARGETS.items():
        with kernel_for(target, width):
            for (case, states), own in zip(asked, ours, strict=True):
                theirs = probabilities(case, states)
                different += int((own.view(np.int64) != theirs.view(np.int64)).sum())
                compared += int((own > 0).sum())
    return different, compared


def probabilities(case: Case, states: Int32Array) -> np.ndarray:
    bound = case.policy.bind(case.task)
    assert isinstance(bound, Probabilistic)
    return bound.distribution(states)


@contextmanager
def kernel_for(target: str, width: int) -> Iterator[None]:
    """Let networks be made and evaluated by a kernel that is compiled for a target."""
    usual = native.library()
    with tempfile.TemporaryDirectory(prefix="plumbline-benchmark-") as folder:
        path = Path(folder, "networks.so")
        source = SOURCE / "interface" / "networks.cpp"
        chosen = (f"-march={target}", f"-DPLUMBLINE_WIDTH={width}")
        subprocess.run(["c++", *OPTIONS, *chosen, "-I", SOURCE, source, "-o", path], check=True)
        other = ctypes.CDLL(str(path))
        for name in ("asnets_create", "asnets_logits"):
            getattr(other, f"plumbline_{name}").restype = native.INT32
            known = getattr(usual, f"plumbline_{name}").argtypes
            getattr(other, f"plumbline_{name}").argtypes = known
        try:
            use(_Mixed(usual, other))
            yield
        finally:
            use(usual)


def use(library: Any) -> None:
    """Call the kernels of a library from now on."""
    native.library = lambda: library  # type: ignore[assignment]
    native._kernel.cache_clear()


@dataclass(frozen=True)
class _Mixed:
    """The usual kernels, except for networks."""

    usual: ctypes.CDLL
    other: ctypes.CDLL

    def __getattr__(self, name: str) -> Any:
        is_other = name in ("plumbline_asnets_create", "plumbline_asnets_logits")
        return getattr(self.other if is_other else self.usual, name)


if __name__ == "__main__":
    sys.exit(main())
