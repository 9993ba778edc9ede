"""The timeline and the matrix as PNG files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from starling._files import written_whole
from starling.errors import ArgumentError
from starling.trace._view import KINDS, View, colour

MOST_TRACKS = 96
MOST_ARROWS = 1500
DOTS_PER_INCH = 110


def _save(figure: Figure, path: Path) -> None:
    with written_whole(path) as file:
        FigureCanvasAgg(figure)
        figure.savefig(file, format="png")


def shown_tracks(view: View, first: int, last: int) -> list[int]:
    """Those with something in this time; where there are too many the first of each process, so that all are seen."""
    busy = np.unique(view.track[(view.start + view.duration >= first) & (view.start <= last)]).tolist()
    if len(busy) <= MOST_TRACKS:
        return busy or list(range(min(len(view.tracks), MOST_TRACKS)))
    each = max(1, MOST_TRACKS // len({view.tracks[i][0] for i in busy}))
    taken: dict[int, int] = {}
    shown = []
    for i in busy:
        pid = view.tracks[i][0]
        taken[pid] = taken.get(pid, 0) + 1
        if taken[pid] <= each:
            shown.append(i)
    return shown


def whole_window(view: View) -> tuple[int, int]:
    """Nanoseconds: what the devices did, with a little of what the host did around it."""
    some = view.role >= 0 if np.any(view.role >= 0) else np.ones(len(view.role), dtype=bool)
    first = int(view.start[some].min()) if len(view.start) else 0
    last = int((view.start + view.duration)[some].max()) if len(view.start) else 1
    margin = (last - first) // 50 + 1
    return max(first - margin, 0), last + margin


def part_window(view: View, window: tuple[float, float]) -> tuple[int, int]:
    """Nanoseconds, from microseconds. Raises ArgumentError where nothing would be seen."""
    ends = view.start + view.duration
    there = (
        f"the trace goes from {view.start.min() / 1e3:.3f} to {ends.max() / 1e3:.3f}"
        if len(ends)
        else "there is nothing in the trace"
    )
    asked = f"window = ({window[0]:g}, {window[1]:g}) microseconds from the begin of the trace"
    first, last = (round(1e3 * t) for t in window)
    if last <= first:
        raise ArgumentError(f"{asked}: its end must be after its begin; {there}")
    if not np.any((ends >= first) & (view.start <= last)):
        raise ArgumentError(f"{asked}: there is nothing in it; {there}")
    return first, last


def timeline(view: View, path: Path, first: int, last: int) -> None:
    """One lane per block, from top to bottom by PE; from one time to another, in nanoseconds."""
    tracks = shown_tracks(view, first, last)
    lane = np.full(len(view.tracks), -1)
    lane[tracks] = np.arange(len(tracks))
    figure = Figure(figsize=(11, max(2.4, 1.3 + 0.19 * len(tracks))), dpi=DOTS_PER_INCH, layout="constrained")
    axes = figure.add_subplot()
    seen = (lane[view.track] >= 0) & (view.start + view.duration >= first) & (view.start <= last)
    # Waits inside puts come last, so that they lie on top.
    order = np.flatnonzero(seen)[np.argsort(-view.duration[seen], kind="stable")]
    for role in np.unique(view.role[order]):
        for number, kind in enumerate(KINDS):
            some = order[(view.role[order] == role) & (view.kind[order] == number)]
            if not len(some):
                continue
            x0, y = view.start[some] / 1e3, lane[view.track[some]]
            # At least a hair's breadth, or short calls would not be seen at all.
            x1 = x0 + np.maximum(view.duration[some], (last - first) / 4000) / 1e3
            corners = np.stack([[x0, y - 0.42], [x0, y + 0.42], [x1, y + 0.42], [x1, y - 0.42]])
            face = colour(int(role), kind)
            axes.add_collection(
                PolyCollection(list(corners.transpose(2, 0, 1)), facecolors=face, edgecolors="none", zorder=2 + number)
            )
    _arrows(axes, view, lane, first, last)
    axes.set_xlim(first / 1e3, last / 1e3)
    axes.ticklabel_format(axis="x", style="plain", useOffset=False)
    axes.set_xlabel("microseconds from the begin of the trace")
    axes.set_ylim(len(tracks) - 0.4, -0.6)
    axes.set_yticks(range(len(tracks)), [view.tracks[i][2] for i in tracks], fontsize=6)
    starts = [i for i, t in enumerate(tracks) if i == 0 or view.tracks[t][0] != view.tracks[tracks[i - 1]][0]]
    for i in starts:
        axes.axhline(i - 0.5, color="#999999", linewidth=0.6)
        # A little above the first lane of the process, at the right.
        axes.annotate(
            view.processes[view.tracks[tracks[i]][0]],
            (1, i - 0.5),
            xycoords=("axes fraction", "data"),
            xytext=(4, -2),
            textcoords="offset points",
            va="top",
            fontsize=6.5,
        )
    shades = [Patch(color=colour(r, k), label=f"{n}: {k}") for r, n in enumerate(view.roles) for k in KINDS[:4]]
    used = {(int(r), int(k)) for r, k in zip(view.role[order], view.kind[order], strict=True)}
    shades = [
        p
        for p, key in zip(shades, ((r, k) for r in range(len(view.roles)) for k in range(4)), strict=True)
        if key in used
    ]
    figure.legend(
        handles=shades, loc="outside upper left", ncols=min(6, max(1, len(shades))), fontsize=7, frameon=False
    )
    if len(tracks) * 2 > MOST_TRACKS and len(tracks) < len(view.tracks):
        axes.set_title(f"{len(tracks)} of {len(view.tracks)} tracks", fontsize=7, loc="right")
    _save(figure, path)


def _arrows(axes: Any, view: View, lane: Any, first: int, last: int) -> None:
    a = view.arrows
    a = a[(lane[a[:, 0]] >= 0) & (lane[a[:, 2]] >= 0) & (a[:, 3] >= first) & (a[:, 1] <= last)]
    if not 0 < len(a) <= MOST_ARROWS:
        return
    lines = np.stack(
        [
            np.stack([a[:, 1] / 1e3, lane[a[:, 0]]], axis=1),
            np.stack([a[:, 3] / 1e3, lane[a[:, 2]]], axis=1),
        ],
        axis=1,
    )
    axes.add_collection(LineCollection(list(lines), colors="#222222", linewidths=0.5, alpha=0.7, zorder=9))


def matrix(view: View, path: Path) -> None:
    """Bytes by pair of PEs, one picture per machine side by side; the number of messages below the bytes."""
    machines = view.summary["machines"] or [{"bytes": [[0]], "messages": [[0]], "host_bytes": [[0]]}]
    figure = Figure(figsize=(4.6 * len(machines), 4.2), dpi=DOTS_PER_INCH, layout="constrained")
    for i, m in enumerate(machines):
        size = np.array(m["bytes"], dtype=np.float64) + np.array(m["host_bytes"], dtype=np.float64)
        messages = np.array(m["messages"]) + np.array(m.get("host_messages", m["messages"]))
        axes = figure.add_subplot(1, len(machines), i + 1)
        image = axes.imshow(size, cmap="Blues", vmin=0, vmax=max(size.max(), 1))
        axes.set_xlabel("to PE")
        axes.set_ylabel("from PE")
        axes.set_xticks(range(len(size)))
        axes.set_yticks(range(len(size)))
        if len(size) <= 16:
            for (a, b), n in np.ndenumerate(size):
                if messages[a, b]:
                    ink = "white" if n > size.max() / 2 else "black"
                    axes.text(
                        b, a, f"{bytes_text(n)}\n{messages[a, b]:,}", ha="center", va="center", color=ink, fontsize=7
                    )
        axes.set_title("bytes, and messages below", fontsize=9)
        figure.colorbar(image, ax=axes, shrink=0.8, label="bytes")
    _save(figure, path)


def bytes_text(n: float) -> str:
    """Bytes for people.

    >>> bytes_text(1536)
    '1.5 KiB'
    """
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if n < 1024 or unit == "TiB":
            return f"{n:.4g} {unit}"
        n /= 1024
    return ""
