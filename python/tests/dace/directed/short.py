"""Axes of few elements, rows that go from PE to PE, parts at numbers of a call."""

from __future__ import annotations

import numpy as np

import dace
from starling import dace as sd

from .registry import M, N, directed, f64, i64, split


@directed(lambda rng, n: [rng.random((n, 3)), rng.random((n, 3)), 3], sizes=(1, 2, 3, 4, 5, 6, 7, 9))
@sd.program
def short_axis(A: split(f64[M, N]), B: split(f64[M, N]), steps: i64):
    for t in range(steps):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A[0] = B[0]
        A[1:] -= 0.5 * B[:-1]


@directed(lambda rng, n: [rng.random((n, 3)), rng.random((n, 3)), 3], sizes=(1, 2, 3, 4, 5, 6, 7, 9))
@sd.program
def short_swaps(A: split(f64[M, N]), B: split(f64[M, N]), steps: i64):
    for t in range(steps):
        B[1:-1, 1:-1] = 0.5 * (A[:-2, :-2] + A[2:, 1:-1])
        A, B = B, A
        A[0] += 1.0
        A[-1] = A[-1] * 2.0


@directed(lambda rng, n: [rng.random((9, n)), rng.random((9, n)), 3], sizes=(1, 2, 3, 4))
@sd.program
def narrow(A: split(f64[M, N]), B: split(f64[M, N]), steps: i64):
    for t in range(steps):
        B[1:-1, 1:-1] = 0.5 * (A[:-2, :-2] + A[2:, 2:])
        A[:, 0] = B[:, -1]
        A[:, 1:] += B[:, :-1]


@directed(lambda rng, n: [rng.random(n), np.zeros(4)], sizes=(1, 2, 3, 4, 5, 6, 7, 9))
@sd.program
def short_reductions(A: split(f64[N]), q: f64[4]):
    q[0] = np.max(A)
    q[1] = np.min(A[:1])
    A -= q[0]
    q[2] = np.any(A[1:] < -0.5)
    q[3] = np.all(A[2:] < -0.5)


@directed(lambda rng, n: [rng.random(n), np.zeros(4)], sizes=(3, 4, 5, 6))
@sd.program
def strided_short(A: split(f64[N]), q: f64[4]):
    A[::2] += 1.0
    A[1::2] *= 2.0
    A[1:-1:2] = A[:-2:2] - A[2::2]
    q[0] = np.max(A[::3])
    q[1] = np.sum(A[1::2] > 1)


@directed(lambda rng, n: [rng.random((n, 5)), rng.random((n, 5))])
@sd.program
def rows_in_order(A: split(f64[M, N]), B: split(f64[M, N])):
    for i in range(1, M):
        A[i] = A[i] + 0.5 * A[i - 1]


@directed(lambda rng, n: [rng.random((n, 5)), rng.random((n, 5)), 3])
@sd.program
def rows_both_ways(A: split(f64[M, N]), B: split(f64[M, N]), steps: i64):
    for t in range(steps):
        for i in range(1, M - 1):
            A[i, 1:-1] = 0.25 * (A[i - 1, 1:-1] + A[i + 1, 1:-1] + B[i, 2:] + A[i, :-2])
        for i in range(M - 2, 0, -1):
            B[i, :] = 0.5 * (A[i, :] + B[i + 1, :])


@directed(lambda rng, n: [rng.random(n), 5])
@sd.program
def set_at_argument(A: split(f64[N]), k: i64):
    A[k] = 7.0
    A[k + 1 : k + 4] = 2.0
    A[1:] += A[:-1]
    A[k] += 1.0


@directed(lambda rng, n: [rng.random((n, 6)), 5, np.zeros(3)])
@sd.program
def part_at_argument(A: split(f64[M, N]), k: i64, q: f64[3]):
    A[k:, 1:] *= 2.0
    A[: k + 1] -= 0.5
    q[0] = np.max(A[k:])
    q[1] = np.max(A[k : k + 2, 2])
    A[1:k] = A[0 : k - 1] * 0.5
    A[k, 2] = 100.0


@directed(lambda rng, n: [rng.random((n, 6)), 5])
@sd.program
def set_in_time(A: split(f64[M, N]), steps: i64):
    for t in range(steps):
        A[t] = t
        A[t + 2, 1:-1] += 0.5
        A[1:-1] = 0.5 * (A[2:] + A[:-2])


@directed(lambda rng, n: [rng.random((n, 6)), rng.random((n, 6)), 5])
@sd.program
def in_place_one_sided(A: split(f64[M, N]), B: split(f64[M, N]), steps: i64):
    for t in range(steps):
        A[1:] = A[:-1] + 0.5 * A[1:]
        A[:-2] += A[2:] * 0.25
        A[:, 1:] = A[:, :-1] - 0.5 * A[:, 1:]
        A[1:, 1:] = A[:-1, :-1] * 0.5 + B[1:, 1:]
        B[:-1] = A[1:] * B[:-1]


@directed(lambda rng, n: [rng.random((n, 4)), rng.random((4, n)), np.zeros((n, n))])
@sd.program
def splits_along_other_axes(A: split(f64[M, 4], 0), B: split(f64[4, M], 1), C: f64[M, M]):
    A[:, 0] = B[1]
    B[2, 1:] = A[:-1, 3]
    A[1:-1, 1] = B[0, 2:] - B[3, :-2]


@directed(lambda rng, n: [rng.random((n, n)), rng.random((n, n)), 3])
@sd.program
def square_grid(A: split(f64[N, N], (0, 1)), B: split(f64[N, N], (0, 1)), steps: i64):
    for t in range(steps):
        B[1:, :-1] = A[:-1, 1:] * 0.5
        A[1:, 1:] -= B[:-1, :-1]
        A[:-1, 1:] += B[1:, :-1]
        A[0, :] = B[1, :]
        A[:, -1] = A[:, -2]
        A[2, 3] = t
        B[-1, 0] = A[-2, 1]


@directed(lambda rng, n: [rng.random((n, n)), np.zeros(4)], sizes=(5, 6, 9, 13))
@sd.program
def grid_reductions(A: split(f64[N, N], (0, 1)), q: f64[4]):
    q[0] = np.max(A[1:, :-2])
    A /= q[0]
    q[1] = np.min(A[2:4, 3])
    q[2] = np.sum(A > 0.5)
    A[q[1] > A] = 0.0
    q[3] = np.all(A[1] >= 0)


@directed(lambda rng, n: [rng.random((n, 5)), rng.random((n, 5)), np.zeros(1)])
@sd.program
def maps(A: split(f64[M, N]), B: split(f64[M, N]), r: f64[1]):
    for i, j in dace.map[1 : M - 1, 0:N]:
        w = A[i - 1, j] * 2.0
        B[i, j] = w + A[i + 1, j]
        B[i, j] *= j
    for i in dace.map[0:M]:
        r[0] += i
    k = 2
    for i, j in dace.map[0:M, 1:N:2]:
        A[i, j - 1] = B[i, j] * k + i
