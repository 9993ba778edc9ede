"""The kernels of npbench that are array programs of a few lines, with arrays that PEs share, written anew in place of
what they return. As plain Python they are their own oracle in NumPy. Which kernels run is told in docs/dace.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from starling import dace as sd

H, J, K, M, N = sd.symbols("H J K M N")
f64, i64 = sd.float64, sd.int64
Inputs = Callable[[np.random.Generator], list[Any]]
RUNS: list[tuple[Any, Inputs]] = []
REFUSED: list[tuple[Any, str]] = []


def runs(inputs: Inputs) -> Any:
    def keep(function: Any) -> Any:
        program = sd.program(function)
        RUNS.append((program, inputs))
        return program

    return keep


def refused(words: str) -> Any:
    def keep(function: Any) -> Any:
        program = sd.program(function)
        REFUSED.append((program, words))
        return program

    return keep


# ---- stencils ----


@runs(lambda r: [r.random(19), r.random(19), 5])
def jacobi_1d(A: sd.split(f64[N]), B: sd.split(f64[N]), steps: i64):
    for t in range(1, steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])


@runs(lambda r: [r.random((13, 12)), r.random((13, 12)), 5])
def jacobi_2d(A: sd.split(f64[N, M], (0, 1)), B: sd.split(f64[N, M], (0, 1)), steps: i64):
    for t in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@runs(lambda r: [r.random((11, 9, 8)), r.random((11, 9, 8)), 4])
def heat_3d(A: sd.split(f64[K, M, N], (0, 1)), B: sd.split(f64[K, M, N], (0, 1)), steps: i64):
    for t in range(1, steps):
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


@runs(lambda r: [*(r.random((13, 12)) for _ in range(3)), r.random(4), 4])
def fdtd_2d(
    ex: sd.split(f64[M, N], (0, 1)), ey: sd.split(f64[M, N], (0, 1)), hz: sd.split(f64[M, N], (0, 1)), fict: f64[K],
    steps: i64,
):  # fmt: skip
    for t in range(steps):
        ey[0, :] = fict[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


@runs(lambda r: [r.random((14, 15, 4)), np.zeros((10, 11, 4)), r.random((10, 11, 4))])
def hdiff(field: f64[H + 4, J + 4, K], out: sd.split(f64[H, J, K], (0, 1)), coeff: sd.split(f64[H, J, K], (0, 1))):
    lap = 4.0 * field[1:-1, 1:-1, :] - (
        field[2:, 1:-1, :] + field[:-2, 1:-1, :] + field[1:-1, 2:, :] + field[1:-1, :-2, :]
    )
    flx0 = lap[1:, 1:-1, :] - lap[:-1, 1:-1, :]
    flx = np.where(flx0 * (field[2:-1, 2:-2, :] - field[1:-2, 2:-2, :]) > 0.0, 0.0, flx0)
    fly0 = lap[1:-1, 1:, :] - lap[1:-1, :-1, :]
    fly = np.where(fly0 * (field[2:-2, 2:-1, :] - field[2:-2, 1:-2, :]) > 0.0, 0.0, fly0)
    out[:, :, :] = field[2:-2, 2:-2, :] - coeff * (flx[1:, :, :] - flx[:-1, :, :] + fly[:, 1:, :] - fly[:, :-1, :])


@runs(lambda r: [*(r.random((13, 12)) for _ in range(3)), np.zeros((13, 12)), 3, 4, 0.01, 0.1, 0.1])
def cavity_flow(
    u: sd.split(f64[M, N], (0, 1)), v: sd.split(f64[M, N], (0, 1)), p: sd.split(f64[M, N], (0, 1)),
    b: sd.split(f64[M, N], (0, 1)), steps: i64, sweeps: i64, dt: f64, dx: f64, dy: f64,
):  # fmt: skip
    un = np.zeros_like(u)
    vn = np.zeros_like(v)
    pn = np.zeros_like(p)
    for t in range(steps):
        un[:] = u
        vn[:] = v
        b[1:-1, 1:-1] = (
            1.0 / dt * ((u[1:-1, 2:] - u[1:-1, :-2]) / (2.0 * dx) + (v[2:, 1:-1] - v[:-2, 1:-1]) / (2.0 * dy))
            - ((u[1:-1, 2:] - u[1:-1, :-2]) / (2.0 * dx)) ** 2
            - 2.0 * ((u[2:, 1:-1] - u[:-2, 1:-1]) / (2.0 * dy) * (v[1:-1, 2:] - v[1:-1, :-2]) / (2.0 * dx))
            - ((v[2:, 1:-1] - v[:-2, 1:-1]) / (2.0 * dy)) ** 2
        )
        for q in range(sweeps):
            pn[:] = p
            p[1:-1, 1:-1] = ((pn[1:-1, 2:] + pn[1:-1, :-2]) * dy * dy + (pn[2:, 1:-1] + pn[:-2, 1:-1]) * dx * dx) / (
                2.0 * (dx * dx + dy * dy)
            ) - dx * dx * dy * dy / (2.0 * (dx * dx + dy * dy)) * b[1:-1, 1:-1]
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0.0
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2.0 * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2.0 * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
        )
        u[0, :] = 0.0
        u[:, 0] = 0.0
        u[:, -1] = 0.0
        u[-1, :] = 1.0
        v[0, :] = 0.0
        v[-1, :] = 0.0
        v[:, 0] = 0.0
        v[:, -1] = 0.0


@runs(lambda r: [r.random((13, 12)), r.random((13, 12)), r.random((13, 12)), 4, 0.01, 0.1, 0.1])
def channel_flow(u: sd.split(f64[M, N]), un: sd.split(f64[M, N]), p: sd.split(f64[M, N]), steps: i64, dt: f64, dx: f64,
                 force: f64):  # fmt: skip
    for t in range(steps):
        un[:] = u
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1] - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - dt / (2.0 * dx) * (p[1:-1, 2:] - p[1:-1, :-2]) + force * dt
        )  # fmt: skip
        u[1:-1, -1] = (
            un[1:-1, -1] - un[1:-1, -1] * dt / dx * (un[1:-1, -1] - un[1:-1, -2])
            - dt / (2.0 * dx) * (p[1:-1, 0] - p[1:-1, -2]) + force * dt
        )  # fmt: skip
        u[1:-1, 0] = (
            un[1:-1, 0] - un[1:-1, 0] * dt / dx * (un[1:-1, 0] - un[1:-1, -1])
            - dt / (2.0 * dx) * (p[1:-1, 1] - p[1:-1, -1]) + force * dt
        )  # fmt: skip
        u[0, :] = 0.0
        u[-1, :] = 0.0


@runs(lambda r: [r.random((13, 9, 6)) + 2.0, r.random((13, 9, 6)), r.random((13, 9, 6)), r.random((13, 9, 6))])
def vadv(
    b: sd.split(f64[H, J, K], (0, 1)), c: sd.split(f64[H, J, K], (0, 1)), d: sd.split(f64[H, J, K], (0, 1)),
    x: sd.split(f64[H, J, K], (0, 1)),
):  # fmt: skip
    c[:, :, 0] = c[:, :, 0] / b[:, :, 0]
    d[:, :, 0] = d[:, :, 0] / b[:, :, 0]
    for k in range(1, b.shape[2]):
        c[:, :, k] = c[:, :, k] / (b[:, :, k] - 0.1 * c[:, :, k - 1])
        d[:, :, k] = (d[:, :, k] - 0.1 * d[:, :, k - 1]) / (b[:, :, k] - 0.1 * c[:, :, k - 1])
    x[:, :, -1] = d[:, :, -1]
    for k in range(b.shape[2] - 2, -1, -1):
        x[:, :, k] = d[:, :, k] - c[:, :, k] * x[:, :, k + 1]


@runs(lambda r: [r.random((12, 9)), np.zeros((12, 9)), np.zeros((12, 9)), 0.25, 0.5])
def deriche(img: sd.split(f64[M, N]), y1: sd.split(f64[M, N]), y2: sd.split(f64[M, N]), a: f64, b: f64):
    y1[:, 0] = a * img[:, 0]
    for j in range(1, img.shape[1]):
        y1[:, j] = a * img[:, j] + b * y1[:, j - 1]
    y2[0, :] = a * y1[0, :]
    for i in range(1, img.shape[0]):
        y2[i, :] = a * y1[i, :] + b * y2[i - 1, :]


# ---- elementwise ----


@runs(lambda r: [r.integers(0, 100, (13, 9)), r.integers(0, 100, (13, 9)), np.zeros((13, 9), "int64"), 4, 3, 9])
def compute(A: sd.split(i64[M, N]), B: sd.split(i64[M, N]), C: sd.split(i64[M, N]), a: i64, b: i64, c: i64):
    C[:] = np.minimum(np.maximum(A, 2), 10) * a + B * b + c


@runs(lambda r: [*(r.random(17) for _ in range(4)), np.zeros(17)])
def arc_distance(t1: sd.split(f64[N]), p1: sd.split(f64[N]), t2: sd.split(f64[N]), p2: sd.split(f64[N]),
                 out: sd.split(f64[N])):  # fmt: skip
    t = np.sin((t2 - t1) / 2.0) ** 2 + np.cos(t1) * np.cos(t2) * np.sin((p2 - p1) / 2.0) ** 2
    out[:] = 2.0 * np.arctan2(np.sqrt(t), np.sqrt(1.0 - t))


# ---- products ----


@runs(lambda r: [1.5, 0.5, r.random((13, 9)), r.random((13, 5)), r.random((5, 9))])
def gemm(alpha: f64, beta: f64, C: sd.split(f64[M, N]), A: sd.split(f64[M, K]), B: f64[K, N]):
    C[:] = alpha * A @ B + beta * C


@runs(lambda r: [1.5, 0.5, r.random((13, 5)), r.random((5, 6)), r.random((6, 7)), r.random((13, 7))])
def k2mm(alpha: f64, beta: f64, A: sd.split(f64[M, K]), B: f64[K, J], C: f64[J, N], D: sd.split(f64[M, N])):
    D[:] = alpha * A @ B @ C + beta * D


@runs(lambda r: [r.random((13, 5)), r.random((5, 6)), r.random((6, 7)), r.random((7, 4)), np.zeros((13, 4))])
def k3mm(A: sd.split(f64[M, K]), B: f64[K, J], C: f64[J, N], D: f64[N, H], out: sd.split(f64[M, H])):
    out[:] = A @ B @ C @ D


@runs(lambda r: [1.5, 0.5, r.random((13, 9)), r.random((13, 9)), r.random(9), np.zeros(13)])
def gesummv(alpha: f64, beta: f64, A: sd.split(f64[M, N]), B: sd.split(f64[M, N]), x: f64[N], y: sd.split(f64[M])):
    y[:] = alpha * A @ x + beta * B @ x


@runs(lambda r: [r.random((13, 5)), r.random((5, 6)), r.random(6), r.random((6, 4)), r.random(4), np.zeros((13, 4))])
def mlp(x: sd.split(f64[M, K]), w1: f64[K, J], b1: f64[J], w2: f64[J, N], b2: f64[N], out: sd.split(f64[M, N])):
    h = np.maximum(x @ w1 + b1, 0.0)
    out[:] = h @ w2 + b2


@runs(lambda r: [r.random((13, 5, 4)), np.zeros((13, 5, 4))])
def softmax(x: sd.split(f64[M, N, K]), out: sd.split(f64[M, N, K])):
    top = np.max(x, axis=-1, keepdims=True)
    e = np.exp(x - top)
    out[:] = e / np.sum(e, axis=-1, keepdims=True)


# ---- refused ----


@refused("split along axis 0")
def atax(A: sd.split(f64[M, N]), x: f64[N], y: f64[N]):
    y[:] = (A @ x) @ A


@refused("split along axis 0")
def bicg(A: sd.split(f64[M, N]), p: f64[N], r: sd.split(f64[M]), s: f64[N], q: sd.split(f64[M])):
    s[:] = r @ A
    q[:] = A @ p


@refused("split along axis 0")
def mvt(x1: sd.split(f64[N]), x2: sd.split(f64[N]), y1: f64[N], y2: f64[N], A: sd.split(f64[N, N])):
    x1[:] = x1 + A @ y1
    x2[:] = x2 + y2 @ A


@refused("split along axis 0")
def covariance(data: sd.split(f64[N, M]), mean: f64[M], cov: f64[M, M]):
    mean[:] = np.sum(data, axis=0)
    cov[:] = data.T @ data


@refused("split along axis 0")
def floyd_warshall(path: sd.split(f64[N, N])):
    for k in range(N):
        for i in range(N):
            path[i, :] = np.minimum(path[i, :], path[i, k] + path[k, :])


@refused("single elements")
def seidel_2d(A: sd.split(f64[N, N]), steps: i64):
    for t in range(steps):
        for i in range(1, N - 1):
            for j in range(1, N - 1):
                A[i, j] = (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1] + A[i, j]) / 5.0


@refused("split along axis 0")
def syrk(alpha: f64, beta: f64, C: sd.split(f64[N, N]), A: sd.split(f64[N, M])):
    for i in range(N):
        C[i, : i + 1] = beta * C[i, : i + 1]
        for k in range(M):
            C[i, : i + 1] = C[i, : i + 1] + alpha * A[i, k] * A[: i + 1, k]


@refused("split along axis 0")
def trisolv(L: sd.split(f64[N, N]), x: f64[N], b: f64[N]):
    for i in range(N):
        x[i] = (b[i] - np.sum(L[i, :i] * x[:i])) / L[i, i]


@refused("one element of a split array")
def go_fast(A: sd.split(f64[N, N])):
    trace = 0.0
    for i in range(N):
        trace += np.tanh(A[i, i])
    A[:] = A + trace


@refused("chooses elements by an array of indices")
def spmv(rows: i64[M], columns: i64[N], values: f64[N], x: f64[K], y: sd.split(f64[M])):
    for i in range(M - 1):
        cols = columns[rows[i] : rows[i + 1]]
        y[i] = np.sum(values[rows[i] : rows[i + 1]] * x[cols])


@refused("is a complex number")
def contour_integral(A: sd.split(f64[N]), B: sd.split(f64[N])):
    z = A * 1j
    B[:] = np.abs(z)


@refused("no fixed distance")
def nbody(x: sd.split(f64[N, 1]), a: sd.split(f64[N, N])):
    a[:] = x.T - x


@refused("chooses elements by a mask")
def azimint_naive(data: sd.split(f64[N]), radius: sd.split(f64[N]), out: f64[1]):
    mask = radius > 0.5
    out[0] = data[mask].mean()
