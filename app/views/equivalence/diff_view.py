"""The texts of two domains side by side, with navigation between differences."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from PySide6.QtCore import Qt, Slot
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton, QWidget

from app.services.theme import Theme
from app.views.equivalence.domain_slot import DomainSlot
from app.widgets.builders import action, button, describe
from app.widgets.code_view import CodeView
from app.widgets.layouts import hbox, hsplit, vbox
from engine.pddl import format_domain
from engine.report.words import count_text

MAX_PAIRS = 10_000_000
"""Of lines; in longer texts, lines that occur often are not looked for, which takes too long."""


class TextDiffView(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._diff = TextDiff((), ())
        self._slots: tuple[DomainSlot, ...] = ()
        self.left = CodeView(theme, "diff-a", "Text of domain A")
        self.right = CodeView(theme, "diff-b", "Text of domain B")
        self._count = QLabel()
        self.previous_button = self._button(theme, "previous", "Previous difference", "Shift+F8")
        self.next_button = self._button(theme, "next", "Next difference", "F8")
        self.previous_button.clicked.connect(self.go_to_previous)
        self.next_button.clicked.connect(self.go_to_next)
        self.meaning_only = QCheckBox("Ignore layout and comments")
        describe(
            self.meaning_only,
            "diff-meaning-only",
            "Ignore layout and comments",
            "Format both domains the same way before comparing them",
        )
        self.meaning_only.toggled.connect(self._show)
        bar = hbox(self.previous_button, self.next_button, self.meaning_only, self._count, 1)
        vbox(bar, (hsplit(self.left, self.right), 1), parent=self, margins=(0, 8, 0, 0))
        for one, other in ((self.left, self.right), (self.right, self.left)):
            one.verticalScrollBar().valueChanged.connect(other.verticalScrollBar().setValue)
            one.horizontalScrollBar().valueChanged.connect(other.horizontalScrollBar().setValue)

    def show_domains(self, a: DomainSlot, b: DomainSlot) -> None:
        self._slots = a, b
        self._show()

    @Slot()
    def _show(self) -> None:
        left, right = (self._text(slot) for slot in self._slots)
        self._diff = diff_texts(left, right)
        lines = self._diff.lines
        changed = {
            number: "warning_surface" for number, line in enumerate(lines, 1) if not line.same
        }
        for view, texts, numbers in (
            (self.left, [line.left for line in lines], [line.left_number for line in lines]),
            (self.right, [line.right for line in lines], [line.right_number for line in lines]),
        ):
            view.show_aligned("\n".join(texts), numbers, changed)
        count = len(self._diff.differences)
        words = count_text(count, "difference") if count else "No differences"
        self._count.setText(words if lines else "")
        for item in (self.previous_button, self.next_button):
            item.setEnabled(count > 0)

    def _text(self, slot: DomainSlot) -> str:
        if self.meaning_only.isChecked() and slot.domain is not None:
            return format_domain(slot.domain)
        return slot.text

    @property
    def differences(self) -> int:
        return len(self._diff.differences)

    @Slot()
    def go_to_next(self) -> None:
        places = self._diff.differences
        number = bisect_right(places, self.left.place[0] - 1)
        self._go(places[number % len(places)] if places else None)

    @Slot()
    def go_to_previous(self) -> None:
        places = self._diff.differences
        number = bisect_left(places, self.left.place[0] - 1)
        self._go(places[number - 1] if places else None)

    def _go(self, row: int | None) -> None:
        if row is not None:
            self.right.jump_to(row + 1)
            self.left.jump_to(row + 1)

    def _button(self, theme: Theme, icon: str, text: str, keys: str) -> QPushButton:
        tip = f"Go to the {text.lower()} ({keys})"
        made = button(text, f"diff-{icon}", tip, icon=(theme, icon))
        press = action(self, text, made.click, keys)
        press.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.addAction(press)
        return made


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of each text with its number, or of one of them beside nothing."""

    left: str
    right: str
    left_number: int | None
    right_number: int | None
    same: bool


@dataclass(frozen=True, slots=True)
class TextDiff:
    lines: tuple[DiffLine, ...]
    differences: tuple[int, ...]  # where each difference begins

    @property
    def is_empty(self) -> bool:
        return not self.differences


def diff_texts(left: str, right: str) -> TextDiff:
    """White space at the end of lines does not count."""
    a = [line.rstrip() for line in left.splitlines()]
    b = [line.rstrip() for line in right.splitlines()]
    lines: list[DiffLine] = []
    differences: list[int] = []
    matcher = SequenceMatcher(None, a, b, autojunk=len(a) * len(b) > MAX_PAIRS)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag != "equal":
            differences.append(len(lines))
        for x, y in zip_longest(range(i, i_end), range(j, j_end)):
            lines.append(
                DiffLine(
                    _line(a, x),
                    _line(b, y),
                    None if x is None else x + 1,
                    None if y is None else y + 1,
                    tag == "equal",
                )
            )
    return TextDiff(tuple(lines), tuple(differences))


def _line(lines: Sequence[str], number: int | None) -> str:
    return "" if number is None else lines[number]
