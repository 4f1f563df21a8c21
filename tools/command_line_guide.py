"""Writes docs/command-line.md from the parser itself, so that the guide is never out of date."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

os.environ["COLUMNS"] = "100"  # argparse would ask the terminal

from engine.cli import COMMANDS, build_parser

GUIDE = Path(__file__).resolve().parent.parent / "docs" / "command-line.md"
HEAD = """\
# The command line

`plumbline COMMAND ...` does everything the window can compute. This page is what
`plumbline COMMAND --help` prints.

- **TASK** is a domain and a problem (`DOMAIN.pddl PROBLEM.pddl`) or one `FILE.sas`.
- **POLICY** is a file (`.policy`, `.ckpt`, `.pt`), a folder of checkpoints, `grpc://host:port`,
  `file.py:factory`, or `builtin:NAME` with NAME one of `random`, `gc`, `hadd`, `hff`, `optimal`.
- With `--json` a command prints exactly one JSON document on the standard output; messages and
  progress go to the standard error.
- Exit codes: 0 done or yes, 1 the answer is no, 2 the input is wrong, 3 a limit was reached
  without an answer, 70 internal error, 130 interrupted.
"""


def guide() -> str:
    parser = build_parser(only=None)
    (commands,) = (
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    )
    sections = [HEAD]
    for name in COMMANDS:
        text = commands.choices[name].format_help().rstrip()
        sections.append(f"## {name}\n\n```text\n{text}\n```\n")
    return "\n".join(sections)


def main() -> int:
    GUIDE.write_text(guide(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
