"""Views and other names: what is written through them, what is read later, what overlaps."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import K, M, N, directed, f64, i64, split


@directed(lambda rng, n: [rng.random((n, 7)), rng.random((n, 7))])
@sd.program
def views_of_views(A: split(f64[M, N]), B: split(f64[M, N])):
    v = A[1:-1, 1:-1]
    w = v[1:-1]
    v[:] = B[1:-1, 1:-1]
    w += 1.0
    w[:, 0] *= 2.0
    x = w[:, ::2]
    x[:] = x * x
    v *= 0.5
    B[2:-2, 1:-1] = w - B[:-4, 1:-1]
    B[1:-1, 0] = v[:, -1]


@directed(lambda rng, n: [rng.random(n), rng.random(n)])
@sd.program
def rebound_or_written(A: split(f64[N]), B: split(f64[N])):
    v = A[1:-1]
    v = v * 2.0
    v += 1.0
    B[1:-1] = v
    w = A
    w += 0.5
    w = w + 100.0
    u = B
    u[:] = u + w
    u -= A
    A[1:] = u[:-1]


@directed(lambda rng, n: [rng.random((5, n)), rng.random((5, n))])
@sd.program
def rows_are_views(A: split(f64[M, N], 1), B: split(f64[M, N], 1)):
    row = A[1]
    A[1, :] = 0.25
    B[0] = row
    for i in range(M):
        row = A[i]
        row[1:] += B[i, :-1]
        B[i] = row * 2.0
    kept = A[2].copy()
    A[2] = 9.0
    B[3] = kept + A[2]


@directed(lambda rng, n: [rng.random((n, 6)), np.zeros(6)])
@sd.program
def elements_and_short_slices(A: f64[N, 6], q: f64[6]):
    x = A[2, 3]
    y = A[2, 3:4]
    z = A[2:3, 3]
    A[2, 3] = 50.0
    q[0], q[1], q[2] = x, y[0], z[0]
    y += 1.0
    q[3] = A[2, 3]
    z[:] = x
    q[4:6] = y


@directed(lambda rng, n: [rng.random((n, n)), rng.random((n, n))])
@sd.program
def transposed_views(A: f64[N, N], B: f64[N, N]):
    T = A.T
    T[0, :] = 1.0
    T[1:, 2] += B[1:, 0]
    B[:] = T
    A[:] = A.T
    A += A.T
    B[:, 1:] = A.T[:, :-1] - B.T[:, 1:]
    C = B.T.copy()
    C[3] = 0.0
    B[0] = C[:, 0]


@directed(lambda rng, n: [rng.random(n)])
@sd.program
def overlaps(A: split(f64[N])):
    A[1:] = A[:-1]
    A[:-1] += A[1:]
    A[2:] = A[1:-1] + A[:-2]
    v = A[:-1]
    A[1:] -= v
    w = A[1:]
    w[:] = 0.5 * v + w
    v[:] = w
    A[1:-1] = A[2:] * A[:-2] + A[1:-1]


@directed(lambda rng, n: [rng.random(n), rng.random(n)])
@sd.program
def overlaps_of_whole_arrays(x: f64[N], y: f64[N]):
    r = x[::-1]
    r[0] = 5.0
    x[1:] = x[:-1]
    r[1:] += r[:-1]
    x[:] = r
    half = N // 2
    x[:half] = x[half : 2 * half]
    x[half : 2 * half] -= y[:half]
    y[::2] = y[1::2][0]
    y[:] = y[0] + y


@directed(lambda rng, n: [rng.random((n, 6)), rng.random((n, 6)), 4])
@sd.program
def view_before_the_loop(A: split(f64[M, N]), B: split(f64[M, N]), steps: i64):
    inner = A[1:-1]
    up = B[:-2]
    for t in range(steps):
        inner[:] = 0.5 * (up + B[2:])
        B[1:-1, 1:] = inner[:, :-1] - up[:, 1:]
        up[:, 0] += t


@directed(lambda rng, n: [rng.random((n, 5)), rng.random((n, 5))])
@sd.program
def copies_are_no_views(A: split(f64[M, N]), B: split(f64[M, N])):
    c = A.copy()
    d = np.copy(A)
    e = A.astype(np.float64)
    f = A + 0
    g = -A
    A[:] = 7.0
    B += c - d[:, ::-1] + e * f
    c[:] = 1.0
    d[1:] = c[:-1]
    B[1:] += d[:-1] - g[1:]
    h = np.full_like(A, 2.0)
    h[0] = np.ones_like(A[0]) * 3
    B *= h


@directed(lambda rng, n: [rng.random((3, n, 5))])
@sd.program
def layers_of_an_argument(U: split(f64[K, M, N], 1)):
    u, v, p = U[0], U[1], U[2]
    for t in range(3):
        p[1:-1, :] = u[2:, :] - u[:-2, :]
        u[:, 1:-1] -= 0.5 * (p[:, 2:] - p[:, :-2])
        v[:] = u
        u, v = v, u
    U[2, 1:] += U[0, :-1]


@directed(lambda rng, n: [rng.random((n, 8)), n - 12])
@sd.program
def updates_in_place(A: split(f64[M, N]), k: i64):
    A[1:-1, ::2] *= 2
    A[:, 1] -= A[:, 2]
    A[0] /= 4
    A[-1, 1:] **= 2
    A //= 0.5
    A[:, k % 4] += A[:, (k + 1) % 4]
    A[2:] %= 3
    v = A[:, 3:5]
    v -= v[:, ::-1]
    A[:, -2] = A[:, -2] ** 2 + (A[:, -1] > 1)


@directed(lambda rng, n: [rng.random((n, 6)), np.zeros((n, 6))])
@sd.program
def name_of_a_view_moves(A: split(f64[M, N]), B: split(f64[M, N])):
    col = A[:, 0]
    for j in range(1, N):
        nxt = A[:, j]
        B[1:, j] = nxt[1:] - col[:-1]
        B[:-1, 0] += col[1:] * j
        col = nxt
    B[:, 0] -= col
