"""What notebooks show of an object: small tables, and pictures as SVG. All text is escaped; nothing is loaded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from starling._native import native

INK = "#4e79a7"
KIND_COLOURS = ("#4e79a7", "#f28e2b", "#d9d9d9", "#b07aa1")  # compute, put, wait, sync


def table(title: str, rows: Iterable[Sequence[object]], heads: Sequence[str] = ()) -> str:
    """Rows of text below a title.

    >>> table("a < b", [("n", 3)])
    '<table><caption>a &lt; b</caption><tbody><tr><td>n</td><td>3</td></tr></tbody></table>'
    """
    head = "".join(f"<th>{escape(h)}</th>" for h in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    top = f"<thead><tr>{head}</tr></thead>" if heads else ""
    return f"<table><caption>{escape(title)}</caption>{top}<tbody>{body}</tbody></table>"


def grid(values: NDArray[np.int64], label: str) -> str:
    """A square matrix as shades, with what each entry is when the pointer is on it."""
    n, cell = len(values), max(4, min(28, 280 // max(len(values), 1)))
    most = max(int(values.max(initial=0)), 1)
    cells = "".join(
        f'<rect x="{column * cell}" y="{row * cell}" width="{cell}" height="{cell}" fill="{INK}" '
        f'fill-opacity="{0.08 + 0.92 * value / most:.3f}">'
        f"<title>{row} to {column}: {native.format_bytes(int(value))}</title></rect>"
        for (row, column), value in np.ndenumerate(values)
        if value
    )
    return _svg(n * cell, n * cell, label, cells + _frame(n * cell, n * cell))


def curve(values: Sequence[float], target: float, label: str) -> str:
    """Positive values from left to right on a logarithmic scale, and a dashed line at the target."""
    width, height, most_points = 320, 90, 320
    shown = [(i, math.log10(v)) for i, v in enumerate(values) if v > 0 and math.isfinite(v)]
    if len(shown) < 2:
        return ""
    shown = [*shown[:: math.ceil(len(shown) / most_points)], shown[-1]]
    line = math.log10(target) if target > 0 else None
    levels = [v for _, v in shown] + ([] if line is None else [line])
    low, span = min(levels), max(max(levels) - min(levels), 1e-9)
    last = max(shown[-1][0], 1)

    def y(level: float) -> float:
        return 4 + (height - 8) * (1 - (level - low) / span)

    points = " ".join(f"{4 + (width - 8) * i / last:.1f},{y(v):.1f}" for i, v in shown)
    at_target = (
        ""
        if line is None
        else f'<path d="M0 {y(line):.1f}H{width}" stroke="currentColor" stroke-opacity="0.6" stroke-dasharray="4 3"/>'
    )
    path = f'<polyline points="{points}" fill="none" stroke="{INK}" stroke-width="1.5"/>'
    return _svg(width, height, label, at_target + path + _frame(width, height))


def lanes(lanes_of_kinds: Sequence[NDArray[np.int64]], names: Sequence[str], label: str) -> str:
    """What each lane did when: from left to right a kind for each column, -1 for nothing, as colours."""
    height, gap, left = 9, 2, 70
    columns = len(lanes_of_kinds[0])
    parts = []
    for lane, (kinds, name) in enumerate(zip(lanes_of_kinds, names, strict=True)):
        y = lane * (height + gap)
        parts.append(f'<text x="0" y="{y + height - 1}" font-size="8" fill="currentColor">{escape(name)}</text>')
        starts = np.flatnonzero(np.diff(kinds, prepend=-2))
        for start, end in zip(starts, [*starts[1:], columns], strict=True):
            if kinds[start] >= 0:
                parts.append(
                    f'<rect x="{left + start}" y="{y}" width="{end - start}" height="{height}" '
                    f'fill="{KIND_COLOURS[kinds[start]]}"/>'
                )
    return _svg(left + columns, len(names) * (height + gap), label, "".join(parts))


def _svg(width: int, height: int, label: str, content: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{escape(label)}">{content}</svg>'
    )


def _frame(width: int, height: int) -> str:
    return (
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" fill="none" stroke="currentColor" '
        'stroke-opacity="0.4"/>'
    )
