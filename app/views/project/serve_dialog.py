"""How to serve a policy: for which problem, to whom, on which port."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from app.models.policy_words import policy_name
from app.models.served_policies import EVERYWHERE, HERE
from app.widgets.dialog_room import grow, set_width
from app.widgets.form_fields import choice, number

HOSTS = {
    HERE: "Programs on this machine: nobody else can reach it",
    EVERYWHERE: "Programs on other machines, too: anybody who reaches this port may ask",
}
WIDTH = 68  # characters


class ServeDialog(QDialog):
    start_wanted = Signal(str, str, str, int)  # policy, problem, host, port

    def __init__(
        self, spec: str, problems: Sequence[str], port: int, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._spec = spec
        self.setObjectName("serve-dialog")
        self.setWindowTitle("Serve a policy")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        set_width(self, WIDTH)
        title = QLabel(f"Serve {policy_name(spec)}")
        title.setProperty("role", "title")
        what = QLabel(
            "Other tools that speak the pheromone protocol can then ask this policy what it does "
            "in a state. A server speaks of one problem."
        )
        what.setWordWrap(True)
        what.setProperty("role", "muted")
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
        fields = QFormLayout()
        fields.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        fields.setHorizontalSpacing(12)
        fields.addRow("Problem", self.problem)
        fields.addRow("Who may ask", self.host)
        fields.addRow(self.warning)
        fields.addRow("Port", self.port)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addWidget(title)
        layout.addWidget(what)
        layout.addLayout(fields)
        layout.addWidget(self._buttons())

    def _buttons(self) -> QDialogButtonBox:
        box = QDialogButtonBox()
        self.start = box.addButton("Serve", QDialogButtonBox.ButtonRole.AcceptRole)
        self.start.setObjectName("serve-start")
        self.start.setAccessibleName("Serve")
        self.start.setProperty("primary", True)
        cancel = box.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        cancel.setObjectName("serve-cancel")
        cancel.setAccessibleName("Cancel")
        box.accepted.connect(self.accept)
        box.rejected.connect(self.reject)
        return box

    @Slot()
    def _show_warning(self) -> None:
        self.warning.setVisible(self.host.currentData() == EVERYWHERE)
        grow(self)

    def accept(self) -> None:
        problem, host = str(self.problem.currentData()), str(self.host.currentData())
        self.start_wanted.emit(self._spec, problem, host, self.port.value())
        super().accept()
