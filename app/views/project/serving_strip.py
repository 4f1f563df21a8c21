"""On the card of a policy that is served: where others find it, how often they asked, and Stop."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.models.served_policies import Served
from app.theme import Theme


class ServingStrip(QWidget):
    stop_wanted = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.address = QLabel()
        self.address.setWordWrap(True)
        self.address.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.answered = QLabel()
        self.answered.setProperty("role", "muted")
        self.answered.setWordWrap(True)
        self.copy = QPushButton("Copy address")
        self.copy.setObjectName(f"copy-address-{name}")
        self.copy.setAccessibleName("Copy the address")
        self.copy.setToolTip("Other tools want it as it is; Plumbline as grpc://ADDRESS")
        self.copy.clicked.connect(self._copy)
        self.stop = QPushButton("Stop")
        self.stop.setObjectName(f"stop-serving-{name}")
        self.stop.setAccessibleName(f"Stop serving {name}")
        self.stop.setToolTip("Others get no more answers; closing the window does the same")
        theme.keep_icon(self.stop, "stop", "bad")
        self.stop.clicked.connect(self.stop_wanted)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.copy)
        buttons.addWidget(self.stop)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 4, 0, 0)
        layout.setSpacing(4)
        for item in (self.address, self.answered):
            layout.addWidget(item)
        layout.addLayout(buttons)
        self._address = ""
        self.hide()

    def show_served(self, served: Served | None) -> None:
        self.setVisible(served is not None)
        if served is None:
            return
        self._address = served.reached_at
        problem = Path(served.problem).name
        words = f"Serves {problem} at {self._address}" if served.address else "Starting to serve…"
        self.address.setText(words)
        asked = "1 request" if served.answered == 1 else f"{served.answered:,} requests"
        self.answered.setText("; ".join([f"{asked} answered so far", *served.notes]))
        self.answered.setVisible(bool(served.address))
        self.copy.setEnabled(bool(served.address))
        self.stop.setEnabled(not served.job.stopping)

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._address)
