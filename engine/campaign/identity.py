"""What makes two campaigns the same: their settings and the contents of their inputs.

Where files lie does not matter, so a workspace can be taken up again on another machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from engine.campaign.config import CampaignConfig
from engine.campaign.inputs import File, PolicyInput, ProblemInput


def campaign_key(
    config: CampaignConfig,
    problems: Sequence[ProblemInput],
    policies: Sequence[PolicyInput],
    portfolio: Sequence[PolicyInput],
    pool: File | None = None,
) -> str:
    settings = config.to_json()
    if not config.localisation.enabled:
        del settings["localisation"]  # campaigns are older than it, and without it still the same
    del settings["pool"]
    if pool is not None:
        settings["pool"] = pool.sha256
    document = {
        **settings,
        "domain": None,
        "problems": [[item.name, *(file.sha256 for file in item.files)] for item in problems],
        "policies": _identities(policies),
        "portfolio": _identities(portfolio),
    }
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _identities(policies: Sequence[PolicyInput]) -> list[list[str]]:
    return [[item.name, item.file.sha256 if item.file else item.spec] for item in policies]
