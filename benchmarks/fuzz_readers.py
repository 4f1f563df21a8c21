"""Coverage-guided fuzzing of everything that reads a file of a stranger's; needs the extra `fuzz`.

One process per kind of file, one at a time. A defect is an exception that is not one of our own,
more than `SLOW_SECONDS` of CPU time, more than `MEMORY` above what the process has before, or its
death. What shows a defect is kept, once per place in the code, and the fuzzer continues.

    python benchmarks/fuzz_readers.py [--seconds 300] [--kinds domain,sas,...] [--keep FOLDER]
    python benchmarks/fuzz_readers.py --replay KIND FILE...
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

SLOW_SECONDS = 5.0
MEMORY = 2**30
HANGING_SECONDS = 60  # of the clock: then the process is ended
INSTRUMENTED = ["engine", "app", "tomllib", "pickletools"]
_DONE = re.compile(r"#(\d+)\s.*?cov: (\d+) ft: (\d+) corp: (\d+)")


@dataclass
class Effort:
    """What was done to one kind of file."""

    executions: int = 0
    coverage: int = 0  # edges of instrumented code
    features: int = 0
    corpus: int = 0
    deaths: int = 0


def attack(kind: str, seconds: int, keep: Path) -> Effort:
    """In processes of their own: a new one continues where one has died."""
    corpus = keep / "corpus" / kind.replace(" ", "-")
    corpus.mkdir(parents=True, exist_ok=True)
    effort, end = Effort(), children_seconds() + seconds
    while (left := int(end - children_seconds())) > 0:
        command = [sys.executable, __file__, "--child", kind, "--seconds", str(left)]
        result = subprocess.run(
            [*command, "--keep", str(keep)], stderr=subprocess.PIPE, text=True, check=False
        )
        (keep / f"{corpus.name}.log").write_text(result.stderr)
        executions = 0
        for line in _DONE.finditer(result.stderr):
            executions, effort.coverage, effort.features, effort.corpus = map(int, line.groups())
        effort.executions += executions
        effort.deaths += result.returncode != 0
        if not executions:
            print(result.stderr[-2000:], file=sys.stderr)
            break
    return effort


def children_seconds() -> float:
    """CPU time of the processes that have ended: on a busy machine the clock says little."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fuzz(kind: str, seconds: int, keep: Path) -> None:
    """Does not return."""
    import atheris

    # The finder of an editable install loads modules by itself, unseen by atheris.
    sys.meta_path[:] = [f for f in sys.meta_path if "Redirecting" not in type(f).__name__]
    scratch = Path(tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm") else None))
    name = kind.replace(" ", "-")
    with atheris.instrument_imports(include=INSTRUMENTED):
        from reference.fuzz_targets import targets
        from reference.hostile_readers import READ, REFUSED, taken

        target = targets(scratch)[kind]()
        corpus, words = keep / "corpus" / name, scratch / "words"
        for seed in target.seeds():
            (corpus / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)
            outcome = taken(target.read, seed)  # now, so that all it imports is instrumented
            print(f"seed: {outcome}", file=sys.stderr)
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in target.words))
        known: set[str] = set()

        def one(data: bytes) -> None:
            began = time.process_time()
            outcome = taken(target.read, data)
            if time.process_time() - began > SLOW_SECONDS:
                outcome = f"DEFECT slow, {outcome}"
            if outcome in (READ, REFUSED):
                return
            place = re.sub(r".*\(([^()]*)\)$", r"\1", outcome, flags=re.S)
            if (key := f"{outcome[:24]}{place}") not in known:
                known.add(key)
                found = keep / f"{name}-{hashlib.sha256(data).hexdigest()[:8]}"
                found.write_bytes(data)
                print(f"{found.name}: {outcome[:300]!r}", flush=True)

        limit_memory()
        threading.Thread(target=end_after, args=[seconds], daemon=True).start()
        options = [f"-timeout={HANGING_SECONDS}"]
        options += ["-rss_limit_mb=0", f"-max_len={target.largest}", "-print_final_stats=1"]
        options += [f"-artifact_prefix={keep}/{name}-died-", f"-dict={words}"]
        atheris.Setup([sys.argv[0], *options, str(corpus)], one)
        atheris.Fuzz()


def end_after(seconds: int) -> None:
    """Let libFuzzer end when the process has used its CPU time."""
    while (left := seconds - time.process_time()) > 0:
        time.sleep(left)
    os.kill(os.getpid(), signal.SIGUSR1)


def _escaped(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


def limit_memory() -> None:
    """A size that a file tells must not be allocated; the system refuses it at once."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))


def replay(kind: str, files: Sequence[Path]) -> int:
    """Without instrumentation, so that times are those that a user waits."""
    from reference.fuzz_targets import targets
    from reference.hostile_readers import READ, REFUSED, taken

    defects = 0
    with tempfile.TemporaryDirectory() as folder:
        target = targets(Path(folder))[kind]()
        for seed in target.seeds():
            taken(target.read, seed)
        limit_memory()
        for file in files:
            began = time.process_time()
            outcome = taken(target.read, file.read_bytes())
            seconds = time.process_time() - began
            defects += outcome not in (READ, REFUSED) or seconds > SLOW_SECONDS
            print(f"{file.name}: {outcome} after {seconds:.2f} s")
    return 1 if defects else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=300, help="of CPU time for each kind")
    parser.add_argument("--kinds", default="", help="default: all, one after the other")
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "fuzz")
    parser.add_argument("--child", metavar="KIND", help=argparse.SUPPRESS)
    parser.add_argument("--replay", nargs="+", metavar=("KIND", "FILE"))
    args = parser.parse_args()
    if args.replay:
        return replay(args.replay[0], [Path(name) for name in args.replay[1:]])
    if args.child:
        fuzz(args.child, args.seconds, args.keep)
    args.keep.mkdir(parents=True, exist_ok=True)
    from reference.fuzz_targets import targets

    with tempfile.TemporaryDirectory() as folder:
        kinds = args.kinds.split(",") if args.kinds else list(targets(Path(folder)))
    for kind in kinds:
        before = children_seconds()
        effort = attack(kind, args.seconds, args.keep)
        used = children_seconds() - before
        print(
            f"{kind:<20} {effort.executions:>8} executions, {effort.coverage} edges, "
            f"{effort.features} features, {effort.corpus} files kept, {effort.deaths} deaths, "
            f"{used:.0f} s of CPU time",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
