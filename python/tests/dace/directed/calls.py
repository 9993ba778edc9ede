"""Calls of functions and programs: names of their own, arguments that they rebind or write, values that they return."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import M, N, directed, f64, i64, split

FACTOR = 3.0


def laplacian(u):
    d = np.zeros_like(u)
    d[1:-1] = u[:-2] - 2.0 * u[1:-1] + u[2:]
    return d


def rebinds(A, x):
    A[1:] += x
    A = A * 2.0
    A[0] = 50.0
    x = x + 1
    return A


def clamp(x, low=0.0, high=1.0):
    return low if x < low else high if x > high else x


def same_array(u):
    return u


def inner_part(u):
    v = u[1:]
    return v[:-1]


def count_to(limit):
    t = 0
    total = 0
    while t < limit:
        t += 1
        if t == 2:
            continue
        total += t
    return total


def adds_and_tells(A, x):
    A += x
    return np.max(A)


def swaps(a, b):
    a, b = b, a
    a[0] = 3.0
    b[1:] = a[:-1]


def both(u, v):
    return 0.5 * (laplacian(u) + laplacian(v)) * FACTOR


def two_values(u):
    return np.max(u), np.min(u)


def nothing(A, k):
    """Has no value."""
    if k > 2:
        A *= 0.5
    else:
        A[1:] -= A[:-1]


def border(A, value):
    A[0] = value
    A[-1] = -value


def fills(dest, source, scale=1.0):
    for t in range(2):
        dest[1:] = source[:-1] * scale
        scale = scale * 0.5
        border(dest, t)


@sd.program
def relax(X: split(f64[N]), Y: split(f64[N]), w: f64):
    t = w * 0.5
    Y[1:-1] = t * (X[2:] + X[:-2])
    X = Y


@directed(lambda rng, n: [rng.random(n), rng.random(n), 3])
@sd.program
def same_names_in_both(A: split(f64[N]), d: split(f64[N]), steps: i64):
    u, t = A * 2.0, 0
    for t in range(steps):
        total = count_to(t + 2)
        d += laplacian(d) * 0.1 + total
        A[:] = u - d
    u += t
    A *= u


@directed(lambda rng, n: [rng.random(n), np.zeros(n), np.zeros(2)])
@sd.program
def argument_rebound(A: split(f64[N]), B: split(f64[N]), q: f64[2]):
    x = 2
    B[:] = rebinds(A, x)
    q[0] = x
    B[1:] -= rebinds(A[1:], 0.5)
    q[1] = clamp(x) + clamp(-x, high=2.0) + clamp(0.25, 0.1) * 10 + clamp(9.0, low=1.0, high=4.5)


@directed(lambda rng, n: [rng.random(n), rng.random(n)])
@sd.program
def value_is_the_argument(A: split(f64[N]), B: split(f64[N])):
    u = same_array(A)
    u += 1.0
    v = inner_part(B)
    v[:] = A[:-2] * 2.0
    inner_part(u)[:] = 0.5
    w = inner_part(inner_part(A))
    w -= B[2:-2]
    B[0] = same_array(A)[0]


@directed(lambda rng, n: [rng.random((n, 6)), rng.random((n, 6)), np.zeros(3), 3])
@sd.program
def writes_and_tells(A: split(f64[M, N]), B: split(f64[M, N]), q: f64[3], steps: i64):
    for t in range(steps):
        q[0] = adds_and_tells(A, t * 0.5)
        largest = adds_and_tells(B[:, 1:], A[:, :-1])
        nothing(A, t)
        q[1] += largest
    high, low = two_values(A)
    q[2] = high - low


@directed(lambda rng, n: [rng.random(n), rng.random(n)])
@sd.program
def swap_inside_a_call(A: split(f64[N]), B: split(f64[N])):
    swaps(A, B)
    A[1:-1] += B[2:]
    swaps(B, A)
    swaps(A[1:], B[1:])


@directed(lambda rng, n: [rng.random(n), rng.random(n), 4])
@sd.program
def calls_in_calls(A: split(f64[N]), B: split(f64[N]), steps: i64):
    for t in range(steps):
        if t % 2 == 0:
            A[1:-1] += both(A, B)[1:-1] - both(B, A)[2:]
        fills(B, A)
        fills(source=B, dest=A, scale=0.25)


@directed(lambda rng, n: [rng.random(n), rng.random(n), 4])
@sd.program
def programs_call_programs(A: split(f64[N]), B: split(f64[N]), steps: i64):
    w = 1.5
    t = -1
    for t in range(steps):
        relax(A, B, w)
        relax(B, A, w=0.5)
        w -= 0.25
    A[0] = t + w


@directed(lambda rng, n: [rng.random(n)])
@sd.program
def one_array_twice(A: split(f64[N])):
    relax(A, A, 0.75)
    fills(A, A)
    swaps(A, A)
    A += both(A, A)


@directed(lambda rng, n: [rng.random((n, n)), rng.random(n)])
@sd.program
def rows_as_arguments(A: f64[N, N], x: f64[N]):
    for i in range(N - 1):
        border(A[i], i)
        fills(A[:, i], A[i + 1])
        x[i] = adds_and_tells(A[i, 2:], 0.5)
    nothing(A.T, 0)
    nothing(x[::2], 1)


@directed(lambda rng, n: [rng.random(n), np.zeros(4)])
@sd.program
def numbers_of_functions(A: split(f64[N]), q: f64[4]):
    if clamp(0.75, high=0.5) >= 0.5 and count_to(3) == 4:
        q[0] = count_to(count_to(3))
    k = count_to(5) + count_to(limit=1)
    q[1] = k // 2
    while clamp(k / 10, 0.2) > 0.25:
        k -= 1
        A[1:] -= A[:-1] * clamp(k - 5.0)
    q[2] = k
    q[3] = clamp(np.max(A) * 10, np.min(A), np.max(A))
