"""The tables and figures of one experiment, renewed while it runs."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.models.table_model import Column, TableModel
from app.services.context import Context
from app.widgets.builders import heading, paragraph
from app.widgets.figure_view import FigureView
from app.widgets.table_view import TableView
from engine.records.experiment import Cell, ExperimentResults, Table
from engine.report.experiment.cells import cell_text, is_number

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
        self._layout = QVBoxLayout(body)
        self._layout.setContentsMargins(0, 0, 8, 0)
        self._layout.setSpacing(16)
        self._layout.addStretch(1)
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
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        for widget in (self._title, self.view, self._notes):
            layout.addWidget(widget)
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
