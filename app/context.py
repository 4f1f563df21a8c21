"""What every screen is given: the workspace, background work, banners, settings, colours."""

from __future__ import annotations

from dataclasses import dataclass

from app.document import Document
from app.jobs import Jobs
from app.messages import Messages
from app.settings import Settings
from app.theme import Theme


@dataclass(frozen=True)
class Context:
    document: Document
    jobs: Jobs
    messages: Messages
    settings: Settings
    theme: Theme
