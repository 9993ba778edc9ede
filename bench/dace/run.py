"""What a sweep of programs of starling.dace takes, beside the stencils that were written by hand and beside DaCe alone.

    python bench/dace/run.py [--devices 1,2,4] [--shapes 256x256,...] [--machine cuda] [--out bench/dace/results]
                             [--settings 512x0,256x0] [--control device,stream,call,call-one-thread]
                             [--packets 8192] [--stock] [--kernels heat_3d:256x256x256] [--seconds 200]

Each way does many sweeps in one call, arrays on the devices, and is timed by the host; the least of five counts. A
program of few sweeps is compared with NumPy before. `cpu_free`: starling.stencil's variant of that name. `--stock`:
DaCe's own code for one GPU (stock.py), which launches a kernel for each sweep. `--settings`: threads
of a block and blocks of a PE, 0: chosen. `--control`: who runs the time loop of the program; `call` is the
baseline of the thesis's figure 6.3, with a thread of the host for each PE, `stream` what a host can do at best;
`call-one-thread` is `call` with one thread for all PEs. `--packets`: bytes up to which halos are packets.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts and programs

import cases
import facts
import numpy as np
import programs
import stock
import sweeps

import starling
from starling import machine, stencil

HERE = Path(__file__).resolve().parent
SHAPES = ((24000,), (500, 500), (256, 256), (2048, 2048), (8192, 8192), (256,) * 3, (512,) * 3)
SHORT = ((240,), (50, 40), (12, 10, 8))
REPETITIONS = 5
ONE_THREAD = "call-one-thread"
CONTROLS = ("device", "stream", "call", ONE_THREAD)
SWEEPS_PER_STEP = 2  # of the programs
CHECKED_STEPS = 3
Shape = tuple[int, ...]


def name(shape: Shape) -> str:
    return "x".join(map(str, shape))


def shape_of(text: str) -> Shape:
    return tuple(int(n) for n in text.split("x"))


def steps_for(shape: Shape, seconds: float, gpus: bool) -> int:
    """That take about so long: each sweep at least reads and writes everything once, at the rate of a GPU."""
    least = max(3e-6, 8 * float(np.prod(shape)) / 4e12) if gpus else 1e-4
    return max(2, int(seconds / (SWEEPS_PER_STEP * least)))


def repeated(run: Callable[[], object], sweeps: int) -> list[float]:
    """Microseconds of a sweep, by repetition, after one to warm up."""
    run()
    us = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        run()
        us.append(1e6 * (time.perf_counter() - start) / sweeps)
    return us


def arrays(shape: Shape) -> list[Any]:
    rng = np.random.default_rng(1)
    return [rng.random(shape, dtype=np.float32) for _ in range(2)]


def checked(program: Any, m: machine.Machine, shape: Shape, how: dict[str, Any]) -> None:
    have = arrays(shape)
    want = [a.copy() for a in have]
    program.function(*want, CHECKED_STEPS)
    program(*have, CHECKED_STEPS, machine=m, **how)
    for a, b in zip(have, want, strict=True):
        np.testing.assert_array_equal(a, b)


def compiled_program(
    m: machine.Machine, shape: Shape, how: dict[str, Any], one_thread: bool, seconds: float
) -> dict[str, object]:
    program = cases.PROGRAMS[len(shape)]
    checked(program, m, shape, how)
    steps = steps_for(shape, seconds, m.kind == "cuda")
    run = program.on(m, *arrays(shape), **how)
    if one_thread:
        run._placed.take_one_thread()
    us = repeated(lambda: run(steps=steps, deadline=20), SWEEPS_PER_STEP * steps)
    return {"us": us, "sweeps": SWEEPS_PER_STEP * steps, "blocks": run.blocks, "threads": run.threads}


def kernel(m: machine.Machine, name: str, shape: Shape, seconds: float) -> dict[str, object]:
    """A program of npbench, beside NumPy before."""
    program, fields, numbers, sweeps = cases.KERNELS[name]
    rng = np.random.default_rng(1)
    start = [rng.random(shape, dtype=np.float32) for _ in range(fields)]
    start += [rng.random(1, dtype=np.float32) for _ in range(numbers)]
    have, want = ([a.copy() for a in start] for _ in range(2))
    program.function(*want, CHECKED_STEPS)
    program(*have, CHECKED_STEPS, machine=m)
    for a, b in zip(have, want, strict=True):
        np.testing.assert_array_equal(a, b)
    steps = steps_for(shape, seconds, m.kind == "cuda")
    run = program.on(m, *start)
    us = repeated(lambda: run(steps=steps, deadline=20), sweeps * steps)
    return {"us": us, "sweeps": sweeps * steps, "blocks": run.blocks, "threads": run.threads}


def by_hand(m: machine.Machine, shape: Shape, seconds: float) -> dict[str, object]:
    steps = SWEEPS_PER_STEP * steps_for(shape, seconds, m.kind == "cuda")
    u = arrays(shape)[0]
    us = []
    for _ in range(REPETITIONS + 1):
        report = stencil.jacobi(u, steps, machine=m, variant="cpu_free", report=True)[1]
        us.append(report.microseconds_per_step)
    return {"us": us[1:], "sweeps": steps, "blocks": report.blocks}


def dace_alone(shape: Shape, seconds: float) -> dict[str, object]:
    """DaCe's own code for one GPU."""
    import cupy as cp

    compiled = stock.compiled(len(shape))
    steps = steps_for(shape, seconds, True)
    sizes = dict(zip(("K", "M", "N")[-len(shape) :], shape, strict=True))
    have, want = arrays(shape), arrays(shape)
    cases.PROGRAMS[len(shape)].function(*want, CHECKED_STEPS)
    on_gpu = [cp.asarray(a) for a in have]
    cp.cuda.Device().synchronize()  # DaCe's streams are not CuPy's
    compiled(A=on_gpu[0], B=on_gpu[1], steps=CHECKED_STEPS, **sizes)
    cp.cuda.Device().synchronize()
    np.testing.assert_allclose(cp.asnumpy(on_gpu[0]), want[0], rtol=1e-5)

    def run() -> None:
        compiled(A=on_gpu[0], B=on_gpu[1], steps=steps, **sizes)
        cp.cuda.Device().synchronize()

    return {
        "us": repeated(run, SWEEPS_PER_STEP * steps),
        "sweeps": SWEEPS_PER_STEP * steps,
        "block": stock.BLOCKS[len(shape)],
    }


def attempted(line: dict[str, object], measure: Callable[[], dict[str, object]]) -> dict[str, object]:
    try:
        return {**line, **measure()}
    except Exception as problem:  # one way or shape does not stop the others
        return {**line, "error": f"{type(problem).__name__}: {problem}"}


def lines(o: argparse.Namespace, devices: list[int]) -> Iterator[dict[str, object]]:
    end = time.monotonic() + o.seconds
    for count in devices:
        m = machine.named(o.machine, count)
        for name_of, shape in o.kernels:
            line = {"shape": f"{name_of} {name(shape)}", "devices": count, "way": "program"}
            yield attempted(line, partial(kernel, m, name_of, shape, o.length))
        for shape in o.shapes:
            line = {"shape": name(shape), "devices": count, **({} if o.packets is None else {"packets": o.packets})}
            for threads, blocks in o.settings:
                if time.monotonic() > end:
                    return
                for control in o.control:
                    one_thread = control == ONE_THREAD
                    how = {"threads": threads or None, "control": "call" if one_thread else control,
                           "packet_bytes": o.packets, **({"blocks": blocks} if blocks else {})}  # fmt: skip
                    way = "program" if control == "device" else control
                    measure = partial(compiled_program, m, shape, how, one_thread, o.length)
                    yield attempted({**line, "way": way}, measure)
            if len(shape) > 1:
                yield attempted({**line, "way": "cpu_free"}, partial(by_hand, m, shape, o.length))
            if o.stock and count == 1:
                yield attempted({**line, "way": "DaCe"}, partial(dace_alone, shape, o.length))


def pair(text: str) -> tuple[int, int]:
    threads, blocks = text.split("x")
    return int(threads), int(blocks)


def kernels(text: str) -> list[tuple[str, Shape]]:
    found = []
    for part in text.split(","):
        wanted, _, shape = part.partition(":")
        if wanted not in cases.KERNELS:
            raise argparse.ArgumentTypeError(f"{wanted}; must be of {', '.join(cases.KERNELS)}")
        found.append((wanted, shape_of(shape)))
    return found


def controls(text: str) -> list[str]:
    wanted = text.split(",")
    if not set(wanted) <= set(CONTROLS):
        raise argparse.ArgumentTypeError(f"{text}; must be of {', '.join(CONTROLS)}")
    return wanted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", type=lambda t: [int(n) for n in t.split(",")], default=[1, 2, 4])
    parser.add_argument("--shapes", type=lambda t: [shape_of(s) for s in t.split(",")])
    parser.add_argument("--machine", choices=("cuda", "host"), default="cuda")
    parser.add_argument("--settings", type=lambda t: [pair(s) for s in t.split(",")], default=[(0, 0)])
    parser.add_argument(
        "--control", type=controls, default=["device"], help=f"{','.join(CONTROLS)}: who runs the time loop"
    )
    parser.add_argument("--kernels", type=kernels, default=[], help="of npbench, such as heat_3d:256x256x256")
    parser.add_argument("--stock", action="store_true", help="DaCe alone too")
    parser.add_argument("--packets", type=int, help="bytes up to which halos are packets")
    parser.add_argument("--length", type=float, default=0.05, help="seconds of a repetition, about")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="where results go")
    parser.add_argument("--seconds", type=float, default=200, help="at most; what is left is left out")
    o = parser.parse_args()
    here = facts.machine()
    o.shapes = o.shapes or (SHAPES if o.machine == "cuda" else SHORT)
    devices = programs.devices_here(here, o.devices) if o.machine == "cuda" else o.devices
    if not devices:
        parser.error(f"--devices {o.devices}: this machine has none of these numbers of devices")
    print(f"Starling {starling.__version__}", file=sys.stderr)
    kept: list[dict] = []
    for line in lines(o, devices):
        kept.append(line)
        print(line, file=sys.stderr, flush=True)
    programs.keep_results(o.out, here, devices, kept)
    print("\n".join(sweeps.table(kept)))
    return 0 if any("us" in line for line in kept) else 1


if __name__ == "__main__":
    sys.exit(main())
