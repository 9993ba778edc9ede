"""Writes docs/communication_results.md from the result files of the measurements of communication.

    python bench/communication/comm_page.py [--results FOLDER] [--page docs/communication_results.md]

Every figure of the page comes from a result file.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from results_page import head, machine_table, row  # noqa: E402

ROOT = HERE.parent.parent

HOW = """\
* One way (`latency`): half of a round trip of one block on each side, or, of what the host does and of `get`, the whole
  of it. Microseconds, the least of the repetitions.
* Many at once (`stream`): sixteen blocks that send one message after the other, the bytes of all over the time. GB/s,
  the best of the repetitions.
* `packets`, `stores` and `bulk` are the ways of a channel when it is told which; `channel` is its own choice by size.
  `scattered` stores 4 bytes at a time in disorder. `copy_engine` and `staged` are copies that the host issues, straight
  and by way of memory of the host. `get` fetches the same bytes each time, so that those of small ones come from a
  cache and not over the link.
* `channel` chose as the sources of the named commit did; where its choice changes has been set anew by these figures.
* `nccl` is a send and a receive; `nvshmem put_signal` is the call of a block on the device. NVLink multicast is off.
"""

# Said of rivals that were measured.
OF_RIVALS = {
    "unified": """\
* `unified`: a kernel on one device changes each word of managed memory, then a kernel on the other; its pages travel
  when they are touched, or `fetched ahead` by the host.
""",
    "mpi staged": """\
* `mpi` is a send and a receive of one process for each device, `staged` by way of pinned memory of the host.
""",
}


def of_pair(lines: list[dict], measure: str, source: int, destination: int) -> list[dict]:
    return [
        line
        for line in lines
        if line.get("us") and line.get("measure") == measure and (line["from"], line["to"]) == (source, destination)
    ]


def by_size(lines: list[dict], shown: Callable[[dict], str]) -> list[str]:
    """A row for each size, a column for each way and rival."""
    chosen = {(line["bytes"], line["what"]): shown(line) for line in lines}
    names = list(dict.fromkeys(name for _, name in chosen))
    rows = head("bytes", *names)
    for size in sorted({size for size, _ in chosen}):
        rows.append(row(f"{size:,}", *(chosen.get((size, name), "") for name in names)))
    return rows


def microseconds(line: dict) -> str:
    return f"{min(line['us']):.2f}"


def gigabytes(line: dict) -> str:
    return f"{line['bytes'] / min(line['us']) / 1e3:.1f}"


def calls(lines: list[dict]) -> list[str]:
    rows = head("call", "devices", "blocks", "us, least", "median")
    for line in lines:
        if line.get("us") and line.get("measure") == "call":
            median = statistics.median(line["us"])
            rows.append(row(line["what"], line["devices"], line.get("blocks", ""), microseconds(line), f"{median:.2f}"))
    return rows


def section(name: str, machine: dict, lines: list[dict]) -> list[str]:
    """All tables of a result file: the way there and back is the same, so one pair of devices is shown."""
    most = max((line.get("devices", 0) for line in lines), default=0)
    here = [line for line in lines if line.get("devices") == most]
    parts = [f"## {name}", "", *machine_table(machine), ""]
    tables = (
        ("One way to another device, us", by_size(of_pair(here, "latency", 0, most - 1), microseconds)),
        ("Many at once to another device, GB/s", by_size(of_pair(here, "stream", 0, most - 1), gigabytes)),
        ("One way to the own device, us", by_size(of_pair(here, "latency", 0, 0), microseconds)),
        ("Barriers and reductions", calls(here)),
    )
    for title, rows in tables:
        if len(rows) > 2:
            parts += [f"### {title}", "", *rows, ""]
    failures = [line for line in lines if "error" in line]
    if failures:
        parts += [*(f"* {line['what']}: {line['error']}" for line in failures), ""]
    return parts


def results_page(results: list[tuple[str, dict]]) -> str:
    parts = ["# Results of communication", ""]
    parts += ["This page is written by `bench/communication/comm_page.py` from the files in"]
    parts += ["`bench/communication/results`.", ""]
    if not results:
        return "\n".join([*parts, "Not measured yet.", ""])
    measured = {line.get("what") for _, data in results for line in data.get("results", [])}
    said = [text for name, text in OF_RIVALS.items() if name in measured]
    parts += ["## How it was measured", "", "".join([HOW, *said])]
    parts += [
        "On your machine: `starling bench comm`; with other libraries `python bench/communication/run.py` after a"
    ]
    parts += ["build with the preset `cuda`.", ""]
    for name, data in results:
        parts += section(name, data.get("machine", {}), data.get("results", []))
    return "\n".join(parts).rstrip() + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=HERE / "results", help="the result files")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/communication_results.md", help="the page to write")
    options = parser.parse_args()
    files = sorted(options.results.glob("*.json"))
    options.page.write_text(results_page([(path.stem, json.loads(path.read_text())) for path in files]))
    print(f"{options.page} from {len(files)} result files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
