"""What several processes of one host cost: the same work in one process with all PEs, and in one process for each.

    python bench/processes/run.py [--machine host|cuda] [--pes 4] [--repetitions 5] [--out FILE.json]

`bench/processes/results` keeps the files.

Messages between PE 0 and PE 1, steps of a stencil, iterations of conjugate gradients; both ways of starting by turns.
`page.py` writes the table of docs/processes.md from the file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for facts

import facts  # noqa: E402

SIDES = {"host": [1024], "cuda": [256, 1024]}  # of the stencil's domain


def work() -> dict[str, float]:
    """Microseconds of each thing, measured once on the machine by default. Collective."""
    import numpy as np

    from starling import communication, machine, stencil
    from starling.linalg import cg, matrices

    m = machine.best()
    times = communication.measure(
        machine=m, sizes=[8, 65536], ways=["channel"], pairs=[(0, 1)], repetitions=10, seconds=0.02
    )
    found = {f"message {t.bytes}": t.least for t in times if t.measure == "latency"}
    found |= {f"stream {t.bytes}": t.least for t in times if t.measure == "stream" and t.bytes > 8}
    found |= {t.what: t.least for t in times if t.what == "sync_all" and t.blocks == 1}
    for side in SIDES[m.kind]:
        u = np.random.default_rng(1).random((side, side), dtype="f4")
        _, steps = stencil.jacobi(u, 200 if m.kind == "host" else 20000, machine=m, variant="cpu_free", report=True)
        found[f"stencil {side}x{side}"] = steps.microseconds_per_step
    a = matrices.grid_2d(1024, 1024)
    b = np.random.default_rng(2).standard_normal(1024 * 1024)
    _, _, solved = cg(a, b, maxiter=30 if m.kind == "host" else 1000, machine=m, report=True)
    found["cg 1024x1024"] = solved.microseconds_per_iteration
    return found if m.process == 0 else {}


def measured(kind: str, pes: int, processes: int) -> dict[str, float]:
    """What the work took in so many processes, which have `pes` PEs together."""
    program = [sys.executable, str(Path(__file__).resolve()), "--work"]
    environment = {**os.environ, "STARLING_MACHINE": kind, "STARLING_DEVICES": str(pes)}
    if processes > 1:
        environment |= {"STARLING_MACHINE": "distributed", "STARLING_DISTRIBUTED": kind}
        program = [sys.executable, "-m", "starling", "launch", "-n", str(processes), "--", *program]
    else:  # has the GPU for itself, without MPS
        environment.pop("CUDA_MPS_PIPE_DIRECTORY", None)
    done = subprocess.run(program, env=environment, stdout=subprocess.PIPE, text=True, timeout=600, check=True)
    lines = [line for line in done.stdout.splitlines() if "{" in line]
    found: dict[str, float] = json.loads(lines[0][lines[0].index("{") :])
    return found


def measure_all(kind: str, pes: int, repetitions: int) -> list[dict[str, object]]:
    by_name: dict[str, dict[int, list[float]]] = {}
    for _ in range(repetitions):
        for processes in (1, pes):
            for what, us in measured(kind, pes, processes).items():
                by_name.setdefault(what, {}).setdefault(processes, []).append(round(us, 3))
        print(json.dumps(by_name), flush=True)
    return [
        {"what": what, "processes": processes, "pes": pes, "microseconds": times}
        for what, each in by_name.items()
        for processes, times in each.items()
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machine", choices=["host", "cuda"], default="host", help="virtual devices or GPUs")
    parser.add_argument("--pes", type=int, default=4)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.work:
        if found := work():
            print(json.dumps(found), flush=True)
        return 0
    results = {"machine": facts.machine(), "kind": o.machine, "results": measure_all(o.machine, o.pes, o.repetitions)}
    if o.out:
        o.out.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
