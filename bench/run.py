"""Runs the benchmarks and keeps their results: every repetition, with the machine and the versions they came from.

    python bench/run.py [--short] [--bin build/cuda/bin] [--out bench/results]

Each benchmark program prints one JSON object a line. A result file holds all lines of one machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import facts
import plot
from programs import devices_here, lines_of, result_file

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="fewer and shorter repetitions")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/cuda/bin", help="where the programs are")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results", help="where results go")
    parser.add_argument("--seconds", type=float, default=0, help="a repetition of the stencil lasts about so long")
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 2, 4], help="numbers of devices")
    options = parser.parse_args()
    if not options.bin.is_dir():
        parser.error(f"--bin {options.bin}: no such folder; build the benchmarks first (make gpu)")

    here = facts.machine()
    devices = devices_here(here, options.devices)
    repetitions = 5
    seconds = options.seconds or (0.1 if options.short else 0.3)
    results: list[dict[str, object]] = []
    for n in devices:
        results += lines_of(options.bin / "bench_communication_latency", [n, repetitions], 120)
    for n in devices:
        results += lines_of(options.bin / "bench_cpu_free_stencil_steps", [n, repetitions, seconds], 240)

    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / result_file(here, devices)
    target.write_text(json.dumps({"machine": here, "results": results}, indent=1) + "\n")
    print(f"{len(results)} results in {target}", file=sys.stderr)
    print(plot.table(results))
    plot.figures(results, options.out, target.stem)
    return 0 if results else 1


if __name__ == "__main__":
    sys.exit(main())
