"""Where workers connect, when the way to it is gone."""

from __future__ import annotations

import threading
from pathlib import Path

from engine.campaign.hub import Hub


def test_a_hub_whose_socket_was_deleted_can_be_closed() -> None:
    """Whoever cleans up temporary files must not make a campaign wait for ever at its end."""
    hub = Hub({})
    address = hub._listener.address
    assert isinstance(address, str)
    Path(address).unlink()
    closing = threading.Thread(target=hub.close, daemon=True)
    closing.start()
    closing.join(30)
    assert not closing.is_alive()
