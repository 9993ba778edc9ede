"""What OpenSHMEM's names cost beside the calls of a block that they rest on.

    python bench/shmem/run.py [--bin build/cuda/bin] [--out bench/shmem/results] [--devices 4] [--before FOLDER]

With --before, programs of an earlier build in that folder: `bench_communication_latency` of both builds is run in turn,
which shows whether direct calls have become slower.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts and programs

import facts
import programs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CALLS = "bench_shmem_calls"
LATENCY = "bench_communication_latency"
TURNS = 3


def both_builds(now: Path, before: Path, devices: int) -> list[dict]:
    """The lines of the direct calls, by builds in turn."""
    lines: list[dict] = []
    for turn in range(TURNS):
        for build, folder in (("before", before), ("now", now)):
            found = programs.run(folder / LATENCY, [devices, 5], 60).lines
            lines += [{**line, "build": build, "turn": turn} for line in found]
    return lines


def least(lines: list[dict], *keys: str) -> dict[tuple, float]:
    """The least time by what was measured and these keys."""
    found: dict[tuple, float] = {}
    for line in lines:
        if line.get("us"):
            name = (line["what"], line["bytes"], *(line.get(key) for key in keys))
            found[name] = min(found.get(name, float("inf")), *line["us"])
    return found


def section(lines: list[dict]) -> list[str]:
    """A row for each pair of calls, and for each direct call of two builds."""
    text = ["| us | bytes | first | second | ratio |", "| --- | --- | --- | --- | --- |"]
    for key, (first, second) in (("by", ("block", "shmem")), ("build", ("before", "now"))):
        times = least([line for line in lines if key in line], key)
        for what, size in dict.fromkeys(name[:2] for name in times):
            a, b = times.get((what, size, first)), times.get((what, size, second))
            if a and b:
                text.append(f"| {what}: {first}, {second} | {size} | {a:.3f} | {b:.3f} | {b / a:.3f} |")
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/cuda/bin", help="where the programs are")
    parser.add_argument("--before", type=Path, help="programs of an earlier build")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="where results go")
    parser.add_argument("--devices", type=int, default=4, help="PEs (STARLING_PES_PER_GPU=4: on one GPU)")
    o = parser.parse_args()
    if not (o.bin / CALLS).is_file():
        parser.error(f"--bin {o.bin}: {CALLS} is not there; build the benchmarks first (make gpu)")
    if o.before and not (o.before / LATENCY).is_file():
        parser.error(f"--before {o.before}: {LATENCY} is not there; build the benchmarks of that commit")
    lines = programs.run(o.bin / CALLS, ["--devices", o.devices], 120).lines
    if o.before:
        lines += both_builds(o.bin, o.before, o.devices)
    programs.keep_results(o.out, facts.machine(), [o.devices], lines)
    print("\n".join(section(lines)))
    return 0 if any("us" in line for line in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
