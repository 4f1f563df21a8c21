"""The plot behind `CostView`; importing it imports pyqtgraph."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pyqtgraph as pg
from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from app.models.cost_curves import CostCurves
from app.services.theme import Theme
from app.widgets.plot import Curve, Plot, Points

TICKS = 12


class CostPlot(Plot):
    """Points can be clicked; `mark` shows the selected step."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            theme,
            "cost-to-go",
            "Cost-to-go",
            ("step", "cost-to-go"),
            legend=(-12, 8),
            parent=parent,
        )
        self._cursor_line = pg.InfiniteLine(angle=90, movable=False)
        self.item.addItem(self._cursor_line, ignoreBounds=True)
        self._cursor_line.hide()
        theme.changed.connect(self._restyle_line)
        self._restyle_line()

    def show_costs(self, curves: CostCurves, bad: Sequence[int]) -> None:
        shown = (
            ("policy", curves.policy, "policy"),
            ("optimum", curves.optimum, "better"),
            ("best known", curves.possible, "undecided"),
            ("better plan", curves.better, "better"),
        )
        self.set_curves(
            [Curve(name, *_axes(points), token) for name, points, token in shown if points]
        )
        along = curves.policy or curves.optimum
        groups = (
            Points("step", *_points(along, lambda step: step not in bad), "policy"),
            Points("bad step", *_points(along, lambda step: step in bad), "bad", "d"),
        )
        self.set_points([points for points in groups if points.keys])
        everything = (*curves.policy, *curves.optimum, *curves.possible, *curves.better)
        self._whole_numbers("bottom", max((step for step, _ in everything), default=1))
        self._whole_numbers("left", max((cost for _, cost in everything), default=1))

    def _whole_numbers(self, side: str, largest: int) -> None:
        """Set about ten ticks at whole numbers."""
        wanted = largest / TICKS
        scale = 10 ** int(math.log10(max(wanted, 1)))
        spacing = next(n * scale for n in (1, 2, 5, 10) if n * scale >= wanted)
        self.item.getAxis(side).setTickSpacing(levels=[(spacing, 0)])

    def mark(self, step: int | None) -> None:
        """Mark the selected step."""
        self._cursor_line.setVisible(step is not None)
        if step is not None:
            self._cursor_line.setPos(step + 1)

    @Slot()
    def _restyle_line(self) -> None:
        self._cursor_line.setPen(pg.mkPen(self._theme.color("accent"), width=1.5))


def _axes(points: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [step + 1 for step, _ in points], [cost for _, cost in points]


def _points(
    points: Sequence[tuple[int, int]], wanted: Callable[[int], bool]
) -> tuple[list[int], list[int], list[object]]:
    chosen = [(step, cost) for step, cost in points if wanted(step)]
    return (*_axes(chosen), [step for step, _ in chosen])
