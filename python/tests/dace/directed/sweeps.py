"""Sweeps along an axis that is not split: prefixes, recurrences, tridiagonal systems."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import K, M, N, directed, f64, i32, i64, split


@directed(lambda rng, n: [rng.random((n, 7))])
@sd.program
def prefix_of_columns(A: split(f64[M, N], 0)):
    for j in range(1, N):
        A[:, j] += A[:, j - 1]


@directed(lambda rng, n: [rng.random((8, n)), np.zeros((8, n))])
@sd.program
def suffix_and_maximum(A: split(f64[M, N], 1), B: split(f64[M, N], 1)):
    B[M - 1] = A[M - 1]
    for i in range(M - 2, -1, -1):
        B[i, :] = np.maximum(B[i + 1, :], A[i, :])
        A[i, 1:] = A[i, 1:] * 0.5 + A[i + 1, :-1]


@directed(lambda rng, n: [rng.random((n, 9)), rng.random((n, 9)), rng.random((n, 9)) + 3.0, rng.random((n, 9))])
@sd.program
def thomas(a: split(f64[M, N]), c: split(f64[M, N]), b: split(f64[M, N]), d: split(f64[M, N])):
    n = d.shape[1]
    for j in range(1, n):
        w = a[:, j] / b[:, j - 1]
        b[:, j] = b[:, j] - w * c[:, j - 1]
        d[:, j] = d[:, j] - w * d[:, j - 1]
    d[:, n - 1] /= b[:, n - 1]
    for j in range(n - 2, -1, -1):
        d[:, j] = (d[:, j] - c[:, j] * d[:, j + 1]) / b[:, j]


@directed(lambda rng, n: [rng.random((7, n, n + 2)), 0.25])
@sd.program
def thomas_upwards(x: split(f64[K, M, N], (1, 2)), r: f64):
    g = np.zeros_like(x)
    g[0] = -r / (1.0 + r)
    x[0] = x[0] / (1.0 + r)
    for k in range(1, K):
        inverse = 1.0 / (1.0 + 2.0 * r + r * g[k - 1])
        g[k] = -r * inverse
        x[k] = (x[k] + r * x[k - 1]) * inverse
    for k in range(K - 2, -1, -1):
        x[k] -= g[k] * x[k + 1]


@directed(lambda rng, n: [rng.random((n, 8)), np.zeros((n, 8)), 0.3, 0.6])
@sd.program
def recursive_filter(x: split(f64[M, N]), y: split(f64[M, N]), a: f64, b: f64):
    before, last = x[:, 0] * 0.0, x[:, 0]
    for j in range(N):
        now = a * x[:, j] + b * last - 0.1 * before
        before, last = last, now
        y[:, j] = now


@directed(lambda rng, n: [rng.integers(-9, 9, (n, 8), dtype="i4")])
@sd.program
def whole_prefix_with_remainder(A: split(i32[M, N])):
    for j in range(2, N):
        A[:, j] = (3 * A[:, j - 1] - A[:, j - 2]) % 7 - A[:, j] // 2


@directed(lambda rng, n: [rng.random((n, 9)), 4])
@sd.program
def shrinking_ranges(A: split(f64[M, N]), steps: i64):
    for k in range(steps):
        for j in range(k, N - k):
            A[:, j] += 0.5 * (k + 1) - A[:, N - 1 - j] * 0.25
        A[1:-1, k : N - k] *= 0.5


@directed(lambda rng, n: [rng.random((n, 6)), np.zeros(n)])
@sd.program
def running_statistics(A: split(f64[M, N]), s: split(f64[M])):
    largest = A[:, 0].copy()
    total = np.zeros_like(s)
    for j in range(A.shape[1]):
        largest = np.maximum(largest, A[:, j])
        total += A[:, j]
        A[:, j] = largest - total / (j + 1)
    s[:] = largest
    s[1:] += total[:-1]


@directed(lambda rng, n: [rng.random((n, n)), np.zeros(n)])
@sd.program
def elements_one_after_the_other(A: f64[N, N], x: f64[N]):
    for i in range(N):
        s = A[i, i]
        for j in range(i):
            s -= 0.1 * A[i, j] * x[j]
        x[i] = s / (2.0 + A[i, 0])
    for i in range(1, N):
        x[i] = x[i - 1] + 0.5 * x[i]


@directed(lambda rng, n: [rng.random(n), np.zeros(n), np.zeros(3, "i8")])
@sd.program
def largest_so_far(x: f64[N], y: f64[N], told: i64[3]):
    best = x[0]
    where = 0
    rises = 0
    for i in range(len(x)):
        if x[i] > best:
            best, where = x[i], i
            rises += 1
        y[i] = best
    told[0], told[1] = where, rises
    told[2] = i


@directed(lambda rng, n: [rng.random((n, 7)), rng.random((n, 7)), 3])
@sd.program
def lines_in_turn(U: split(f64[M, N]), V: split(f64[M, N]), steps: i64):
    for t in range(steps):
        for j in range(1, N - 1):
            V[1:-1, j] = 0.25 * (U[:-2, j] + U[2:, j] + V[1:-1, j - 1] + U[1:-1, j + 1])
        for j in range(N - 2, 0, -1):
            U[1:-1, j] = 0.5 * (V[1:-1, j] + U[1:-1, j + 1])


@directed(lambda rng, n: [rng.random((6, n)), rng.random((6, n))])
@sd.program
def falling_indices(A: split(f64[M, N], 1), B: split(f64[M, N], 1)):
    for i in range(M):
        B[M - 1 - i, 1:] = A[i, :-1] + B[(i * 2) % M, 1:]
        A[i // 2] = B[i]
    for i in range(0, 5, 2):
        A[i + 1, :] -= A[i, :]
