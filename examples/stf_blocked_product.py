#!/usr/bin/env python3
"""Task flow on all devices of a machine: a matrix product by blocks, and algorithm 1 of the CUDASTF paper.

Both are written as sequences of tasks that say what they read and write. The context finds out which of them may run at
the same time, moves blocks to the devices and back, and, with a limit on device memory, out of the way. The results are
compared with NumPy's.

    python examples/stf_blocked_product.py [--size 384] [--block 64] [--devices 4] [--device-memory 1M]
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

import starling
from starling import machine, stf

Matrix = NDArray[np.float64]


def algorithm_1(m: machine.Machine) -> bool:
    """Four operations on three vectors; the second and the third may run at the same time, on two devices."""
    rng = np.random.default_rng(1)
    x, y, z = (rng.random(1000) for _ in range(3))
    expected_y = y + 2 * x
    expected_z = (z + 2 * x) + expected_y
    other = stf.exec_place.device(m.size - 1)
    with stf.context(m) as ctx:
        lx, ly, lz = (ctx.logical_data(v, name=n) for v, n in ((x, "X"), (y, "Y"), (z, "Z")))
        with ctx.task(lx.rw(), name="X = 2X") as t:
            (dx,) = t.views()
            dx *= 2
        with ctx.task(lx.read(), ly.rw(), name="Y = Y + X") as t:
            dx, dy = t.views()
            dy += dx
        with ctx.task(lx.read(), lz.rw(), where=other, name="Z = Z + X") as t:
            dx, dz = t.views()
            dz += dx
        with ctx.task(ly.read(), lz.rw(), name="Z = Z + Y") as t:
            dy, dz = t.views()
            dz += dy
    return np.array_equal(y, expected_y) and np.array_equal(z, expected_z)


def blocks_of(ctx: stf.Context, whole: Matrix, block: int, name: str) -> list[list[stf.LogicalData]]:
    """A matrix as logical data block by block; the rows of a block are apart in the matrix, in tasks they are not."""
    n = whole.shape[0] // block
    parts = [[whole[i * block : (i + 1) * block, j * block : (j + 1) * block] for j in range(n)] for i in range(n)]
    return [[ctx.logical_data(p, name=f"{name}{i}{j}") for j, p in enumerate(row)] for i, row in enumerate(parts)]


def product(ctx: stf.Context, a: Matrix, b: Matrix, c: Matrix, block: int) -> None:
    """c = a b. Each block of c is computed on one device, its blocks are distributed round-robin over the devices."""
    left, right, result = blocks_of(ctx, a, block, "A"), blocks_of(ctx, b, block, "B"), blocks_of(ctx, c, block, "C")
    n = len(result)
    for i in range(n):
        for j in range(n):
            where = stf.exec_place.device((i * n + j) % ctx.machine.size)
            for k in range(n):
                out = result[i][j].write() if k == 0 else result[i][j].rw()
                with ctx.task(left[i][k].read(), right[k][j].read(), out, where=where, name="multiply") as t:
                    da, db, dc = t.views()
                    multiply(da, db, dc, first=k == 0)


def multiply(a: Any, b: Any, c: Any, first: bool) -> None:
    """c (+)= a b, of NumPy's arrays or CuPy's."""
    if first:
        c[...] = a @ b
    else:
        c += a @ b


def main() -> int:
    parser = argparse.ArgumentParser(description="Algorithm 1 and a blocked matrix product as tasks on all devices.")
    parser.add_argument("--size", type=int, default=384, help="rows of the matrices (384)")
    parser.add_argument("--block", type=int, default=64, help="rows of a block (64)")
    parser.add_argument("--devices", type=int, help="how many; all GPUs, or 4 virtual devices, if not given")
    parser.add_argument(
        "--device-memory", default=0, help="most memory of each device, such as 1M; all there is if not given"
    )
    arguments = parser.parse_args()
    if arguments.block < 1 or arguments.size < 1 or arguments.size % arguments.block:
        raise starling.errors.ArgumentError(
            f"--size {arguments.size} and --block {arguments.block}: the size must be a multiple of the block"
        )
    m = machine.best(arguments.devices)
    print(f"machine: {m.choice}")
    good = algorithm_1(m)
    print(f"algorithm 1: {'as NumPy has it' if good else 'WRONG'}")

    rng = np.random.default_rng(2)
    a, b = (rng.random((arguments.size, arguments.size)) for _ in range(2))
    c = np.full_like(a, np.nan)
    with stf.context(m, device_memory=arguments.device_memory) as ctx:
        product(ctx, a, b, c, arguments.block)
    error = float(abs(c - a @ b).max() / abs(a @ b).max())
    close = error < 1e-12
    done = ctx.statistics()
    print(
        f"product of {arguments.size} x {arguments.size} by blocks of {arguments.block}: {done.tasks} tasks, "
        f"{done.copies} copies of {done.copied_bytes / 2**20:.1f} MiB, {done.evictions} blocks moved out of the way"
    )
    print(f"product: {'as NumPy has it' if close else 'WRONG'}, relative error {error:.1e}")
    return 0 if good and close else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except starling.Error as problem:
        sys.exit(f"stf_blocked_product: {problem}")
