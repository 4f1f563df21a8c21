"""Settings for all tests: a slow machine is no failure, and a failure can be repeated."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

pytest_plugins = ["reference.bug_fixtures", "reference.campaign_fixtures"]

settings.register_profile(
    "plumbline", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("plumbline")


def pytest_configure() -> None:
    """Whoever is started in the background or by `nohup` ignores Ctrl-C or the end of the terminal,
    and so would every program that tests start and interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)  # as before for us, but not for others
