"""Writes docs/tasks_results.md from the result files of the benchmarks of tasks.

    python bench/stf/stf_page.py [--results bench/stf/results] [--page docs/tasks_results.md]

Every figure of the page comes from a result file or from the publication it names.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for results_page

from results_page import ABSENT, head, machine_name, machine_table, row

ROOT = Path(__file__).resolve().parent.parent.parent

TOPOLOGIES = ("trivial", "tree", "fft", "sweep", "random", "stencil")
# Table I of the publication, one H100, microseconds per task.
PUBLISHED = {"trivial": 1.18, "stencil": 2.32}
# Set before the first measurement, microseconds per task on streams.
BARS = {"trivial": 0.9, "stencil": 1.6}
# With the wait for what was submitted, as CUDASTF's own benchmark has it.
FENCED_BARS = {"trivial": 0.8, "stencil": 1.4}
# The same of a recorded graph that is launched again, nanoseconds.
REPLAY_BAR = 150
# Of CUB's rate on one GPU, at 2^30 elements.
REDUCTION_BAR, REDUCTION_BAR_ELEMENTS = 0.97, 1 << 30
# Of the speed with all data on the device, where there is enough to compute.
EVICTION_BAR = 0.6

HOW = """\
* Cost of a task (`bench/stf/task_overhead.cpp`): graphs of tasks without work, as in table I of CUDASTF; time from the
  first submission to the last over the number of tasks, without the wait at the end. The table gives the median of the
  repetitions and, behind it, the least and the largest. Where a table has recorded graphs, they are launched a second
  time, and the time goes until all is done. A task without work leaves nothing in the graph; what such a launch takes
  is the cost of the launch. Beside CUDASTF, its benchmark `task_bench` (8 columns, `slice` data) and ours alternate,
  its time with the wait for the tasks; the tables give means, since that is what it prints.
* Sums (`bench/stf/reduction.cpp`, `bench/stf/rivals_reduction.cpp`): sums of doubles one after the other, time over
  their number. `launch` is the algorithm of CUDASTF's figure 6; `parallel_for` is a loop with a reduction; CUB is
  `cub::DeviceReduce::Sum` on one GPU. The best of the repetitions.
* Chains of small loops (`bench/stf/pipeline.cpp`): the same tasks submitted to streams, as a recorded graph, and as a
  persistent program. The least of the repetitions.
* More data than fits (`bench/stf/eviction.cpp`): 64 blocks of data in turn, each gone over several times, with a cap on
  the device's memory of a quarter of the data. Everything that comes and goes passes over the bus to the host.

The sources are those of the commit that a table names. What changed since, as the order in which `launch` hands out
elements to threads, is not in its figures.
"""


class StfResults:
    """One result file."""

    def __init__(self, path: Path) -> None:
        data = json.loads(path.read_text())
        self.path = path
        self.machine: dict = data.get("machine", {})
        self.lines = [line for line in data.get("results", []) if isinstance(line, dict) and "what" in line]

    def all(self, what: str, **wanted: object) -> list[dict]:
        return [
            line for line in self.lines if line["what"] == what and all(line.get(k) == v for k, v in wanted.items())
        ]

    def name(self) -> str:
        return machine_name(self.machine)

    def values(self, what: str, **wanted: object) -> list[int]:
        key = str(wanted.pop("key"))
        return sorted({line[key] for line in self.all(what, **wanted) if key in line})


def spread(line: dict | None) -> str:
    """Median, least and largest of a line's repetitions."""
    if line is None or not line.get("us"):
        return ABSENT
    us = line["us"]
    return f"{statistics.median(us):.2f} ({min(us):.2f} to {max(us):.2f})"


def first(lines: list[dict]) -> dict | None:
    return lines[0] if lines else None


def best(lines: list[dict], key: str, choose: Callable[[list[float]], float]) -> float | None:
    values = [v for line in lines for v in line.get(key, [])]
    return choose(values) if values else None


def number(value: float | None, digits: int = 2) -> str:
    return ABSENT if value is None else f"{value:,.{digits}f}"


def verdict(met: bool | None) -> str:
    return "" if met is None else "met" if met else "missed"


def overhead_rows(r: StfResults) -> list[str]:
    rows = head("graph", "data", "us per task on streams", "limit", "verdict", "published, one H100")
    for topology in TOPOLOGIES:
        for data in ("slices", "tokens"):
            line = first(r.all("task_overhead", topology=topology, data=data, work="none", backend="stream", threads=1))
            if line is None:
                continue
            bar = BARS.get(topology) if data == "slices" else None
            met = None if bar is None else statistics.median(line["us"]) <= bar
            published = PUBLISHED.get(topology, "") if data == "slices" else ""
            rows.append(row(topology, data, spread(line), bar or "", verdict(met), published))
    return rows


def beside_cudastf(r: StfResults, topology: str) -> tuple[list[float], list[float], bool]:
    """Microseconds per task with slices and without work: ours, CUDASTF's, and whether ours have the wait for them."""
    fenced = r.all("task_overhead_fenced", topology=topology)
    plain = r.all("task_overhead", topology=topology, data="slices", work="none", backend="stream", threads=1)
    ours = [us for line in fenced or plain for us in line["us"]]
    theirs = [us for line in r.all("task_overhead_rival", topology=topology) for us in line["us"]]
    return ours, theirs, bool(fenced)


def rival_rows(r: StfResults) -> list[str]:
    rows = head("graph", "us per task", "with the wait for them", "CUDASTF", "times as fast", "limit", "verdict")
    for topology, bar in FENCED_BARS.items():
        ours, theirs, fenced = beside_cudastf(r, topology)
        if ours and theirs:
            mean, rival = statistics.mean(ours), statistics.mean(theirs)
            cells = [number(mean), "yes" if fenced else "no", number(rival), number(rival / mean)]
            rows.append(row(topology, *cells, bar, verdict(mean <= bar)))
    return rows


def other_overhead_rows(r: StfResults) -> list[str]:
    rows = head("graph", "what else", "us per task")
    for line in r.all("task_overhead"):
        if (line["work"], line["backend"], line["threads"]) == ("none", "stream", 1):
            continue
        what = []
        if line["work"] != "none":
            what.append("a kernel in each task")
        if line["backend"] != "stream":
            what.append("in a graph")
        if line["threads"] > 1:
            what.append(f"{line['threads']} threads submit")
        rows.append(row(f"{line['topology']}, {line['data']}", ", ".join(what), spread(line)))
    return rows


def replay_rows(r: StfResults) -> list[str]:
    def in_ns(line: dict | None) -> dict | None:
        return line and {**line, "us": [1000 * us for us in line["us"]]}

    rows = head("graph, tokens", "ns per empty task", "limit", "verdict", "ns per task with a kernel")
    for topology in TOPOLOGIES:
        empty = in_ns(first(r.all("task_replay", topology=topology, work="none")))
        kernel = in_ns(first(r.all("task_replay", topology=topology, work="kernel")))
        if empty or kernel:
            met = None if empty is None else statistics.median(empty["us"]) <= REPLAY_BAR
            rows.append(row(topology, spread(empty), REPLAY_BAR, verdict(met), spread(kernel)))
    return rows


def reduction_rows(r: StfResults) -> list[str]:
    devices = r.values("reduction", key="devices")
    rows = head("elements", *(f"`{way}`, {n}" for n in devices for way in ("launch", "parallel_for")), "CUB, 1")
    for n in r.values("reduction", key="elements"):
        cells = [
            number(best(r.all("reduction", elements=n, devices=d, way=way), "gb_per_s", max), 0)
            for d in devices
            for way in ("launch", "parallel_for")
        ]
        rows.append(row(f"{n:,}", *cells, number(best(r.all("reduction", elements=n, way="CUB"), "gb_per_s", max), 0)))
    ours = best(r.all("reduction", elements=REDUCTION_BAR_ELEMENTS, devices=1, way="launch"), "gb_per_s", max)
    cub = best(r.all("reduction", elements=REDUCTION_BAR_ELEMENTS, way="CUB"), "gb_per_s", max)
    if ours and cub:
        share = f"{100 * ours / cub:.0f} % of CUB's rate"
        text = f"`launch` on one GPU at {REDUCTION_BAR_ELEMENTS:,} elements: {share}; the limit was"
        rows += ["", f"{text} {100 * REDUCTION_BAR:.0f} %: {verdict(ours >= REDUCTION_BAR * cub)}."]
    return rows


CHAINS = {
    "same": "of one kind",
    "different": "of several kinds",
    "together": "of several kinds, named together by `stf::rounds`",
}


def pipeline_rows(r: StfResults) -> list[str]:
    backends = list(dict.fromkeys(line["backend"] for line in r.all("stf_pipeline")))
    rows = head("kernels", "in a round", "elements", "devices", *(f"us per task, {one}" for one in backends))
    settings = dict.fromkeys(
        (line["kinds"], line["kernels"], line["n"], line["devices"]) for line in r.all("stf_pipeline")
    )
    for kinds, kernels, n, devices in settings:
        lines = r.all("stf_pipeline", kinds=kinds, kernels=kernels, n=n, devices=devices)
        cells = [number(best([one for one in lines if one["backend"] == b], "us", min)) for b in backends]
        rows.append(row(CHAINS[kinds], kernels, f"{n:,}", devices, *cells))
    return rows


def eviction_rows(r: StfResults) -> list[str]:
    rows = head("sweeps", "prefetch", "all on the device, s", "with the cap, s", "share of the speed", "evictions")
    for prefetch in (0, 1):
        for sweeps in r.values("eviction", key="sweeps"):
            lines = r.all("eviction", sweeps=sweeps, prefetch=prefetch)
            free = best([one for one in lines if one["cap_mebibytes"] == 0], "seconds", min)
            capped = [one for one in lines if one["cap_mebibytes"] > 0]
            time = best(capped, "seconds", min)
            share = f"{100 * free / time:.0f} %" if free and time else ABSENT
            evictions = capped[0]["evictions"] if capped else ABSENT
            asked = "yes" if prefetch else "no"
            rows.append(row(sweeps, asked, number(free, 4), number(time, 4), share, evictions))
    return rows


def context_rows(r: StfResults) -> list[str]:
    rows = head("back end", "tasks", "devices", "us, all of its own", "us, resources shared")
    settings = dict.fromkeys((line["backend"], line["tasks"], line["devices"]) for line in r.all("context_cost"))
    for backend, tasks, devices in settings:
        lines = r.all("context_cost", backend=backend, tasks=tasks, devices=devices)
        cells = [spread(first([one for one in lines if one["shared"] is shared])) for shared in (False, True)]
        rows.append(row(backend, tasks, devices, *cells))
    return rows


def section(r: StfResults) -> list[str]:
    """All tables of a result file."""
    source = f"{r.machine.get('date', '?')}, sources {r.machine.get('commit', '?')}"
    parts = [f"## {r.name()}, {source}", "", *machine_table(r.machine), ""]
    tables: list[tuple[str, str, Callable[[StfResults], list[str]]]] = [
        ("Cost of a task", "task_overhead", overhead_rows),
        ("Cost of a task beside CUDASTF", "task_overhead_rival", rival_rows),
        ("Cost of a task: kernels, graphs, threads", "task_overhead", other_overhead_rows),
        ("Cost of a task: recorded and launched again", "task_replay", replay_rows),
        ("Sums of doubles, GB/s, by number of devices", "reduction", reduction_rows),
        ("Chains of small loops", "stf_pipeline", pipeline_rows),
        ("Making and finalizing a context", "context_cost", context_rows),
        (f"More data than fits (at least {100 * EVICTION_BAR:.0f} % was to be reached)", "eviction", eviction_rows),
    ]
    for title, what, rows in tables:
        lines = rows(r) if r.all(what) else []
        if len(lines) > len(head()):
            parts += [f"### {title}", "", *lines, ""]
    return parts


def results_page(results: list[StfResults]) -> str:
    parts = ["# Results of tasks", ""]
    parts += ["This page is written by `bench/stf/stf_page.py` from the files in `bench/stf/results`.", ""]
    if not results:
        return "\n".join([*parts, "Not measured yet.", ""])
    parts += ["## How it was measured", "", HOW]
    parts += ["On your machine: `python bench/stf/run.py` after a build with the preset `cuda`.", ""]
    for r in results:
        parts += section(r)
    return "\n".join(parts).rstrip() + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=ROOT / "bench/stf/results", help="the result files")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/tasks_results.md", help="the page to write")
    options = parser.parse_args()
    files = sorted(options.results.glob("*.json"))
    options.page.write_text(results_page([StfResults(path) for path in files]))
    print(f"{options.page} from {len(files)} result files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
