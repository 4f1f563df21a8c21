"""The policies of a project as cards: what each is, whether it fits, and what it needs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.models.served_policies import Served
from app.services.theme import Theme
from app.views.project.file_card import (
    FileCard,
    card_button,
    drop_cards,
    muted_words,
    show_words,
)
from engine.policies.consent import SERVER
from engine.report.policy_text import (
    TaskFit,
    policy_kind,
    policy_name,
    policy_training,
    policy_verdict,
)
from engine.usecases.check_project import PolicyChecked


class ServingStrip(QWidget):
    stop_requested = Signal()

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
        self.stop.clicked.connect(self.stop_requested)
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


_AGREEMENTS = (
    (
        "Trust this plug-in",
        "A plug-in is a program and can do what you can do. It runs once you trust it, "
        "as long as its file stays as it is.",
    ),
    (
        "Ask this server",
        "States of your problems are sent to this address. Nothing is sent before you agree.",
    ),
)


class PolicyCards(QWidget):
    """One card is the chosen one: the problem table speaks of it."""

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
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(8)

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
        """Where there is one policy only, the table can speak of no other."""
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
    """Click it, or press Space, to choose it."""

    chosen = Signal(str)
    trust_requested = Signal(str)
    factory_requested = Signal(str, str)
    serve_requested = Signal(str)
    stop_requested = Signal(str)  # serving it
    again_requested = Signal()  # another look at it

    def __init__(self, theme: Theme, spec: str) -> None:
        name = policy_name(spec)
        serve = card_button(theme, "serve", f"serve-{name}", f"Serve {name}")
        serve.setToolTip("Serve this policy…: other tools can then ask it over the network")
        super().__init__(theme, "policy", spec, name, (serve,))
        self.serve = serve
        self._may_serve = False
        self.setAccessibleName(f"Policy {name}")
        self.serve.clicked.connect(self._serve)
        self._mark = muted_words()
        self._mark.setText("shown in the table")
        self.kind = muted_words()
        self.training = muted_words()
        self.factory = QComboBox()
        self.factory.setObjectName(f"factory-{name}")
        self.factory.setAccessibleName("Function that makes the policy")
        self.factory.setToolTip("Which function of the file makes the policy of a task")
        self.factory.textActivated.connect(self._use_factory)
        agreement, meaning = _AGREEMENTS[spec.startswith(SERVER)]
        self.trust = QPushButton(agreement)
        self.trust.setObjectName(f"trust-{name}")
        self.trust.setAccessibleName(agreement)
        self.trust.setToolTip(meaning)
        self.trust.clicked.connect(self._trust)
        self.again = QPushButton("Try again")
        self.again.setObjectName(f"again-{name}")
        self.again.setAccessibleName("Try the server again")
        self.again.clicked.connect(self.again_requested)
        self.serving = ServingStrip(theme, name)
        self.serving.stop_requested.connect(self._stop_serving)
        self._lay_out()
        self.set_chosen(False)
        self.show_check(None, True, TaskFit())

    def show_check(self, checked: PolicyChecked | None, trusted: bool, fit: TaskFit) -> None:
        """What is known about it; None is nothing yet."""
        show_words(self.kind, policy_kind(checked) if checked else "")
        show_words(self.training, policy_training(checked).capitalize() if checked else "")
        misfits = checked.misfits if checked is not None else ()
        self.verdict.show_verdict(policy_verdict(checked, trusted, fit), "\n".join(misfits))
        is_remote = self.source.startswith(SERVER)
        self.again.setVisible(is_remote and checked is not None and bool(checked.error))
        self._may_serve = trusted and checked is not None and checked.fits and not is_remote
        self.serve.setVisible(self.may_serve)
        self.trust.setVisible(not trusted and checked is not None and not checked.error)
        factories = checked.factories if checked is not None else ()
        self.factory.setVisible(len(factories) > 1)
        self.factory.clear()
        self.factory.addItems(factories)
        self.factory.setCurrentText(self.source.rpartition(":")[2])

    @property
    def may_serve(self) -> bool:
        """Whether serving can begin now."""
        return self._may_serve and self.serving.isHidden()

    def show_served(self, served: Served | None) -> None:
        self.serving.show_served(served)
        self.serve.setVisible(self.may_serve)

    def set_chosen(self, chosen: bool) -> None:
        """Said by a word as well as by the frame."""
        self._mark.setVisible(chosen)
        self.setAccessibleDescription("chosen" if chosen else "")

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
        plugin = QHBoxLayout()
        plugin.addWidget(self.trust)
        plugin.addWidget(self.factory)
        plugin.addWidget(self.again)
        plugin.addStretch(1)
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
