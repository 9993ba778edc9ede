"""Programs that the tests of starling.dace compile. As plain Python they are their own oracle in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

import dace
from starling import dace as sd
from starling.dace import nvshmem

K, M, N = sd.symbols("K M N")
f32, f64, i32, i64 = sd.float32, sd.float64, sd.int32, sd.int64


@sd.program
def smooth(A: f64[N], B: f64[N], steps: i64):
    flags = nvshmem.flags(2)
    nw, ne = sd.neighbour(-1), sd.neighbour(+1)
    for t in range(1, steps):
        nvshmem.PutmemSignal(A[-1], A[1], flags[0], t, nw)
        nvshmem.PutmemSignal(A[0], A[-2], flags[1], t, ne)
        nvshmem.SignalWait(flags[0], t, ne)
        nvshmem.SignalWait(flags[1], t, nw)
        B[1:-1] = (A[:-2] + A[1:-1] + A[2:]) / 3.0
        A[1:-1] = B[1:-1]


@sd.program
def jacobi_1d(A: sd.split(f64[N]), B: sd.split(f64[N]), steps: i64):
    for t in range(steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


@sd.program
def jacobi_2d(A: sd.split(f32[M, N], 0), B: sd.split(f32[M, N], 0), steps: i64):
    for t in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@sd.program
def jacobi_2d_columns(A: sd.split(f32[M, N], 1), B: sd.split(f32[M, N], 1), steps: i64):
    for t in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@sd.program
def heat_3d(A: sd.split(f64[K, M, N]), B: sd.split(f64[K, M, N]), steps: i64):
    for t in range(steps):
        B[1:-1, 1:-1, 1:-1] = (
            0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1])
            + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, :-2, 1:-1])
            + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] + A[1:-1, 1:-1, 0:-2])
            + A[1:-1, 1:-1, 1:-1]
        )
        A[1:-1, 1:-1, 1:-1] = B[1:-1, 1:-1, 1:-1]


@sd.program
def fdtd_2d(ex: sd.split(f64[M, N]), ey: sd.split(f64[M, N]), hz: sd.split(f64[M, N]), fict: f64[K], steps: i64):
    for t in range(steps):
        ey[0, :] = fict[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@sd.program
def convolution(A: sd.split(f64[M, N]), B: sd.split(f64[M, N]), w: f64[K]):
    B[2:-2, 2:-2] = (
        w[0] * A[:-4, 2:-2] + w[1] * A[1:-3, 1:-3] + w[2] * A[2:-2, 2:-2] + w[3] * A[3:-1, 3:-1] + w[4] * A[4:, 4:]
    )


@sd.program
def converge(A: sd.split(f64[N]), B: sd.split(f64[N]), r: f64[1], tol: f64):
    r[0] = 1.0
    while r[0] > tol:
        B[1:-1] = (A[:-2] + A[2:]) * 0.5
        r[0] = np.max(np.abs(B[1:-1] - A[1:-1]))
        A[1:-1] = B[1:-1]


@sd.program
def branches(A: sd.split(f64[N]), B: sd.split(f64[N]), which: i64, steps: i64):
    for t in range(steps):
        if which > 3:
            B[:] = np.where(A > 0.5, A, 2.0 * A)
        elif which > 1:
            B[:] = np.sqrt(A)
        else:
            B[1:-1] = A[2:] - A[:-2]
        if t % 2 == 0:
            A[1:-1] += B[1:-1]
        else:
            A[:-1] = B[1:]


@sd.program
def half(X: sd.split(f64[N]), Y: sd.split(f64[N])):
    Y[1:-1] = 0.5 * X[2:]


@sd.program
def nested(A: sd.split(f64[N]), B: sd.split(f64[N]), steps: i64):
    for t in range(steps):
        half(A, B)
        half(B, A)


@sd.program
def in_place(A: sd.split(f64[N]), steps: i64):
    for t in range(steps):
        A[1:-1] = A[:-2] + 0.5 * A[2:]
        A[2:] = A[:-2]


@sd.program
def relax(A: sd.split(f64[N]), next_A: sd.split(f64[N]), steps: i64):
    for t in range(steps):
        A[1:-1] = 0.3 * (A[:-2] + A[1:-1] + A[2:])
        next_A[1:-1] += 0.5 * A[:-2]


@sd.program
def product(A: sd.split(f64[M, K]), B: f64[K, N], C: sd.split(f64[M, N]), alpha: f64):
    C[:] = alpha * (A @ B)


@sd.program
def row_sums(A: sd.split(f64[M, N]), s: sd.split(f64[M])):
    s[:] = np.sum(A, axis=1)


@sd.program
def totals(A: sd.split(f64[M, N]), q: f64[3]):
    q[0] = np.sum(A)
    q[1] = np.max(A)
    q[2] = np.min(A * A)


@sd.program
def whole_numbers(A: sd.split(i32[N]), B: sd.split(i32[N]), k: i32):
    B[:] = (A * 3 + k) % 7 - A // 4


@sd.program
def scalars(A: sd.split(f64[N]), B: sd.split(f64[N]), a: f64):
    c = a * 2.0
    B[:] = A * c + a
    B += 1.5


@sd.program
def temporaries(A: sd.split(f64[N]), B: sd.split(f64[N]), steps: i64):
    tmp = np.zeros_like(A)
    for t in range(steps):
        tmp[1:-1] = A[2:] - A[:-2]
        B[1:-1] = tmp[2:] + tmp[:-2]
        A[:] = B * 0.5


@sd.program
def adi(U: sd.split(f64[M, N]), V: sd.split(f64[M, N]), steps: i64):
    for t in range(steps):
        V[1:-1, 1:-1] = U[1:-1, 1:-1] + 0.1 * (U[1:-1, 2:] - 2.0 * U[1:-1, 1:-1] + U[1:-1, :-2])
        U[1:-1, 1:-1] = V[1:-1, 1:-1] + 0.1 * (V[2:, 1:-1] - 2.0 * V[1:-1, 1:-1] + V[:-2, 1:-1])


@sd.program
def strided(A: sd.split(f64[N]), B: sd.split(f64[N])):
    B[1:-1:2] = A[:-2:2] + A[2::2]


@sd.program
def apart(A: sd.split(f32[M, N]), B: sd.split(f32[M, N])):
    B[:, ::2] = 0.5 * A[:, ::2]
    B[1:, 1] = A[1:, 3] + 1.0
    for j, i in dace.map[0:8, 0:12]:
        A[i, j] = 2.0 * B[i, j]


@sd.program
def functions(A: sd.split(f64[N]), B: sd.split(f64[N])):
    B[:] = np.exp(-A) * np.sin(A) + np.abs(A - 0.5) ** 2 + np.minimum(A, 0.3)


def inputs(program: Any, rng: np.random.Generator, n: int = 19) -> tuple[list[Any], dict[str, Any]]:
    """Arrays and scalars for a program of this file."""
    name = program.function.__name__
    arrays = {
        "jacobi_1d": [rng.random(n), rng.random(n)],
        "jacobi_2d": [rng.random((n, 7), dtype="float32") for _ in range(2)],
        "jacobi_2d_columns": [rng.random((7, n), dtype="float32") for _ in range(2)],
        "heat_3d": [rng.random((n, 5, 6)) for _ in range(2)],
        "fdtd_2d": [*(rng.random((n, 6)) for _ in range(3)), rng.random(8)],
        "convolution": [rng.random((n, 9)), np.zeros((n, 9)), rng.random(5)],
        "converge": [rng.random(n), np.zeros(n), np.zeros(1)],
        "branches": [rng.random(n), rng.random(n)],
        "nested": [rng.random(n), rng.random(n)],
        "in_place": [rng.random(n)],
        "relax": [rng.random(n), rng.random(n)],
        "product": [rng.random((n, 4)), rng.random((4, 5)), np.full((n, 5), np.nan)],
        "row_sums": [rng.random((n, 5)), np.full(n, np.nan)],
        "totals": [rng.random((n, 5)), np.full(3, np.nan)],
        "whole_numbers": [rng.integers(-50, 50, n, dtype="int32"), np.zeros(n, "int32")],
        "scalars": [rng.random(n), np.full(n, np.nan)],
        "temporaries": [rng.random(n), np.zeros(n)],
        "adi": [rng.random((n, 7)) for _ in range(2)],
        "strided": [rng.random(n), np.zeros(n)],
        "apart": [rng.random((n, 16), dtype="float32") for _ in range(2)],
        "functions": [rng.random(n), np.full(n, np.nan)],
    }[name]
    values: dict[str, Any] = {
        "converge": {"tol": 1e-3},
        "product": {"alpha": 1.5},
        "whole_numbers": {"k": np.int32(5)},
        "scalars": {"a": 0.7},
        "branches": {"which": 5, "steps": 4},
    }.get(name, {})
    if not values and "steps" in program._parameters():
        values = {"steps": 5}
    return arrays, values


WHOLE = (
    jacobi_1d, jacobi_2d, jacobi_2d_columns, heat_3d, fdtd_2d, convolution, converge, branches, nested, in_place,
    relax, product, row_sums, totals, whole_numbers, scalars, temporaries, adi, strided, apart, functions,
)  # fmt: skip
EXACT = tuple(p for p in WHOLE if p not in (product, row_sums, totals, functions))


# ---- one PE's part ----


@sd.program
def ring(A: f64[N], B: f64[N], steps: i64):
    flags = nvshmem.flags(1)
    for t in range(steps):
        nvshmem.PutmemSignal(B, A, flags[0], t + 1, sd.neighbour(1, ring=True))
        nvshmem.SignalWait(flags[0], t + 1, sd.neighbour(-1, ring=True))
        A[:] = B + 1.0


@sd.program
def columns(A: f64[M, N], B: f64[M, N], steps: i64):
    flags = nvshmem.flags(2)
    nw, ne = sd.neighbour(-1), sd.neighbour(1)
    for t in range(steps):
        nvshmem.PutmemSignal(A[:, -1], A[:, 1], flags[0], t, nw)
        nvshmem.PutmemSignal(A[:, 0], A[:, -2], flags[1], t, ne)
        nvshmem.SignalWait(flags[0], t, ne)
        nvshmem.SignalWait(flags[1], t, nw)
        B[:, 1:-1] = 0.5 * (A[:, :-2] + A[:, 2:])
        A[:, 1:-1] = B[:, 1:-1]


@sd.program
def dot(A: f64[N], B: f64[N], s: f64[1], r: f64[3]):
    s[0] = np.sum(A * B)
    nvshmem.SumReduce(r[0], s[0])
    nvshmem.MaxReduce(r[1], s[0])
    nvshmem.MinReduce(r[2], s[0])


@sd.program
def moves(A: f64[N], B: f64[N], C: f64[N]):
    ne = sd.neighbour(1)
    nvshmem.Putmem(B[1:4], A[1:4], ne)
    nvshmem.P(B[0], 7.0, ne)
    nvshmem.Iput(B[4::2], A[4::2], ne)
    nvshmem.Quiet()
    nvshmem.Barrier()
    nvshmem.Getmem(C[0:3], B[0:3], sd.neighbour(1))
    nvshmem.Broadcast(C[4], A[2], 0)
    nvshmem.Barrier()


@sd.program
def numbers(A: f64[N]):
    A[:] = A + sd.my_pe() * 10 + sd.n_pes()


@sd.program
def told(A: f64[N], B: f64[N]):
    flags = nvshmem.flags(1)
    A[:] = A * 2.0
    nvshmem.SignalOp(flags[0], 1, sd.neighbour(1))
    nvshmem.SignalWait(flags[0], 1, sd.neighbour(-1))
    B[:] = A


@sd.program
def until(A: f64[N], s: f64[1], r: f64[1], tol: f64):
    r[0] = 1.0
    while r[0] > tol:
        A[:] = A * 0.5
        s[0] = np.max(A)
        nvshmem.MaxReduce(r, s)


@sd.program
def maps(A: sd.split(f64[N]), B: sd.split(f64[N]), r: f64[1]):
    for i in dace.map[1 : N - 1]:
        B[i] = (A[i - 1] + A[i + 1]) * 0.5
    for i in dace.map[0:N]:
        r[0] += A[i]
