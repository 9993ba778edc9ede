"""Runs the benchmarks of tasks and keeps their results with the machine they came from.

    python bench/stf/run.py [--bin build/cuda/bin] [--out bench/stf/results] [--devices 1 2 4] [--no-rivals]

Each program prints one JSON object a line. A result file holds all lines of one machine.
"""

from __future__ import annotations

import argparse
import sys
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/cuda/bin", help="where the programs are")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/stf/results", help="where results go")
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 2, 4], help="numbers of devices")
    parser.add_argument("--no-rivals", action="store_true", help="leave the other libraries out")
    o = parser.parse_args()
    if not (o.bin / "bench_stf_task_overhead").is_file():
        parser.error(f"{o.bin}: no bench_stf_task_overhead there; build the benchmarks first (make gpu)")

    here = facts.machine()
    devices = programs.devices_here(here, o.devices)
    results = overhead(o.bin / "bench_stf_task_overhead")
    for n in devices:
        results += programs.lines_of(o.bin / "bench_stf_reduction", ["--devices", n], 60)
    rival = o.bin / "bench_stf_rivals_reduction"
    if rival.is_file() and not o.no_rivals:
        results += programs.lines_of(rival, [], 60)
    if (o.bin / "bench_stf_pipeline").is_file():
        for n in devices:
            results += programs.lines_of(o.bin / "bench_stf_pipeline", ["--devices", n], 90)
    for prefetch in ([], ["--prefetch"]):
        results += programs.lines_of(o.bin / "bench_stf_eviction", prefetch, 90)

    if (o.bin / "bench_stf_context_cost").is_file():
        for n in devices:
            results += programs.lines_of(o.bin / "bench_stf_context_cost", ["--devices", n], 60)

    target = programs.keep_results(o.out, here, devices, results)
    print("\n".join(stf_page.section(stf_page.StfResults(target))))
    return 0 if results else 1


if __name__ == "__main__":
    sys.exit(main())
