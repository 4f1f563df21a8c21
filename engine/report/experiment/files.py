"""Everything an experiment says, as files of a folder that LaTeX and spreadsheets can use."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from html import escape
from importlib.resources import files

from engine.plain_text import plain_cell, printable
from engine.records.experiment import Cell, ExperimentResults, Figure, Table
from engine.report.experiment.cells import cell_text, column_title, groups, is_number
from engine.report.experiment.drawing import draw
from engine.report.experiment.latex import latex_document, latex_table
from engine.report.experiment.pdf import pdf
from engine.report.experiment.svg import svg

PAGE, DOCUMENT = "index.html", "all.tex"


def experiment_files(
    title: str, about: Mapping[str, str], results: ExperimentResults
) -> Iterator[tuple[str, bytes]]:
    """Names and contents; `about` are facts for the top of the page."""
    yield PAGE, html_page(title, about, results).encode()
    yield DOCUMENT, latex_document(title, results).encode()
    for table in results.tables:
        yield f"{table.name}.csv", table_csv(table).encode()
        yield f"{table.name}.tex", latex_table(table).encode()
    for figure in results.figures:
        drawing = draw(figure)
        yield f"{figure.name}.csv", figure_csv(figure).encode()
        yield f"{figure.name}.svg", svg(drawing).encode()
        yield f"{figure.name}.pdf", pdf(drawing)


def table_csv(table: Table) -> str:
    rows: list[list[Cell]] = [
        [plain_cell(cell) if isinstance(cell, str) else cell for cell in row] for row in table.rows
    ]
    return _csv([column_title(column) for column in table.columns], rows)


def figure_csv(figure: Figure) -> str:
    rows: list[list[Cell]] = [
        [plain_cell(series.label), x, y]
        for series in figure.series
        for x, y in zip(series.x, series.y, strict=True)
    ]
    return _csv(["series", figure.x_title, figure.y_title], rows)


def _csv(head: list[str], rows: list[list[Cell]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(plain_cell, head))
    writer.writerows(rows)
    return text.getvalue()


def html_page(title: str, about: Mapping[str, str], results: ExperimentResults) -> str:
    """One file that needs nothing else."""
    style = files("engine.report").joinpath("style.css").read_text(encoding="utf-8")
    facts = "".join(f"<p class='muted'>{_text(name)}: {_text(v)}</p>" for name, v in about.items())
    tables = "".join(map(_table, results.tables))
    figures = "".join(map(_figure, results.figures))
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f"<title>{_text(title)}</title><style>{style}"
        "th.g { text-align: center; border-left: 1px solid var(--grid); }"
        "tr.rule td { border-top: 1px solid var(--muted); }"
        "figure svg { background: #fff; border-radius: 6px; }</style></head>"
        f"<body><h1>{_text(title)}</h1>{facts}{tables}"
        f"<div class='charts'>{figures}</div></body></html>\n"
    )


def _text(text: str) -> str:
    return escape(printable(text))


def _table(table: Table) -> str:
    classes = [" class='n'" if is_number(n, table) else "" for n in range(len(table.columns))]
    head = ""
    if any(column.group for column in table.columns):
        cells = (
            f"<th class='g' colspan='{width}'>{_text(title)}</th>"
            for title, width in groups(table.columns)
        )
        head = f"<tr>{''.join(cells)}</tr>"
    titles = zip(table.columns, classes, strict=True)
    head += f"<tr>{''.join(f'<th{kind}>{_text(c.title)}</th>' for c, kind in titles)}</tr>"
    rows = []
    for number, row in enumerate(table.rows):
        cells = (
            f"<td{kind}>{_text(cell_text(cell, column))}</td>"
            for cell, column, kind in zip(row, table.columns, classes, strict=True)
        )
        rule = " class='rule'" if number in table.rules else ""
        rows.append(f"<tr{rule}>{''.join(cells)}</tr>")
    notes = "".join(f"<p class='muted'>{_text(note)}</p>" for note in table.notes)
    body = f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
    return f"<h2>{_text(table.title)}</h2><div class='card scroll'>{body}</div>{notes}"


def _figure(figure: Figure) -> str:
    notes = " ".join(map(_text, figure.notes))
    caption = f"<figcaption>{notes}</figcaption>" if notes else ""
    return f"<figure class='card'>{svg(draw(figure))}{caption}</figure>"
