"""Compare the CPU seconds of commands with those of version 0.1, and see how they grow.

    python benchmarks/speed.py [--data FOLDER] [--only WORD ...] [--repeats N]

FOLDER holds published data in the folders ipc, asnets and gnn; what needs one that is not there is
left out. Versions take turns; each row is the median of the ratios of this many pairs of runs.
Growth is the exponent from 1,000 to 10,000 states, without what the command takes for one state.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from baseline import OUR_PROGRAMS, TREE, build, cpu_seconds, measure
from measurement import EXAMPLES, MissingDataError, Row, Setting, compared

SMALL, LARGE = 1_000, 10_000


@dataclass(frozen=True, slots=True)
class Scenario:
    """A command, made in a folder of its own, and what its ratio or its time is to stay below."""

    what: str
    most: float
    make: Callable[[Setting, Path], Sequence[str]]
    repeats: int = 3
    is_ratio: bool = True


@dataclass(frozen=True, slots=True)
class Growth:
    """A command for this many states, and what its exponent is to stay below."""

    what: str
    most: float
    make: Callable[[Setting, Path, int], Sequence[str]]


def rows(setting: Setting, words: Sequence[str] = (), repeats: int | None = None) -> Iterator[Row]:
    if setting.quick and not TREE.exists():
        raise MissingDataError("needs version 0.1: python benchmarks/baseline.py")
    build()
    with tempfile.TemporaryDirectory(prefix="plumbline-speed-") as folder:
        for number, scenario in enumerate(SCENARIOS):
            if not _chosen(scenario.what, words):
                continue
            own = Path(folder, f"scenario{number}")
            own.mkdir()
            try:
                command = scenario.make(setting, own)
            except MissingDataError as missing:
                yield Row(scenario.what, None, "CPU s", "version 0.1", remark=str(missing))
                continue
            times = repeats or setting.choose(scenario.repeats, 1)
            yield _compared(scenario, measure(command, times))
        for number, growth in enumerate(GROWTHS):
            if _chosen(growth.what, words):
                own = Path(folder, f"growth{number}")
                own.mkdir()
                yield _grown(growth, setting, own, repeats or setting.choose(3, 1))


def _chosen(what: str, words: Sequence[str]) -> bool:
    return not words or any(word in what for word in words)


def _compared(scenario: Scenario, pairs: list[tuple[float, float]]) -> Row:
    row = compared(scenario.what, "version 0.1", pairs, "CPU s", f"at most {scenario.most:.2f}")
    assert row.ratio is not None  # there is a pair
    assert row.ours is not None
    measured = row.ratio if scenario.is_ratio else row.ours
    reached = "reached" if measured <= scenario.most else "not reached"
    return Row(
        row.what,
        row.ours,
        row.unit,
        row.against,
        row.theirs,
        row.ratio,
        row.spread,
        row.instances,
        f"{row.remark}: {reached}",
    )


def _grown(growth: Growth, setting: Setting, folder: Path, repeats: int) -> Row:
    home = folder / "home"

    def seconds(states: int) -> float:
        return cpu_seconds(growth.make(setting, folder, states), OUR_PROGRAMS, home)

    seconds(1)  # fills the caches
    exponents = []
    for _ in range(repeats):
        start, few, many = seconds(1), seconds(SMALL), seconds(LARGE)
        exponents.append(math.log10(max(many - start, 1e-3) / max(few - start, 1e-3)))
    found = median(exponents)
    reached = "reached" if found <= growth.most else "not reached"
    interval = f"{min(exponents):.2f} to {max(exponents):.2f}"
    remark = f"{interval} in {repeats} runs; at most {growth.most:g}: {reached}"
    return Row(growth.what, found, "exponent", instances=repeats, remark=remark)


Files = Callable[[Setting], list[str]]
"""Domain and problem of a task."""


def _task(setting: Setting) -> list[str]:
    """A task with many states. Half of its variables are idle: no condition mentions them."""
    try:
        folder = setting.published("ipc") / "satellite"
        return [str(folder / "domain.pddl"), str(folder / "problems" / "p04-pfile4.pddl")]
    except MissingDataError:
        folder = EXAMPLES / "parcel-delivery"
        return [str(folder / "domain.pddl"), str(max((folder / "problems").glob("*.pddl")))]


def _task_without_idle_variables(setting: Setting) -> list[str]:
    folder = setting.published("ipc") / "driverlog"
    return [str(folder / "domain.pddl"), str(folder / "problems" / "p05.pddl")]


def _pool(task: Sequence[str], folder: Path, states: int) -> str:
    """A pool of a task, made by this version."""
    pool = folder / f"{states}.pool"
    if not pool.exists():
        arguments = ["--size", str(states), "--out", str(pool)]
        program = str(OUR_PROGRAMS / "plumbline")
        subprocess.run([program, "fuzz", *task, *arguments], check=True, capture_output=True)
    return str(pool)


def _test(
    oracle: str, states: int, files: Files = _task
) -> Callable[[Setting, Path], Sequence[str]]:
    return lambda setting, folder: _test_command(oracle, files(setting), folder, states)


def _test_command(oracle: str, task: Sequence[str], folder: Path, states: int) -> Sequence[str]:
    pool = _pool(task, folder, states)
    options = ("--policy", POLICY, "--pool", pool, "--oracle", oracle)
    return ("plumbline", "test", *task, *options)


def _fuzz(setting: Setting, _: Path, states: int = LARGE) -> Sequence[str]:
    options = ("--size", str(states), "--out", "{out}/pool.txt")
    return ("plumbline", "fuzz", *_task(setting), *options)


def _campaign(
    folder: Path,
    data: Path,
    problems: Sequence[str],
    policy: str,
    *,
    size: int,
    oracle: str,
) -> Sequence[str]:
    """A campaign of all problems with one policy, without localization."""
    config = folder / "campaign.toml"
    names = ", ".join(f'"{data / "problems" / name}"' for name in problems)
    config.write_text(
        f'domain = "{data / "domain.pddl"}"\nproblems = [{names}]\npolicies = ["{policy}"]\n'
        f'[fuzzing]\nsize = {size}\n[testing]\noracles = ["{oracle}"]\n'
    )
    return ("plumbline", "campaign", str(config), "--out", "{out}/w.plumb")


def _asnets(
    domain: str, problems: Sequence[str], size: int
) -> Callable[[Setting, Path], Sequence[str]]:
    def make(setting: Setting, folder: Path) -> Sequence[str]:
        data = setting.published("asnets") / domain
        policy = str(next(data.glob("*.policy")))
        return _campaign(folder, data, problems, policy, size=size, oracle=BMO)

    return make


def _gnn(setting: Setting, folder: Path) -> Sequence[str]:
    data = setting.published("gnn") / "blocks"
    problem = min(path.name for path in (data / "problems").glob("*.pddl"))
    policy = str(next(data.glob("*.ckpt")))
    return _campaign(folder, data, [problem], policy, size=50, oracle=SHORT)


def _closed(setting: Setting, folder: Path) -> Sequence[str]:
    """A task with few states, of which many are wanted."""
    data = setting.published("ipc") / "blocks"
    return _campaign(folder, data, ["probBLOCKS-5-1.pddl"], POLICY, size=LARGE, oracle=SHORT)


POLICY = "builtin:hadd"
LOOKAHEAD, SHORT, BMO = "lookahead:depth=2", "lookahead:depth=1", "bmo:factors=atomic"
SIX = tuple(f"problem{number:02}.pddl" for number in (1, 2, 3, 5, 8, 12))
SCENARIOS = (
    Scenario("ASNets, small task, 100 states, bmo", 1 / 3, _asnets("gripper", SIX[3:4], 100)),
    Scenario("six problems with ASNets", 1 / 8, _asnets("gripper", SIX, 100)),
    Scenario(
        "ASNets, 35 blocks, 20 states, bmo",
        1 / 2.5,
        _asnets("blocksworld", ["prob-blocks-blocks-nblk35-seed2107726020-seq1.pddl"], 20),
    ),
    Scenario(
        "ASNets, satellite, 1,000 states, bmo", 1 / 4, _asnets("satellite", ["pfile4.pddl"], SMALL)
    ),
    Scenario("look-ahead, 1,000 states", 1 / 4, _test(LOOKAHEAD, SMALL)),
    Scenario("look-ahead, 10,000 states", 1 / 10, _test(LOOKAHEAD, LARGE)),
    Scenario(
        "look-ahead, 10,000 states, no idle variable",
        1 / 10,
        _test(LOOKAHEAD, LARGE, _task_without_idle_variables),
    ),
    Scenario("bmo, 1,000 states", 1 / 1.5, _test(BMO, SMALL)),
    Scenario("bmo, 10,000 states", 1 / 4, _test(BMO, LARGE)),
    Scenario("fuzzing, 10,000 states", 1 / 10, _fuzz),
    Scenario("fewer states than asked for", 1 / 30, _closed),
    Scenario("GNN, 50 states", 1 / 1.5, _gnn),
    Scenario("--help", 0.07, lambda _, __: ("plumbline", "--help"), 7, is_ratio=False),
    Scenario(
        "run of a built-in policy",
        0.3,
        lambda setting, _: ("plumbline", "run", POLICY, *_task(setting)),
        7,
        is_ratio=False,
    ),
)
GROWTHS = (
    Growth("growth of fuzzing", 1.1, _fuzz),
    Growth("growth of look-ahead", 1.1, lambda s, f, n: _test_command(LOOKAHEAD, _task(s), f, n)),
    Growth("growth of bmo", 1.6, lambda s, f, n: _test_command(BMO, _task(s), f, n)),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="published data")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="of the rows' names")
    parser.add_argument("--repeats", type=int, help="pairs of runs")
    options = parser.parse_args()
    for row in rows(Setting(options.data), options.only, options.repeats):
        spread = f"({row.spread[0]:.3f} to {row.spread[1]:.3f})" if row.spread else ""
        ratio = "" if row.ratio is None else f"ratio {row.ratio:.3f} {spread}"
        value = "-" if row.ours is None else f"{row.ours:.3f}"
        print(f"{row.what}: {value} {row.unit} {row.theirs or ''} {ratio} {row.remark}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
