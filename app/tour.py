"""The bundled example on the command line, for where there is no display.

One command after the other, each shown as it would be typed. What they write is kept.
"""

from __future__ import annotations

import shlex
import tempfile
from pathlib import Path

from app.workspaces import EXAMPLES, FIRST_EXAMPLE
from engine.cli import main as plumbline
from engine.errors import ExitCode

EXAMPLE = EXAMPLES / FIRST_EXAMPLE


def tour_commands(workspace: Path, report: Path) -> list[list[str]]:
    """Read the files, find a best plan, see what the policy does, where it errs, and why."""
    domain = str(EXAMPLE / "domain.pddl")
    problem = str(EXAMPLE / "problems" / "p03.pddl")
    policy = str(EXAMPLE / "policies" / "policy.pt")
    return [
        ["check", domain, problem],
        ["search", domain, problem],
        ["run", policy, domain, problem],
        ["campaign", str(EXAMPLE / "campaign.toml"), "--out", str(workspace)],
        ["bugs", str(workspace), "--filter", "gap>60"],
        ["report", str(workspace), "--out", str(report)],
    ]


def run_tour() -> int:
    """Runs the tour and ends with the first exit code that is not zero."""
    folder = Path(tempfile.mkdtemp(prefix="plumbline-"))
    workspace, report = folder / "example.plumb", folder / "report.html"
    for command in tour_commands(workspace, report):
        print(f"\n$ plumbline {shlex.join(command)}", flush=True)
        code = plumbline(command)
        if code != ExitCode.DONE:
            return code
    print(
        f"\nAll of it to read, in any browser: {report}"
        f"\nThe workspace with everything found, for 'plumbline bugs' or the window: {workspace}"
    )
    return ExitCode.DONE
