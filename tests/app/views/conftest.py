"""Screens do their background work in threads of the test, but where processes are the point."""

from __future__ import annotations

import pytest
from reference.jobs_in_threads import InThread


@pytest.fixture(autouse=True)
def jobs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of tests marked `processes` are as in the program."""
    if request.node.get_closest_marker("processes") is None:
        monkeypatch.setattr("app.services.jobs.Supervisor", InThread)
