"""Runs one benchmark and writes its rows into a file, one JSON document per line.

    python benchmarks/one_benchmark.py NAME OUT [--data FOLDER] [--quick]

A process of its own for each: benchmarks choose their core, limit their memory or watch methods.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from dataclasses import asdict
from pathlib import Path

from measurement import MissingDataError, Setting


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name")
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    benchmark = importlib.import_module(options.name)
    with options.out.open("w") as out:

        def write(document: dict[str, object]) -> None:
            print(json.dumps(document), file=out, flush=True)

        try:
            for row in benchmark.rows(Setting(options.data, options.quick)):
                write(asdict(row))
        except MissingDataError as missing:
            write({"left_out": str(missing)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
