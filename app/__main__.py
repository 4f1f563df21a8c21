"""`python -m app [workspace]`: opens Plumbline's window.

Where there is no display, or with --demo, the bundled example runs on the command line instead.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import os
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import engine
from engine.errors import ExitCode
from engine.files import open_standard_streams, resource

_X11_LIBRARIES = {
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-shape.so.0": "libxcb-shape0",
}


def no_window_because(environment: Mapping[str, str] = os.environ) -> str:
    """Return why no window can be shown, or an empty string."""
    platform = environment.get("QT_QPA_PLATFORM", "")
    if sys.platform != "linux" or (platform and platform != "xcb"):
        return ""
    if platform != "xcb" and _has_wayland(environment):
        return ""
    display = environment.get("DISPLAY", "")
    if not display:
        return "no display found"
    missing = [package for name, package in _X11_LIBRARIES.items() if not _has(name)]
    if missing:
        return f"missing system packages: {' '.join(missing)}"
    return "" if _x11_answers(display) else f"the display {display} does not answer"


def _has_wayland(environment: Mapping[str, str]) -> bool:
    name = environment.get("WAYLAND_DISPLAY", "")
    return bool(name) and (Path(environment.get("XDG_RUNTIME_DIR", "/")) / name).exists()


def _has(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _x11_answers(display: str) -> bool:
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(display.encode(), None)
    failed = bool(xcb.xcb_connection_has_error(connection))
    xcb.xcb_disconnect(connection)
    return not failed


EXAMPLE = resource("examples") / "parcel-delivery"


def tour_commands(workspace: Path, report: Path) -> list[list[str]]:
    """Return the commands: check the files, find a plan, run the policy, find its bugs and bad
    steps.
    """
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
    """Run the tour; return the first exit code that is not zero."""
    from engine.cli import main as plumbline  # who has a display needs no tour

    folder = Path(tempfile.mkdtemp(prefix="plumbline-"))
    workspace, report = folder / "example.plumb", folder / "report.html"
    for command in tour_commands(workspace, report):
        print(f"\n$ plumbline {shlex.join(command)}", flush=True)
        code = plumbline(command)
        if code != ExitCode.DONE:
            return code
    print(
        f"\nReport for any browser: {report}"
        f"\nWorkspace for 'plumbline bugs' or the window: {workspace}"
    )
    return ExitCode.DONE


def main(arguments: Sequence[str] | None = None) -> int:
    open_standard_streams()
    parser = argparse.ArgumentParser(
        prog="plumbline-app",
        description="Opens Plumbline's window on a workspace: the last one, or the example.",
    )
    parser.add_argument("workspace", nargs="?", type=Path, help="a .plumb file")
    parser.add_argument("--demo", action="store_true", help="the example on the command line")
    parser.add_argument("--version", action="version", version=f"Plumbline {engine.__version__}")
    options = parser.parse_args(arguments)
    reason = "" if options.demo else no_window_because()
    if options.demo or reason:
        if reason:
            print(f"No window: {reason}. Showing the example on the command line.", flush=True)
        return run_tour()
    gc.disable()  # imports leave no garbage; the window's own collector takes over
    from app.shell.application import run

    return run(options.workspace)


if __name__ == "__main__":
    sys.exit(main())
