"""Banners about the workspace file: read-only, deleted, or written by another process."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot

from app.services.context import Context
from app.services.messages import Message
from engine.workspace.lock import Writer


class WorkspaceNotices(QObject):
    """Looks once when a window opens, and whenever the document has news."""

    def __init__(
        self, context: Context, save_copy: Callable[[], None], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._context, self._save_copy = context, save_copy
        self._writer: Writer | None = None
        self._shown: Message | None = None
        self._shared: Message | None = None
        context.document.lost.connect(self._tell_lost)
        context.document.looked.connect(self._tell_writer)
        context.document.shared.connect(self._tell_shared)

    def tell_all(self) -> None:
        document = self._context.document
        if document.read_only:
            self._context.messages.warning(
                f"{document.path} is read-only; save a copy to run campaigns and to edit notes",
                actions=[("Save a copy\u2026", self._save_copy)],
            )

    @Slot(object)
    def _tell_writer(self, writer: Writer | None) -> None:
        """Tell who writes to the workspace, apart from our own jobs."""
        if writer is not None and writer.pid in self._context.jobs.pids:
            writer = None
        if writer == self._writer:
            return
        self._writer = writer
        if self._shown is not None:
            self._context.messages.withdraw(self._shown)
            self._shown = None
        if writer is not None:
            self._shown = self._context.messages.info(
                f"Process {writer.pid} on {writer.host} is running a campaign in this workspace. "
                "Its findings appear here; run another campaign when it is finished.",
                actions=[("Save a copy\u2026", self._save_copy)],
                lasting=True,  # until that campaign is done
            )

    @Slot(bool)
    def _tell_shared(self, shared: bool) -> None:
        if shared and self._shared is None:
            self._shared = self._context.messages.info(
                "This workspace is also open in another window of Plumbline. Its changes appear "
                "here.",
                lasting=True,  # until that window is closed
            )
        elif not shared and self._shared is not None:
            self._context.messages.withdraw(self._shared)
            self._shared = None

    @Slot()
    def _tell_lost(self) -> None:
        self._context.messages.error(
            f"{self._context.document.path} was deleted, moved or replaced. This window still has "
            "its contents; save a copy to keep them",
            actions=[("Save a copy\u2026", self._save_copy)],
        )
