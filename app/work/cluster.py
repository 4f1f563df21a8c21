"""Looks at a Dask cluster in the worker process: connecting takes seconds, and imports Dask."""

from __future__ import annotations

from app.work.link import Link
from engine.campaign.cluster import ClusterSize, look_at


def check_cluster(link: Link, address: str) -> ClusterSize:
    """What there is, if campaigns can run there; otherwise an error that says why not."""
    del link
    return look_at(address)
