"""More swaps: with break, return, views, two loops, four arrays."""

from __future__ import annotations

import numpy as np

import dace
from starling import dace as sd

from .registry import M, N, directed, f64, i64, split


@directed(lambda rng, n: [rng.random((n, 6)), rng.random((n, 6))])
@sd.program
def one_of_two_views_read(A: split(f64[M, N]), B: split(f64[M, N])):
    for t in range(4):
        if t % 2 == 0:  # noqa: SIM108
            v = A[1:-1]
        else:
            v = A[:-2]
        B[1:-1] += v * (t + 1)


@directed(lambda rng, n: [rng.random(n), rng.random(n), n - 11])
@sd.program
def break_before_swap(A: split(f64[N]), B: split(f64[N]), steps: i64):
    for t in range(steps):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        if t == 4:
            break
        A, B = B, A
    A[0] = 3.0


@directed(lambda rng, n: [rng.random(n), rng.random(n), np.zeros(n), n - 11])
@sd.program
def return_in_swapping(A: split(f64[N]), B: split(f64[N]), C: split(f64[N]), steps: i64):
    for t in range(steps):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A, B = B, A
        if t == 5:
            C[:] = A
            return
    C[:] = B


@directed(lambda rng, n: [rng.random(n), rng.random(n), 0.1])
@sd.program
def swap_in_while_condition(A: split(f64[N]), B: split(f64[N]), tol: f64):
    B[0] = A[0]
    B[-1] = A[-1]
    while np.max(np.abs(A[1:-1] - B[1:-1])) > tol:
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A, B = B, A


@directed(lambda rng, n: [rng.random(n), rng.random(n), n - 11])
@sd.program
def view_of_swapped(A: split(f64[N]), B: split(f64[N]), steps: i64):
    for t in range(steps):
        inner = B[1:-1]
        inner[:] = 0.5 * (A[:-2] + A[2:])
        A, B = B, A
        inner *= 1.5


@directed(lambda rng, n: [rng.random(n), rng.random(n), rng.random(n), rng.random(n), n - 11])
@sd.program
def four_rotate(a: split(f64[N]), b: split(f64[N]), c: split(f64[N]), d: split(f64[N]), steps: i64):
    for t in range(steps):
        d[1:] = a[:-1] - b[1:] + 0.5 * c[:-1]
        a, b, c, d = d, a, b, c


@directed(lambda rng, n: [rng.random(n), rng.random(n), rng.random(n), n - 11])
@sd.program
def rotate_two_cycles(a: split(f64[N]), b: split(f64[N]), c: split(f64[N]), steps: i64):
    for t in range(steps):
        c[1:] = a[:-1] - b[1:]
        a, b = b, a
        a[:-1] += 0.5 * c[1:]
        b, c = c, b


@directed(lambda rng, n: [rng.random((n, 8)), rng.random((n, 8)), n])
@sd.program
def swap_two_loops(A: split(f64[M, N]), B: split(f64[M, N]), steps: i64):
    for t in range(steps):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A, B = B, A
    for t in range(steps):
        B[1:-1] = 0.25 * (A[:-2] + A[2:])
        A, B = B, A


@directed(lambda rng, n: [rng.random((n, 8)), rng.random((n, 8)), n])
@sd.program
def outer_and_inner_swap_copy(A: split(f64[M, N]), B: split(f64[M, N]), steps: i64):
    for k in range(2):
        u = A.copy()
        w = B.copy()
        for t in range(steps):
            w[1:-1] = 0.5 * (u[:-2] + u[2:])
            u, w = w, u
        A[:] = u
        B += A


@directed(lambda rng, n: [rng.random((n, 5)), 3])
@sd.program
def map_in_time(A: split(f64[M, N]), steps: i64):
    B = np.zeros_like(A)
    for t in range(steps):
        for i, j in dace.map[1 : M - 1, 1 : N - 1]:
            B[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1]) + t
        A, B = B, A
    A[0] = 5.0


@directed(lambda rng, n: [rng.random((n, 4)), np.zeros(8), 3])
@sd.program
def unpacked_slices(A: split(f64[M, N]), q: f64[8], k: i64):
    A[:, 0], A[:, 1] = A[:, 1], A[:, 0]
    A[:, 2:], A[:, :2] = A[:, :2], A[:, 2:]
    a, b = A[:, 0] * 2, A[:, 1] + 1
    A[:, 0], A[:, 1] = b, a
    A[:-1], A[1:] = A[1:], A[:-1]


@directed(lambda rng, n: [rng.random(n), np.zeros(8), 3])
@sd.program
def nested_tuples(A: split(f64[N]), q: f64[8], k: i64):
    (a, b), c = (1, 2), 3
    [d, e] = [4, 5]
    q[0], (q[1], q[2]) = a + b, (c, d * e)
    a, b = b, a
    q[3] = a * 10 + b
    x = y = 2
    x += 1
    q[4] = x * 10 + y
    i = 0
    i, q[i] = 5, 7
    q[5] = i


@directed(lambda rng, n: [rng.random(n), np.zeros(8), 3])
@sd.program
def order_of_evaluation(A: split(f64[N]), q: f64[8], k: i64):
    i = 0
    i, q[i + 1] = 2, i + 9
    q[i] += i
    j = i
    i += j
    q[i], i = i, 6
    q[i] = q[i - 2] + j


@directed(lambda rng, n: [rng.random((2, n)), np.array([2.0, 3.0]), np.zeros(4)])
@sd.program
def unpacked_arrays(A: split(f64[2, N], 1), p: f64[2], q: f64[4]):
    u, v = A[0], A[1]
    u[1:] += v[:-1]
    v *= 2.0
    a, b = p[0], p[1]
    p[0] = 7.0
    q[0], q[1] = a, b
    u, v = v, u
    u[0] = 9.0


@directed(lambda rng, n: [rng.random(n), rng.random((6, 4)), np.zeros(8), 3])
@sd.program
def bound_in_while(A: split(f64[N]), w: f64[6, 4], q: f64[8], k: i64):
    while True:
        x = k
        k -= 1
        if k < 0:
            break
        A += x
    q[0] = x


@directed(lambda rng, n: [rng.random(n), rng.random((6, 4)), np.zeros(8), 3])
@sd.program
def bound_in_both_branches_of_branches(A: split(f64[N]), w: f64[6, 4], q: f64[8], k: i64):
    if k > 2:
        if k > 5:  # noqa: SIM108
            y = 1.0
        else:
            y = 2.0
    elif k < 0:
        raise ValueError("negative")
    else:
        y = 3.0
    q[0] = y
    for t in range(k):
        if t == 1:
            z = 1.0
        else:
            if t > 5:
                break
            z = 2.0
        q[t] = z


@directed(lambda rng, n: [np.zeros(8, "i8"), rng.random((n, 6))])
@sd.program
def lengths(q: i64[8], A: f64[M, N]):
    q[0] = len(A[1:-1]) * 100 + A[1:].shape[0]
    q[1] = A.T.shape[0] * 100 + A.T.shape[1]
    v = A[2:, ::2]
    q[2] = v.size * 100 + v.ndim
    q[3] = len(v.T) + len(A[0]) + A[:, 0].shape[0]
    q[4] = A[::3].shape[0]
    q[5] = A.shape[-1] + A[None].ndim
    rows, cols = v.shape
    q[6] = rows * cols
