"""Programs whose arrays PEs share along two axes. As plain Python they are their own oracle in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from starling import dace as sd
from starling.dace import nvshmem

K, M, N = sd.symbols("K M N")
f32, f64, i64 = sd.float32, sd.float64, sd.int64


@sd.program
def jacobi_2d(A: sd.split(f32[M, N], (0, 1)), B: sd.split(f32[M, N], (0, 1)), steps: i64):
    for t in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@sd.program
def nine_points(A: sd.split(f64[M, N], (0, 1)), B: sd.split(f64[M, N], (0, 1)), steps: i64):
    for t in range(steps):
        B[1:-1, 1:-1] = (
            0.1 * (A[:-2, :-2] + A[:-2, 2:] + A[2:, :-2] + A[2:, 2:])
            + 0.2 * (A[1:-1, :-2] + A[1:-1, 2:] + A[:-2, 1:-1] + A[2:, 1:-1])
            - 0.3 * A[1:-1, 1:-1]
        )
        A[1:-1, 1:-1] = (
            0.1 * (B[:-2, :-2] + B[:-2, 2:] + B[2:, :-2] + B[2:, 2:])
            + 0.2 * (B[1:-1, :-2] + B[1:-1, 2:] + B[:-2, 1:-1] + B[2:, 1:-1])
            - 0.3 * B[1:-1, 1:-1]
        )


@sd.program
def one_corner(A: sd.split(f64[M, N], (0, 1)), B: sd.split(f64[M, N], (0, 1)), steps: i64):
    for t in range(steps):
        B[2:, 1:] = A[:-2, :-1] * 0.75
        A[:, :] = B + 0.5


@sd.program
def far_corners(A: sd.split(f64[M, N], (1, 0)), B: sd.split(f64[M, N], (1, 0)), steps: i64):
    for t in range(steps):
        B[2:-2, 2:-2] = 0.25 * (A[4:, :-4] - A[1:-3, 4:] + A[:-4, 1:-3])
        A[1:-1, 2:-2] = B[1:-1, 1:-3]


@sd.program
def heat_3d(A: sd.split(f64[K, M, N], (0, 1)), B: sd.split(f64[K, M, N], (0, 1)), steps: i64):
    for t in range(steps):
        B[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, 0:-2])
            + A[1:-1, 1:-1, 1:-1]
        )
        A[1:-1, 1:-1, 1:-1] = B[1:-1, 1:-1, 1:-1]


@sd.program
def last_axes(A: sd.split(f64[K, M, N], (1, 2)), B: sd.split(f64[K, M, N], (1, 2)), steps: i64):
    for t in range(steps):
        B[:, 1:-1, 2:-1] = A[:, 2:, :-3] + 0.5 * A[:, :-2, 3:]
        A[1:, :, :] = B[:-1, :, :]


@sd.program
def outer_axes(A: sd.split(f64[K, M, N], (0, 2)), B: sd.split(f64[K, M, N], (0, 2)), steps: i64):
    for t in range(steps):
        B[1:-1, :, 1:-1] = A[2:, :, :-2] + 0.5 * A[:-2, :, 2:]
        A[:, 1:, :] = 0.5 * B[:, :-1, :]


@sd.program
def fdtd_2d(
    ex: sd.split(f64[M, N], (0, 1)), ey: sd.split(f64[M, N], (0, 1)), hz: sd.split(f64[M, N], (0, 1)), fict: f64[K],
    steps: i64,
):  # fmt: skip
    for t in range(steps):
        ey[0, :] = fict[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@sd.program
def converge(A: sd.split(f64[M, N], (0, 1)), B: sd.split(f64[M, N], (0, 1)), r: f64[1], tol: f64):
    r[0] = 1.0
    while r[0] > tol:
        B[1:-1, 1:-1] = 0.25 * (A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        r[0] = np.max(np.abs(B[1:-1, 1:-1] - A[1:-1, 1:-1]))
        A[1:-1, 1:-1] = B[1:-1, 1:-1]


@sd.program
def edges(A: sd.split(f64[M, N], (0, 1)), steps: i64):
    for t in range(steps):
        A[1:-1, 1:-1] = A[:-2, 1:-1] + 0.5 * A[2:, 2:]
        A[0, 1:-1] = A[0, :-2] - A[1, 2:]
        A[:-1, -1] = 0.5 * A[1:, -2]
        A[-1, 0] = 3.0


@sd.program
def relax(A: sd.split(f64[M, N], (0, 1)), steps: i64):
    for t in range(steps):
        A[1:-1, 1:-1] = 0.2 * (A[:-2, 1:-1] + A[1:-1, :-2] + A[2:, 2:] + A[:-2, :-2] + A[2:, :-2] + A[:-2, 2:])


@sd.program
def branches(A: sd.split(f64[M, N], (0, 1)), B: sd.split(f64[M, N], (0, 1)), which: i64, steps: i64):
    tmp = np.zeros_like(A)
    for t in range(steps):
        if t % 2 == 0:
            tmp[1:, 1:] = A[:-1, :-1] + B[1:, :-1]
        else:
            tmp[:, :] = np.where(A > 0.5, A, B)
        if which > 3:
            B[:-1, :] = tmp[1:, :]
        A[:, :-2] += 0.25 * tmp[:, 2:]


@sd.program
def sums(A: sd.split(f64[M, N], (0, 1)), B: sd.split(f64[M, N], (0, 1)), q: f64[3]):
    q[0] = np.sum(A[1:, 1:] * B[:-1, :-1])
    q[1] = np.max(A)
    q[2] = np.min(A[:, 1:] - A[:, :-1])


@sd.program
def product(A: f64[M, K], B: f64[K, N], C: sd.split(f64[M, N], (0, 1))):
    C[:] = A @ B


def inputs(program: Any, rng: np.random.Generator, m: int, n: int) -> tuple[list[Any], dict[str, Any]]:
    """Arrays of m rows and n columns of PEs' layers, and scalars, for a program of this file."""
    name = program.function.__name__
    two = lambda *shape: [rng.random(shape), rng.random(shape)]  # noqa: E731
    arrays = {
        "jacobi_2d": [a.astype("float32") for a in two(m, n)],
        "far_corners": two(n, m),
        "heat_3d": two(m, n, 5),
        "last_axes": two(4, m, n),
        "outer_axes": two(m, 4, n),
        "fdtd_2d": [*(rng.random((m, n)) for _ in range(3)), rng.random(8)],
        "converge": [*two(m, n), np.zeros(1)],
        "relax": [rng.random((m, n))],
        "edges": [rng.random((m, n))],
        "sums": [*two(m, n), np.full(3, np.nan)],
        "product": [rng.random((m, 3)), rng.random((3, n)), np.full((m, n), np.nan)],
    }.get(name) or two(m, n)
    values: dict[str, Any] = {"converge": {"tol": 0.05}, "branches": {"which": 5, "steps": 4}}.get(name, {})
    if not values and "steps" in program._parameters():
        values = {"steps": 5}
    return arrays, values


GRID = (
    jacobi_2d, nine_points, one_corner, far_corners, heat_3d, last_axes, outer_axes, fdtd_2d, converge, edges, relax,
    branches, sums, product,
)  # fmt: skip
SUMMED = (sums, product)
CHECKED = (jacobi_2d, nine_points, far_corners, last_axes, fdtd_2d, edges, relax, sums)


# ---- one PE's part ----


@sd.program
def smooth(A: f64[M, N], B: f64[M, N], steps: i64):
    flags = nvshmem.flags(4)
    up, down = sd.neighbour(-1), sd.neighbour(1, axis=0)
    left, right = sd.neighbour(-1, axis=1), sd.neighbour(1, axis=1)
    for t in range(1, steps):
        nvshmem.PutmemSignal(A[-1, 1:-1], A[1, 1:-1], flags[0], t, up)
        nvshmem.PutmemSignal(A[0, 1:-1], A[-2, 1:-1], flags[1], t, down)
        nvshmem.PutmemSignal(A[1:-1, -1], A[1:-1, 1], flags[2], t, left)
        nvshmem.PutmemSignal(A[1:-1, 0], A[1:-1, -2], flags[3], t, right)
        nvshmem.SignalWait(flags[0], t, down)
        nvshmem.SignalWait(flags[1], t, up)
        nvshmem.SignalWait(flags[2], t, right)
        nvshmem.SignalWait(flags[3], t, left)
        B[1:-1, 1:-1] = 0.25 * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
        A[1:-1, 1:-1] = B[1:-1, 1:-1]


@sd.program
def rings(A: f64[N], B: f64[N], steps: i64):
    flags = nvshmem.flags(3)
    for t in range(steps):
        nvshmem.PutmemSignal(B, A, flags[0], t + 1, sd.neighbour(1, axis=1, ring=True))
        nvshmem.SignalWait(flags[0], t + 1, sd.neighbour(-1, axis=1, ring=True))
        A[:] = B + 1.0
        nvshmem.PutmemSignal(B, A, flags[1], t + 1, sd.neighbour(-1, axis=0, ring=True))
        nvshmem.SignalWait(flags[1], t + 1, sd.neighbour(1, ring=True))
        A[:] = B * 2.0
        nvshmem.PutmemSignal(B, A, flags[2], t + 1, (sd.my_pe() + 1) % sd.n_pes())
        nvshmem.SignalWait(flags[2], t + 1)
        A[:] = B - 3.0
