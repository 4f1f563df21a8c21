"""The oracles of a campaign in groups: check boxes with a sentence each, order and options."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QLineEdit, QToolButton, QWidget

from app.models.campaign_settings import oracle_text, written_options
from app.widgets.builders import describe, heading, label, paragraph
from app.widgets.layouts import hbox, vbox
from engine.errors import PlumblineError
from engine.oracles.kind import OracleGroup, OracleKind
from engine.oracles.registry import ORACLES, parse_oracle

_OPTIONS_PER_LINE = 2
_ADD_PORTFOLIO = "add checkpoints of the policy's training to the project"


class OracleList(QWidget):
    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._order: list[OracleRow] = []
        self._has_portfolio = False
        self._groups = {group: vbox(heading(group.value), spacing=4) for group in OracleGroup}
        vbox(*self._groups.values(), parent=self, spacing=12)
        self.rows: list[OracleRow] = []  # in the order in which they are shown
        for kind in sorted(ORACLES.values(), key=lambda kind: list(OracleGroup).index(kind.group)):
            self._add_row(kind)

    def set_oracles(self, oracles: Sequence[str]) -> list[str]:
        """An oracle may occur several times with different options.

        Return why some are left out: those of another version may not exist here.
        """
        self._order.clear()
        free = list(self.rows)
        left_out = []
        for text in oracles:
            try:
                kind, _ = parse_oracle(text)
            except PlumblineError as error:
                left_out.append(str(error))
                continue
            row = next((row for row in free if row.kind is kind), None)
            if row is None:
                row = self._add_row(kind)
            else:
                free.remove(row)
            row.show_options(written_options(text))
            self._order.append(row)
        for row in self.rows:
            row.set_ticked(row in self._order)
        self._number()
        return left_out

    def set_portfolio(self, has_portfolio: bool) -> None:
        self._has_portfolio = has_portfolio
        for row in self.rows:
            row.show_missing(self._missing(row.kind))

    def oracles(self) -> tuple[str, ...]:
        """Return the oracles as text, in order, without those that have wrong options."""
        right = [row.text for row in self._order if not row.problem]
        return tuple(dict.fromkeys(right))

    def problem(self) -> str:
        """Return the first problem, or an empty string."""
        if not self._order:
            return "Select at least one oracle."
        for row in self._order:
            if row.problem:
                return f"{row.kind.name}: {row.problem}"
            if missing := self._missing(row.kind):
                return f"{row.kind.name} {missing}"
        return ""

    def _missing(self, kind: OracleKind) -> str:
        """Why an oracle cannot be used and what to do about it, or an empty string."""
        missing = kind.needs.missing(portfolio=self._has_portfolio)
        return f"{missing}; {_ADD_PORTFOLIO}." if missing else ""

    def _add_row(self, kind: OracleKind) -> OracleRow:
        row = OracleRow(kind)
        row.ticked.connect(self._tick)
        row.edited.connect(self.changed)
        row.earlier_requested.connect(self._move_earlier)
        same = [place for place, other in enumerate(self.rows) if other.kind is kind]
        place = same[-1] + 1 if same else len(self.rows)
        before = sum(other.kind.group is kind.group for other in self.rows[:place])
        self.rows.insert(place, row)
        self._groups[kind.group].insertWidget(1 + before, row)
        row.show_missing(self._missing(kind))
        return row

    @Slot(QObject, bool)
    def _tick(self, row: OracleRow, ticked: bool) -> None:
        if ticked and row not in self._order:
            self._order.append(row)
        elif not ticked and row in self._order:
            self._order.remove(row)
        self._number()
        self.changed.emit()

    @Slot(QObject)
    def _move_earlier(self, row: OracleRow) -> None:
        place = self._order.index(row)
        if place > 0:
            self._order[place - 1], self._order[place] = row, self._order[place - 1]
            self._number()
            self.changed.emit()

    def _number(self) -> None:
        for row in self.rows:
            row.show_rank(self._order.index(row) + 1 if row in self._order else 0)


class OracleRow(QWidget):
    ticked = Signal(QObject, bool)
    edited = Signal()
    earlier_requested = Signal(QObject)

    def __init__(self, kind: OracleKind, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.kind = kind
        self.problem = ""
        self.box = QCheckBox(kind.name)
        describe(self.box, f"oracle-{kind.name}", f"Oracle {kind.name}")
        self.box.setAccessibleDescription(kind.sentence)
        self.box.toggled.connect(self._on_toggled)
        self._rank = label(role="muted")
        self._rank.setToolTip("Oracles examine a state one after the other")
        self.earlier = QToolButton()
        describe(
            self.earlier,
            f"earlier-{kind.name}",
            f"Move {kind.name} up",
            "Examine states with this oracle earlier",
        )
        self.earlier.setAutoRaise(True)
        self.earlier.setArrowType(Qt.ArrowType.UpArrow)
        self.earlier.clicked.connect(self._move_earlier)
        self._sentence = paragraph(kind.sentence)
        self._problem = paragraph(role="bad")
        self._problem.hide()
        self.fields: dict[str, QLineEdit] = {}
        self._options = self._make_options()
        top = hbox(self.box, self._rank, self.earlier, 1, spacing=8)
        below = vbox(self._sentence, self._options, self._problem, spacing=4, margins=(24, 0, 0, 4))
        vbox(top, below, parent=self, spacing=0)
        self.show_rank(0)

    @property
    def text(self) -> str:
        return oracle_text(self.kind, {name: field.text() for name, field in self.fields.items()})

    def show_options(self, options: dict[str, str]) -> None:
        for name, field in self.fields.items():
            field.blockSignals(True)
            field.setText(options.get(name, ""))
            field.blockSignals(False)
        self._check()

    def set_ticked(self, ticked: bool) -> None:
        self.box.blockSignals(True)
        self.box.setChecked(ticked)
        self.box.blockSignals(False)

    def show_missing(self, missing: str) -> None:
        """Say why the oracle cannot be used; an empty string means that it can."""
        self.box.setEnabled(not missing or self.box.isChecked())
        self.box.setToolTip(missing[:1].upper() + missing[1:] or self.kind.sentence)

    def show_rank(self, rank: int) -> None:
        self._rank.setText(f"position {rank}" if rank else "")
        self.earlier.setVisible(rank > 1)
        self._options.setVisible(rank > 0 and bool(self.fields))
        self._problem.setVisible(rank > 0 and bool(self.problem))

    def _make_options(self) -> QWidget:
        area = QWidget()
        grid = QGridLayout(area)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(4)
        for number, (name, option) in enumerate(self.kind.options.items()):
            line, place = divmod(number, _OPTIONS_PER_LINE)
            field = QLineEdit()
            describe(field, f"oracle-{self.kind.name}-{name}", f"{self.kind.name}: {name}")
            field.setPlaceholderText(option.default_text)
            field.setToolTip(f"{option.meaning}; default: {option.default_text}")
            field.setMaximumWidth(140)
            field.textChanged.connect(self._on_edited)
            label = QLabel(name)
            label.setToolTip(option.meaning)
            label.setBuddy(field)
            self.fields[name] = field
            grid.addWidget(label, line, 2 * place)
            grid.addWidget(field, line, 2 * place + 1)
        grid.setColumnStretch(2 * _OPTIONS_PER_LINE, 1)
        return area

    @Slot(bool)
    def _on_toggled(self, ticked: bool) -> None:
        self.ticked.emit(self, ticked)

    @Slot()
    def _move_earlier(self) -> None:
        self.earlier_requested.emit(self)

    @Slot()
    def _on_edited(self) -> None:
        self._check()
        self._problem.setVisible(bool(self.problem))
        self.edited.emit()

    def _check(self) -> None:
        try:
            parse_oracle(self.text)
            self.problem = ""
        except PlumblineError as error:
            self.problem = f"{error.message}; {error.hint}" if error.hint else error.message
        self._problem.setText(self.problem)
