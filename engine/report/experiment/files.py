"""Everything an experiment says, as files of a folder that LaTeX and spreadsheets can use.

Tables need no package of LaTeX; the document that shows all of them needs `graphicx`, which belongs
to every installation.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files

from engine.plain_text import plain_cell, printable
from engine.records.experiment import Cell, Column, ExperimentResults, Figure, Table
from engine.report.experiment.cells import cell_text, column_title, groups, is_number
from engine.report.experiment.drawing import draw
from engine.report.experiment.pdf import pdf
from engine.report.experiment.svg import svg

STRUT = "\\rule{0pt}{2.4ex}"
"""Keeps text off the line above it."""
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    '"': r"''",
}
_SUBSCRIPT = re.compile(r"\b([A-Z]+)\\_([A-Z]|pi)\b")
_STAR = re.compile(r"\bA\*|\bAOCA\*")


def latex_text(text: str) -> str:
    """Text of others so that LaTeX prints it; the papers' names in the papers' form."""
    letters = "".join(letter if ord(letter) < 128 else "?" for letter in _one_line(text))
    escaped = "".join(_SPECIAL.get(letter, letter) for letter in letters)
    escaped = _SUBSCRIPT.sub(_subscript, escaped)
    escaped = _STAR.sub(lambda found: f"{found[0][:-1]}$^{{*}}$", escaped)
    escaped = escaped.replace("+pi", r"+$\pi$")
    return re.sub("-(?=-)", "-{}", escaped)


def _subscript(found: re.Match[str]) -> str:
    below = r"\pi" if found[2] == "pi" else f"\\mathrm{{{found[2]}}}"
    return f"{found[1]}$_{{{below}}}$"


def _one_line(text: str) -> str:
    """What follows a comment's end would be obeyed, and an empty line ends a caption."""
    return " ".join(printable(text).split())


def latex_table(table: Table) -> str:
    """A `tabular`, with its title and notes as comments."""
    numeric = [is_number(number, table) for number in range(len(table.columns))]
    form = "".join("r" if right else "l" for right in numeric)
    lines = [f"% {_one_line(table.title)}", f"\\begin{{tabular}}{{{form}}}", "\\hline"]
    lines += _head(table.columns)
    for number, row in enumerate(table.rows):
        if number in table.rules:
            lines.append("\\hline")
        # A row must not begin with "[" or "*", which belong to the end of the row before.
        strut = STRUT if number in (0, *table.rules) else "{}"
        cells = [
            latex_text(cell_text(cell, column))
            for cell, column in zip(row, table.columns, strict=True)
        ]
        lines.append(f"{strut}{' & '.join(cells)} \\\\")
    lines += ["\\hline", "\\end{tabular}", *(f"% {_one_line(note)}" for note in table.notes)]
    return "\n".join(lines) + "\n"


def _head(columns: Sequence[Column]) -> list[str]:
    lines = []
    if any(column.group for column in columns):
        cells, rules, begin = [], [], 1
        for title, width in groups(columns):
            cells.append(f"\\multicolumn{{{width}}}{{c}}{{{latex_text(title)}}}" if title else "")
            cells += [""] * (0 if title else width - 1)
            if title:
                rules.append(f"\\cline{{{begin}-{begin + width - 1}}}")
            begin += width
        lines.append(f"{' & '.join(cells)} \\\\ {' '.join(rules)}")
    titles = " & ".join(latex_text(column.title) for column in columns)
    return [*lines, f"{STRUT}{titles} \\\\", "\\hline"]


def latex_document(title: str, results: ExperimentResults) -> str:
    parts = [
        "\\documentclass{article}",
        "\\usepackage{graphicx}",
        "\\setlength{\\textwidth}{16cm}\\setlength{\\oddsidemargin}{0cm}",
        "\\newsavebox{\\wide}",
        "% A table as wide as it is, or as the page if it is wider.",
        "\\newcommand{\\fitted}[1]{\\sbox{\\wide}{#1}\\ifdim\\wd\\wide>\\linewidth"
        "\\resizebox{\\linewidth}{!}{\\usebox{\\wide}}\\else\\usebox{\\wide}\\fi}",
        "\\begin{document}",
        f"\\section*{{{latex_text(title)}}}",
    ]
    parts += [_placed_table(table) for table in results.tables]
    parts += [_placed_figure(figure) for figure in results.figures]
    return "\n".join([*parts, "\\end{document}", ""])


def _placed_table(table: Table) -> str:
    caption = _caption(table.title, table.notes)
    body = f"\\fitted{{\\input{{{table.name}.tex}}}}"
    return f"\\begin{{table}}[!htbp]\\centering\n{body}\n{caption}\n\\end{{table}}"


def _placed_figure(figure: Figure) -> str:
    caption = _caption(figure.title, figure.notes)
    body = f"\\includegraphics[width=0.8\\linewidth]{{{figure.name}.pdf}}"
    return f"\\begin{{figure}}[!htbp]\\centering\n{body}\n{caption}\n\\end{{figure}}"


def _caption(title: str, notes: Sequence[str]) -> str:
    words = " ".join(latex_text(text) for text in (f"{title}.", *notes))
    return f"\\caption{{{words}}}"


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
