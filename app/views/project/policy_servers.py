"""Policies over the network: adding a policy server, and serving a policy of the project."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.models.project_files import project_files
from app.models.served_policies import served_policies
from app.services.context import Context
from app.views.project.policy_cards import PolicyCards
from engine.files import SAS_SUFFIX
from engine.records.project import is_grounded


def task_path(workspace: Path, name: str) -> Path:
    """Return where a task from elsewhere is saved as a problem: beside the workspace."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")
    return workspace.with_name(f"{workspace.stem}-tasks") / f"{plain}{SAS_SUFFIX}"


class PolicyServers(QObject):
    """Opens the dialogs, and shows on the cards which policies are being served."""

    task_fetched = Signal(object)  # Path

    def __init__(self, context: Context, cards: PolicyCards, page: QWidget) -> None:
        super().__init__(page)
        self._context, self._cards, self._page = context, cards, page
        self._files = project_files(context)
        self.served = served_policies(context)
        self.served.changed.connect(self._show_served)
        self._files.changed.connect(self._stop_removed)
        cards.serve_requested.connect(self.choose_serving)
        cards.stop_requested.connect(self.served.stop)

    @Slot(str)
    def choose_serving(self, spec: str) -> None:
        """Ask for the problem, the host and the port."""
        from app.views.project.server_dialogs import ServeDialog

        problems = [path for path, row in self._files.rows.items() if not row.errors]
        if not problems:
            self._context.messages.info("Add a problem first; a server serves exactly one.")
            return
        dialog = ServeDialog(spec, problems, self.served.free_port(), self._page)
        dialog.start_requested.connect(self._serve)
        dialog.open()

    @Slot()
    def serve_chosen(self) -> None:
        card = self._cards.cards.get(self._cards.choice)
        if card is not None and card.may_serve:
            self.choose_serving(card.source)
        else:
            self._context.messages.info(
                "Select a policy that fits the problems and is not being served yet."
            )

    @Slot()
    def choose_server(self) -> None:

        from app.views.project.server_dialogs import ServerDialog

        dialog = ServerDialog(self._context, not self._files.project.problems, self._page)
        dialog.server_requested.connect(self._add)
        dialog.open()

    @Slot(str, str, str, int)
    def _serve(self, spec: str, problem: str, host: str, port: int) -> None:
        project = self._files.project
        files = [problem] if is_grounded(problem) else [project.domain or "", problem]
        self.served.serve(spec, files, project.unit_costs, host, port)

    @Slot(str, bool)
    def _add(self, address: str, with_task: bool) -> None:
        self._files.add_server(address)
        if with_task:
            from engine.usecases.connect import task_of_server  # all of fuzzing

            path = task_path(self._context.document.path, address)
            title = f"Fetch task from {address}"
            job = self._context.jobs.start(title, task_of_server, address, path)
            job.finished.connect(self.task_fetched)

    @Slot(str)
    def _show_served(self, spec: str) -> None:
        self._cards.show_served(spec, self.served.by_spec.get(spec))

    @Slot()
    def _stop_removed(self) -> None:
        for spec in set(self.served.by_spec) - set(self._files.project.policies):
            self.served.stop(spec)
