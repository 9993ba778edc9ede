"""Runs the benchmarks of tasks and keeps their results with the machine they came from.

    python bench/stf/run.py [--bin build/cuda/bin] [--out bench/stf/results] [--devices 1 2 4] [--no-rivals]
                            [--cudastf PROGRAM] [--only overhead,context_cost]

Each program prints one JSON object a line. A result file holds all lines of one machine. PROGRAM is CUDASTF's own
benchmark, cudax/test/stf/stress/task_bench.cu of github.com/NVIDIA/cccl, compiled with -O3 -DNDEBUG.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts and programs

import facts
import programs
import stf_page

ROOT = Path(__file__).resolve().parent.parent.parent


def overhead(program: Path) -> list[dict]:
    """What a task costs the host: all graphs; with a kernel; in graphs; recorded and launched; from several threads."""
    few = ["--topologies", "trivial,stencil", "--data", "tokens"]
    return [
        *programs.lines_of(program, ["--steps", 400, "--repetitions", 9], 120),
        *programs.lines_of(program, [*few, "--work", "kernel"], 60),
        *programs.lines_of(program, [*few, "--backends", "graph"], 60),
        *programs.lines_of(program, ["--work", "none,kernel", "--data", "tokens", "--backends", "replay"], 60),
        *programs.lines_of(program, ["--topologies", "trivial", "--data", "tokens", "--threads", "2,4,8"], 60),
    ]


# What is run besides: whether once for each number of devices, and with which arguments.
PARTS_OF_DEVICES = (
    ("reduction", True, [[]]),
    ("pipeline", True, [[], ["--kinds", "together", "--kernels", "4,16"]]),
    ("context_cost", True, [[]]),
    ("eviction", False, [[], ["--prefetch"]]),
)
PARTS = ("overhead", *(part for part, _, _ in PARTS_OF_DEVICES))
RIVAL_GRAPHS = {0: "trivial", 1: "stencil"}  # what it numbers, of those that are the same graphs as ours
WIDTH, STEPS = 8, 800  # 6,400 tasks, of which its ten repetitions go 100 times over 8 steps


def beside_cudastf(program: Path, rival: Path) -> Iterator[dict]:
    """Tasks without work until a fence behind them, by turns; CUDASTF prints the mean of ten repetitions."""
    for _ in range(3):
        for number, graph in RIVAL_GRAPHS.items():
            said = subprocess.run(
                [rival, str(WIDTH), str(WIDTH), str(STEPS // WIDTH), str(number)],
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            ).stderr
            found = re.search(r"Elapsed: ([0-9.]+)\+-", said)
            if found is None:
                raise ValueError(f"{rival}: printed {said[:200]!r}, no time of a task")
            yield {"what": "task_overhead_rival", "topology": graph, "width": WIDTH, "us": [float(found.group(1))]}
        few = ["--topologies", ",".join(RIVAL_GRAPHS.values()), "--data", "slices", "--width", WIDTH, "--steps", STEPS]
        for line in programs.lines_of(program, [*few, "--fence", 1, "--repetitions", 10], 60):
            yield {**line, "what": "task_overhead_fenced"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/cuda/bin", help="where the programs are")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/stf/results", help="where results go")
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 2, 4], help="numbers of devices")
    parser.add_argument("--cudastf", type=Path, metavar="PROGRAM", help="CUDASTF's task_bench")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument("--no-rivals", action="store_true", help="leave the other libraries out")
    o = parser.parse_args()
    if not (o.bin / "bench_stf_task_overhead").is_file():
        parser.error(f"{o.bin}: no bench_stf_task_overhead there; build the benchmarks first (make gpu)")

    here = facts.machine()
    devices = programs.devices_here(here, o.devices)
    results: list[dict] = []
    if "overhead" in o.only:
        results += overhead(o.bin / "bench_stf_task_overhead")
        if o.cudastf is not None and not o.no_rivals:
            results += beside_cudastf(o.bin / "bench_stf_task_overhead", o.cudastf)
    for part, of_devices, others in PARTS_OF_DEVICES:
        if part in o.only and (o.bin / f"bench_stf_{part}").is_file():
            for on in [["--devices", n] for n in devices] if of_devices else [[]]:
                for arguments in others:
                    results += programs.lines_of(o.bin / f"bench_stf_{part}", [*on, *arguments], 90)
    rival = o.bin / "bench_stf_rivals_reduction"
    if "reduction" in o.only and rival.is_file() and not o.no_rivals:
        results += programs.lines_of(rival, [], 60)

    target = programs.keep_results(o.out, here, devices, results)
    print("\n".join(stf_page.section(stf_page.StfResults(target))))
    return 0 if results else 1


if __name__ == "__main__":
    sys.exit(main())
