"""Whole matrices: eliminations, shortest paths, updates in place by a part of the same array."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import K, M, N, directed, f64, split


@directed(lambda rng, n: [rng.random((n, 6))])
@sd.program
def in_place_by_own_max(A: split(f64[M, N])):
    A /= np.max(A)
    A[:] = A - np.min(A[1:-1])
    A[1:, 1:] *= A[:, :-1].max()


@directed(lambda rng, n: [rng.random((n, 6))])
@sd.program
def in_place_by_own_rows(A: split(f64[M, N])):
    A -= A.max(axis=1, keepdims=True)
    A[:, 1:] += A[:, :1]
    A[:] = A[:, 0:1]


@directed(lambda rng, n: [rng.random((n, n))])
@sd.program
def in_place_by_own_row_whole(A: f64[N, N]):
    A /= A[0]
    A -= A[:, :1]
    A *= A[2, 2]
    A[1:] = A[0]
    A += A[:, 1]


@directed(lambda rng, n: [rng.random(n)])
@sd.program
def in_place_by_own_element(x: f64[N]):
    x /= x[0]
    x -= x[2]
    x[1:] *= x[3]
    x[:] = x[::-1] * x[4] + x


@directed(lambda rng, n: [rng.random((n, n))])
@sd.program
def gauss_jordan(A: f64[N, N]):
    for k in range(N):
        A[k] /= A[k, k] + 2.0
        for i in range(N):
            if i != k:
                A[i] -= 0.1 * A[i, k] * A[k]


@directed(lambda rng, n: [rng.random((n, n))])
@sd.program
def lu(A: f64[N, N]):
    for k in range(N - 1):
        A[k + 1 :, k] /= A[k, k] + 3.0
        A[k + 1 :, k + 1 :] -= np.outer(A[k + 1 :, k], A[k, k + 1 :])


@directed(lambda rng, n: [rng.random((n, n))])
@sd.program
def floyd(D: f64[N, N]):
    for k in range(N):
        D[:] = np.minimum(D, D[:, k : k + 1] + D[k])


@directed(lambda rng, n: [rng.random((n, n))])
@sd.program
def floyd_none(D: f64[N, N]):
    for k in range(N):
        D[:] = np.minimum(D, D[:, k][:, None] + D[k][None, :])


@directed(lambda rng, n: [rng.random((n, n))])
@sd.program
def row_and_column(A: f64[N, N]):
    for i in range(N):
        A[i, :] = A[:, i] * 0.5
        A[:, i] -= A[i, :] * 0.25


@directed(lambda rng, n: [rng.random((n, n)), rng.random(n)], rounded=True)
@sd.program
def products_in_place(A: f64[N, N], x: f64[N]):
    x[:] = A @ x
    A[:] = A @ A
    x[:] = x @ A + A.T @ x
    A[:] = 0.1 * A.T @ A


@directed(lambda rng, n: [rng.random((n, n)), rng.random(n), np.zeros(n)])
@sd.program
def forward_substitution(L: f64[N, N], b: f64[N], x: f64[N]):
    for i in range(N):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] /= L[i, i] + 1.0


@directed(lambda rng, n: [rng.random((n, 6)), np.zeros(8)], rounded=True)
@sd.program
def statistics_of_views(A: split(f64[M, N]), q: f64[8]):
    q[0] = np.sum(A[::2, ::3])
    q[1] = np.max(A[1::2, 1:-1])
    q[2] = np.mean(A[3:5])
    q[3] = A[2].sum()
    q[4] = A[:, 1].mean()
    q[5] = np.min(A[-1])
    q[6] = np.any(A[3] > 0.9) + np.all(A[2:3, 1:] > 0.01)
    q[7] = np.max(A[-3:, -1] - A[-4:-1, 0])


@directed(lambda rng, n: [rng.random((n, 6)), np.zeros(6)], rounded=True)
@sd.program
def sums_over_first_axis_whole(A: f64[M, N], s: f64[N]):
    s[:] = A.sum(axis=0) + A[:, ::-1].max(axis=0) - A.mean(0)
    A -= np.sum(A, axis=0) / M
    A[:] = A / np.sum(A * A, axis=1)[:, None]
    s += A.min(axis=-2)


@directed(lambda rng, n: [rng.random((n, 3, 4)), np.zeros((n, 4)), np.zeros(n)], rounded=True)
@sd.program
def sums_of_volumes(A: split(f64[K, 3, N]), B: split(f64[K, N]), s: split(f64[K])):
    B[:] = A.sum(axis=1) - A.max(axis=1)
    s[:] = np.sum(np.sum(A, axis=2), axis=1)
    A -= A.mean(axis=1, keepdims=True)


@directed(lambda rng, n: [rng.random((n, 3, 4)), np.zeros(n)], rounded=True)
@sd.program
def sums_along_two(A: split(f64[K, 3, N]), s: split(f64[K])):
    s[:] = np.sum(A, axis=(1, 2))


@directed(lambda rng, n: [rng.random((n, 5)), rng.random(5), np.zeros((n, 5))])
@sd.program
def broadcasts_2(A: split(f64[M, N]), x: f64[N], B: split(f64[M, N])):
    B[:] = x
    B += A[:, 2][:, None]
    B[1:] *= A[:-1, -1:]
    A[:, :] = x[None, :] * 2
    A[1:-1, 1:4] = x[::2]
    B[2:, ::2] = 7.0


@directed(lambda rng, n: [rng.random((n, 5)), rng.random((1, 5)), rng.random((n, 1))])
@sd.program
def ones_in_shapes(A: split(f64[M, N]), x: f64[1, N], y: split(f64[M, 1])):
    A += x * y
    A[1:] -= y[:-1]
    y[:] = A[:, :1]
    x[:] = 2.0 * x[::-1]


@directed(lambda rng, n: [rng.random((n, 5)), rng.random(5)])
@sd.program
def first_row_as_slice_two(A: split(f64[M, N]), x: f64[N]):
    A[:2] = x
    A[-1:] = 3.0
    A[-2:] *= 2.0
    A[:1] = A[1:2]
