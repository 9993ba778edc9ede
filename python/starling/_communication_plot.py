"""Times of messages as a picture: latency and bandwidth by size, a row for each pair of devices."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from starling._files import check_writable, written_whole
from starling.communication import WAYS, CommunicationTime
from starling.errors import ArgumentError

MOST_ROWS = 16


def plot_times(path: str | PathLike[str], times: Sequence[CommunicationTime]) -> None:
    """Draws a PNG file.

    Raises:
        ArgumentError: The file cannot be written, or there is no message among the times.
    """
    # Here, because matplotlib takes long to load. No window is opened.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    path = Path(path)
    check_writable(path, [".png"])
    pairs = list(dict.fromkeys((t.source, t.destination) for t in times if t.measure != "call"))[:MOST_ROWS]
    if not pairs:
        raise ArgumentError("there is no message among the times, so nothing to draw; measure at least one way")
    figure = Figure(figsize=(10, 3.4 * len(pairs)), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    grid = figure.subplots(len(pairs), 2, squeeze=False)
    for row, (source, destination) in zip(grid, pairs, strict=True):
        of_pair = [t for t in times if (t.source, t.destination) == (source, destination)]
        title = f"device {source} to {destination}" if source != destination else f"device {source} to itself"
        for axes, measure, unit in zip(
            row, ("latency", "stream"), ("microseconds one way", "GB/s, one behind the other"), strict=True
        ):
            for number, way in enumerate(WAYS):
                points = sorted(
                    (t.bytes, t.least if measure == "latency" else t.gigabytes_per_second)
                    for t in of_pair
                    if t.measure == measure and t.what == way
                )
                if points:
                    axes.plot(*zip(*points, strict=True), marker="o", ms=3, lw=1.3, color=f"C{number}", label=way)
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set(title=title, xlabel="bytes", ylabel=unit)
            axes.grid(True, alpha=0.25)
    figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=8)
    with written_whole(path) as file:
        figure.savefig(file, format="png")
