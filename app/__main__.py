"""`python -m app`: opens Plumbline.

The window is not part of this version: the bundled example runs on the command line instead,
one command after the other, each shown as it would be typed.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path

from engine.cli import main as plumbline
from engine.errors import ExitCode

EXAMPLES = Path(__file__).resolve().parent.parent / "resources" / "examples"
EXAMPLE = EXAMPLES / "parcel-delivery"


def example_commands(workspace: Path) -> list[list[str]]:
    """The tour: read the files, find a best plan, see what the policy does, and where it errs."""
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


def run_example() -> int:
    """Runs the tour and ends with the first exit code that is not zero."""
    with tempfile.TemporaryDirectory(prefix="plumbline-") as folder:
        for command in example_commands(Path(folder) / "example.plumb"):
            print(f"\n$ plumbline {shlex.join(command)}", flush=True)
            code = plumbline(command)
            if code != ExitCode.DONE:
                return code
    return ExitCode.DONE


def main() -> int:
    print("Plumbline has no window yet: here is its example on the command line.")
    return run_example()


if __name__ == "__main__":
    sys.exit(main())
