"""What recording costs: microseconds per step of the 2D stencil (float32, variant cpu_free) without and with a trace.

    python bench/trace/cost.py [--machine cuda] [--devices 4] [--side 2048] [--steps 20000] [--out FILE.json]

Runs take turns, so that a drift of the machine meets both. Prints one JSON object a line, like the other benchmarks,
and the medians. Without a trace the time is that of the call; with one it is that of the programs alone, from their
launch to their end: comparing the clocks before and reading the rings after is not part of it, and is listed apart.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts

import numpy as np
from facts import machine as facts_of_machine

from starling import machine, stencil, trace


def untraced(solver: stencil.Stencil, steps: int) -> float:
    return solver.advance(steps).seconds


def traced(solver: stencil.Stencil, steps: int, records: int) -> tuple[float, float, int]:
    """Seconds of the programs, of the whole call, and records that the rings dropped."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder, "raw")
        solver.machine.trace_to(str(raw), records=records)
        try:
            start = time.perf_counter()
            solver.advance(steps)
            whole = time.perf_counter() - start
        finally:
            solver.machine.end_trace()
        programs = trace.read(raw).machines[0].programs
    return sum(p.end - p.start for p in programs) / 1e9, whole, sum(int(p.dropped.sum()) for p in programs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machine", default="auto", choices=["auto", "host", "cuda"])
    parser.add_argument("--devices", type=int, default=4)
    parser.add_argument("--side", type=int, default=2048)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--records", type=int, default=8192, help="of a block's ring")
    parser.add_argument("--out", type=Path, help="a file for the results, beside standard output")
    o = parser.parse_args()
    m = machine.named(o.machine, o.devices)
    solver = stencil.Stencil((o.side, o.side), machine=m)
    solver.load(np.random.default_rng(1).random((o.side, o.side), dtype="f4"))
    untraced(solver, o.steps)
    traced(solver, min(o.steps, 100), o.records)

    off: list[float] = []
    on: list[float] = []
    around: list[float] = []
    dropped = 0
    for _ in range(o.repetitions):
        off.append(untraced(solver, o.steps) / o.steps * 1e6)
        seconds, whole, dropped = traced(solver, o.steps, o.records)
        on.append(seconds / o.steps * 1e6)
        around.append((whole - seconds) * 1e3)
    facts = {
        "what": "trace cost",
        "machine": m.kind,
        "devices": m.size,
        "domain": f"{o.side}^2",
        "variant": "cpu_free",
        "steps": o.steps,
    }
    results = [
        {**facts, "traced": False, "us": [round(t, 4) for t in off]},
        {
            **facts,
            "traced": True,
            "us": [round(t, 4) for t in on],
            "records": o.records,
            "dropped": dropped,
            "ms_around": [round(t, 2) for t in around],
        },
    ]
    for line in results:
        print(json.dumps(line))
    a, b = statistics.median(off), statistics.median(on)
    print(f"median us per step: {a:.3f} without, {b:.3f} with a trace: {100 * (b / a - 1):+.1f} %", file=sys.stderr)
    if o.out is not None:
        o.out.parent.mkdir(parents=True, exist_ok=True)
        o.out.write_text(json.dumps({"machine": facts_of_machine(), "results": results}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
