"""Programs that the table of the language takes, and the compiler once refused; those marked it refuses today."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import M, N, directed, f64, i64, split

TABLE = (0.5, 0.25, 0.125)


@directed(
    lambda rng, n: [rng.random(n), rng.random(n), rng.random(n), np.zeros(n), 3 + n % 5],
    known="refused: a swap in an inner loop",
)
@sd.program
def swap_nested_read_only(A: split(f64[N]), B: split(f64[N]), C: split(f64[N]), D: split(f64[N]), steps: i64):
    for k in range(3):
        for t in range(steps):
            B[1:-1] = 0.5 * (A[:-2] + A[2:])
            A, B = B, A
        D += A * C


@directed(lambda rng, n: [rng.random(n), rng.random(n), n - 11], known="refused: a swap in a loop with continue")
@sd.program
def continue_before_swap(A: split(f64[N]), B: split(f64[N]), steps: i64):
    for t in range(steps):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        if t == 1:
            continue
        A, B = B, A


@directed(
    lambda rng, n: [rng.random(n), rng.random((6, 4)), np.zeros(8)],
)
@sd.program
def bound_in_inner_literal_loop(A: split(f64[N]), w: f64[6, 4], q: f64[8]):
    for i in range(4):
        for j in range(2):
            x = i + j
        q[i] = x


@directed(
    lambda rng, n: [rng.random(n), rng.random((6, 4)), np.zeros(8)],
)
@sd.program
def table_by_loop_variable(A: split(f64[N]), w: f64[6, 4], q: f64[8]):
    for i in range(3):
        A *= TABLE[i]
        q[i] = TABLE[2 - i]


@directed(
    lambda rng, n: [rng.random(n), n - 13, np.zeros(1)],
)
@sd.program
def guarded_division(x: f64[N], k: i64, q: f64[1]):
    q[0] = 1.0 / k if k > 0 else 2.0


@directed(
    lambda rng, n: [rng.random(n), n - 13, np.zeros(1)],
)
@sd.program
def guarded_expression(x: f64[N], k: i64, q: f64[1]):
    q[0] = x[k - 1] if k > 0 else x[0]


@directed(lambda rng, n: [np.zeros(8, "i8"), n - 16])
@sd.program
def conditional_sums_2(q: i64[8], k: i64):
    t = 0
    for t in range(4):
        k += 1
    q[0] = t * 10 if k > 3 else -1


@directed(
    lambda rng, n: [rng.random(n), rng.random((6, 4)), np.zeros(8)],
)
@sd.program
def empty_any_by_size(A: split(f64[N]), w: f64[6, 4], q: f64[8]):
    q[0] = np.any(A[50:] > 0.5)
    q[1] = np.all(A[50:] > 0.5)
    q[2] = np.sum(A[50:])


@directed(lambda rng, n: [rng.random((n, 5)), np.zeros(n)])
@sd.program
def middle_column(A: split(f64[M, N]), s: split(f64[M])):
    A *= A[:, 2:3]


@directed(lambda rng, n: [rng.random((n, 5)), rng.random(5)])
@sd.program
def first_row_as_slice_updated(A: split(f64[M, N]), x: f64[N]):
    A[0:1] += x


@directed(
    lambda rng, n: [rng.random((n, n))],
)
@sd.program
def seidel(A: f64[N, N]):
    for i in range(1, N - 1):
        for j in range(1, N - 1):
            A[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])


@directed(
    lambda rng, n: [rng.random((n, n)), np.zeros((n, n))],
)
@sd.program
def triangles(A: f64[N, N], B: f64[N, N]):
    for i in range(N):
        for j in range(i + 1, N):
            B[i, j] = A[j, i] * 2.0
            B[j, i] = A[i, j] - B[i, j]
