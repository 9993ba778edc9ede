"""Writes the table of README.md and the picture above it from the result files of all benchmarks.

    python bench/readme_figures.py [--bench bench] [--readme README.md] [--picture docs/pictures/steps.png]

A row holds what a reader would use otherwise against Starling: the time of the one over that of the other, both of one
result file, the newest that has both. Whatever is below 1 is named under the table. A row that no file has is left out.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

sys.path.extend(str(Path(__file__).resolve().parent / name) for name in ("cpu_free_stencil", "cpu_free_cg", "stf"))

import matplotlib
import plot

matplotlib.use("Agg")
from cg_results import CPU_FREE as PERSISTENT
from cg_results import CgResults, geometric_mean
from matplotlib import pyplot
from results_page import ABSENT, Results, head, put_into, row
from stencil_results import CPU_FREE, HOST_CONTROLLED, VARIANTS, StencilResults
from stf_page import FENCED_BARS, REDUCTION_BAR_ELEMENTS, StfResults, beside_cudastf, best

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

GRAPH = "graph"
STREAMS = tuple(v for v in HOST_CONTROLLED if v != GRAPH)
AUTONOMOUS = (*CPU_FREE, "temporal")
DRAWN = ("256x256", "2048x2048", "8192x8192", "128x128x128", "256x256x256", "512x512x512")
COLOURS = dict(zip(VARIANTS, ("0.8", "0.65", "0.5", "0.3", "#9ecae1", "#3182bd", "#e6550d"), strict=True))


@dataclass(frozen=True)
class Comparison:
    """One row."""

    what: str
    instead: str
    ratios: dict[str, float]
    """The time of what is used instead over that of Starling, by the names of the cases."""
    devices: str
    gpu: str
    date: str
    page: str
    """Of docs/, with the times."""

    @property
    def ratio(self) -> float:
        """The geometric mean of the cases."""
        return geometric_mean(self.ratios.values()) or 0.0


Kept = TypeVar("Kept", Results, StencilResults, CgResults, StfResults)


def newest_first(files: Iterable[Kept]) -> list[Kept]:
    """Of those from GPUs; of the same date, the one with more of them first."""
    measured = [r for r in files if r.machine.get("gpus")]
    return sorted(measured, key=lambda r: (str(r.machine.get("date", "")), len(r.machine["gpus"])), reverse=True)


def first_made(files: list[Kept], make: Callable[[Kept], Comparison | None]) -> list[Comparison]:
    """The comparison by the newest file that has it; none if no file has."""
    made = (make(r) for r in files)
    return [one for one in [next((one for one in made if one), None)] if one]


def comparison(
    r: Kept, devices: str, page: str, what: str, instead: str, pairs: dict[str, tuple[float, float]]
) -> Comparison | None:
    """Of (theirs, ours) by case; none without a case."""
    ratios = {case: theirs / ours for case, (theirs, ours) in pairs.items()}
    gpu = str(r.machine["gpus"][0]).split(",")[0].removeprefix("NVIDIA ")
    date = str(r.machine.get("date", "no date"))
    return Comparison(what, instead, ratios, devices, gpu, date, page) if ratios else None


def stencil_step(domain: str, variants: tuple[str, ...], named: str) -> Callable[[StencilResults], Comparison | None]:
    """The best variant that needs no host against the best of some that do, on as many devices as the file has."""

    def make(r: StencilResults) -> Comparison | None:
        n = max(r.devices, default=0)
        theirs, ours = (r.best_of(names, domain, n) for names in (variants, AUTONOMOUS))
        if n < 2 or not theirs or not ours:
            return None
        what = f"a step of a stencil, {domain}: {ours[1]:.2f} us (`{ours[0]}`)"
        instead = f"{named} (`{theirs[0]}`): {theirs[1]:.2f} us"
        return comparison(r, str(n), "stencil_results", what, instead, {domain: (theirs[1], ours[1])})

    return make


def cg_iteration(r: CgResults) -> Comparison | None:
    pairs = {}
    matrices = set()
    for matrix in r.matrices:
        for n in r.devices:
            rival, ours = r.rival(matrix, n), r.iteration(matrix, n, (PERSISTENT,))
            if not rival or not ours:
                continue
            matrices.add(matrix)
            pairs[f"{matrix} on {n} GPU{'s' if n > 1 else ''}"] = (rival.us, ours.us)
    what = f"an iteration of conjugate gradients, {len(matrices)} matrices"
    counts = ", ".join(map(str, r.devices))
    return comparison(r, counts, "cg_results", what, "a solver of cuSPARSE and NCCL, by streams or graphs", pairs)


def product(r: CgResults) -> Comparison | None:
    pairs = {}
    for matrix in r.matrices:
        rival, ours = r.rival_multiply(matrix), r.multiply(matrix, 1)
        if rival and ours:
            pairs[matrix] = (rival.us, ours.us)
    what = f"a product of a sparse matrix and a vector, {len(pairs)} matrices"
    return comparison(r, "1", "cg_results", what, "cuSPARSE, its faster algorithm", pairs)


def message(r: Results) -> Comparison | None:
    """A channel, which chooses by size how it sends, against NVSHMEM's put with signal from a block."""
    n = max(r.devices, default=0)
    times = {
        (line["what"], line["bytes"]): plot.best(line)
        for line in r.lines
        if (line.get("measure"), line["devices"], line.get("from"), line.get("to")) == ("latency", n, 0, n - 1)
    }
    sizes = sorted(s for what, s in times if what == "nvshmem put_signal" and ("channel", s) in times)
    pairs = {f"{s:,} B": (times[("nvshmem put_signal", s)], times[("channel", s)]) for s in sizes}
    what = f"a message to another GPU, {next(iter(pairs), '')} to {next(reversed(pairs), '')}"
    return comparison(r, str(n), "communication_results", what, "NVSHMEM, `put_signal` of a block", pairs)


def sum_of_doubles(r: StfResults) -> Comparison | None:
    """By rates, so that ours is above."""
    lines = r.all("reduction", elements=REDUCTION_BAR_ELEMENTS, devices=1, way="launch")
    ours = best(lines, "gb_per_s", max)
    cub = best(r.all("reduction", elements=REDUCTION_BAR_ELEMENTS, way="CUB"), "gb_per_s", max)
    what = f"a sum of {REDUCTION_BAR_ELEMENTS:,} doubles by tasks"
    pairs = {"all": (ours, cub)} if ours and cub else {}
    return comparison(r, "1", "tasks_results", what, "CUB, `DeviceReduce`", pairs)


def task(r: StfResults) -> Comparison | None:
    """Means, since CUDASTF's benchmark prints no more."""
    pairs = {}
    for graph in FENCED_BARS:
        ours, theirs, _ = beside_cudastf(r, graph)
        if theirs and ours:
            pairs[graph] = (statistics.mean(theirs), statistics.mean(ours))
    what = f"a task without work, graphs {' and '.join(pairs)}"
    return comparison(r, "1", "tasks_results", what, "CUDASTF, its own benchmark, with the wait at the end", pairs)


def comparisons(bench: Path) -> list[Comparison]:
    """All rows, from the result files below this folder."""

    def files(of: Callable[[Path], Kept], name: str) -> list[Kept]:
        return newest_first(of(path) for path in sorted((bench / name / "results").glob("*.json")))

    stencils, cg = files(StencilResults, "cpu_free_stencil"), files(CgResults, "cpu_free_cg")
    streams, graph = "streams and events of the host", "graphs of the host"
    return [
        *first_made(stencils, stencil_step("256x256", STREAMS, streams)),
        *first_made(stencils, stencil_step("256x256", (GRAPH,), graph)),
        *first_made(stencils, stencil_step("8192x8192", HOST_CONTROLLED, "the best that the host controls")),
        *first_made(stencils, stencil_step("512x512x512", HOST_CONTROLLED, "the best that the host controls")),
        *first_made(cg, cg_iteration),
        *first_made(cg, product),
        *first_made(files(Results, "communication"), message),
        *first_made(files(StfResults, "stf"), sum_of_doubles),
        *first_made(files(StfResults, "stf"), task),
    ]


def ratio_cell(one: Comparison) -> str:
    several = f" ({min(one.ratios.values()):.2f} to {max(one.ratios.values()):.2f})" if len(one.ratios) > 1 else ""
    return f"{one.ratio:.2f}{several}"


def slower(rows: list[Comparison]) -> str:
    """Every case in which the other is faster."""
    parts = []
    for one in rows:
        below = [(case, ratio) for case, ratio in one.ratios.items() if ratio < 1]
        if len(one.ratios) == 1:
            parts += [f"{one.what.split(': ')[0]} ({ratio:.2f})" for _, ratio in below]
        elif below:
            parts.append(f"{one.what.split(', ')[0]}: {', '.join(f'{case} ({ratio:.2f})' for case, ratio in below)}")
    return "; ".join(parts)


def wrapped(text: str, width: int = 120) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def table(rows: list[Comparison]) -> str:
    """What stands in README.md between the two markers."""
    if not rows:
        return ABSENT
    parts = head("Starling", "instead", "times as fast", "GPUs", "all times")
    for one in rows:
        link = f"[{one.date}](docs/{one.page}.md)"
        parts.append(row(one.what, one.instead, ratio_cell(one), f"{one.devices} {one.gpu}", link))
    below = slower(rows)
    if below:
        parts += ["", *wrapped(f"Slower than what is used instead: {below}.")]
    return "\n".join(parts)


def draw(r: StencilResults, target: Path) -> None:
    """Microseconds per step of every variant, on as many devices as the file has."""
    n = max(r.devices)
    domains = [d for d in DRAWN if r.best_of(VARIANTS, d, n)]
    figure, axes = pyplot.subplots(figsize=(8, 3.2), layout="constrained")
    width = 0.8 / len(r.variants)
    for k, variant in enumerate(r.variants):
        known = [(place, r.step(d, n, variant)) for place, d in enumerate(domains)]
        bars = [(place + (k + 0.5) * width - 0.4, us) for place, us in known if us is not None]
        axes.bar([x for x, _ in bars], [us for _, us in bars], width, color=COLOURS[variant], label=variant)
    axes.set(yscale="log", ylabel="microseconds per step", xticks=range(len(domains)))
    axes.set_xticklabels(domains)
    axes.set_title(f"{n} x {r.gpus[0].split(',')[0]}; grey: the host controls every step", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=8, ncols=len(r.variants), loc="upper center", bbox_to_anchor=(0.5, -0.1))
    figure.savefig(target, dpi=110)
    pyplot.close(figure)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", type=Path, default=HERE, help="folder of the benchmarks and their results")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md", help="where the table goes")
    parser.add_argument("--picture", type=Path, default=ROOT / "docs/pictures/steps.png", help="the picture to write")
    options = parser.parse_args()
    rows = comparisons(options.bench)
    put_into(options.readme, table(rows))
    results = (options.bench / "cpu_free_stencil/results").glob("*.json")
    drawn = [r for r in newest_first(StencilResults(path) for path in sorted(results)) if len(r.devices) > 1]
    if drawn:
        draw(drawn[0], options.picture)
    print(f"{len(rows)} rows -> {options.readme.name}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
