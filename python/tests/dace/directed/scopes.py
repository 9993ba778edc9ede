"""Scopes: loop variables after loops, names set in branches and loops, ranges whose ends change."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import M, N, directed, f64, i64, split

t = 100
SHARED = 2.0


@directed(lambda rng, n: [rng.random(n), np.zeros(4, "i8")])
@sd.program
def variables_after_loops(A: split(f64[N]), q: i64[4]):
    for t in range(5):
        A[1:] += A[:-1] * t
    q[0] = t
    for i in range(10, 2, -3):
        A *= 0.5
    q[1] = i
    for i in range(3):
        for i in range(7, 9):
            q[2] += i
        q[2] += 100 * i
    q[3] = i
    A += t + i


@directed(lambda rng, n: [rng.random(n), np.zeros(2, "i8"), n - 13])
@sd.program
def variable_of_an_empty_loop(A: split(f64[N]), q: i64[2], steps: i64):
    t = -1
    for t in range(steps):
        A[1:-1] = 0.5 * (A[2:] + A[:-2])
    q[0] = t
    k = 7
    for k in range(5, 5):
        q[1] = 1
    q[1] += k
    A += t


@directed(lambda rng, n: [rng.random(n), np.zeros(3, "i8"), n - 10])
@sd.program
def variable_bound_in_its_loop(A: split(f64[N]), q: i64[3], steps: i64):
    q[0] = steps
    for t in range(steps):
        q[0] += t
        t = t * 2 + 1
        q[1] += t
        A[1:] *= 1.0 + t / 16.0
        t += 1
        q[2] = t


@directed(lambda rng, n: [rng.random(n), np.zeros(3, "i8"), 3])
@sd.program
def ends_that_change(A: split(f64[N]), q: i64[3], k: i64):
    t = i = 0
    for t in range(k):
        k += 1
        A[1:-1] += k * A[:-2]
    q[0] = k
    end = 2
    for i in range(end):
        end = 5
        for j in range(i, end):
            q[1] += 1
            end -= 1
            A *= 0.5
    q[1] += 100 * end
    q[2] = t * 10 + i


@directed(lambda rng, n: [rng.random(n), np.zeros(3), n - 14])
@sd.program
def names_of_branches(A: f64[N], q: f64[3], k: i64):
    if k > 5:
        x = np.max(A)
        B = A * 2.0
    elif k > 0:
        x = 2.5
        B = A.copy()
        B[1:] -= A[:-1]
    else:
        x = A[0] * k
        B = np.zeros_like(A)
    q[0] = x
    A[1:] += B[:-1] * x
    if k > 0:
        y = 1.0
        q[1] = y
    if k <= 0:
        y = -1.0
        q[1] = y
    for s in range(3):
        z = s * 0.5
        A -= z
    q[2] = z


@directed(lambda rng, n: [rng.random(n), np.zeros(3), 4])
@sd.program
def carried_from_pass_to_pass(A: split(f64[N]), q: f64[3], steps: i64):
    a, b = 0, 1
    weight = 1.0
    sign = True
    for k in range(steps):
        a, b = b, a + b
        weight = -0.5 * weight
        if sign:
            A[1:] += weight * b
        else:
            A[:-1] -= weight * a
        sign = not sign
    q[0], q[1], q[2] = a, b, weight * sign


@directed(lambda rng, n: [rng.random(n), 3])
@sd.program
def global_and_own(A: split(f64[N]), steps: i64):
    t = 0
    for t in range(steps):
        A[1:] = A[1:] * SHARED - t
    SHARES = SHARED * t if steps > 5 else SHARED
    A *= SHARES


@directed(lambda rng, n: [rng.random(n), np.zeros(2, "i8")])
@sd.program
def global_of_a_name(A: split(f64[N]), q: i64[2]):
    q[0] = t
    A[1:-1] = A[:-2] * t
    for k in range(t // 50):
        q[1] += k + 1


@directed(lambda rng, n: [rng.random((n, 6)), np.zeros(2), n - 12])
@sd.program
def arrays_of_a_loop(A: split(f64[M, N]), q: f64[2], steps: i64):
    last = 0.0
    for t in range(steps):
        B = A * 0.5
        if t % 2:
            B = B + 1.0
            B[1:] += A[:-1]
        C = B
        C[:, 0] = t
        A[1:-1] = C[:-2] - B[2:]
        last = np.max(B)
    q[0] = last


@directed(lambda rng, n: [rng.random(n), np.zeros(2, "i8"), 10, 3])
@sd.program
def ranges_with_steps(A: split(f64[N]), q: i64[2], first: i64, last: i64):
    for t in range(first, last, -2):
        q[0] = q[0] * 10 + t % 10
        A[1:] += t
    for t in range(last, first, 3):
        q[1] = q[1] * 10 + t % 10
        A[:-1] *= 0.5
    for t in range(first, last):
        q[1] = -1
    for t in range(last - 3, -5, -1):
        q[0] += t
    for t in range(-first, -last, 4):
        q[1] -= t


@directed(lambda rng, n: [rng.random(n), np.zeros(2)])
@sd.program
def known_branches(A: split(f64[N]), q: f64[2]):
    if SHARED > 1.0:
        x = 3
    else:
        unknown = x * 2  # noqa: F841
    if False:
        x = "text"
    while 1:
        x += 1
        if x > 6:
            break
    q[0] = x
    if t == 100 and not t < 0:
        A[1:] = A[:-1] + x
    pass
    """A text has no effect."""


@directed(lambda rng, n: [rng.random((n, 5)), rng.random((n, 5)), n - 11])
@sd.program
def one_name_for_this_and_that(A: f64[M, N], B: f64[M, N], steps: i64):
    v = A[0, 0]
    B *= v
    v = A[:, 1:]
    v *= 2.0
    for v in range(steps):
        A[1:, 0] += v * B[:-1, 0]
    v = np.max(A)
    B -= v
