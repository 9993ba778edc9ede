"""The programs that are measured: two half steps of Jacobi's method in a pass of the time loop, in one, two and three
dimensions."""

from __future__ import annotations

import dace
from starling import dace as sd

K, M, N = sd.symbols("K M N")
f32 = dace.float32


@sd.program
def jacobi_1d(A: sd.split(f32[N]), B: sd.split(f32[N]), steps: dace.int64):
    for t in range(steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


@sd.program
def jacobi_2d(A: sd.split(f32[M, N], 0), B: sd.split(f32[M, N], 0), steps: dace.int64):
    for t in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@sd.program
def jacobi_3d(A: sd.split(f32[K, M, N], 0), B: sd.split(f32[K, M, N], 0), steps: dace.int64):
    for t in range(steps):
        B[1:-1, 1:-1, 1:-1] = 0.14285 * (
            A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, :-2] + A[1:-1, 1:-1, 2:] + A[1:-1, :-2, 1:-1] + A[1:-1, 2:, 1:-1]
            + A[:-2, 1:-1, 1:-1] + A[2:, 1:-1, 1:-1]
        )  # fmt: skip
        A[1:-1, 1:-1, 1:-1] = 0.14285 * (
            B[1:-1, 1:-1, 1:-1] + B[1:-1, 1:-1, :-2] + B[1:-1, 1:-1, 2:] + B[1:-1, :-2, 1:-1] + B[1:-1, 2:, 1:-1]
            + B[:-2, 1:-1, 1:-1] + B[2:, 1:-1, 1:-1]
        )  # fmt: skip


PROGRAMS = {1: jacobi_1d, 2: jacobi_2d, 3: jacobi_3d}
