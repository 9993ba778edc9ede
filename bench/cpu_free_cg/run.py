"""Runs the benchmark of conjugate gradients and its rivals, and keeps the results with the machine they came from.

    python bench/cpu_free_cg/run.py [--short] [--bin build/cuda/bin] [--out bench/cpu_free_cg/results]
        [--devices 1 2 4] [--matrices TEXT ...] [--no-rivals]

A program that dies or says nothing for a while is started again for the matrices behind the one where that happened.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts and programs

import cg_plot
import facts
import page
import programs
from cg_results import CgResults

ROOT = Path(__file__).resolve().parent.parent.parent


def names(program: Path, asked: list[str]) -> list[str]:
    """Those matrices of the benchmark that are asked for."""
    listed = subprocess.run([str(program), "--list"], capture_output=True, text=True, timeout=60)
    everything = listed.stdout.splitlines()
    return [name for name in everything if not asked or any(text in name for text in asked)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="fewer and shorter repetitions")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/cuda/bin", help="where the programs are")
    parser.add_argument("--out", type=Path, default=ROOT / "bench/cpu_free_cg/results", help="where results go")
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 2, 4], help="numbers of devices")
    parser.add_argument("--matrices", nargs="+", default=[], help="those whose names contain one of these texts")
    parser.add_argument("--no-rivals", action="store_true", help="leave the other libraries out")
    parser.add_argument("--seconds", type=float, default=170, help="for each of the two programs at most")
    o = parser.parse_args()
    own = o.bin / "bench_cpu_free_cg_iterations"
    rival = o.bin / "bench_cpu_free_cg_rivals"
    if not own.is_file():
        parser.error(f"{own}: no such program; build the benchmarks first (make gpu)")

    here = facts.machine()
    devices = programs.devices_here(here, o.devices)
    lengths = ["--repetitions", 3, "--seconds", 0.01] if o.short else ["--repetitions", 5, "--seconds", 0.03]
    arguments = ["--devices", ",".join(map(str, devices)), *lengths]
    todo = names(own, o.matrices)
    results = programs.over("matrix", "--matrices", todo, own, arguments, o.seconds)
    if rival.is_file() and not o.no_rivals:
        results += programs.over("matrix", "--matrices", todo, rival, arguments, o.seconds)

    target = programs.keep_results(o.out, here, devices, results)
    kept = CgResults(target)
    print("\n".join(page.section(kept)))
    cg_plot.figures(kept)
    return 0 if kept.lines else 1


if __name__ == "__main__":
    sys.exit(main())
