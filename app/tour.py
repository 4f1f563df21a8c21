"""The bundled example on the command line, for where there is no display.

One command after the other, each shown as it would be typed.
"""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path

from app.workspaces import EXAMPLES, FIRST_EXAMPLE
from engine.cli import main as plumbline
from engine.errors import ExitCode

EXAMPLE = EXAMPLES / FIRST_EXAMPLE


def tour_commands(workspace: Path) -> list[list[str]]:
    """Read the files, find a best plan, see what the policy does, and where it errs."""
    domain = str(EXAMPLE / "domain.pddl")
    problem = str(EXAMPLE / "problems" / "p03.pddl")
    policy = str(EXAMPLE / "policies" / "policy.pt")
    return [
        ["check", domain, problem],
        ["search", domain, problem],
        ["run", policy, domain, problem],
        ["campaign", str(EXAMPLE / "campaign.toml"), "--out", str(workspace)],
        ["bugs", str(workspace), "--filter", "gap>28"],
    ]


def run_tour() -> int:
    """Runs the tour and ends with the first exit code that is not zero."""
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        for command in tour_commands(Path(folder) / "example.plumb"):
            print(f"\n$ plumbline {shlex.join(command)}", flush=True)
            code = plumbline(command)
            if code != ExitCode.DONE:
                return code
    return ExitCode.DONE
