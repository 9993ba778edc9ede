"""Writes docs/results.md from the result files; and what the pages of the other benchmarks share.

    python bench/results_page.py [--results bench/results] [--page docs/results.md]

Every figure of the page comes from a result file; what a file does not hold is called "not measured".
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol, TypeVar

import plot

ROOT = Path(__file__).resolve().parent.parent
ABSENT = "not measured"
BEGIN, END = "<!-- figures:begin -->", "<!-- figures:end -->"


class ResultFile(Protocol):
    """What a page knows of a result file of any benchmark."""

    path: Path


Kept = TypeVar("Kept", bound=ResultFile)

# The bars that were set before the first measurement: limit in microseconds, what is to be below it.
MESSAGE_BAR, MESSAGE_BYTES, MESSAGE_DEVICES = 1.5, 8, 4

PAGES = """\
The calls of kernels are on this page. Others: [stencils](stencil_results.md), [conjugate gradients](cg_results.md),
[tasks](tasks_results.md), [messages of all ways and sizes, beside other libraries](communication_results.md), [regions
and graphs](regions_results.md).
"""

HOW = """\
Every figure is in microseconds. A program runs once to warm up and then several times; the tables give the least of the
repetitions, and the last section the median too. Nothing is averaged over different runs of the benchmark.

Many calls inside one persistent program (`bench/communication/latency.cpp`), timed by the host around the whole
program, divided by their number. The times so contain a share of the program's launch. `put_signal` and `put_packets`
are ping-pongs of one block on PE 0 and one on PE 1; the time is half of a round trip. `run of an empty program` is a
whole program that does nothing.
"""


def put_into(page: Path, text: str) -> None:
    """Replaces what stands between the two markers of a page."""
    whole = page.read_text()
    if whole.count(BEGIN) != 1 or whole.count(END) != 1 or whole.index(BEGIN) > whole.index(END):
        sys.exit(f"{page}: needs one line {BEGIN} and, below it, one line {END}")
    before, rest = whole.split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


def usable(line: object) -> bool:
    """Whether a line of a result file has what the tables need."""
    return isinstance(line, dict) and "what" in line and "devices" in line and bool(line.get("us"))


class Results:
    """One result file."""

    def __init__(self, path: Path) -> None:
        self.data = json.loads(path.read_text())
        self.path = path
        self.machine: dict = self.data.get("machine", {})
        everything = self.data.get("results", [])
        self.lines = [line for line in everything if usable(line)]
        self.failures = [line for line in everything if isinstance(line, dict) and "error" in line]
        self.gpus = gpus_of(self.machine)

    @property
    def devices(self) -> list[int]:
        return sorted({line["devices"] for line in self.lines})

    def name(self) -> str:
        return machine_name(self.machine)


class Calls(Results):
    """One result file of calls."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.lines = [{"bytes": 0, **line} for line in self.lines]

    def call(self, what: str, devices: int, size: int | None = None) -> float | None:
        """Least microseconds of one call."""
        return least(
            line
            for line in self.lines
            if (line["what"], line["devices"]) == (what, devices) and size in (None, line["bytes"])
        )


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


def verdict(time: float | None, limit: float) -> str:
    return ABSENT if time is None else "met" if time < limit else "missed"


def reason(line: dict) -> str:
    """Why something failed, for a cell of a table."""
    return " ".join(str(line["error"]).split()).replace("|", "/")[:200]


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
        "PEs on each GPU": str(machine.get("pes_per_gpu", 1)),
        "sources": f"commit {machine.get('commit') or '?'}",
        "date": machine.get("date", "?"),
    }
    shared = machine.get("pes_per_gpu", 1) > 1
    return [*head("what", "value"), *(row(*fact) for fact in facts.items() if shared or fact[0] != "PEs on each GPU")]


def call_table(r: Calls) -> list[str]:
    names = dict.fromkeys((line["what"], line["bytes"]) for line in r.lines)
    if not names:
        return [ABSENT]
    rows = head("call", *(f"{n} device{'s' if n > 1 else ''}" for n in r.devices))
    for what, size in names:
        rows.append(row(call_title(what, size), *(shown_or_blank(r.call(what, n, size), what, n) for n in r.devices)))
    return rows


def shown_or_blank(time: float | None, what: str, devices: int) -> str:
    one_way = what in ("put_signal", "put_packets")
    return "" if time is None and one_way and devices == 1 else shown(time)


def bars(r: Calls) -> list[str]:
    """Each bar, stated plainly as met or missed."""
    rows = head("bar", "limit", "measured", "verdict")
    counts = sorted({line["devices"] for line in r.lines if line["what"] in ("put_signal", "put_packets")})
    for what in ("put_signal", "put_packets"):
        for n in counts or [MESSAGE_DEVICES]:
            time = r.call(what, n, MESSAGE_BYTES)
            title = f"{MESSAGE_BYTES} B with their notification one way, by `{what}`, machine of {n} GPUs"
            rows.append(row(title, f"{MESSAGE_BAR} us", shown(time), verdict(time, MESSAGE_BAR)))
    return rows


def all_lines(r: Calls) -> list[str]:
    """Least and median of every line."""
    rows = head("what", "devices", "repetitions", "least", "median")
    for line in r.lines:
        us = line["us"]
        title = call_title(line["what"], line["bytes"])
        rows.append(row(title, line["devices"], len(us), shown(min(us)), shown(statistics.median(us))))
    return rows


def pictures(r: Kept, make: Callable[[Kept], list[Path]], page: Path) -> list[str]:
    """Makes the pictures beside the result file; links to those that could be made."""
    try:
        made = make(r)
    except (KeyError, TypeError, ValueError) as problem:
        print(f"{r.path.name}: no pictures ({problem!r})", file=sys.stderr)
        return []
    return [line for one in made for line in (f"![{one.stem}]({os.path.relpath(one, page.parent)})", "")]


def pictures_of_calls(r: Calls) -> list[Path]:
    return plot.figures(r.lines, r.path)


def section(r: Calls, page: Path) -> list[str]:
    parts = [f"## {r.name()}", "", f"From `{os.path.relpath(r.path, page.parent.parent)}`.", ""]
    parts += [*machine_table(r.machine), ""]
    if r.gpus and r.lines:
        parts += ["### Targets set before measuring", "", *bars(r), ""]
    parts += ["### Calls", "", *call_table(r), "", *pictures(r, pictures_of_calls, page)]
    return [*parts, "### All results, least and median", "", *all_lines(r), ""] if r.lines else parts


def results_page(results: list[Calls], page: Path) -> str:
    parts = ["# Results", "", PAGES]
    parts += ["This page is written by `bench/results_page.py` from the files in `bench/results`.", ""]
    if not results:
        return "\n".join([*parts, "Not measured yet.", ""])
    parts += ["## How it was measured", "", HOW]
    parts += ["On your machine: `make gpu`, or `python bench/run.py` after a build with the preset `cuda`.", ""]
    for r in results:
        parts += section(r, page)
    parts += ["## What was not measured", ""]
    parts += ["Other GPUs and more of them, and GPUs without a direct link.", ""]
    return "\n".join(parts)


def write_page(about: str, results: Path, page: Path, text: Callable[[Path, Path], str]) -> int:
    """The command of a page: writes text(folder of the result files, page)."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--results", type=Path, default=results, help="folder of the result files")
    parser.add_argument("--page", type=Path, default=page, help="the page to write")
    options = parser.parse_args()
    to = options.page.resolve()
    to.write_text(text(options.results, to))
    print(f"{len(list(options.results.glob('*.json')))} result files -> {to.name}", file=sys.stderr)
    return 0


def main() -> int:
    def text(folder: Path, page: Path) -> str:
        return results_page([Calls(path.resolve()) for path in sorted(folder.glob("*.json"))], page)

    return write_page(__doc__, ROOT / "bench/results", ROOT / "docs/results.md", text)


if __name__ == "__main__":
    sys.exit(main())
