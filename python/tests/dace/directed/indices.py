"""Indices: ends that are computed or cut off, None and ..., axes, products, arrays that are made."""

from __future__ import annotations

import numpy as np

import dace
from starling import dace as sd

from .registry import K, M, N, directed, f32, f64, i32, i64, split


@directed(lambda rng, n: [rng.random((n, 9)), 2, 7])
@sd.program
def computed_ends(A: split(f64[M, N]), low: i64, high: i64):
    A[:, low:high] *= 2.0
    A[1:, low : low + 3] -= A[:-1, high - 3 : high]
    middle = N // 2
    A[:, :middle] += 1.0
    A[:, middle:] -= A[:, middle - 1 : N - 1]
    for k in range(1, 4):
        A[k : M - k, k : N - k] *= 1.0 + k
    A[:, high:low] = 99.0


@directed(lambda rng, n: [rng.random((n, 6)), rng.random((4, 6))])
@sd.program
def ends_cut_off(A: split(f64[M, N]), w: f64[4, 6]):
    A[:, :100] += 1.0
    A[:, 4:2] = 5.0
    A[2:2] = 7.0
    A[:, 50:] = 8.0
    w[1:10, -5:] -= 1.0
    w[-2:] = w[:-2][:7]
    w[:, -3:-1] = w[:, 3:5] * 2.0
    w[2:-7:1] = 0.0


@directed(lambda rng, n: [rng.random((n, 5, 4)), rng.random(n), rng.random(4)])
@sd.program
def ellipsis_and_none(A: split(f64[K, M, N]), x: split(f64[K]), y: f64[N]):
    A[..., 0] = x[:, None]
    A[1:, ..., 1:] += A[:-1, ..., :-1]
    A += y
    A[:] = A * y[None, None, :] + x[:, np.newaxis, np.newaxis]
    A[..., :] -= 1.0
    A[:, 2, ...] = A[:, 3, ...] * x[..., None]
    x[...] = A[:, -1, -1]


@directed(lambda rng, n: [rng.random(n), rng.random(6), rng.random((n, 6)), np.zeros((n, 6))], rounded=True)
@sd.program
def outer_products(x: split(f64[M]), y: f64[N], A: split(f64[M, N]), B: split(f64[M, N])):
    B[:] = np.outer(x, y) - x[:, None] * y
    A += np.outer(x, y)
    B += A / np.sum(A, axis=1, keepdims=True)
    B -= np.mean(A, axis=-1, keepdims=True) + A.max(axis=1)[:, None]
    x[:] = A @ y + np.dot(A, y)
    x += np.linalg.norm(y) * y.sum()


@directed(lambda rng, n: [rng.random((n, 5)), rng.random((5, 4)), np.zeros((n, 4)), np.zeros(4)], rounded=True)
@sd.program
def products(A: split(f64[M, K]), B: f64[K, N], C: split(f64[M, N]), q: f64[4]):
    C[:] = A @ B
    C += 0.5 * np.dot(A, B) @ np.matmul(B.T, B)
    A[:, 1:] = (A[:, :-1] @ B[:-1, :]) @ B.T[:, 1:]
    q[0] = np.sum(C) / C.size
    q[1] = np.mean(A[1:-1])
    q[2] = np.linalg.norm(B)
    q[3] = B[0] @ B[1]


@directed(lambda rng, n: [rng.random((n, 6)), np.zeros(n), np.zeros(4)], rounded=True)
@sd.program
def sums_along_axes(A: split(f64[M, N], 0), s: split(f64[M]), q: f64[4]):
    s[:] = A.sum(axis=1) - A.mean(axis=-1)
    s[1:] += np.max(A[:-1, 1:-1], axis=1)
    A -= A.min(axis=1, keepdims=True)
    q[0] = A.sum() / (A.shape[0] * len(s))
    q[1] = (s * s).sum() ** 0.5
    q[2] = np.sum(np.where(A > 0.3, A, 0.0))
    q[3] = np.sum(A[::2, 1::2] * A[::2, :-1:2])


@directed(lambda rng, n: [np.zeros(n), np.zeros((n, n + 3), "i8"), 0.1])
@sd.program
def ranges_as_arrays(x: f64[M], A: i64[M, N], h: f64):
    x[:] = np.arange(M) * h
    i = np.arange(M)
    j = np.arange(N)
    A[:] = i[:, None] * 10 + j
    A[1:, 1:] -= A[:-1, :-1] % 3
    B = np.zeros((N, M))
    B += x
    B[1:] += j[:-1, None] / 2
    A += B.T > 0.5
    x += np.full(M, 2.0) * np.ones(M) + np.zeros(M, dtype=np.int32)


@directed(lambda rng, n: [rng.random((n, 4)), np.zeros(3, "i8"), np.zeros(n, "f4")])
@sd.program
def shapes_and_types(A: split(f64[M, N]), q: i64[3], x: split(f32[M])):
    m, n = A.shape
    q[0] = m * 100 + n
    q[1] = len(A) * 1000 + A.size + A.ndim
    h = 1.0 / (A.shape[1] - 1)
    B = np.zeros(A.shape, dtype=A.dtype)
    B[:, 1 : n - 1] = A[:, : n - 2] * h
    C = np.empty((M, N), np.float32)
    C[:] = B
    C[1:] -= 1
    x[:] = C[:, 2] + C[:, -1]
    q[2] = len(x.shape) + A[0].ndim
    A[1 : m - 1] = B[: m - 2] + C[2:m]


@directed(lambda rng, n: [rng.random((n, n)), rng.integers(0, 5, n), np.zeros(n)])
@sd.program
def numbers_as_indices(A: f64[N, N], k: i64[N], x: f64[N]):
    for i in range(N):
        x[i] = A[i, k[i]] + A[k[i], -1]
    for i in range(1, N):
        j = k[i] * 2 % N
        A[j, i - 1] += x[j]
        x[j] = A[i - 1, j] - x[i]
        k[i] = k[i - 1] // 2
    x[k[0]] = 100.0
    x[k[1] : k[1] + 3] += 0.5


@directed(lambda rng, n: [rng.random((n, 7)), rng.random((n, 7)), np.zeros(1)])
@sd.program
def maps_over_elements(A: split(f64[M, N]), B: split(f64[M, N]), r: f64[1]):
    for i, j in dace.map[1 : M - 1, 0:N]:
        w = A[i - 1, j] * 2.0
        B[i, j] = w + A[i + 1, j] * j
    for i, j in dace.map[0:M, 1:N:2]:
        A[i, j - 1] = B[i, j] * j


@directed(lambda rng, n: [rng.integers(0, 9, (6, n), dtype="i4"), np.zeros((6, n), "i4"), np.zeros(2, "i8")])
@sd.program
def rolled_and_reversed(A: split(i32[M, N], 1), B: split(i32[M, N], 1), q: i64[2]):
    B[:] = np.roll(A, 2, axis=0) - A[::-1]
    B[::2] += A[::-1][::2]
    A[:] = A[::-1]
    A[::-1] = A + B
    q[0] = np.sum(A[-1] * B[0])
    q[1] = np.max(B[::-1][1:3])
