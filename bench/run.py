"""Measures the calls of kernels and keeps every repetition, with the machine and the versions they came from.

    python bench/run.py [--bin build/cuda/bin] [--out bench/results] [--devices 1 2 4]

The program prints one JSON object a line; a result file holds all lines of one machine. What else is measured has a
runner of its own: `bench/cpu_free_stencil/run.py`, and so on.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import facts
import results_page
from programs import devices_here, keep_results, lines_of

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/cuda/bin", help="where the programs are")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/results", help="where results go")
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 2, 4], help="numbers of devices")
    options = parser.parse_args()
    if not options.bin.is_dir():
        parser.error(f"--bin {options.bin}: no such folder; build the benchmarks first (make gpu)")

    here = facts.machine()
    devices = devices_here(here, options.devices)
    results: list[dict[str, object]] = []
    for n in devices:
        results += lines_of(options.bin / "bench_communication_latency", [n, 5], 120)

    target = keep_results(options.out, here, devices, results)
    print("\n".join(results_page.section(results_page.Calls(target), target)))
    return 0 if results else 1


if __name__ == "__main__":
    sys.exit(main())
