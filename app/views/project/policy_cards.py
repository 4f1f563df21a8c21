"""The policies of a project as cards: what each is, whether it fits, and what it needs."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.models.policy_words import (
    policy_kind,
    policy_name,
    policy_training,
    policy_verdict,
)
from app.models.served_policies import Served
from app.models.task_fit import TaskFit
from app.theme import Theme
from app.views.project.serving_strip import ServingStrip
from app.widgets.elided_label import ElidedLabel
from app.widgets.verdict_line import VerdictLine
from app.work.check_inputs import PolicyChecked
from engine.policies.consent import SERVER

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
    remove_wanted = Signal(str)
    trust_wanted = Signal(str)
    factory_wanted = Signal(str, str)
    serve_wanted = Signal(str)
    stop_wanted = Signal(str)  # serving it
    again_wanted = Signal()  # another look at it

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
        for spec in [spec for spec in self.cards if spec not in wanted]:
            card = self.cards.pop(spec)
            card.hide()
            card.deleteLater()
        for spec in wanted:
            if spec not in self.cards:
                self.cards[spec] = self._card(spec)
        if self.choice not in self.cards:
            self.choose(next(iter(self.cards), ""))

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
        for name, card in self.cards.items():
            card.set_chosen(name == spec)
        self.chosen.emit(spec)

    def _card(self, spec: str) -> PolicyCard:
        card = PolicyCard(self._theme, spec)
        card.chosen.connect(self.choose)
        card.remove_wanted.connect(self.remove_wanted)
        card.trust_wanted.connect(self.trust_wanted)
        card.factory_wanted.connect(self.factory_wanted)
        card.serve_wanted.connect(self.serve_wanted)
        card.stop_wanted.connect(self.stop_wanted)
        card.again_wanted.connect(self.again_wanted)
        self._layout.addWidget(card)
        return card


class PolicyCard(QFrame):
    """Click it, or press Space, to choose it; Delete removes it."""

    chosen = Signal(str)
    remove_wanted = Signal(str)
    trust_wanted = Signal(str)
    factory_wanted = Signal(str, str)
    serve_wanted = Signal(str)
    stop_wanted = Signal(str)  # serving it
    again_wanted = Signal()  # another look at it

    def __init__(self, theme: Theme, spec: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.spec = spec
        self._theme = theme
        self._may_serve = False
        self.setProperty("card", True)
        self.setObjectName(f"policy-{policy_name(spec)}")
        self.setAccessibleName(f"Policy {policy_name(spec)}")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(spec)
        self.name = ElidedLabel(policy_name(spec))
        self.name.setProperty("role", "heading")
        self.kind = _wrapped("muted")
        self.training = _wrapped("muted")
        self.verdict = VerdictLine(theme)
        self.factory = QComboBox()
        self.factory.setObjectName(f"factory-{policy_name(spec)}")
        self.factory.setAccessibleName("Function that makes the policy")
        self.factory.setToolTip("Which function of the file makes the policy of a task")
        self.factory.textActivated.connect(self._use_factory)
        agreement, meaning = _AGREEMENTS[spec.startswith(SERVER)]
        self.trust = QPushButton(agreement)
        self.trust.setObjectName(f"trust-{policy_name(spec)}")
        self.trust.setAccessibleName(agreement)
        self.trust.setToolTip(meaning)
        self.trust.clicked.connect(self._trust)
        self.again = QPushButton("Try again")
        self.again.setObjectName(f"again-{policy_name(spec)}")
        self.again.setAccessibleName("Try the server again")
        self.again.clicked.connect(self.again_wanted)
        self.serving = ServingStrip(theme, policy_name(spec))
        self.serving.stop_wanted.connect(self._stop_serving)
        self._lay_out()
        self.set_chosen(False)
        self.show_check(None, True, TaskFit())

    def show_check(self, checked: PolicyChecked | None, trusted: bool, fit: TaskFit) -> None:
        """What is known about it; None is nothing yet."""
        self.kind.setText(policy_kind(checked) if checked is not None else "")
        self.kind.setVisible(bool(self.kind.text()))
        self.training.setText(policy_training(checked).capitalize() if checked else "")
        self.training.setVisible(bool(self.training.text()))
        misfits = checked.misfits if checked is not None else ()
        self.verdict.show_verdict(policy_verdict(checked, trusted, fit), "\n".join(misfits))
        is_remote = self.spec.startswith(SERVER)
        self.again.setVisible(is_remote and checked is not None and bool(checked.error))
        self._may_serve = trusted and checked is not None and checked.fits and not is_remote
        self.serve.setVisible(self.may_serve)
        self.trust.setVisible(not trusted and checked is not None and not checked.error)
        factories = checked.factories if checked is not None else ()
        self.factory.setVisible(len(factories) > 1)
        self.factory.clear()
        self.factory.addItems(factories)
        self.factory.setCurrentText(self.spec.rpartition(":")[2])

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
        self.chosen.emit(self.spec)
        event.accept()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802  Qt's name
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802  Qt's name
        if event.key() in (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.chosen.emit(self.spec)
        elif event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.remove_wanted.emit(self.spec)
        else:
            super().keyPressEvent(event)

    def _lay_out(self) -> None:
        self._mark = QLabel("shown in the table")
        self._mark.setProperty("role", "muted")
        self.remove = QToolButton()
        self.remove.setObjectName(f"remove-{policy_name(self.spec)}")
        self.remove.setAccessibleName(f"Remove {policy_name(self.spec)}")
        self.remove.setToolTip("Remove from the project (the file stays)")
        self.remove.setAutoRaise(True)
        self._theme.keep_icon(self.remove, "close", "muted")
        self.remove.clicked.connect(self._remove)
        self.serve = QToolButton()
        self.serve.setObjectName(f"serve-{policy_name(self.spec)}")
        self.serve.setAccessibleName(f"Serve {policy_name(self.spec)}")
        self.serve.setToolTip("Serve this policy…: other tools can then ask it over the network")
        self.serve.setAutoRaise(True)
        self._theme.keep_icon(self.serve, "serve", "muted")
        self.serve.clicked.connect(self._serve)
        top = QHBoxLayout()
        top.addWidget(self.name, 1)
        top.addWidget(self._mark)
        top.addWidget(self.serve)
        top.addWidget(self.remove)
        plugin = QHBoxLayout()
        plugin.addWidget(self.trust)
        plugin.addWidget(self.factory)
        plugin.addWidget(self.again)
        plugin.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 10)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.kind)
        layout.addWidget(self.training)
        layout.addWidget(self.verdict)
        layout.addLayout(plugin)
        layout.addWidget(self.serving)

    @Slot()
    def _remove(self) -> None:
        self.remove_wanted.emit(self.spec)

    @Slot()
    def _serve(self) -> None:
        self.serve_wanted.emit(self.spec)

    @Slot()
    def _stop_serving(self) -> None:
        self.stop_wanted.emit(self.spec)

    @Slot()
    def _trust(self) -> None:
        self.trust_wanted.emit(self.spec)

    @Slot(str)
    def _use_factory(self, factory: str) -> None:
        self.factory_wanted.emit(self.spec, factory)


def _wrapped(role: str) -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    if role:
        label.setProperty("role", role)
    return label
