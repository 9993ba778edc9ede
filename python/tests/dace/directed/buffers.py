"""Double and triple buffers, and swaps in many spellings."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import M, N, directed, f64, i64, split


@directed(lambda rng, n: [rng.random(n), rng.random(n), n - 13])
@sd.program
def swap_in_loop(A: split(f64[N]), B: split(f64[N]), steps: i64):
    for t in range(steps):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A, B = B, A


@directed(lambda rng, n: [rng.random((n, 7)), rng.random((n, 7)), n - 11])
@sd.program
def swap_by_third_name(A: split(f64[M, N], 0), B: split(f64[M, N], 0), steps: i64):
    for t in range(steps):
        B[1:-1, 1:-1] = 0.25 * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
        kept = A
        A = B
        B = kept


@directed(lambda rng, n: [rng.random((n, n + 2)), rng.random((n, n + 2)), np.zeros((n, n + 2)), n - 12])
@sd.program
def wave_rotates(
    old: split(f64[M, N], (0, 1)), now: split(f64[M, N], (0, 1)), new: split(f64[M, N], (0, 1)), steps: i64
):
    for t in range(steps):
        new[1:-1, 1:-1] = (
            2.0 * now[1:-1, 1:-1]
            - old[1:-1, 1:-1]
            + 0.2 * (now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4.0 * now[1:-1, 1:-1])
        )
        old, now, new = now, new, old


@directed(lambda rng, n: [rng.random(n), rng.random(n), np.full(n, np.nan), n - 12])
@sd.program
def swap_then_told(A: split(f64[N]), B: split(f64[N]), C: split(f64[N]), steps: i64):
    for t in range(steps):
        B[1:-1] = 0.25 * A[:-2] + 0.75 * A[2:]
        A, B = B, A
    C[:] = A


@directed(lambda rng, n: [rng.random(n), np.zeros(n), 3 + n % 2])
@sd.program
def buffer_of_its_own(A: split(f64[N]), R: split(f64[N]), steps: i64):
    B = A.copy()
    for t in range(steps):
        B[1:-1] = (A[:-2] + A[1:-1] + A[2:]) / 3.0
        A, B = B, A
    R[:] = A


@directed(lambda rng, n: [rng.random((2, n)), n - 11])
@sd.program
def two_layers(U: split(f64[2, N], 1), steps: i64):
    for t in range(steps):
        U[(t + 1) % 2, 1:-1] = 0.5 * (U[t % 2, :-2] + U[t % 2, 2:])


@directed(lambda rng, n: [rng.random((2, n)), np.zeros(n), n - 12])
@sd.program
def layers_by_numbers(U: split(f64[2, N], 1), R: split(f64[N]), steps: i64):
    now, new = 0, 1
    for t in range(steps):
        U[new, 1:-1] = U[now, :-2] - 0.5 * U[now, 2:]
        now, new = new, now
    R[:] = U[now]


@directed(lambda rng, n: [rng.random(n), rng.random(n), n - 12])
@sd.program
def swap_twice_in_a_pass(A: split(f64[N]), B: split(f64[N]), steps: i64):
    for t in range(steps):
        B[1:-1] = A[:-2] * 0.5
        A, B = B, A
        B[1:] = A[1:] - A[:-1]
        A, B = B, A
        B += 0.125


@directed(lambda rng, n: [rng.random((5, n)), rng.random((5, n)), rng.random((5, n)), n - 12])
@sd.program
def rotate_to_the_right(a: split(f64[M, N], 1), b: split(f64[M, N], 1), c: split(f64[M, N], 1), steps: i64):
    for t in range(steps):
        a[:, 1:-1] = 0.5 * b[:, 2:] + 0.25 * c[:, :-2]
        a, b, c = c, a, b


@directed(lambda rng, n: [rng.random(n), rng.random(n)])
@sd.program
def slices_that_do_not_swap(A: split(f64[N]), B: split(f64[N])):
    A[1:-1], B[1:-1] = B[1:-1], A[1:-1]
    A[2:], B[2:] = B[:-2] + 1.0, A[:-2] + 2.0


@directed(lambda rng, n: [rng.random((n, 4))])
@sd.program
def rows_that_do_not_swap(A: f64[M, N]):
    A[0, :], A[1, :] = A[1, :], A[0, :]
    A[2], A[3] = A[3].copy(), A[2].copy()


@directed(lambda rng, n: [rng.integers(0, 9, n).astype("f8"), np.zeros(1, "i8")])
@sd.program
def bubbles(x: f64[N], swaps: i64[1]):
    x[0], x[-1] = x[-1], x[0]
    for i in range(N - 1):
        for j in range(N - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
                swaps[0] += 1


@directed(lambda rng, n: [rng.random(n), rng.random(n), n - 11], known="refused: a swap in an inner loop")
@sd.program
def swap_in_inner_loop(A: split(f64[N]), B: split(f64[N]), steps: i64):
    for k in range(3):
        A[0] = k * 0.5
        for t in range(steps):
            B[1:-1] = 0.5 * (A[:-2] + A[2:])
            A, B = B, A
        A[-1] = B[-1] + k


@directed(lambda rng, n: [rng.random(n), rng.random(n), 4 + n % 3])
@sd.program
def swap_of_parts(A: split(f64[N]), B: split(f64[N]), steps: i64):
    inner, other = A[1:-1], B[1:-1]
    for t in range(steps):
        other[1:-1] = 0.5 * (inner[:-2] + inner[2:])
        inner, other = other, inner


@directed(lambda rng, n: [rng.random(n), rng.random(n), np.zeros(n)])
@sd.program
def swap_of_results(A: split(f64[N]), B: split(f64[N]), C: split(f64[N])):
    for t in range(4):
        A, B = A + 0.5 * B, A - B
    C[:] = A * B
    A = C
    A[:-1] = B[1:]


@directed(lambda rng, n: [rng.random((n, 6)), np.zeros((n, 6)), n - 12])
@sd.program
def new_array_in_each_pass(A: split(f64[M, N]), D: split(f64[M, N]), steps: i64):
    u = A
    for t in range(steps):
        old = u
        u = old.copy()
        u[1:-1] = 0.5 * (old[:-2] + old[2:])
        D += np.abs(u - old)
    A[:] = u


@directed(lambda rng, n: [rng.random(n), rng.random(n), np.zeros(2), 1e-2])
@sd.program
def swap_until(A: split(f64[N]), B: split(f64[N]), told: f64[2], tol: f64):
    B[0] = A[0]
    B[-1] = A[-1]
    change = 1.0
    passes = 0
    while change > tol:
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        change = np.max(np.abs(A - B))
        A, B = B, A
        passes += 1
    told[0] = passes
    told[1] = np.max(A)
