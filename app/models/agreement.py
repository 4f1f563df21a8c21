"""What the user lets policies do, kept in the settings: plug-ins that run, servers that are asked.

Never in a workspace, whose author may be somebody else.
"""

from __future__ import annotations

from app.settings import Settings
from engine.policies.consent import Consent, consent_name

AGREED = "agreed"
MOST = 500
"""Files that are edited again and again leave a name each; the oldest go."""


def consent_of(settings: Settings) -> Consent:
    names: list[object] = settings.get(AGREED, [])
    return Consent(frozenset(name for name in names if isinstance(name, str)))


def agree(settings: Settings, spec: str) -> None:
    """To a plug-in as it is now, or to a server; the settings remember it."""
    name = consent_name(spec)
    if name and name not in consent_of(settings).agreed:
        settings.set(AGREED, [*settings.get(AGREED, []), name][-MOST:])
