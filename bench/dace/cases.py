"""The programs that are measured: two half steps of Jacobi's method in a pass of the time loop, in one, two and three
dimensions, and two kernels of npbench."""

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


@sd.program
def heat_3d(A: sd.split(f32[K, M, N], 0), B: sd.split(f32[K, M, N], 0), steps: dace.int64):
    for t in range(steps):
        B[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, :-2])
            + A[1:-1, 1:-1, 1:-1]
        )
        A[1:-1, 1:-1, 1:-1] = (
            0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[:-2, 1:-1, 1:-1])
            + 0.125 * (B[1:-1, 2:, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, :-2, 1:-1])
            + 0.125 * (B[1:-1, 1:-1, 2:] - 2.0 * B[1:-1, 1:-1, 1:-1] + B[1:-1, 1:-1, :-2])
            + B[1:-1, 1:-1, 1:-1]
        )


@sd.program
def fdtd_2d(
    ex: sd.split(f32[M, N], 0), ey: sd.split(f32[M, N], 0), hz: sd.split(f32[M, N], 0), fict: f32[1], steps: dace.int64
):
    for t in range(steps):
        ey[0, :] = fict[0]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


KERNELS = {"heat_3d": (heat_3d, 2, 0, 2), "fdtd_2d": (fdtd_2d, 3, 1, 1)}
"""Programs that `--kernels` measures: how many large arrays and arrays of one element they take, and how many sweeps
there are in a step."""

PROGRAMS = {1: jacobi_1d, 2: jacobi_2d, 3: jacobi_3d}
