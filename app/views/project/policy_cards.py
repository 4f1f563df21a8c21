"""The policies of a project as cards: what each is, whether it fits, and what it needs."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QSize, Qt, Signal, Slot
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

from app.models.policy_words import policy_kind, policy_name, policy_training
from app.theme import Theme
from app.work.check_inputs import PolicyChecked, plugin_file

_SIGN = QSize(16, 16)


class PolicyCards(QWidget):
    """One card is the chosen one: the problem table speaks of it."""

    chosen = Signal(str)
    remove_wanted = Signal(str)
    trust_wanted = Signal(str)
    factory_wanted = Signal(str, str)

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

    def show_check(self, spec: str, checked: PolicyChecked | None, trusted: bool) -> None:
        if spec in self.cards:
            self.cards[spec].show_check(checked, trusted)

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
        self._layout.addWidget(card)
        return card


class PolicyCard(QFrame):
    """Click it, or press Space, to choose it; Delete removes it."""

    chosen = Signal(str)
    remove_wanted = Signal(str)
    trust_wanted = Signal(str)
    factory_wanted = Signal(str, str)

    def __init__(self, theme: Theme, spec: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.spec = spec
        self._theme = theme
        self._sign_name, self._sign_token = "", "muted"
        self.setProperty("card", True)
        self.setObjectName(f"policy-{policy_name(spec)}")
        self.setAccessibleName(f"Policy {policy_name(spec)}")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setToolTip(spec)
        self.name = QLabel(policy_name(spec))
        self.name.setProperty("role", "heading")
        self.kind = _wrapped("muted")
        self.training = _wrapped("muted")
        self._sign = QLabel()
        self.verdict = _wrapped("")
        self.verdict.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.factory = QComboBox()
        self.factory.setObjectName(f"factory-{policy_name(spec)}")
        self.factory.setAccessibleName("Function that makes the policy")
        self.factory.setToolTip("Which function of the file makes the policy of a task")
        self.factory.textActivated.connect(self._use_factory)
        self.trust = QPushButton("Trust this plug-in")
        self.trust.setObjectName(f"trust-{policy_name(spec)}")
        self.trust.setAccessibleName("Trust this plug-in")
        self.trust.setToolTip(
            "A plug-in is a program and can do what you can do. It runs once you trust it, "
            "as long as its file stays as it is."
        )
        self.trust.clicked.connect(self._trust)
        self._lay_out()
        self.show_check(None, True)
        theme.changed.connect(self._show_sign)

    def show_check(self, checked: PolicyChecked | None, trusted: bool) -> None:
        """What is known about it; None is nothing yet."""
        sign, token, text = _verdict(checked, trusted)
        self.kind.setText(policy_kind(checked) if checked is not None else "")
        self.kind.setVisible(bool(self.kind.text()))
        self.training.setText(policy_training(checked).capitalize() if checked else "")
        self.training.setVisible(bool(self.training.text()))
        self.verdict.setText(text)
        self.verdict.setToolTip("\n".join(checked.misfits) if checked is not None else "")
        self._sign_name, self._sign_token = sign, token
        self._show_sign()
        self.trust.setVisible(not trusted and checked is not None and not checked.error)
        factories = checked.factories if checked is not None else ()
        self.factory.setVisible(len(factories) > 1)
        self.factory.clear()
        self.factory.addItems(factories)
        self.factory.setCurrentText(self.spec.rpartition(":")[2])

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
        top = QHBoxLayout()
        top.addWidget(self.name, 1)
        top.addWidget(self._mark)
        top.addWidget(self.remove)
        verdict = QHBoxLayout()
        verdict.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        verdict.addWidget(self.verdict, 1)
        plugin = QHBoxLayout()
        plugin.addWidget(self.trust)
        plugin.addWidget(self.factory)
        plugin.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 8, 8, 10)
        layout.setSpacing(4)
        layout.addLayout(top)
        layout.addWidget(self.kind)
        layout.addWidget(self.training)
        layout.addLayout(verdict)
        layout.addLayout(plugin)

    @Slot()
    def _show_sign(self) -> None:
        self._sign.setVisible(bool(self._sign_name))
        if self._sign_name:
            icon = self._theme.icon(self._sign_name, self._sign_token)
            self._sign.setPixmap(icon.pixmap(_SIGN, self.devicePixelRatioF()))

    @Slot()
    def _remove(self) -> None:
        self.remove_wanted.emit(self.spec)

    @Slot()
    def _trust(self) -> None:
        self.trust_wanted.emit(self.spec)

    @Slot(str)
    def _use_factory(self, factory: str) -> None:
        self.factory_wanted.emit(self.spec, factory)


def _verdict(checked: PolicyChecked | None, trusted: bool) -> tuple[str, str, str]:
    """Icon, colour and words."""
    if checked is None:
        return "", "muted", "Being looked at…"
    if checked.error:
        return "error", "bad", checked.error
    if checked.misfits:
        first, *rest = checked.misfits
        more = f", and {len(rest)} more reasons" if rest else ""
        return "error", "bad", f"Does not fit the domain: {first}{more}"
    if not trusted:
        return "warning", "undecided", "It is a program of its own: it runs once you trust it."
    if plugin_file(checked.spec) is not None:
        return "check", "proven", "Trusted; whether it fits shows when it runs."
    return "check", "proven", "Fits the domain"


def _wrapped(role: str) -> QLabel:
    label = QLabel()
    label.setWordWrap(True)
    if role:
        label.setProperty("role", role)
    return label
