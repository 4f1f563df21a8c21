"""The tables and figures of one experiment, renewed while it runs.

Figures look as in the SVG and PDF files, in the colors of the theme.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPointF, QSize, Qt, Slot
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFont,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import QFileDialog, QFrame, QMenu, QScrollArea, QWidget

from app.models.table_model import Column, TableModel
from app.services.context import Context
from app.services.theme import Theme
from app.widgets.builders import heading, paragraph
from app.widgets.layouts import vbox
from app.widgets.table_view import TableView
from engine.files import write_bytes
from engine.records.experiment import Cell, ExperimentResults, Figure, Table
from engine.report.experiment.cells import cell_text, is_number
from engine.report.experiment.drawing import GRID, INK, Drawing, Label, Line, Mark, draw
from engine.report.experiment.files import figure_csv
from engine.report.experiment.pdf import pdf
from engine.report.experiment.svg import svg

LIGHTER = 165
"""Percent by which the colors of lines are lighter on a dark background."""


class FigureView(QWidget):
    def __init__(self, theme: Theme, figure: Figure, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName(f"figure-{figure.name}")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        theme.changed.connect(self.update)
        self.set_figure(figure)

    def set_figure(self, figure: Figure) -> None:
        self.figure = figure
        self._drawing: Drawing = draw(figure)
        self.setAccessibleName(figure.title)
        self.setToolTip(" ".join(figure.notes))
        self.setMinimumSize(self.sizeHint())
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        return QSize(round(self._drawing.width), round(self._drawing.height))

    def paintEvent(self, _: QPaintEvent) -> None:  # noqa: N802  Qt's name
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), self._theme.color("surface"))
        for shape in self._drawing.shapes:
            match shape:
                case Line():
                    pen = QPen(self._color(shape.color), shape.width)
                    if shape.dashes:
                        dashes = [float(part) / shape.width for part in shape.dashes.split()]
                        pen.setDashPattern(dashes)
                    painter.setPen(pen)
                    painter.drawPolyline(_polygon(shape.points))
                case Mark():
                    painter.setPen(Qt.PenStyle.NoPen)
                    painter.setBrush(self._color(shape.color))
                    painter.drawPolygon(_polygon(shape.points))
                    painter.setBrush(Qt.BrushStyle.NoBrush)
                case Label():
                    self._write(painter, shape)
        if self.hasFocus():
            painter.setPen(self._theme.color("accent"))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def _write(self, painter: QPainter, label: Label) -> None:
        font = QFont(self._theme.ui_font)
        font.setPixelSize(round(label.size + 1))
        painter.setFont(font)
        painter.setPen(self._theme.color("text"))
        width = painter.fontMetrics().horizontalAdvance(label.text)
        back = {"start": 0.0, "middle": width / 2, "end": float(width)}[label.anchor]
        painter.save()
        painter.translate(label.x, label.y)
        if not label.upright:
            painter.rotate(-90)
        painter.drawText(QPointF(-back, 0), label.text)
        painter.restore()

    def _color(self, color: str) -> QColor:
        if color == INK:
            return self._theme.color("text")
        if color == GRID:
            return self._theme.color("grid")
        made = QColor(color)
        return made.lighter(LIGHTER) if self._theme.is_dark else made

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802  Qt's name
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Copy picture").triggered.connect(self.copy_picture)
        for kind in ("PDF", "SVG", "CSV"):
            action = menu.addAction(f"Save as {kind}…")
            action.setData(kind.lower())
            action.triggered.connect(self._choose_file)
        menu.popup(event.globalPos())

    @Slot()
    def copy_picture(self) -> None:
        QGuiApplication.clipboard().setPixmap(self.grab())

    @Slot()
    def _choose_file(self) -> None:
        ending = self.sender().data()  # type: ignore[attr-defined]  # an action of the menu
        name, _ = QFileDialog.getSaveFileName(self, "Save figure", f"{self.figure.name}.{ending}")
        if name:
            self.save(Path(name) if Path(name).suffix else Path(f"{name}.{ending}"))

    def save(self, path: Path) -> None:
        match path.suffix.lower():
            case ".csv":
                content = figure_csv(self.figure).encode()
            case ".svg":
                content = svg(self._drawing).encode()
            case _:
                content = pdf(self._drawing)
        write_bytes(path, content)


def _polygon(points: tuple[tuple[float, float], ...]) -> QPolygonF:
    return QPolygonF([QPointF(x, y) for x, y in points])


Cells = tuple[Cell, ...]
MAX_HEIGHT = 520
"""Pixels of a table; longer ones scroll."""


class ResultsView(QScrollArea):
    def __init__(self, context: Context, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.setObjectName("experiment-results")
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.tables: dict[str, TableSection] = {}
        self.figures: dict[str, FigureView] = {}
        self.clear()

    def clear(self) -> None:
        """Remove all tables before another experiment is shown."""
        self._results: ExperimentResults | None = None
        self.tables, self.figures = {}, {}
        body = QWidget()
        self._layout = vbox(1, parent=body, spacing=16, margins=(0, 0, 8, 0))
        self.setWidget(body)

    def show_results(self, results: ExperimentResults) -> None:
        """Show results; existing tables keep their places while numbers grow."""
        if results == self._results:
            return
        self._results = results
        for table in results.tables:
            section = self.tables.get(table.name)
            if section is None or section.form != _form(table):
                self._put(TableSection(self._context, table), section, table.name)
            else:
                section.show_table(table)
        for figure in results.figures:
            if figure.name in self.figures:
                self.figures[figure.name].set_figure(figure)
            else:
                view = FigureView(self._context.theme, figure)
                self.figures[figure.name] = view
                self._add(view)

    def _put(self, section: TableSection, old: TableSection | None, name: str) -> None:
        """In the place of the one before, or below the other tables."""
        if old is None:
            self._add(section)
        else:
            self._layout.replaceWidget(old, section)
            old.deleteLater()
        self.tables[name] = section

    def _add(self, widget: QWidget) -> None:
        place = self._layout.count() - 1
        if isinstance(widget, FigureView):
            self._layout.insertWidget(place, widget, 0, Qt.AlignmentFlag.AlignLeft)
        else:
            self._layout.insertWidget(place - len(self.figures), widget)


class TableSection(QWidget):
    """A table with its title above and its notes below."""

    def __init__(self, context: Context, table: Table) -> None:
        super().__init__()
        self.form = _form(table)
        self.model: TableModel[Cells] = TableModel(_columns(table), context.theme, self)
        self.view = TableView(f"experiment-{table.name}", table.title)
        if any(column.group for column in table.columns):
            self.view.set_groups([column.group for column in table.columns])
        self.view.setModel(self.model)
        context.theme.changed.connect(self.model.restyle)
        self._title, self._notes = heading(table.title), paragraph()
        vbox(self._title, self.view, self._notes, parent=self, spacing=6)
        self.show_table(table)

    def show_table(self, table: Table) -> None:
        self._title.setText(table.title)
        self.model.set_rows(table.rows)
        self._notes.setText(" ".join(table.notes))
        self._notes.setVisible(bool(table.notes))
        self.view.fit_columns()
        header = self.view.horizontalHeader().sizeHint().height()
        rows = len(table.rows) * self.view.verticalHeader().defaultSectionSize()
        bar = self.view.horizontalScrollBar().sizeHint().height()
        self.view.setFixedHeight(min(header + rows + bar + 4, MAX_HEIGHT))


def _form(table: Table) -> tuple[tuple[str, str, bool], ...]:
    """What cannot change once a table is shown: titles, and which columns hold numbers."""
    return tuple(
        (column.group, column.title, is_number(number, table))
        for number, column in enumerate(table.columns)
    )


def _columns(table: Table) -> list[Column[Cells]]:
    made = []
    for number, column in enumerate(table.columns):
        made.append(
            Column[Cells](
                f"column{number}",
                column.title,
                lambda row, n=number: row[n],  # type: ignore[misc]
                text=lambda row, n=number, c=column: cell_text(row[n], c),  # type: ignore[misc]
                numeric=is_number(number, table),
            )
        )
    return made
