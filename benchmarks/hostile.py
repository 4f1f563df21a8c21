"""Throw files at everything that reads files: only our own errors may come out.

Half of them are sound ones that were cut, doubled, shuffled and rewritten at random places; half
keep their form and lose their meaning, from the generators of the tests. Published policies and
checkpoints join in where a folder with some is given. A file must be read or refused in a minute,
within `MEMORY`.

    python benchmarks/hostile.py [--rounds 2000] [--kinds domain,sas,...] [--policies FOLDER]
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from measurement import Row, Setting, mistakes
from reference import hostile_files as files
from reference.hostile_readers import EXAMPLES, FERRY, Read, ferry_task, readers, samples, taken
from reference.hostile_workspaces import full_workspace, strange_cells

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
MEMORY = 4 * 2**30
SLOW_SECONDS = 60.0
DEFECT = "DEFECT"


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
    """Sound files, files made to be strange, and what reads them."""

    read: Read
    samples: list[bytes] = field(default_factory=list)
    strange: st.SearchStrategy[bytes] | None = None
    slowness: int = 1  # one round in this many


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def kinds(folder: Path, policies: Path | None) -> dict[str, Kind]:
    task = ferry_task()
    reading = readers(folder, task)
    texts = samples(task)
    own = [path.read_bytes() for path in EXAMPLES.glob("*/policies/policy.pt")]
    contents = torch.load(next(EXAMPLES.glob("*/policies/policy.pt")), weights_only=True)
    toml = (FERRY / "campaign.toml").read_text()
    sound = full_workspace(folder)
    found = {
        "domain": Kind(
            reading["domain"],
            [path.read_bytes() for path in EXAMPLES.glob("*/domain.pddl")],
            files.domains.map(encoded),
        ),
        "problem": Kind(
            reading["problem"],
            [path.read_bytes() for path in FERRY.glob("problems/*.pddl")],
            files.problems.map(encoded),
        ),
        "own problem": Kind(reading["own problem"], strange=files.problems.map(encoded)),
        **{
            name: Kind(reading[name], [text.encode()], files.with_other_words(text).map(encoded))
            for name, text in texts.items()
        },
        "campaign": Kind(
            reading["campaign"],
            [path.read_bytes() for path in EXAMPLES.glob("*/campaign.toml")],
            files.campaigns(tomllib.loads(toml)).map(encoded),
        ),
        "own policy": Kind(reading["own policy"], own, files.checkpoints(contents)),
        "workspace": Kind(
            reading["workspace"],
            [sound.read_bytes()],
            strange_cells(sound).map(lambda cell: cell.put(sound, folder / "cell.plumb")),
            slowness=4,
        ),
        "shown workspace": Kind(
            in_the_window(folder),
            strange=strange_cells(sound).map(lambda cell: cell.put(sound, folder / "cell.plumb")),
            slowness=20,
        ),
    }
    for name, suffix in (("cpddl policy", ".policy"), ("gnn checkpoint", ".ckpt")):
        paths = sorted(policies.rglob(f"*{suffix}"))[:9] if policies is not None else []
        if paths:
            published = [path.read_bytes() for path in paths]
            found[name] = Kind(reading[name], published, slowness=10)
    return found


def in_the_window(folder: Path) -> Read:
    """Opens the window on a workspace and looks at all screens."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before Qt is imported
    os.environ.update({f"XDG_{name}_HOME": str(folder / "home") for name in ("CACHE", "CONFIG")})
    from PySide6.QtWidgets import QApplication
    from reference.hostile_window import look_at

    from app.services.settings import Settings
    from app.services.theme import Theme

    application = QApplication.instance() or QApplication([])
    theme, path = Theme(application), folder / "shown.plumb"

    def read(data: bytes) -> None:
        for left in folder.glob("shown.plumb*"):
            left.unlink()
        path.write_bytes(data)
        look_at(path, Settings(folder / "settings.json"), theme)

    return read


def judged(read: Read, data: bytes) -> str:
    """How a file was taken, and whether that took too long."""
    began = time.process_time()
    outcome = taken(read, data)
    slow = time.process_time() - began > SLOW_SECONDS and len(data) < 2**20
    return f"{DEFECT} slow, {outcome}" if slow else outcome


def attack(kind: Kind, rounds: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """How each file was taken, with the file."""
    count = max(1, rounds // kind.slowness)
    chance = random.Random(seed)
    if kind.samples:
        for _ in range(count):
            data = damaged(chance.choice(kind.samples), chance)
            yield judged(kind.read, data), data
    if kind.strange is not None:
        yield from strange_files(kind.strange, kind.read, count, seed)


def strange_files(
    strategy: st.SearchStrategy[bytes], read: Read, count: int, seed: int
) -> list[tuple[str, bytes]]:
    outcomes: list[tuple[str, bytes]] = []

    @seeded(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def each(data: bytes) -> None:
        outcome = judged(read, data)
        outcomes.append((outcome, data if outcome.startswith(DEFECT) else b""))

    each()
    return outcomes


Keep = Callable[[str, bytes], None]


def counts_of(kind: Kind, rounds: int, seed: int, keep: Keep | None = None) -> Counter[str]:
    counts: Counter[str] = Counter()
    for outcome, data in attack(kind, rounds, seed):
        counts[outcome] += 1
        if keep is not None and outcome.startswith(DEFECT) and counts[outcome] == 1:
            keep(f"{len(counts)}", data)
    return counts


def limit_memory() -> None:
    """A size read from a file is no order."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))


def rows(setting: Setting) -> Iterator[Row]:
    """For the table of all benchmarks."""
    limit_memory()
    with tempfile.TemporaryDirectory() as name:
        found = kinds(Path(name), setting.data)
        counts: Counter[str] = Counter()
        for kind in found.values():
            counts += counts_of(kind, setting.choose(300, 20), 0)
    defects = sorted(text for text in counts if text.startswith(DEFECT))
    remark = f"{len(found)} kinds of files; {', '.join(defects)[:200]}".rstrip("; ")
    wrong = sum(counts[text] for text in defects)
    yield mistakes("hostile files with a traceback or a wait", wrong, counts.total(), remark)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2000)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--policies", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder for files that showed a defect")
    args = parser.parse_args()
    limit_memory()
    defects = 0
    with tempfile.TemporaryDirectory() as name:
        for kind, reader in kinds(Path(name), args.policies).items():
            if args.kinds and kind not in args.kinds.split(","):
                continue

            def keep(number: str, data: bytes, kind: str = kind) -> None:
                if args.keep is not None:
                    args.keep.mkdir(parents=True, exist_ok=True)
                    (args.keep / f"{kind.replace(' ', '-')}-{number}").write_bytes(data)

            counts = counts_of(reader, args.rounds, args.seed, keep)
            bad = {text: n for text, n in counts.items() if text.startswith(DEFECT)}
            defects += sum(bad.values())
            total = sum(counts.values())
            print(
                f"{kind:<15} {total:>6} files: {counts['read']} read, {counts['refused']} refused"
            )
            for text, n in bad.items():
                print(f"    {n:>5} x {text[:300]}")
            sys.stdout.flush()
    return 1 if defects else 0


if __name__ == "__main__":
    sys.exit(main())
