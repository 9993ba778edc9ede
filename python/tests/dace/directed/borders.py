"""Conditions at borders: edges, corners, ghosts, periodic axes, values that change in time."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import K, M, N, directed, f64, i64, split


@directed(lambda rng, n: [rng.random((n, 8)), n - 11])
@sd.program
def no_flux(A: split(f64[M, N]), steps: i64):
    for t in range(steps):
        A[1:-1, 1:-1] = 0.25 * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
        A[0, :] = A[1, :]
        A[-1, :] = A[-2, :]
        A[:, 0] = A[:, 1]
        A[:, -1] = A[:, -2]


@directed(lambda rng, n: [rng.random((n, n + 3)), 4])
@sd.program
def corners(A: split(f64[M, N], (0, 1)), steps: i64):
    for t in range(steps):
        A[0, 0] = 0.5 * (A[0, 1] + A[1, 0])
        A[0, -1] = 0.5 * (A[0, -2] + A[1, -1])
        A[-1, 0] = A[-2, 1]
        A[-1, -1] = A[-3, -3] + t
        A[1:-1, 1:-1] = 0.25 * (A[:-2, :-2] + A[:-2, 2:] + A[2:, :-2] + A[2:, 2:])


@directed(lambda rng, n: [rng.random((n, 9)), 5])
@sd.program
def periodic_by_ghosts(A: split(f64[M, N], 0), steps: i64):
    for t in range(steps):
        A[:, 0] = A[:, -2]
        A[:, -1] = A[:, 1]
        A[1:-1, 1:-1] = 0.25 * (A[1:-1, :-2] + A[1:-1, 2:] + A[:-2, 1:-1] + A[2:, 1:-1])


@directed(lambda rng, n: [rng.random((6, n)), rng.random((6, n)), 4])
@sd.program
def periodic_by_roll(A: split(f64[M, N], 1), B: split(f64[M, N], 1), steps: i64):
    for t in range(steps):
        B[:, 1:-1] = np.roll(A, 1, axis=0)[:, 2:] - np.roll(A, -2, 0)[:, :-2]
        A[:] = 0.5 * B + np.roll(B, -1, axis=0)


@directed(lambda rng, n: [rng.random((n, 5)), 3])
@sd.program
def two_ghosts(A: split(f64[M, N]), steps: i64):
    for t in range(steps):
        A[0] = A[3]
        A[1] = A[2]
        A[-1] = -A[-4]
        A[-2] = -A[-3]
        A[2:-2] = A[2:-2] + 0.1 * (A[:-4] - 4.0 * A[1:-3] + 6.0 * A[2:-2] - 4.0 * A[3:-1] + A[4:])


@directed(lambda rng, n: [rng.random((n, 6)), rng.random(6), rng.random(8), 4, 0.5])
@sd.program
def values_in_time(A: split(f64[M, N]), top: f64[N], series: f64[K], steps: i64, h: f64):
    for t in range(steps):
        A[0, :] = top * (1.0 + t)
        A[-1, :] = series[t]
        A[1:-1, 0] = series[t + 1] + (A[1:-1, 1] - series[t]) / (1.0 + h)
        A[1:-1, -1] = 0.1 * t
        A[1:-1, 1:-1] = 0.5 * (A[:-2, 1:-1] + A[2:, 2:])
        top[0] += 1.0


@directed(lambda rng, n: [rng.random((n, 6)), rng.random((n, 6))])
@sd.program
def chains(A: split(f64[M, N]), B: split(f64[M, N])):
    A[0, :] = A[-1, :] = B[:, 0] = 3.0
    A[:, -1] = B[:, -1] = A[:, 1] + 1.0
    x = y = A[1:-1, 2:4]
    x += 1.0
    y[:] = y * 2.0
    a, b = c = 1, 2
    B[0, 0] = B[0, 1] = a + 10 * b + 100 * c[1]


@directed(lambda rng, n: [rng.random((n, 7)), np.zeros((n, 7)), 6])
@sd.program
def lid(u: split(f64[M, N]), p: split(f64[M, N]), steps: i64):
    for t in range(steps):
        b = np.zeros_like(p)
        b[1:-1, 1:-1] = 0.5 * (u[1:-1, 2:] - u[1:-1, :-2])
        for q in range(3):
            pn = p.copy()
            p[1:-1, 1:-1] = 0.25 * (pn[1:-1, 2:] + pn[1:-1, :-2] + pn[2:, 1:-1] + pn[:-2, 1:-1] - b[1:-1, 1:-1])
            p[:, -1] = p[:, -2]
            p[0, :] = p[1, :]
            p[:, 0] = p[:, 1]
            p[-1, :] = 0
        u[1:-1, 1:-1] -= 0.5 * (p[2:, 1:-1] - p[:-2, 1:-1])
        u[0, :] = 0
        u[-1, :] = 1


@directed(lambda rng, n: [rng.random(n), 5])
@sd.program
def ends_of_a_line(A: split(f64[N]), steps: i64):
    left, right = 0.0, 1.0
    for t in range(steps):
        A[0], A[-1] = left, right
        A[1:-1] = 0.5 * (A[:-2] + A[2:])
        A[1] += A[0]
        A[-2] -= A[-1]
        left, right = right, 0.5 * left + 0.25
    A[0] = A[2]
    A[1] = A[2]


@directed(lambda rng, n: [rng.random((n, 5, 6)), 3])
@sd.program
def faces_of_a_box(A: split(f64[K, M, N], (0, 1)), steps: i64):
    for t in range(steps):
        A[1:-1, 1:-1, 1:-1] = 0.5 * (A[2:, 1:-1, 1:-1] + A[:-2, 2:, :-2])
        A[0] = A[1] * 0.5
        A[-1, :, :] = -A[-2, :, :]
        A[:, 0, :] = A[:, 1, :]
        A[:, -1] = 1.0 + t
        A[..., 0] = A[..., -2]
        A[..., -1] = A[..., 1]


@directed(lambda rng, n: [rng.random((n, 6)), rng.random(n), 4])
@sd.program
def side_from_a_line(A: split(f64[M, N]), side: split(f64[M]), steps: i64):
    for t in range(steps):
        A[:, 0] = side
        A[1:, 1:] = 0.5 * (A[1:, :-1] + A[:-1, 1:])
        side[1:-1] = A[:-2, -1]
        side[0] = side[-1] = t
