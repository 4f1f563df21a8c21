"""How to serve a policy: for which problem, to whom, on which port."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QLabel, QWidget

from app.models.policy_words import policy_name
from app.models.served_policies import EVERYWHERE, HERE
from app.widgets.form_fields import choice, number
from app.widgets.question import Question, grow

HOSTS = {
    HERE: "Programs on this machine: nobody else can reach it",
    EVERYWHERE: "Programs on other machines, too: anybody who reaches this port may ask",
}


class ServeDialog(Question):
    start_wanted = Signal(str, str, str, int)  # policy, problem, host, port

    def __init__(
        self, spec: str, problems: Sequence[str], port: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(
            "serve",
            "Serve a policy",
            "Other tools that speak the pheromone protocol can then ask this policy what it does "
            "in a state. A server speaks of one problem.",
            parent,
        )
        self._spec = spec
        self.heading.setText(f"Serve {policy_name(spec)}")
        self.problem = choice({path: Path(path).name for path in problems})
        self.problem.setObjectName("serve-problem")
        self.problem.setAccessibleName("Problem")
        self.host = choice(HOSTS)
        self.host.setObjectName("serve-host")
        self.host.setAccessibleName("Who may ask")
        self.warning = QLabel("There is no password: use it in networks you trust.")
        self.warning.setWordWrap(True)
        self.warning.setProperty("role", "bad")
        self.warning.hide()
        self.host.currentIndexChanged.connect(self._show_warning)
        self.port = number(1, 2**16 - 1)
        self.port.setGroupSeparatorShown(False)
        self.port.setObjectName("serve-port")
        self.port.setAccessibleName("Port")
        self.port.setValue(port)
        fields = self.add_form()
        fields.addRow("Problem", self.problem)
        fields.addRow("Who may ask", self.host)
        fields.addRow(self.warning)
        fields.addRow("Port", self.port)
        self.add_buttons("Serve", "Serve")

    @Slot()
    def _show_warning(self) -> None:
        self.warning.setVisible(self.host.currentData() == EVERYWHERE)
        grow(self)

    def accept(self) -> None:
        problem, host = str(self.problem.currentData()), str(self.host.currentData())
        self.start_wanted.emit(self._spec, problem, host, self.port.value())
        super().accept()
