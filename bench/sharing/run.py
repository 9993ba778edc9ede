"""What it costs that several PEs share one GPU: the same work by 1 PE, and by 2 and 4 PEs on the GPU.

    python bench/sharing/run.py [--short] [--bin build/cuda/bin] [--out bench/sharing/results] [--seconds 400]

Stencils (`cpu_free`, `resident`, `graph`) from 256^2 to 8192^2, conjugate gradients of the 5-point matrix of 1000^2,
and chains of tasks; with partitions of multiprocessors and with plain sharing. Results are kept under a name of their
own, such as `nvidia-h200-x1-pes4`: PEs of one GPU do not use the links between GPUs, so no time of a machine of several
GPUs and no bar for one is judged by them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts and programs

import facts
import programs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOMAINS = ("256x256", "512x512", "1024x1024", "2048x2048", "4096x4096", "8192x8192")
NUMBERS = (1, 2, 4)
WAYS = ("partitions", "plain")


@contextmanager
def shared(pes: int, how: str) -> Iterator[None]:
    """Programs that are run here have so many PEs on each GPU."""
    names = ("STARLING_PES_PER_GPU", "STARLING_GPU_SHARING")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict(zip(names, (str(pes), how), strict=True)))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def measured(folder: Path, pes: int, how: str, short: bool, end: float) -> list[dict]:
    """All lines of one number of PEs."""
    repetitions, seconds = (3, 0.01) if short else (5, 0.05)
    lengths: list[object] = ["--repetitions", repetitions, "--seconds", seconds]
    lines: list[dict] = []
    with shared(pes, how):
        stencil = ["--devices", pes, "--variants", "cpu_free,resident,graph", "--computing", *lengths]
        for name, arguments in (
            ("bench_cpu_free_stencil_steps", [*stencil, "--domains", ",".join(DOMAINS)]),
            ("bench_cpu_free_cg_iterations", ["--devices", pes, "--matrices", "5-point 1000^2", "--controls",
                                              "cpu_free", *lengths]),
            ("bench_stf_pipeline", ["--devices", pes, "--kernels", 16, "--sizes", "10000,1000000", "--kinds", "same",
                                    "--repetitions", repetitions]),
        ):  # fmt: skip
            lines += programs.lines_of(folder / name, arguments, max(1.0, min(120.0, end - time.monotonic())))
    return [{**line, "pes": pes, "sharing": how if pes > 1 else "alone"} for line in lines]


def subject(line: dict) -> str:
    """What a line measured, in words; empty: nothing that is compared."""
    if line.get("what") == "stencil" and "us" in line:
        ran = "" if line.get("ran", line["variant"]) == line["variant"] else f" (ran {line['ran']})"
        return f"stencil {line['domain']}, {line['variant']}{ran}"
    if line.get("what") == "cg" and "us" in line:
        return f"CG {line['matrix']}, {line['method']}"
    if line.get("what") == "stf_pipeline":
        return f"{line['kernels']} kernels of {line['n']} elements a round, {line['backend']}"
    return ""


def section(lines: list[dict], machine: dict) -> list[str]:
    """A table: a row for each subject, a column for each way, microseconds and what 1 PE takes of them."""
    times: dict[str, dict[tuple[int, str], float]] = {}
    for line in lines:
        if name := subject(line):
            times.setdefault(name, {})[line["pes"], line["sharing"]] = statistics.median(line["us"])
    columns = [(1, "alone"), *((pes, how) for pes in NUMBERS[1:] for how in WAYS)]
    heads = ["us", *("1 PE" if pes == 1 else f"{pes} PEs on one GPU, {how}" for pes, how in columns)]
    text = [f"## {(machine['gpus'] or ['virtual devices'])[0].split(',')[0]}", "", f"| {' | '.join(heads)} |",
            f"|{' --- |' * len(heads)}"]  # fmt: skip
    for name, found in times.items():
        alone = found.get((1, "alone"))
        cells = []
        for column in columns:
            us = found.get(column)
            ratio = f" ({us / alone:.2f}x)" if us and alone and column[0] > 1 else ""
            cells.append("-" if us is None else f"{us:.4g}{ratio}")
        text.append(f"| {name} | {' | '.join(cells)} |")
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="shorter repetitions")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/cuda/bin", help="where the programs are")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="where results go")
    parser.add_argument("--seconds", type=float, default=400, help="at most")
    o = parser.parse_args()
    if not (o.bin / "bench_cpu_free_stencil_steps").is_file():
        parser.error(f"--bin {o.bin}: bench_cpu_free_stencil_steps is not there; build the benchmarks first (make gpu)")
    with shared(max(NUMBERS), ""):
        here = facts.machine()
    end = time.monotonic() + o.seconds
    lines: list[dict] = []
    for pes in NUMBERS:
        for how in WAYS if pes > 1 else ("auto",):
            lines += measured(o.bin, pes, how, o.short, end)
    programs.keep_results(o.out, here, list(NUMBERS), lines)
    print("\n".join(section(lines, here)))
    return 0 if lines else 1


if __name__ == "__main__":
    sys.exit(main())
