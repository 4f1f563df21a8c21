"""Cells of tables as text, the same in the window, on the terminal and in files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from engine.records.experiment import Cell, Column, Table

GAP = "  "


def cell_text(cell: Cell, column: Column) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float):
        return f"{cell:.{column.decimals}f}"
    if isinstance(cell, int) and column.decimals:
        return f"{cell:.{column.decimals}f}"
    return " ".join(str(cell).splitlines()).replace("\t", " ")  # a name is one line of a table


def is_number(column: int, table: Table) -> bool:
    """Whether a column holds nothing but numbers."""
    cells = [row[column] for row in table.rows]
    return any(isinstance(cell, int | float) for cell in cells) and not any(
        isinstance(cell, str) for cell in cells
    )


def column_title(column: Column) -> str:
    """The title of a column where there is only one row of titles."""
    return f"{column.group}: {column.title}" if column.group else column.title


def groups(columns: Sequence[Column]) -> Iterator[tuple[str, int]]:
    """Titles above neighboring columns, with how many there are."""
    for title, members in groupby(columns, key=lambda column: column.group):
        yield title, len(list(members))


def text_table(table: Table) -> str:
    """Return a table for a terminal."""
    titles = [column.title for column in table.columns]
    rows = [
        [cell_text(cell, column) for cell, column in zip(row, table.columns, strict=True)]
        for row in table.rows
    ]
    widths = [
        max(len(line[number]) for line in (titles, *rows)) for number in range(len(table.columns))
    ]
    numeric = [is_number(number, table) for number in range(len(table.columns))]
    above = ""
    if any(column.group for column in table.columns):
        above = _group_line(table.columns, widths)

    def line(cells: Sequence[str]) -> str:
        parts = [
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(cells, widths, numeric, strict=True)
        ]
        return GAP.join(parts).rstrip()

    heads = [above, line(titles)] if above else [line(titles)]
    return "\n".join([table.title, *heads, *map(line, rows), *table.notes])


def _group_line(columns: Sequence[Column], widths: list[int]) -> str:
    """Titles above the columns that share them; the last of these is widened if need be."""
    parts, begin = [], 0
    for title, count in groups(columns):
        end = begin + count
        width = sum(widths[begin:end]) + len(GAP) * (count - 1)
        text = f"{f' {title} ':-^{width}}" if title and width >= len(title) + 4 else title
        widths[end - 1] += max(0, len(text) - width)
        parts.append(text.ljust(width))
        begin = end
    return GAP.join(parts).rstrip()
