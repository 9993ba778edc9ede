"""What messages by the MPI engine cost beside MPI alone, and solvers in four processes beside one.

    python bench/processes/engine.py [--repetitions 5] [--out bench/processes/engine_results/FILE.json]

On one host, by shared memory and by TCP, all ways by turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # for facts

import facts  # noqa: E402

PES = 4
SIZES = (8, 1 << 20)
WAYS = {"shared memory": [], "tcp": ["--mca", "btl", "tcp,self", "--mca", "pml", "ob1"]}
MPIRUN = ["mpirun", "--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]


def messages() -> dict[str, float]:
    """Microseconds of a message and its notification from PE 0 to PE 1, half the time there and back. Collective."""
    from starling import communication, machine

    m = machine.best()
    times = communication.measure(
        machine=m, sizes=list(SIZES), ways=["stores"], pairs=[(0, 1)], repetitions=10, seconds=0.05, meetings=False
    )
    found = {f"message {t.bytes}": t.least for t in times if t.measure == "latency"}
    return found if m.process == 0 else {}


def solvers() -> dict[str, float]:
    """Microseconds of a step of a stencil and of an iteration of CG. Collective."""
    import numpy as np

    from starling import machine, stencil
    from starling.linalg import cg, matrices

    m = machine.best()
    u = np.random.default_rng(1).random((1024, 1024), dtype="f4")
    _, steps = stencil.jacobi(u, 200, machine=m, variant="cpu_free", report=True)
    b = np.random.default_rng(2).standard_normal(1024 * 1024)
    _, _, solved = cg(matrices.grid_2d(1024, 1024), b, maxiter=30, machine=m, report=True)
    found = {
        "stencil 1024x1024": steps.microseconds_per_step,
        "cg 1024x1024": solved.microseconds_per_iteration,
    }
    return found if m.process == 0 else {}


WORK = {"messages": messages, "solvers": solvers}


def run(words: list[str], **variables: str) -> str:
    environment = {**os.environ, **variables}
    return subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, timeout=600, check=True).stdout


def work(what: str, processes: int, way: str) -> dict[str, float]:
    """What a part of the work took in so many processes; in one with four PEs."""
    program = [sys.executable, str(Path(__file__).resolve()), "--work", what]
    if processes == 1:
        said = run(program, STARLING_MACHINE="host", STARLING_DEVICES=str(PES))
    else:
        launch = [*MPIRUN, "-n", str(processes), *WAYS[way], *program]
        said = run(launch, STARLING_MACHINE="distributed", STARLING_TRANSPORT="mpi")
    found: dict[str, float] = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    return found


def raw(program: Path, way: str) -> dict[str, float]:
    said = run([*MPIRUN, "-n", "2", *WAYS[way], str(program), *map(str, SIZES)])
    return {f"message {size}": float(us) for size, us in (line.split() for line in said.splitlines())}


def measure_all(repetitions: int) -> list[dict[str, object]]:
    held: dict[tuple[str, str, str], list[float]] = {}

    def hold(way: str, by: str, found: dict[str, float]) -> None:
        for what, us in found.items():
            held.setdefault((what, way, by), []).append(round(us, 3))

    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "raw_messages"
        subprocess.run(["mpicc", "-O2", str(HERE / "raw_messages.c"), "-o", str(program)], check=True)
        for _ in range(repetitions):
            hold("", "one process", work("solvers", 1, ""))
            for way in WAYS:
                hold(way, "MPI alone", raw(program, way))
                hold(way, "engine", work("messages", 2, way))
                hold(way, "engine", work("solvers", PES, way))
            print(json.dumps({" / ".join(key): times for key, times in held.items()}), flush=True)
    return [{"what": what, "way": way, "by": by, "microseconds": times} for (what, way, by), times in held.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--work", choices=list(WORK), help=argparse.SUPPRESS)
    o = parser.parse_args()
    if o.work:
        if found := WORK[o.work]():
            print(json.dumps(found), flush=True)
        return 0
    results = {"machine": facts.machine(), "results": measure_all(o.repetitions)}
    if o.out:
        o.out.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
