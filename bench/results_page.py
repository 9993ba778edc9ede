"""Writes docs/results.md and the table of figures in README.md from the result files.

    python bench/results_page.py [--results bench/results] [--page docs/results.md] [--readme README.md]

Every figure of the two pages comes from a result file; what a file does not hold is called "not measured".
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Iterable
from pathlib import Path

import plot

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- results:begin -->", "<!-- results:end -->"
ABSENT = "not measured"

# The bars that were set before the first measurement: title, limit in microseconds, what is to be below it.
STEP_BAR = 2.5
STEP_BAR_DOMAIN, STEP_BAR_DEVICES = "256^2", 4
MESSAGE_BAR, MESSAGE_BYTES = 1.5, 8

HOW = """\
Every figure is in microseconds. A program runs once to warm up and then several times; the tables give the least of the
repetitions, and the last section the median too. Nothing is averaged over different runs of the benchmark.

* Calls (`bench/communication/latency.cpp`): many calls inside one persistent program, timed by the host around the
  whole program, divided by their number. The times so contain a share of the program's launch. `put_signal` and
  `put_packets` are ping-pongs of one block on PE 0 and one on PE 1; the time is half of a round trip. `run of an empty
  program` is a whole program that does nothing.
* Stencil steps (`bench/cpu_free_stencil/steps.cpp`): float32, Jacobi coefficients, fixed boundaries, split along the
  first axis, no look at the change. As many steps as last a good fraction of a second; time over number of steps.
  Arrays are on the devices before and after.
"""


def usable(line: object) -> bool:
    """Whether a line of a result file has what the tables need."""
    return isinstance(line, dict) and "what" in line and "devices" in line and bool(line.get("us"))


class Results:
    """One result file."""

    def __init__(self, path: Path) -> None:
        data = json.loads(path.read_text())
        self.path = path
        self.machine: dict = data.get("machine", {})
        lines = [line for line in data.get("results", []) if usable(line)]
        self.steps = [
            {"compute": True, "domain": "?", "variant": "?", **line} for line in lines if line["what"] == "stencil"
        ]
        self.calls = [{"bytes": 0, **line} for line in lines if line["what"] != "stencil"]
        self.gpus = gpus_of(self.machine)

    @property
    def devices(self) -> list[int]:
        return sorted({line["devices"] for line in self.steps + self.calls})

    @property
    def domains(self) -> list[str]:
        return list(dict.fromkeys(line["domain"] for line in self.steps))

    def step(self, domain: str, devices: int, variant: str, compute: bool = True) -> float | None:
        """Least microseconds per step."""
        return least(
            line
            for line in plot.stencil_lines(self.steps, compute)
            if (line["domain"], line["devices"], line["variant"]) == (domain, devices, variant)
        )

    def call(self, what: str, devices: int, size: int | None = None) -> float | None:
        """Least microseconds of one call."""
        return least(
            line
            for line in self.calls
            if (line["what"], line["devices"]) == (what, devices) and size in (None, line["bytes"])
        )

    def base(self, domain: str, devices: int, compute: bool = True) -> tuple[str, float] | None:
        """The best host-controlled variant and its time."""
        return self.best_of(plot.HOST_CONTROLLED, domain, devices, compute)

    def best_of(
        self, variants: Iterable[str], domain: str, devices: int, compute: bool = True
    ) -> tuple[str, float] | None:
        """The best of some variants and its time."""
        times = {v: self.step(domain, devices, v, compute) for v in variants}
        known = {v: t for v, t in times.items() if t is not None}
        return min(known.items(), key=lambda item: item[1]) if known else None

    def name(self) -> str:
        return machine_name(self.machine)


def gpus_of(machine: dict) -> list[str]:
    return [str(gpu) for gpu in machine.get("gpus", [])]


def machine_name(machine: dict) -> str:
    """The machine in words."""
    gpus = gpus_of(machine)
    if gpus:
        return f"{len(gpus)} x {gpus[0].split(',')[0]}"
    return f"virtual devices on {machine.get('processor', 'an unnamed processor')}"


def least(lines: Iterable[dict]) -> float | None:
    return min((plot.best(line) for line in lines), default=None)


def shown(time: float | None) -> str:
    return ABSENT if time is None else f"{time:.2f}"


def speed_up(base: float | None, ours: float | None) -> str:
    if base is None or ours is None or base <= 0:
        return ABSENT
    return f"{round(100 * (base - ours) / base)} %"


def call_title(what: str, size: int) -> str:
    return (
        f"`{what}`, {size:,} B one way"
        if what in ("put_signal", "put_packets")
        else what.replace(" 1 blocks", " 1 block")
    )


def row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def head(*titles: str) -> list[str]:
    return [row(*titles), "|" + "---|" * len(titles)]


def machine_table(machine: dict) -> list[str]:
    """The machine and the versions behind a result."""
    facts = {
        "GPUs (name, driver, memory)": "<br>".join(gpus_of(machine)) or "none: virtual devices",
        "processor": f"{machine.get('processor', '?')}, {machine.get('cores', '?')} cores",
        "C++ compiler": " ".join(machine.get("compiler", [])) or "?",
        "nvcc": machine.get("nvcc") or "none",
        "sources": f"commit {machine.get('commit') or '?'}",
        "date": machine.get("date", "?"),
    }
    return [*head("what", "value"), *(row(name, value) for name, value in facts.items())]


def call_table(r: Results) -> list[str]:
    names = dict.fromkeys((line["what"], line["bytes"]) for line in r.calls)
    if not names:
        return [ABSENT]
    rows = head("call", *(f"{n} device{'s' if n > 1 else ''}" for n in r.devices))
    for what, size in names:
        rows.append(row(call_title(what, size), *(shown_or_blank(r.call(what, n, size), what, n) for n in r.devices)))
    return rows


def shown_or_blank(time: float | None, what: str, devices: int) -> str:
    one_way = what in ("put_signal", "put_packets")
    return "" if time is None and one_way and devices == 1 else shown(time)


def speed_up_table(r: Results, compute: bool) -> list[str]:
    """The best variant without the host, one exchange a step, against the best host-controlled one."""
    rows = head(
        "domain", "devices", "best host-controlled", "its time", "best without the host", "its time", "speed-up"
    )
    for domain in r.domains:
        for devices in r.devices:
            base = r.base(domain, devices, compute)
            best = r.best_of(plot.CPU_FREE, domain, devices, compute)
            if base is None and best is None:
                continue
            name, time = base or (ABSENT, None)
            ours, our_time = best or (ABSENT, None)
            rows.append(row(domain, devices, name, shown(time), ours, shown(our_time), speed_up(time, our_time)))
    return rows


def bars(r: Results) -> list[str]:
    """Each bar, stated plainly as met or missed."""

    def verdict(time: float | None, limit: float) -> str:
        return ABSENT if time is None else "met" if time < limit else "missed"

    rows = head("bar", "limit", "measured", "verdict")
    time = r.step(STEP_BAR_DOMAIN, STEP_BAR_DEVICES, "cpu_free")
    title = f"a step of `cpu_free`, {STEP_BAR_DOMAIN} on {STEP_BAR_DEVICES} GPUs"
    rows.append(row(title, f"{STEP_BAR} us", shown(time), verdict(time, STEP_BAR)))
    counts = sorted({line["devices"] for line in r.calls if line["what"] in ("put_signal", "put_packets")})
    for what in ("put_signal", "put_packets"):
        for n in counts or [STEP_BAR_DEVICES]:
            time = r.call(what, n, MESSAGE_BYTES)
            title = f"{MESSAGE_BYTES} B with their notification one way, by `{what}`, machine of {n} GPUs"
            rows.append(row(title, f"{MESSAGE_BAR} us", shown(time), verdict(time, MESSAGE_BAR)))
    return rows


def all_lines(r: Results) -> list[str]:
    """Least and median of every line."""
    rows = head("what", "devices", "repetitions", "least", "median")
    for line in r.calls:
        rows.append(numbers(call_title(line["what"], line["bytes"]), line))
    for line in r.steps:
        shape = f", {line['blocks']} x {line['threads']} threads" if "blocks" in line and "threads" in line else ""
        without = "" if line["compute"] else ", without computation"
        rows.append(numbers(f"{line['domain']}, {line['variant']}{without}{shape}", line))
    return rows


def numbers(title: str, line: dict) -> str:
    return row(title, line["devices"], len(line["us"]), shown(plot.best(line)), shown(statistics.median(line["us"])))


def pictures(r: Results, page: Path) -> list[str]:
    """Makes the pictures beside the result file; links to those that could be made."""
    try:
        plot.figures(r.steps + r.calls, r.path.parent, r.path.stem)
    except (KeyError, TypeError, ValueError) as problem:
        print(f"{r.path.name}: no pictures ({problem!r})", file=sys.stderr)
    links = []
    for part, text in (("stencil", "Microseconds per step"), ("put-signal", "Put with signal by size")):
        picture = r.path.with_name(f"{r.path.stem}-{part}.png")
        if picture.is_file():
            links += [f"![{text}]({os.path.relpath(picture, page.parent)})", ""]
    return links


def section(r: Results, page: Path) -> list[str]:
    parts = [
        f"## {r.name()}",
        "",
        f"From `{os.path.relpath(r.path, page.parent.parent)}`.",
        "",
        *machine_table(r.machine),
        "",
    ]
    if r.gpus and r.calls:
        parts += ["### The first bars", "", *bars(r), ""]
    if r.calls:
        parts += ["### Calls", "", *call_table(r), ""]
    parts += ["### Stencil", ""]
    if not r.steps:
        return [*parts, ABSENT, ""]
    parts += [*plot.stencil_table(r.steps), "", *pictures(r, page)]
    parts += ["Speed-up is (T_base - T_ours) / T_base, T_base being the best host-controlled variant.", ""]
    parts += [*speed_up_table(r, True), ""]
    if plot.stencil_lines(r.steps, False):
        parts += ["### Stencil without computation", ""]
        parts += ["Cells keep their values; everything else happens. What is left is communication and control.", ""]
        parts += [*plot.stencil_table(r.steps, compute=False), "", *speed_up_table(r, False), ""]
    return [*parts, "### All results, least and median", "", *all_lines(r), ""]


def results_page(results: list[Results], page: Path) -> str:
    parts = ["# Results", "", "This page is written by `bench/results_page.py` from the files in `bench/results`.", ""]
    if not results:
        return "\n".join([*parts, "Not measured yet.", ""])
    parts += ["## How it was measured", "", HOW]
    parts += ["On your machine: `make gpu`, or `python bench/run.py` after a build with the preset `cuda`.", ""]
    for r in results:
        parts += section(r, page)
    parts += [
        "## What was not measured",
        "",
        "Other GPUs and more of them, GPUs without a direct link, float64, periodic boundaries, splits along two axes,",
        "weak scaling, power, and other libraries on the same machine.",
        "",
    ]
    return "\n".join(parts)


def readme_part(results: list[Results]) -> str:
    """The tables of figures: of the file with the most GPUs, then the stencils of the others."""
    measured = [r for r in results if r.gpus and (r.steps or r.calls)]
    if not measured:
        return "not measured yet"
    r = max(measured, key=lambda one: max(one.devices))
    n = max(r.devices)
    repetitions = max(len(line["us"]) for line in r.steps + r.calls)
    parts = [f"{r.name()}; microseconds, the least of {repetitions} repetitions.", ""]
    if r.steps:
        there = [v for v in plot.VARIANTS if any(line["variant"] == v for line in r.steps)]
        parts += head("stencil, us per step", "devices", *(f"`{v}`" for v in there), "`cpu_free` gains")
        for domain in r.domains:
            for devices in sorted({1, n} & set(r.devices)):
                times = [r.step(domain, devices, v) for v in there]
                base = r.base(domain, devices)
                ours = r.step(domain, devices, "cpu_free")
                gain = speed_up(base[1] if base else None, ours)
                parts.append(row(domain, devices, *(shown(t) for t in times), gain))
        parts.append("")
    wanted = [("put_signal", MESSAGE_BYTES), ("put_packets", MESSAGE_BYTES), ("put_signal", 65536)]
    wanted += [(w, None) for w in dict.fromkeys(c["what"] for c in r.calls) if w.startswith(("sync_all", "all_reduce"))]
    parts += head("call", f"{n} devices")
    parts += [row(call_title(what, size or 0), shown(r.call(what, n, size))) for what, size in wanted]
    parts += ["", "Bars that were set before measuring:", "", *bars(r)]
    for other in measured:
        if other is not r and other.steps:
            parts += ["", f"{other.name()}, stencil, us per step:", "", *plot.stencil_table(other.steps)]
    return "\n".join(parts)


def put_into(readme: Path, text: str) -> None:
    """Replaces what stands between the markers."""
    whole = readme.read_text()
    if whole.count(BEGIN) != 1 or whole.count(END) != 1 or whole.index(BEGIN) > whole.index(END):
        sys.exit(f"{readme}: needs one line {BEGIN} and, below it, one line {END}")
    before, rest = whole.split(BEGIN)
    readme.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=ROOT / "bench/results", help="folder of the result files")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/results.md", help="the page to write")
    parser.add_argument("--readme", type=Path, default=ROOT / "README.md", help="where the table goes")
    options = parser.parse_args()
    results = [Results(path.resolve()) for path in sorted(options.results.glob("*.json"))]
    page = options.page.resolve()
    page.write_text(results_page(results, page))
    if options.readme.is_file():
        put_into(options.readme, readme_part(results))
    print(f"{len(results)} result files -> {page.name}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
