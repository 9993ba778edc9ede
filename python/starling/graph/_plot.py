"""What the iterations of programs on graphs changed, as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path

import numpy as np

from starling._files import check_writable, written_whole
from starling._region_report import Report

LABELS = {
    "pagerank": "sum of absolute changes",
    "sssp": "vertices with a new distance",
    "jacobi": "norm of the residual",
}


def plot_history(path: str | PathLike[str], reports: Report | Mapping[str, Report]) -> None:
    """Draws what each iteration changed, on a logarithmic scale.

    Args:
        path: A PNG file to write.
        reports: One report, or several by the name that the legend gives them.

    >>> import tempfile
    >>> from starling import graph
    >>> _, report = graph.pagerank(graph.generators.rmat(6), report=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph.plot_history(Path(folder, "h.png"), report)
    """
    # Here, because matplotlib takes long to load. No window is opened.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    path = Path(path)
    check_writable(path, [".png"])
    named = {reports.program: reports} if isinstance(reports, Report) else dict(reports)
    figure = Figure(figsize=(7, 4.2), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for number, (name, report) in enumerate(named.items()):
        values = np.asarray(report.history, dtype=np.float64)
        values = np.where(values > 0, values, np.nan)  # zero has no place on this scale
        first = 0 if report.program == "jacobi" else 1
        marker = "." if len(values) <= 30 else None
        style = ("-", "--", ":", "-.")[number % 4]
        axes.plot(np.arange(first, first + len(values)), values, label=name, lw=1.6, marker=marker, ls=style)
    targets = {r.target for r in named.values()}
    target = targets.pop() if len(targets) == 1 else None
    if target:
        axes.axhline(target, color="grey", lw=0.9, ls=":", label="target")
    if any(np.any(np.asarray(r.history) > 0) for r in named.values()):
        axes.set_yscale("log")
    axes.set_xlabel("iteration")
    labels = {LABELS[r.program] for r in named.values()}
    axes.set_ylabel(labels.pop() if len(labels) == 1 else "change")
    axes.grid(True, alpha=0.25)
    axes.legend()
    with written_whole(path) as file:
        figure.savefig(file, format="png")
