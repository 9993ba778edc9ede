#!/usr/bin/env python3
"""Heat in a plate, written as for NumPy and compiled to one persistent kernel on every device: starling.dace.

The plate is shared out by rows, and what devices tell each other is inserted. The loop ends when no point changes by
more than the tolerance, which all devices decide together, without the host.

    python examples/dace_heat.py [--size 200] [--tol 1e-3] [--devices 4] [--blocks 2]
"""

from __future__ import annotations

import argparse

import numpy as np

from starling import dace as sd
from starling import machine

M, N = sd.symbols("M N")


@sd.program
def heat(A: sd.split(sd.float64[M, N], 0), B: sd.split(sd.float64[M, N], 0), change: sd.float64[1], tol: sd.float64):
    change[0] = tol + 1.0
    while change[0] > tol:
        B[1:-1, 1:-1] = 0.25 * (A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        change[0] = np.max(np.abs(B[1:-1, 1:-1] - A[1:-1, 1:-1]))
        A[1:-1, 1:-1] = B[1:-1, 1:-1]


def main() -> None:
    parser = argparse.ArgumentParser(description="Heat in a plate with one hot edge.")
    parser.add_argument("--size", type=int, default=200, help="points along each edge")
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--devices", type=int, default=4)
    parser.add_argument("--blocks", type=int, default=2)
    options = parser.parse_args()
    plate = np.zeros((options.size, options.size))
    plate[0] = 100.0
    other, change = np.zeros_like(plate), np.zeros(1)
    alone = [plate.copy(), other.copy(), change.copy()]

    on = machine.host(options.devices)
    report = heat(plate, other, change, options.tol, machine=on, blocks=options.blocks, report=True)
    assert report is not None
    print(report.explanation)
    print(f"{report.machine}, {report.blocks} blocks each: {report.seconds:.3f} s, last change {change[0]:.2e}")

    heat.function(*alone, options.tol)  # the same function in NumPy
    same = "the same bits as NumPy" if np.array_equal(plate, alone[0]) else "other bits than NumPy"
    print(f"mean temperature {plate.mean():.3f}: {same}")


if __name__ == "__main__":
    main()
