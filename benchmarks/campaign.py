"""Campaigns under hard conditions, and what they find in the examples.

    python benchmarks/campaign.py kill CONFIG.toml [--moments 20] [--seed 0]
    python benchmarks/campaign.py examples resources/examples [--bundles 5]
    python benchmarks/campaign.py speed CONFIG.toml --seconds 240

`kill` kills a campaign with SIGKILL at random moments, looks at what is left, resumes it and
compares the result with an undisturbed run. `examples` runs the campaign of each example, verifies
all bugs, exports some, validates their plans and searches for the optimal cost. `speed` shows bugs
over time, states and policy decisions per second, and memory.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measurement import EXAMPLES, Row, Setting, mistakes

from engine.workspace.workspace import Workspace

CLI = [sys.executable, "-m", "engine.cli"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=["kill", "examples", "speed"])
    parser.add_argument("path", type=Path)
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bundles", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=240)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="plumbline-benchmark-") as name:
        folder = Path(name)
        if args.what == "kill":
            return 1 if kill(args.path, folder, args.moments, random.Random(args.seed)) else 0
        if args.what == "examples":
            configs = sorted(args.path.glob("*/campaign.toml"))
            return 1 if sum(e.wrong for e in examples(configs, folder, args.bundles)) else 0
        return speed(args.path, folder, args.seconds)


def rows(setting: Setting) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="plumbline-benchmark-") as name:
        folder, moments = Path(name), setting.choose(3, 1)
        config = EXAMPLES / "container-yard" / "campaign.toml"
        wrong = kill(config, folder, moments, random.Random(0))
        yield mistakes("campaigns that find something else after a kill", wrong, moments)
        found = list(examples([config], folder, bundles=2))
    bugs = sum(example.bugs for example in found)
    what = "bugs of an example that do not verify, or whose bundle does not hold"
    yield mistakes(what, sum(example.wrong for example in found), bugs)
    seconds = sum(example.seconds for example in found)
    states = sum(example.states for example in found)
    remark = f"clock, with localization; {bugs} bugs"
    yield Row("states tested in a second", states / seconds, "1/s", instances=states, remark=remark)


def call(*words: object, codes: tuple[int, ...] = (0,)) -> dict[str, Any]:
    result = subprocess.run(
        [*CLI, *map(str, words), "--json"], check=False, capture_output=True, text=True
    )
    if result.returncode not in codes:
        raise SystemExit(f"{words}: exit code {result.returncode}\n{result.stderr}")
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def bugs(path: Path) -> list[dict[str, Any]]:
    """All findings, times left out."""
    return [
        {key: value for key, value in bug.items() if key != "seconds"}
        for bug in call("bugs", path)["bugs"]
    ]


def history(path: Path) -> set[tuple[Any, ...]]:
    """Every bound that was ever committed for a finding."""
    with Workspace.open(path) as store:
        if damage := store.damage():
            raise SystemExit(f"{path} is damaged: {damage}")
        return {(row.id, bound) for row in store.bugs() for bound, _, _ in store.history(row.id)}


def kill(config: Path, folder: Path, moments: int, choose: random.Random) -> int:
    """How many of the killed and resumed campaigns do not end as the undisturbed one."""
    began = time.monotonic()
    one = ("--executor", "local:1")  # else bugs are numbered as units report them
    call("campaign", config, "--out", folder / "whole.plumb", *one)
    duration = time.monotonic() - began
    expected, whole = bugs(folder / "whole.plumb"), history(folder / "whole.plumb")
    print(f"undisturbed: {len(expected)} bugs in {duration:.1f} s")
    wrong = killed = number = 0
    while killed < moments:
        number += 1
        path = folder / f"{number}.plumb"
        moment = choose.uniform(0, duration)
        command = [*CLI, "campaign", str(config), "--out", str(path), "--resume", *one]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        else:  # it was faster this time: that was no kill
            duration = min(duration, moment)
            continue
        killed += 1
        saved = history(path) if path.exists() and path.stat().st_size else set()
        call("campaign", config, "--out", path, "--resume", *one)
        same = bugs(path) == expected and saved <= history(path) == whole
        wrong += not same
        print(
            f"killed after {moment:5.2f} s with {len(saved):4} of {len(whole)} bounds saved; "
            f"resumed: {'the same' if same else 'NOT THE SAME'}",
            flush=True,
        )
    print(f"{killed} kills of a running campaign, {wrong} wrong")
    return wrong


@dataclass(frozen=True, slots=True)
class Example:
    """The campaign of one example; `wrong` are bugs that fail and bundles that do not hold."""

    bugs: int
    states: int
    seconds: float
    wrong: int


def examples(configs: Sequence[Path], folder: Path, bundles: int) -> Iterator[Example]:
    for config in configs:
        name = config.parent.name
        path = folder / f"{name}.plumb"
        began = time.monotonic()
        totals = call("campaign", config, "--out", path)
        seconds = time.monotonic() - began
        verified = call("verify", path, codes=(0, 1, 3))
        chosen = bugs(path)[:: max(totals["bugs"] // bundles, 1)][:bundles]
        call("export", path, "--out", folder / name, "--bug", *(bug["id"] for bug in chosen))
        bad = sum(not bundle_holds(bug, folder / name / f"bug-{bug['id']}") for bug in chosen)
        print(
            f"{name}: {totals['bugs']} bugs ({totals['qualitative']} failures) in "
            f"{totals['states']} states, {seconds:.1f} s; {verified['verified']} verified, "
            f"{len(verified['failed'])} failed; {len(chosen) - bad} of {len(chosen)} bundles hold",
            flush=True,
        )
        yield Example(totals["bugs"], totals["states"], seconds, len(verified["failed"]) + bad)


def bundle_holds(bug: dict[str, Any], folder: Path) -> bool:
    """Both plans are valid, and the policy's is more expensive than the optimal one."""
    task = folder / "domain.pddl", folder / "problem.pddl"
    better = call("validate", *task, folder / "better.plan", codes=(0, 1))
    optimal = call("search", *task, "--algorithm", "astar", "--heuristic", "lmcut")["cost"]
    holds = bool(better["valid"] and optimal <= better["cost"] and optimal <= bug["bound"])
    if bug["policy_cost"] is not None:
        policy = call("validate", *task, folder / "policy.plan", codes=(0, 1))
        holds = holds and policy["cost"] == bug["policy_cost"] > optimal
    return holds


def speed(config: Path, folder: Path, seconds: float) -> int:
    path = folder / "speed.plumb"
    totals = call("campaign", config, "--out", path, "--time-limit", seconds, codes=(0, 3))
    with Workspace.open(path) as store:
        units, rows = store.units(), store.bugs()
    for unit in units:
        counts = unit.statistics
        if not counts:
            continue
        print(
            f"{unit.problem} {unit.policy} seed {unit.seed}: {unit.status}, {counts['states']} "
            f"states and {counts['bugs']} bugs in {counts['seconds']:.0f} s: "
            f"{counts['states'] / counts['seconds']:.2f} states/s, "
            f"{counts['policy_states'] / counts['seconds']:.0f} decisions/s "
            f"({counts['policy_states'] / max(counts['policy_seconds'], 1e-9):.0f}/s inside the "
            f"policy), {counts['touched_states']} states touched, "
            f"{counts['peak_megabytes']:.0f} MB"
        )
        times = sorted(row.seconds for row in rows if row.unit == unit.id)
        marks = [counts["seconds"] * part / 10 for part in range(1, 11)]
        over_time = [f"{mark:.0f} s: {sum(t <= mark for t in times)}" for mark in marks]
        print("  bugs over time: " + ", ".join(over_time))
    for name, counts in totals["per_oracle"].items():
        print(f"  {name}: {json.dumps(counts)}")
    print(f"workspace: {path.stat().st_size / 2**20:.1f} MB for {len(rows)} bugs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
