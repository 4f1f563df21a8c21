"""What every screen receives: the document, jobs, messages, settings and theme."""

from __future__ import annotations

from dataclasses import dataclass

from app.services.document import Document
from app.services.jobs import Jobs
from app.services.messages import Messages
from app.services.settings import Settings
from app.services.theme import Theme


@dataclass(frozen=True)
class Context:
    document: Document
    jobs: Jobs
    messages: Messages
    settings: Settings
    theme: Theme
