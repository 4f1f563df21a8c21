"""Runs all benchmarks, one after the other, and writes what they measured into one table.

    python benchmarks/results.py [--data FOLDER] [--only NAME ...] [--quick] [--out FILE]

FOLDER holds published data in the folders ipc, asnets, gnn, peer and dval; what needs one that is
not there is left out. The table goes to RESULTS.md beside this file; part of the benchmarks or a
quick run is only printed, unless `--out` says where to. What each benchmark prints goes to
build/benchmarks. Exit code 1: a benchmark failed, or found something wrong.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from measurement import ROOT, Row, Setting
from results_page import Measured, commit, page

from engine.workers.program import Ending, run_process

TOPICS = {
    "Search": ("search", "aoc", "abstractions"),
    "Dominance": ("dominance",),
    "Oracles": ("oracle_table", "pco", "peer", "compare_mode", "soundness"),
    "Every classical domain": ("adl",),
    "Policies": ("policies", "batches"),
    "Localization": ("localize", "losses", "witnesses"),
    "Equivalence": ("equivalence",),
    "Campaigns": ("speed", "campaign", "cluster", "many_workers", "append_rate"),
    "Window": ("window", "campaign_screen", "bug_browser", "pictures", "picture_window"),
    "Files": (
        "exchange",
        "export_roundtrip",
        "reproduction",
        "pddl_corpus",
        "pddl_mutations",
        "hostile",
    ),
}
PAGE = Path(__file__).resolve().parent / "RESULTS.md"
LOGS = ROOT / "build" / "benchmarks"
LIMIT_SECONDS = 1800.0
"""Of one benchmark, on a very busy machine; each takes some two minutes on an idle one."""


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse(arguments)
    setting = Setting(options.data and options.data.resolve(), options.quick)
    began, revision = time.monotonic(), commit()  # others may commit while this runs
    every = len(list(chosen([])))
    out = options.out or (None if options.only or options.quick else PAGE)
    measured: list[Measured] = []
    for item in measure(chosen(options.only), setting):
        measured.append(item)
        text = page(measured, every, setting, revision, time.monotonic() - began)
        if out is not None:
            out.write_text(text)  # each time: who stops it keeps what is known
    if out is None:
        print(text)
    bad = [item.name for item in measured if item.is_bad]
    print(f"not as they should be: {', '.join(bad)}" if bad else "all well", file=sys.stderr)
    return 1 if bad else 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    names = [name for _, name in chosen([])]
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="published data")
    parser.add_argument("--only", nargs="+", choices=names, default=[], metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="little of everything")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write the table")
    options = parser.parse_args(arguments)
    if options.data is not None and not options.data.is_dir():
        parser.error(f"there is no folder {options.data}")
    return options


def chosen(only: Sequence[str]) -> Iterator[tuple[str, str]]:
    for topic, names in TOPICS.items():
        for name in names:
            if not only or name in only:
                yield topic, name


def measure(benchmarks: Iterable[tuple[str, str]], setting: Setting) -> Iterator[Measured]:
    for topic, name in benchmarks:
        print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
        began, before = time.monotonic(), processor_seconds()
        item = measure_one(topic, name, setting)
        how = item.failure or item.left_out or f"{len(item.rows)} rows"
        used = processor_seconds() - before
        spent = f"{time.monotonic() - began:.0f} s, {used:.0f} s of the processor"
        print(f"{spent}: {how}", file=sys.stderr, flush=True)
        yield item


def processor_seconds() -> float:
    """Of all that was started here and has ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measure_one(topic: str, name: str, setting: Setting) -> Measured:
    LOGS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="plumbline-benchmark-") as folder:
        out = Path(folder) / "rows"
        program = Path(__file__).resolve().parent / "one_benchmark.py"
        command = [sys.executable, str(program), name, str(out)]
        command += ["--data", str(setting.data)] if setting.data else []
        command += ["--quick"] if setting.quick else []
        with (LOGS / f"{name}.log").open("w") as log:
            ended = run_process(
                command,
                folder=ROOT,
                environment={
                    "PLUMBLINE_CACHE_DIR": str(Path(folder) / "cache"),
                    "OPENBLAS_NUM_THREADS": "1",  # as in all processes of ours
                },
                time_limit=LIMIT_SECONDS,
                on_line=lambda line: print(line, file=log, flush=True),
            )
        rows, left_out = read(out)
    failure = ""
    if ended.ending is Ending.TIME_LIMIT:
        failure = f"not finished after {LIMIT_SECONDS:g} s"
    elif ended.return_code != 0:
        failure = next(reversed(ended.output), f"ended with {ended.return_code}")
    return Measured(topic, name, rows, failure, left_out)


def read(path: Path) -> tuple[tuple[Row, ...], str]:
    """The rows, and why there are no more."""
    lines = path.read_text().split("\n") if path.exists() else [""]
    documents = [json.loads(line) for line in lines[:-1]]  # what was killed may end in half a line
    rows = [
        Row(**{**document, "spread": document["spread"] and tuple(document["spread"])})
        for document in documents
        if "left_out" not in document
    ]
    reasons = [document["left_out"] for document in documents if "left_out" in document]
    return tuple(rows), "".join(reasons)


if __name__ == "__main__":
    sys.exit(main())
