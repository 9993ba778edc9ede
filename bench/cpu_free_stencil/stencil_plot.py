"""Pictures of a result file of the stencil benchmark, after the publication's figures 2.2, 6.1 and 6.2.

python bench/cpu_free_stencil/stencil_plot.py bench/cpu_free_stencil/results/FILE.json
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for plot

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from plot import saved
from stencil_results import CPU_FREE, VARIANTS, StencilResults

COLOURS = {v: f"C{k}" for k, v in enumerate(VARIANTS)}


class Field(NamedTuple):
    """One diagram: microseconds per step over the number of devices."""

    title: str
    domains: list[tuple[int, str]]  # a number of devices and what they compute
    compute: bool


def weak_field(r: StencilResults, dimension: str, size: str, compute: bool = True) -> Field:
    base = r.sizes.get(dimension, {}).get(size, "")
    points = [(n, domain) for one, n, domain in r.weak() if one == base]
    return Field(f"{dimension} {size}, weak: {base} on one" + ("" if compute else ",\nno computation"), points, compute)


def strong_field(r: StencilResults, dimension: str, size: str, compute: bool = True) -> Field:
    base = r.sizes.get(dimension, {}).get(size, "")
    points = [(n, domain) for domain, n in r.strong() if domain == base]
    return Field(f"{dimension} {size}, strong: {base}" + ("" if compute else ",\nno computation"), points, compute)


def draw(r: StencilResults, axes: pyplot.Axes, field: Field) -> None:
    for variant in r.variants:
        times = [(n, r.step(domain, n, variant, field.compute)) for n, domain in field.domains]
        known = [(n, time) for n, time in times if time is not None]
        if known:
            axes.plot(*zip(*known, strict=True), "-" if variant in CPU_FREE else "--", marker="o", markersize=4,
                      color=COLOURS[variant], label=variant)  # fmt: skip
    axes.set_title(field.title, fontsize=9)
    axes.set(xlabel="devices", ylim=(0, None))
    axes.set_xticks(r.devices)


def scaling_picture(r: StencilResults, fields: list[list[Field]], part: str) -> Path | None:
    """Rows of diagrams; without those that have no more than one number of devices, and nothing if none has."""
    rows = [kept for kept in ([f for f in row if len(f.domains) > 1] for row in fields) if kept]
    if not rows:
        return None
    columns = max(map(len, rows))
    figure, grid = pyplot.subplots(len(rows), columns, figsize=(3.5 * columns, 3.1 * len(rows)), squeeze=False)
    for places, row in zip(grid, rows, strict=True):
        for axes, field in zip(places, row, strict=False):
            draw(r, axes, field)
        for axes in places[len(row) :]:
            axes.set_axis_off()
        places[0].set_ylabel("microseconds per step")
    named = {
        label: handle for axes in grid.flat for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.legend(named.values(), named.keys(), frameon=False, fontsize=8, ncols=len(VARIANTS), loc="lower center")
    figure.tight_layout(rect=(0, 0.3 / (3.1 * len(rows)), 1, 1))
    return saved(figure, r.path, part)


def overlap_picture(r: StencilResults) -> Path | None:
    """As figure 2.2: of the small domains, a step without computation; the overlap ratio, and the time of a step."""
    devices = max(r.devices, default=0)
    small = [by_size.get("small", "") for by_size in r.sizes.values()]
    cases = [domain for base, n, domain in r.weak() if n == devices and base in small]
    if devices < 2 or not cases:
        return None
    figure, grid = pyplot.subplots(len(cases), 2, figsize=(9, 3.3 * len(cases)), squeeze=False)
    for (left, right), domain in zip(grid, cases, strict=True):
        names = [v for v in r.variants if r.step(domain, devices, v) is not None]
        colours = [COLOURS[v] for v in names]
        left.bar(names, [r.step(domain, devices, v, False) or 0 for v in names], color=colours)
        left.set_ylabel("microseconds per step")
        left.set_title(f"{domain} on {devices} devices, no computation", fontsize=9)
        ratios = [r.overlap(domain, devices, v) for v in names]
        right.bar(names, [0 if ratio is None else 100 * ratio for ratio in ratios], color=colours)
        for place, ratio in enumerate(ratios):
            right.annotate("?" if ratio is None else f"{100 * ratio:.0f}", (place, 1), ha="center", fontsize=7)
        right.set(ylabel="overlap ratio, %", ylim=(0, 100))
        times = right.twinx()
        times.plot(names, [r.step(domain, devices, v) for v in names], "k_", markersize=18)
        times.set(ylabel="microseconds per step (lines)", ylim=(0, None))
        right.set_title(f"{domain} on {devices} devices, with computation", fontsize=9)
        for axes in (left, right):
            axes.tick_params(axis="x", rotation=35, labelsize=8)
    figure.tight_layout()
    return saved(figure, r.path, "overlap")


def figures(r: StencilResults) -> list[Path]:
    """Writes STEM-overlap.png, -2d.png and -3d.png beside the result file, as far as there is something to show."""
    two, three = (
        [
            [weak_field(r, dimension, size) for size in ("small", "medium", "large")],
            [strong_field(r, dimension, size) for size in ("small", "medium", "large")],
            [weak_field(r, dimension, "large", False), strong_field(r, dimension, "large", False)],
        ]
        for dimension in ("2D", "3D")
    )
    made = (overlap_picture(r), scaling_picture(r, two, "2d"), scaling_picture(r, three, "3d"))
    return [picture for picture in made if picture]


if __name__ == "__main__":
    print(*figures(StencilResults(Path(sys.argv[1]))), sep="\n")
