"""
Labels to print on sheets of A4, 24 a sheet, each with the cable's QR code.

The codes have one mask pattern, which readers take from the code itself: looking for the fairest of eight takes most of
the time and is of no use on a label.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from coldaisle.render.cabling.exports import code, plugs
from coldaisle.render.cabling.rows import Pack, Plug, Row

if TYPE_CHECKING:
    from reportlab.pdfgen.canvas import Canvas

MM = 72 / 25.4
"""Points in a millimetre."""
PAGE_MM = (210.0, 297.0)
LABEL_MM = (64.0, 33.9)
"""A label of the sheets that are sold as 24 labels on A4."""
COLUMNS, ROWS = 3, 8
MARGIN_MM = (6.5, 13.0)
GAP_MM = 2.5
CODE_MM = 22.0
MASK = 3
LINE_PT = 7.0
LETTERS = 27
"""Letters of a line beside the code, in its size."""


def label_sheet(pack: Pack) -> bytes:
    """Return the labels as a PDF: two a cable, sorted by where they are stuck on."""
    from reportlab.pdfgen.canvas import Canvas  # noqa: PLC0415 - slow to load, and only labels need it

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(PAGE_MM[0] * MM, PAGE_MM[1] * MM), invariant=1, pageCompression=1)
    canvas.setTitle(f"Cable labels: {pack.origin}")
    for number, (row, plug) in enumerate(plugs(pack)):
        place = number % (COLUMNS * ROWS)
        if place == 0:
            if number:
                canvas.showPage()
            _foot(canvas, pack, number // (COLUMNS * ROWS) + 1)
        _label(canvas, pack, row, plug, place)
    canvas.save()
    return out.getvalue()


def _foot(canvas: Canvas, pack: Pack, page: int) -> None:
    canvas.setFont("Helvetica", 6)
    canvas.drawString(MARGIN_MM[0] * MM, 5 * MM, f"{pack.origin}, sheet {page}")


def _label(canvas: Canvas, pack: Pack, row: Row, near: Plug, place: int) -> None:
    down, across = divmod(place, COLUMNS)
    left = (MARGIN_MM[0] + across * (LABEL_MM[0] + GAP_MM) + 2) * MM
    top = (PAGE_MM[1] - MARGIN_MM[1] - down * LABEL_MM[1] - 4) * MM
    _code(canvas, code(pack, row), left, top)
    far = row.b if near is row.a else row.a
    text = canvas.beginText(left + (CODE_MM + 1.5) * MM, top - LINE_PT)
    for bold, line in _lines(row, near, far):
        text.setFont("Helvetica-Bold" if bold else "Helvetica", LINE_PT)
        text.textLine(line)
    canvas.drawText(text)


def _lines(row: Row, near: Plug, far: Plug) -> Iterator[tuple[bool, str]]:
    """Yield the lines of a label: the near end, the far end, then what the cable is."""
    for line in _wrapped(near.identifier):
        yield True, line
    for line in _wrapped(f"/ {far.identifier}"):
        yield False, line
    yield False, ""
    for plug in (near, far):
        yield from ((False, line) for line in _wrapped(f"{plug.device} {plug.port}"))
    yield False, f"{row.fabric.name} {row.cable.rate_gbps:g}G {row.length}"


def _wrapped(text: str) -> list[str]:
    return [text[at : at + LETTERS] for at in range(0, len(text), LETTERS)]


def _code(canvas: Canvas, content: str, left: float, top: float) -> None:
    """Draw a QR code with its quiet zone; both labels of a cable share one drawing."""
    modules = _modules(content)
    size = len(modules) + 4
    form = hashlib.sha256(content.encode()).hexdigest()[:16]
    if not canvas.hasForm(form):
        canvas.beginForm(form, 0, 0, size, size)
        path = canvas.beginPath()
        for down, line in enumerate(modules):
            for start, length in _runs(line):
                path.rect(start + 2, size - down - 3, length, 1)
        canvas.drawPath(path, stroke=0, fill=1)
        canvas.endForm()
    canvas.saveState()
    canvas.translate(left, top - CODE_MM * MM)
    canvas.scale(CODE_MM * MM / size, CODE_MM * MM / size)
    canvas.doForm(form)
    canvas.restoreState()


@lru_cache(maxsize=65536)
def _modules(content: str) -> tuple[bytes, ...]:
    import segno  # noqa: PLC0415 - only labels need it

    return tuple(bytes(line) for line in segno.make_qr(content, error="m", mask=MASK, boost_error=False).matrix)


def _runs(line: bytes) -> Iterator[tuple[int, int]]:
    """Yield where dark squares begin in a line, and how many there are."""
    start = 0
    for at, dark in enumerate([*line, 0]):
        if not dark:
            if at > start:
                yield start, at - start
            start = at + 1
