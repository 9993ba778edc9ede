"""Pictures of a result file of the conjugate gradient benchmark.

python bench/cpu_free_cg/cg_plot.py bench/cpu_free_cg/results/FILE.json
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for plot

import matplotlib

matplotlib.use("Agg")
from cg_results import BAR_DEVICES, BARS, CPU_FREE, HOST_CONTROLLED, METHODS, CgResults, geometric_mean
from matplotlib import pyplot
from plot import saved

COLOURS = dict(zip(METHODS, ("tab:blue", "tab:orange", "tab:green"), strict=True))
DASHES = {CPU_FREE: "-", "streams": ":", "graph": "--"}
PUBLISHED = {"standard": 1.54, "pipelined": 1.63}
COLUMNS = 4


def scaling_picture(r: CgResults) -> Path | None:
    """Microseconds per iteration over the number of devices, a field for each matrix."""
    matrices = [m for m in r.matrices if any(r.chosen("cg", m, n) for n in r.devices)]
    if not matrices:
        return None
    rows = -(-len(matrices) // COLUMNS)
    figure, grid = pyplot.subplots(rows, COLUMNS, figsize=(3.4 * COLUMNS, 2.9 * rows), squeeze=False)
    fields = list(grid.flat)
    for axes, matrix in zip(fields, matrices, strict=False):
        scaling_field(r, axes, matrix)
    for axes in fields[len(matrices) :]:
        axes.set_axis_off()
    for row in grid:
        row[0].set_ylabel("microseconds per iteration")
    named = {label: handle for axes in fields for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(named.values(), named.keys(), frameon=False, fontsize=8, ncols=5, loc="lower center")
    figure.tight_layout(rect=(0, 0.5 / (2.9 * rows), 1, 1))
    return saved(figure, r.path, "scaling")


def scaling_field(r: CgResults, axes: pyplot.Axes, matrix: str) -> None:
    for method in METHODS:
        for control, dash in DASHES.items():
            times = [(n, r.iteration(matrix, n, (control,), (method,))) for n in r.devices]
            curve(axes, times, dash, color=COLOURS[method], label=f"{method}, {control}")
    curve(axes, [(n, r.rival(matrix, n)) for n in r.devices], "-.", color="tab:grey", label="cuSPARSE and NCCL")
    if matrix in BARS and BAR_DEVICES in r.devices:
        axes.plot([BAR_DEVICES], [BARS[matrix][0]], "*", color="tab:red", label="limit that was set")
    axes.set(title=matrix, xlabel="devices", ylim=(0, None))
    axes.set_xticks(r.devices)


def curve(axes: pyplot.Axes, times: list, dash: str, **style: str) -> None:
    known = [(n, time.us) for n, time in times if time]
    if known:
        axes.plot(*zip(*known, strict=True), dash, marker=".", **style)


def speed_up_picture(r: CgResults) -> Path | None:
    """CPU-free over host-controlled on the most devices, as in table 3.1 of the publication."""
    devices = max(r.devices, default=0)
    gains = {method: {m: r.speed_up(m, devices, method, HOST_CONTROLLED) for m in r.matrices} for method in METHODS}
    shown = [m for m in r.matrices if any(gains[method][m] for method in METHODS)]
    if not shown:
        return None
    figure, axes = pyplot.subplots(figsize=(1.0 * len(shown) + 2.5, 3.6))
    for k, method in enumerate(METHODS):
        bars = [gains[method][m] or 0 for m in shown] + [geometric_mean(gains[method].values()) or 0]
        places = [place + (k - 1) * 0.27 for place in range(len(bars))]
        axes.bar(places, bars, 0.25, color=COLOURS[method], label=method)
    for method, gain in PUBLISHED.items():
        axes.plot(
            [len(shown) - 0.5, len(shown) + 0.5],
            [gain, gain],
            color=COLOURS[method],
            linestyle="--",
            label=f"published, {method}",
        )
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_xticks(range(len(shown) + 1), [*shown, "geometric mean"], rotation=35, ha="right", fontsize=8)
    axes.set(ylabel="times as fast as host-controlled", title=f"{devices} devices")
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    return saved(figure, r.path, "speed-up")


def figures(r: CgResults) -> list[Path]:
    """Writes STEM-scaling.png and STEM-speed-up.png beside the result file, as far as there is something to show."""
    return [picture for picture in (scaling_picture(r), speed_up_picture(r)) if picture]


if __name__ == "__main__":
    print(*figures(CgResults(Path(sys.argv[1]))), sep="\n")
