"""Tables as LaTeX that needs no package; and a document that shows all of an experiment.

The document needs `graphicx`, which belongs to every installation of LaTeX.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.plain_text import printable
from engine.records.experiment import Column, ExperimentResults, Figure, Table
from engine.report.experiment.cells import cell_text, groups, is_number

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
    return escaped.replace("--", "-{}-")


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
