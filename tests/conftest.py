"""Settings for all tests: a slow machine is no failure, and a failure can be repeated."""

from __future__ import annotations

import os
import signal
import sys

import pytest
from hypothesis import HealthCheck, settings
from reference.amount import LONG, amount

from engine.caches import BACKUP_VARIABLE
from engine.workers.launch import prepare

pytest_plugins = ["reference.bug_fixtures", "reference.campaign_fixtures"]

settings.register_profile(
    "plumbline",
    deadline=None,
    print_blob=True,
    max_examples=amount(100, 25),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("plumbline")

# Hundreds of processes are started; without bytecode each of them would compile the engine again.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_configure() -> None:
    """What is started in the background or by `nohup` ignores Ctrl-C or the end of the terminal,
    and so would every program that tests start and interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)  # as before for us, but not for others


@pytest.fixture(scope="session", autouse=True)
def _backups(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Workspaces that tests change are backed up somewhere else than those of the user."""
    os.environ[BACKUP_VARIABLE] = str(tmp_path_factory.mktemp("backups"))


@pytest.fixture(scope="session", autouse=True)
def _warm() -> None:
    """Processes that tests start are forked as in the window, once the warm process is ready."""
    prepare()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked `long` belong to `make soundness`."""
    if LONG:
        return
    long = [item for item in items if item.get_closest_marker("long")]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]
