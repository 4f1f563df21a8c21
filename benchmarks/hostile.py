"""Throw damaged files at everything that reads files: only our own errors may come out.

Every kind of file starts from sound ones, which are then cut, doubled, shuffled and rewritten at
random places. Published policies and checkpoints join in where a folder with some is given.

    python benchmarks/hostile.py [--rounds 2000] [--kinds pddl,sas,...] [--policies FOLDER]
"""

from __future__ import annotations

import argparse
import random
import resource
import sqlite3
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from measurement import Row, Setting, mistakes

from engine.campaign.bug_filter import parse_filter
from engine.campaign.config import parse_config
from engine.campaign.store import Store
from engine.cli import main as plumbline
from engine.errors import PlumblineError
from engine.fuzzing.pool import PoolEntry, parse_pool, write_pool
from engine.pddl import check_texts
from engine.policies.policy import close_policy, open_policy_file
from engine.task.load import load_task
from engine.task.plans import parse_plan
from engine.task.sas import parse_sas, write_sas

EXAMPLES = Path(__file__).resolve().parent.parent / "resources" / "examples"
WORDS = [
    b"(",
    b")",
    b"-1",
    b"0",
    b"99999999999999999999",
    b"\x00",
    b"\xff\xfe",
    b";",
    b"\n",
    b"nan",
]
MEMORY = 6 * 2**30
SLOW_SECONDS = 20.0


def damaged(data: bytes, chance: random.Random) -> bytes:
    """A few random wounds."""
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        place = chance.randrange(len(data) + 1)
        end = min(len(data), place + chance.choice((1, 2, 8, 64, 1024)))
        match chance.randrange(7):
            case 0:
                data = data[:place] + data[end:]
            case 1:
                data = data[:place]
            case 2:
                data = data[:end] + data[place:end] + data[end:]
            case 3:
                data = data[:place] + chance.choice(WORDS) + data[place:]
            case 4:
                data = data[:place] + chance.randbytes(end - place) + data[end:]
            case 5 if place < len(data):
                data = (
                    data[:place]
                    + bytes([data[place] ^ 1 << chance.randrange(8)])
                    + data[place + 1 :]
                )
            case 6:
                other = chance.randrange(len(data) + 1)
                data = data[:place] + data[other : other + 64] + data[end:]
    return data


@dataclass(frozen=True)
class Kind:
    samples: list[bytes]
    read: Callable[[bytes], object]
    slowness: int = 1  # one round in so many


def text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def kinds(folder: Path, policies: Path | None) -> dict[str, Kind]:
    ferry = EXAMPLES / "ferry"
    domain, problem = ferry / "domain.pddl", ferry / "problems" / "p01.pddl"
    task = load_task(domain, problem)
    pool = write_pool(task, [PoolEntry(task.init), PoolEntry(task.init, 0, 3)])
    own = [path.read_bytes() for path in EXAMPLES.glob("*/policies/policy.pt")]

    def in_file(suffix: str, read: Callable[[Path], object]) -> Callable[[bytes], object]:
        path = folder / f"sample{suffix}"

        def use(data: bytes) -> object:
            path.write_bytes(data)
            return read(path)

        return use

    def open_and_close(path: Path) -> None:
        close_policy(open_policy_file(path))

    def read_workspace(path: Path) -> None:
        with Store.open(path) as store:
            store.campaigns(), store.units(), store.project(), store.log(), store.comparisons()
            store.trainings(), store.root_causes()
            for row in store.bugs()[:3]:
                store.with_proof(row), store.localisation(row.id), store.task(1)

    found = {
        "domain": Kind(
            [p.read_bytes() for p in EXAMPLES.glob("*/domain.pddl")], lambda d: check_texts(text(d))
        ),
        "problem": Kind(
            [p.read_bytes() for p in ferry.glob("problems/*.pddl")],
            lambda d: check_texts(domain.read_text(), text(d)),
        ),
        "sas": Kind([write_sas(task).encode()], lambda d: parse_sas(text(d))),
        "plan": Kind(
            [b"(sail a b)\n(embark r a b)\n; cost = 2 (unit cost)\n"], lambda d: parse_plan(text(d))
        ),
        "pool": Kind([pool.encode()], lambda d: parse_pool(text(d), task)),
        "campaign": Kind(
            [p.read_bytes() for p in EXAMPLES.glob("*/campaign.toml")],
            lambda d: parse_config(text(d), ferry / "campaign.toml"),
        ),
        "filter": Kind(
            [b'gap>5 oracle:bmo|aras -status:new "a b" id:1..9'], lambda d: parse_filter(text(d))
        ),
        "own policy": Kind(own, in_file(".pt", open_and_close)),
        "workspace": Kind([workspace(folder)], in_file(".plumb", read_workspace), slowness=4),
    }
    if policies is not None:
        for name, suffix in (("cpddl policy", ".policy"), ("gnn checkpoint", ".ckpt")):
            samples = [path.read_bytes() for path in sorted(policies.rglob(f"*{suffix}"))[:4]]
            if samples:
                found[name] = Kind(samples, in_file(suffix, open_and_close), slowness=10)
    return found


def workspace(folder: Path) -> bytes:
    """A small finished campaign."""
    path, config = folder / "sound.plumb", folder / "campaign.toml"
    config.write_text(
        f'domain = "{EXAMPLES}/ferry/domain.pddl"\n'
        f'problems = ["{EXAMPLES}/ferry/problems/p01.pddl"]\n'
        'policies = ["builtin:gc"]\n[fuzzing]\nsize = 6\n[testing]\noracles = ["astar"]\n'
        "[localisation]\nenabled = true\n"
    )
    assert plumbline(["campaign", str(config), "--out", str(path)]) == 0
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    return path.read_bytes()


def attack(kind: Kind, rounds: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """How each damaged file was taken, with the file."""
    chance = random.Random(seed)
    for _ in range(max(1, rounds // kind.slowness)):
        data = damaged(chance.choice(kind.samples), chance)
        began = time.perf_counter()
        try:
            kind.read(data)
        except PlumblineError:
            outcome = "refused"
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            outcome = f"DEFECT {type(error).__name__}: {error} ({place})"
        else:
            outcome = "read"
        if time.perf_counter() - began > SLOW_SECONDS:
            outcome = f"DEFECT slow, {outcome}"
        yield outcome, data


def rows(setting: Setting) -> Iterator[Row]:
    """For the table of all benchmarks."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory() as name:
        found = kinds(Path(name), setting.data)
        outcomes = [
            outcome
            for kind in found.values()
            for outcome, _ in attack(kind, setting.choose(300, 20), seed=0)
        ]
    defects = [outcome for outcome in outcomes if outcome.startswith("DEFECT")]
    remark = f"{len(found)} kinds of files; {', '.join(sorted(set(defects)))[:200]}".rstrip("; ")
    yield mistakes("damaged files with a traceback or a wait", len(defects), len(outcomes), remark)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--policies", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for files that showed a defect")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))  # a size read from a file is no order
    defects = 0
    with tempfile.TemporaryDirectory() as name:
        for kind, reader in kinds(Path(name), args.policies).items():
            if args.kinds and kind not in args.kinds.split(","):
                continue
            counts: Counter[str] = Counter()
            for outcome, data in attack(reader, args.rounds, args.seed):
                counts[outcome] += 1
                if outcome.startswith("DEFECT") and counts[outcome] == 1 and args.keep:
                    args.keep.mkdir(parents=True, exist_ok=True)
                    (args.keep / f"{kind.replace(' ', '-')}-{len(counts)}").write_bytes(data)
            bad = {text: n for text, n in counts.items() if text.startswith("DEFECT")}
            defects += sum(bad.values())
            total = sum(counts.values())
            print(
                f"{kind:<15} {total:>6} files: {counts['read']} read, {counts['refused']} refused"
            )
            for text_, n in bad.items():
                print(f"    {n:>5} x {text_[:300]}")
            sys.stdout.flush()
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
