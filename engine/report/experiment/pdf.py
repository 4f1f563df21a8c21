"""A drawing as a PDF file, for LaTeX.

Lines, polygons and text in Helvetica are all that a figure needs, and PDF has them as plain
operators; a library for it would be larger than this page.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

from engine.plain_text import printable
from engine.report.experiment.drawing import INK, Drawing, Label, Line, Mark, Shape

_WIDTHS = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 "
    "556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 "
    "722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 "
    "556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 "
    "260 334 584"
)
WIDTHS = dict(zip(range(32, 127), map(int, _WIDTHS.split()), strict=True))
"""Of the letters of Helvetica, in thousandths of the font size."""


def pdf(drawing: Drawing) -> bytes:
    turned = f"1 0 0 -1 0 {drawing.height:g} cm"  # y grows downward, as in the drawing
    content = "\n".join([turned, *map(_shape, drawing.shapes)]).encode("latin-1")
    stream = zlib.compress(content)
    page = (
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {drawing.width:g} {drawing.height:g}] "
        "/Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
    )
    head = f"<< /Length {len(stream)} /Filter /FlateDecode >>\nstream\n"
    return _file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            page.encode(),
            head.encode() + stream + b"\nendstream",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        ]
    )


def _file(objects: Iterable[bytes]) -> bytes:
    """Objects, where each begins, and where to read that."""
    data = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(places) + 1
    tail = f"xref\n0 {size}\n0000000000 65535 f \n{table}"
    tail += f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(data)}\n%%EOF\n"
    return data + tail.encode()


def _shape(shape: Shape) -> str:
    match shape:
        case Line():
            dashes = f"[{shape.dashes}] 0 d" if shape.dashes else "[] 0 d"
            return f"{_color(shape.color)} RG {shape.width:g} w {dashes} {_path(shape.points)} S"
        case Mark():
            return f"{_color(shape.color)} rg {_path(shape.points)} f"
        case Label():
            return _text(shape)


def _text(label: Label) -> str:
    letters = [ord(letter) if ord(letter) in WIDTHS else 63 for letter in printable(label.text)]
    width = sum(WIDTHS[letter] for letter in letters) / 1000 * label.size
    back = {"start": 0.0, "middle": width / 2, "end": width}[label.anchor]
    # The page is upside down, so letters are turned over again.
    x, y = (label.x - back, label.y) if label.upright else (label.x, label.y + back)
    turn = f"1 0 0 -1 {x:.2f} {y:.2f}" if label.upright else f"0 -1 -1 0 {x:.2f} {y:.2f}"
    text = "".join(f"\\{chr(n)}" if chr(n) in "()\\" else chr(n) for n in letters)
    return f"{_color(INK)} rg BT /F {label.size:g} Tf {turn} Tm ({text}) Tj ET"


def _color(color: str) -> str:
    return " ".join(f"{int(color[i : i + 2], 16) / 255:.3f}" for i in (1, 3, 5))


def _path(points: Iterable[tuple[float, float]]) -> str:
    (x, y), *rest = points
    return " ".join([f"{x:.2f} {y:.2f} m", *(f"{x:.2f} {y:.2f} l" for x, y in rest)])
