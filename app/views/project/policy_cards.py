"""Cards for the policies of a project: kind, training, whether they fit, and serving."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QComboBox, QWidget

from app.models.served_policies import Served
from app.services.theme import Theme
from app.views.project.file_card import FileCard, drop_cards, show_text
from app.widgets.builders import button, describe, icon_button, label, paragraph
from app.widgets.layouts import hbox, vbox
from engine.records.policy_spec import PolicySpec, SpecKind
from engine.records.project import PolicyChecked
from engine.report.policy_text import (
    TaskFit,
    policy_kind,
    policy_name,
    policy_training,
    policy_verdict,
)
from engine.report.words import count_text

_CONSENT_TEXTS = (
    (
        "Trust plug-in",
        "Allow this plug-in to run. It is a program with all your permissions, so review it "
        "first. You are asked again when the file changes.",
    ),
    (
        "Connect to server",
        "Send states of your problems to this address. Nothing is sent before you agree.",
    ),
)
"""For plug-ins and for servers."""


class ServingStrip(QWidget):
    stop_requested = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.address = label(wrap=True, selectable=True)
        self.answered = paragraph()
        self.copy = button(
            "Copy address",
            f"copy-address-{name}",
            "Copy the address for other tools; in Plumbline write grpc://ADDRESS",
            clicked=self._copy,
        )
        self.stop = button(
            "Stop",
            f"stop-serving-{name}",
            "Stop serving; closing the window also stops it",
            clicked=self.stop_requested,
            icon=(theme, "stop"),
            token="bad",
            accessible=f"Stop serving {name}",
        )
        buttons = hbox(self.copy, self.stop, 1, spacing=8)
        vbox(self.address, self.answered, buttons, parent=self, spacing=4, margins=(0, 4, 0, 0))
        self._address = ""
        self.hide()

    def show_served(self, served: Served | None) -> None:
        self.setVisible(served is not None)
        if served is None:
            return
        self._address = served.reached_at
        problem = Path(served.problem).name
        words = f"Serving {problem} at {self._address}" if served.address else "Starting server…"
        self.address.setText(words)
        requests = count_text(served.answered, "request")
        self.answered.setText("; ".join([f"{requests} answered", *served.notes]))
        self.answered.setVisible(bool(served.address))
        self.copy.setEnabled(bool(served.address))
        self.stop.setEnabled(not served.job.stopping)

    @Slot()
    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._address)


class PolicyCards(QWidget):
    """One card is selected; the problem table shows the runs of its policy."""

    chosen = Signal(str)
    remove_requested = Signal(str)
    trust_requested = Signal(str)
    factory_requested = Signal(str, str)
    serve_requested = Signal(str)
    stop_requested = Signal(str)  # serving it
    again_requested = Signal()  # another look at it

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.cards: dict[str, PolicyCard] = {}
        self.choice = ""
        self._layout = vbox(parent=self, spacing=8)

    def show_policies(self, specs: Iterable[str]) -> None:
        wanted = list(specs)
        drop_cards(self.cards, wanted)
        for spec in wanted:
            if spec not in self.cards:
                self.cards[spec] = self._card(spec)
        if self.choice not in self.cards:
            self.choose(next(iter(self.cards), ""))
        self._mark_choice()

    def show_check(
        self, spec: str, checked: PolicyChecked | None, trusted: bool, fit: TaskFit
    ) -> None:
        if spec in self.cards:
            self.cards[spec].show_check(checked, trusted, fit)

    def show_served(self, spec: str, served: Served | None) -> None:
        if spec in self.cards:
            self.cards[spec].show_served(served)

    @Slot(str)
    def choose(self, spec: str) -> None:
        self.choice = spec
        self._mark_choice()
        self.chosen.emit(spec)

    def _mark_choice(self) -> None:
        """Mark the selected card, unless it is the only one."""
        for name, card in self.cards.items():
            card.set_chosen(name == self.choice and len(self.cards) > 1)

    def _card(self, spec: str) -> PolicyCard:
        card = PolicyCard(self._theme, spec)
        card.chosen.connect(self.choose)
        card.remove_requested.connect(self.remove_requested)
        card.trust_requested.connect(self.trust_requested)
        card.factory_requested.connect(self.factory_requested)
        card.serve_requested.connect(self.serve_requested)
        card.stop_requested.connect(self.stop_requested)
        card.again_requested.connect(self.again_requested)
        self._layout.addWidget(card)
        return card


class PolicyCard(FileCard):
    """A click or the Space key selects it."""

    chosen = Signal(str)
    trust_requested = Signal(str)
    factory_requested = Signal(str, str)
    serve_requested = Signal(str)
    stop_requested = Signal(str)  # serving it
    again_requested = Signal()  # another look at it

    def __init__(self, theme: Theme, spec: str) -> None:
        name = policy_name(spec)
        serve = icon_button(
            theme,
            "serve",
            f"serve-{name}",
            f"Serve {name}",
            "Serve this policy to other tools over the network…",
        )
        super().__init__(theme, "policy", spec, name, (serve,))
        self.serve = serve
        self._may_serve = False
        self.setAccessibleName(f"Policy {name}")
        self.serve.clicked.connect(self._serve)
        self._mark = paragraph("Selected; the table shows its outcomes")
        self.kind = paragraph()
        self.training = paragraph()
        self.factory = QComboBox()
        describe(
            self.factory,
            f"factory-{name}",
            "Factory function",
            "Choose the function of the file that creates the policy",
        )
        self.factory.textActivated.connect(self._use_factory)
        self._spec = PolicySpec.parse(spec)
        self._is_server = self._spec.kind is SpecKind.SERVER
        text, tip = _CONSENT_TEXTS[self._is_server]
        self.trust = button(text, f"trust-{name}", tip, clicked=self._trust)
        self.again = button(
            "Try again",
            f"again-{name}",
            "Connect to the server again",
            clicked=self.again_requested,
        )
        self.serving = ServingStrip(theme, name)
        self.serving.stop_requested.connect(self._stop_serving)
        self._lay_out()
        self.set_chosen(False)
        self.show_check(None, True, TaskFit())

    def show_check(self, checked: PolicyChecked | None, trusted: bool, fit: TaskFit) -> None:
        """Show what is known about the policy; None means nothing yet."""
        show_text(self.kind, policy_kind(checked) if checked else "")
        show_text(self.training, policy_training(checked).capitalize() if checked else "")
        misfits = checked.misfits if checked is not None else ()
        self.verdict.show_verdict(policy_verdict(checked, trusted, fit), "\n".join(misfits))
        self.again.setVisible(self._is_server and checked is not None and bool(checked.error))
        self._may_serve = trusted and checked is not None and checked.fits and not self._is_server
        self.serve.setVisible(self.may_serve)
        self.trust.setVisible(not trusted and checked is not None and not checked.error)
        factories = checked.factories if checked is not None else ()
        self.factory.setVisible(len(factories) > 1)
        self.factory.clear()
        self.factory.addItems(factories)
        self.factory.setCurrentText(self._spec.factory)

    @property
    def may_serve(self) -> bool:
        """Whether serving can begin now."""
        return self._may_serve and self.serving.isHidden()

    def show_served(self, served: Served | None) -> None:
        self.serving.show_served(served)
        self.serve.setVisible(self.may_serve)

    def set_chosen(self, chosen: bool) -> None:
        """Mark the card in words; color alone must not carry meaning."""
        self._mark.setVisible(chosen)
        self.setAccessibleDescription("selected" if chosen else "")

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        self.chosen.emit(self.source)
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit(self.source)
        else:
            super().keyPressEvent(event)

    def _lay_out(self) -> None:
        plugin = hbox(self.trust, self.factory, self.again, 1)
        for words in (self._mark, self.kind, self.training, self.verdict):
            self.rows.addWidget(words)
        self.rows.addLayout(plugin)
        self.rows.addWidget(self.serving)

    @Slot()
    def _serve(self) -> None:
        self.serve_requested.emit(self.source)

    @Slot()
    def _stop_serving(self) -> None:
        self.stop_requested.emit(self.source)

    @Slot()
    def _trust(self) -> None:
        self.trust_requested.emit(self.source)

    @Slot(str)
    def _use_factory(self, factory: str) -> None:
        self.factory_requested.emit(self.source, factory)
