"""Writes docs/stencil_results.md from the result files.

    python bench/cpu_free_stencil/stencil_page.py [--results FOLDER] [--page docs/stencil_results.md]

Every figure of the page comes from a result file; what a file does not hold is called "not measured".
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for results_page

import stencil_auto
import stencil_plot
from results_page import ABSENT, head, machine_table, pictures, reason, row, shown, speed_up, verdict, write_page
from stencil_results import (
    BAR_DEVICES,
    BARS,
    BASELINE,
    CPU_FREE,
    HOST_CONTROLLED,
    StencilResults,
)

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

HOW = """\
A step of each variant (`bench/cpu_free_stencil/steps.cpp`; [who controls what](stencil.md#variants)): float32, Jacobi
coefficients, fixed boundaries, split along the first axis, no convergence check. As many steps as last a hundredth of
a second or more, time over their number, in microseconds; the tables give the least of the repetitions. Arrays are on
the devices before and after. Nothing is averaged over different runs of the benchmark.

* Strong scaling: the same domain on more devices. Weak scaling: the axes double in turn as the devices double.
* Without computation cells keep their values and everything else happens. What is left is communication and control;
  of `resident` and `temporal` that includes the packets between the tiles of one device.
* Share of communication: time without computation over time with it. It may be above 100 %: times vary.
* Overlap ratio: of the time without computation C, the part that was hidden behind the computation W in a step of T,
  (C + W - T) / C, no less than 0 % and no more than 100 %. W is what computing adds to a step of the same variant on
  one device that has as many cells as each of several. For `overlap` and `p2p` it is that of `copy`, whose kernel is
  the same and which hides nothing on one device. Where a device's own blocks exchange while they compute, as in
  `resident`, some of W is hidden on one device already: there the ratio is no more than a lower bound.
* The figures on four GPUs are of an older commit than those on one and two, where tiles of `resident` and `temporal`
  that do not fit on chip twice are computed by vectors in one array; in two dimensions those of up to four million
  cells a device are kept in registers and larger ones spill to shared memory and memory; `temporal` makes several
  steps in a pass over memory, by warps that stay together; `cpu_free` and `graph` give faces one or two blocks of
  their own in two dimensions with 10 million cells and more a device; blocks take the tiles of planes of more than 60
  MB and of volumes of more than 200 MB from a queue; in three dimensions threads have four cells of a column under
  way; and every other step of a variant that keeps its cells in memory goes backwards through them, but not through
  tiles from a queue. What large tiles and passes take on one GPU with as many cells as each of four would have is
  [below](#tiles-and-passes).
* `resident` and `temporal` of 3D domains that do not fit on chip are of tiles that stream the rest from memory. The
  code has no such tiles: these variants take the steps of `cpu_free`, whose column says how long they last.
* Speed-up: (T_base - T_ours) / T_base, in percent. Best without the host is `cpu_free` or `resident`, which exchange in
  every step as the host-controlled variants do; `temporal` exchanges less often and is left out.
"""


def percent(part: float | None) -> str:
    return "" if part is None else f"{100 * part:.0f} %"


def step_rows(r: StencilResults, cases: list[tuple[str, int]], compute: bool) -> list[str]:
    """A row for each domain and number of devices, a column for each variant."""
    rows = head("domain", "devices", *r.variants)
    for domain, n in cases:
        times = [r.step(domain, n, v, compute) for v in r.variants]
        if any(times):
            rows.append(row(domain, n, *("" if t is None else shown(t) for t in times)))
    return rows


def speed_up_rows(r: StencilResults, cases: list[tuple[str, int]], compute: bool) -> list[str]:
    """The best variant without the host, one exchange a step, against the best host-controlled and the baseline."""
    titles = ("domain", "devices", "best host-controlled", "its time", "best without the host", "its time", "speed-up")
    rows = head(*titles, f"over `{BASELINE}`")
    for domain, n in cases:
        base, ours = (r.best_of(variants, domain, n, compute) for variants in (HOST_CONTROLLED, CPU_FREE))
        if base is None and ours is None:
            continue
        name, time = base or (ABSENT, None)
        our_name, our_time = ours or (ABSENT, None)
        over_baseline = speed_up(r.step(domain, n, BASELINE, compute), our_time)
        rows.append(row(domain, n, name, shown(time), our_name, shown(our_time), speed_up(time, our_time),
                        over_baseline))  # fmt: skip
    return rows


def part_rows(r: StencilResults, part: Callable[[str, int, str], float | None]) -> list[str]:
    """A part of a step of each variant, for every domain on several devices."""
    rows = head("domain", "devices", *r.variants)
    for domain, n in dict.fromkeys([*weak_cases(r), *r.strong()]):
        parts = [part(domain, n, v) for v in r.variants]
        if n > 1 and any(p is not None for p in parts):
            rows.append(row(domain, n, *map(percent, parts)))
    return rows


def efficiency_rows(r: StencilResults) -> list[str]:
    rows = head("one device", "devices", "domain", *r.variants)
    for base, n, domain in r.weak():
        parts = [r.efficiency(base, n, domain, v) for v in r.variants]
        if n > 1 and any(parts):
            rows.append(row(base, n, domain, *map(percent, parts)))
    return rows


def weak_cases(r: StencilResults) -> list[tuple[str, int]]:
    """Without the domains whose series is of one device alone."""
    scaled = {base for base, n, _ in r.weak() if n > 1}
    return [(domain, n) for base, n, domain in r.weak() if base in scaled]


def bar_rows(r: StencilResults) -> list[str]:
    rows = head("bar that was set before measuring", "limit", "measured", "verdict")
    for bar in BARS:
        best = r.best_of(bar.variants, bar.domain, BAR_DEVICES)
        time = best[1] if best else None
        names = " or ".join(f"`{v}`" for v in bar.variants)
        title = f"a step of {names}, {bar.domain} on {BAR_DEVICES} GPUs"
        rows.append(row(title, f"{bar.limit} us", shown(time), verdict(time, bar.limit)))
    return rows


def failure_rows(r: StencilResults) -> list[str]:
    keys = ("domain", "devices", "variant")
    return head(*keys, "failure") + [row(*(line.get(k, "") for k in keys), reason(line)) for line in r.failures]


def depths(r: StencilResults) -> list[str]:
    """The depths that were chosen for `temporal`."""
    chosen = [line for line in r.lines if line["variant"] == "temporal" and line["compute"] and "depth" in line]
    deep = [f"{line['domain']} on {line['devices']}: {line['depth']}" for line in chosen if line["depth"] > 1]
    text = f"Steps between two exchanges of `temporal`: {'; '.join([*deep, 'otherwise 1'])}."
    return [text, ""] if chosen else []


def spread(r: StencilResults) -> list[str]:
    """How far the repetitions of a line are apart."""
    apart = [statistics.median(line["us"]) / min(line["us"]) - 1 for line in r.lines if len(line["us"]) > 1]
    if not apart:
        return []
    repetitions = max(len(line["us"]) for line in r.lines)
    most = f"{100 * max(apart):.0f} % at most, by {100 * statistics.median(apart):.1f} % or less in half of the lines"
    return [f"{len(r.lines)} lines of {repetitions} repetitions; their medians are above the least by {most}.", ""]


def scaling_parts(r: StencilResults, title: str, cases: list[tuple[str, int]]) -> list[str]:
    """The tables of a way of scaling, with and without computation."""
    parts = [f"### {title}", "", *step_rows(r, cases, True), "", *speed_up_rows(r, cases, True), ""]
    if any(r.step(domain, n, v, False) is not None for domain, n in cases for v in r.variants):
        parts += [f"### {title}, without computation", ""]
        parts += [*step_rows(r, cases, False), "", *speed_up_rows(r, cases, False), ""]
    return parts


def section(r: StencilResults) -> list[str]:
    """All tables of a result file."""
    parts = [f"## {r.name()}", "", *machine_table(r.machine), ""]
    if not r.lines:
        parts += [ABSENT, ""]
    if r.gpus and BAR_DEVICES in r.devices:
        parts += [*bar_rows(r), ""]
    for title, part in (("Share of communication", r.share), ("Overlap ratio", r.overlap)):
        rows = part_rows(r, part)
        if len(rows) > 2:
            parts += [f"### {title}", "", *rows, ""]
    if weak_cases(r):
        parts += scaling_parts(r, "Weak scaling", weak_cases(r))
        parts += ["### Efficiency of weak scaling", "", *efficiency_rows(r), ""]
    if r.strong():
        parts += scaling_parts(r, "Strong scaling", r.strong())
    parts += depths(r)
    if r.failures:
        parts += ["### What failed", "", *failure_rows(r), ""]
    return [*parts, *spread(r)]


def tile_section(r: StencilResults) -> list[str]:
    """A file of tiles alone, measured without the rivals."""
    cases = list(dict.fromkeys((line["domain"], line["devices"]) for line in r.lines))
    cases.sort(key=lambda case: case[1])
    parts = [f"{r.name()}, `bench_cpu_free_stencil_steps --variants {','.join(r.variants)}`:", ""]
    parts += [*machine_table(r.machine), "", *step_rows(r, cases, True), "", "Without computation:", ""]
    return [*parts, *step_rows(r, cases, False), "", *depths(r), *spread(r)]


def auto_part(auto: list[stencil_auto.AutoResults]) -> list[str]:
    if not auto:
        return []
    parts = ["## auto beside the best", ""]
    parts += ["The least of the repetitions, in microseconds a step, with computation. The last column is what `auto`"]
    parts += ["would have taken without measured costs.", ""]
    return parts + [line for r in auto for line in stencil_auto.section(r)]


def results_page(
    results: list[StencilResults], tiles: list[StencilResults], auto: list[stencil_auto.AutoResults], page: Path
) -> str:
    parts = ["# Results of stencils", ""]
    parts += ["This page is written by `bench/cpu_free_stencil/stencil_page.py` from the files in"]
    parts += ["`bench/cpu_free_stencil/results`.", ""]
    if not results:
        return "\n".join([*parts, "Not measured yet.", ""])
    parts += ["## How it was measured", "", HOW]
    parts += ["On your machine: `python bench/cpu_free_stencil/run.py` after a build with the preset `cuda`.", ""]
    for r in results:
        parts += [*section(r), *pictures(r, stencil_plot.figures, page)]
    if tiles:
        parts += ["## Tiles and passes", ""]
        for r in tiles:
            parts += tile_section(r)
    parts += auto_part(auto)
    parts += ["## What was not measured", ""]
    parts += ["Other GPUs and more of them, GPUs without a direct link, periodic boundaries, splits along two axes,"]
    parts += [f"power, {'' if auto else 'float64, '}and other libraries on the same machine.", ""]
    return "\n".join(parts)


def main() -> int:
    def text(folder: Path, page: Path) -> str:
        results = [StencilResults(path.resolve()) for path in sorted(folder.glob("*.json"))]
        tiles = [StencilResults(path.resolve()) for path in sorted(folder.glob("tiles/*.json"))]
        auto = [stencil_auto.AutoResults(path.resolve()) for path in sorted(folder.glob("auto/*.json"))]
        return results_page(results, tiles, auto, page)

    return write_page(__doc__, HERE / "results", ROOT / "docs/stencil_results.md", text)


if __name__ == "__main__":
    sys.exit(main())
