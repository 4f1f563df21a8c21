"""The cost-to-go of the policy compared with the optimum, step by step.

pyqtgraph is slow to import, so the plot is created when the view is first shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from app.models.cost_curves import CostCurves, cost_curves
from app.models.step_cursor import Side, StepCursor
from app.services.theme import Theme
from app.widgets.builders import paragraph
from app.widgets.layouts import vbox

if TYPE_CHECKING:
    from app.views.bugs.cost_plot import CostPlot


class CostView(QWidget):
    def __init__(self, theme: Theme, cursor: StepCursor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("cost-view")
        self._theme, self._cursor = theme, cursor
        self.plot: CostPlot | None = None
        self.words = paragraph(name="cost-words")
        self._layout = vbox(self.words, 1, parent=self, spacing=8, margins=8)
        cursor.comparison_changed.connect(self._show_comparison)
        cursor.moved.connect(self._follow)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802  Qt's name
        super().showEvent(event)
        if self.plot is None:
            from app.views.bugs.cost_plot import CostPlot

            self.plot = CostPlot(self._theme)
            self.plot.point_activated.connect(self._go_to)
            self._layout.takeAt(self._layout.count() - 1)
            self._layout.insertWidget(0, self.plot, 1)
            self._show_comparison()

    @Slot()
    def _show_comparison(self) -> None:
        comparison = self._cursor.comparison
        if self.plot is None:
            return
        if comparison is None:
            self.plot.set_curves([])
            self.plot.set_points([])
            self.words.setText("")
            return
        curves = cost_curves(comparison)
        bad = comparison.localization.bad_steps if comparison.localization else ()
        self.plot.show_costs(curves, bad)
        self.words.setText(_words(curves, comparison.localization is not None))
        self._follow()

    @Slot()
    def _follow(self) -> None:
        if self.plot is not None and self._cursor.comparison is not None:
            on_policy = self._cursor.side is Side.POLICY and not self._cursor.aside
            self.plot.mark(self._cursor.index if on_policy else None)

    @Slot(object)
    def _go_to(self, step: object) -> None:
        if isinstance(step, int):
            self._cursor.move(Side.POLICY, step)


def _words(curves: CostCurves, localized: bool) -> str:
    if not localized:
        return "Localize the bug to see the optimal cost-to-go along the policy's run."
    if curves.lost_from is not None:
        return f"The goal cannot be reached from step {curves.lost_from + 1} on."
    if curves.possible:
        return "The lowest known cost is shown where the optimal cost is not known exactly."
    return "The curves diverge at bad steps."
