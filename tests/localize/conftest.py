"""Runs of table policies whose steps are localized."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from reference.localizing import Runner


@pytest.fixture
def runner() -> Callable[..., Runner]:
    return Runner.of
