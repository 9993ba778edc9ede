"""More calls: loops in functions, pairs of values, numbers and arrays as arguments."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import N, directed, f64, split


def loops(A, n):
    t = 0
    while True:
        t += 1
        if t > n:
            break
        for k in range(t):
            if k == 2:
                continue
            A += k * 0.25
    return t


def picks(u, n):
    if n > 2:  # noqa: SIM108
        v = u * 2.0
    else:
        v = u + 1.0
    return v


def narrows(u):
    u = u[1:-1]
    u[:] = u * 0.5
    u = u[1:-1]
    u += 1.0


def pair(u, k):
    return u * k, k + 1


def chain(u, n=2):
    for t in range(n):
        w = picks(u, t)
        u = w - u
    return u


def accumulates(A, total):
    total += np.max(A)
    return total


def adds(x, A):
    x += A


@directed(lambda rng, n: [rng.random(n), np.zeros(6)])
@sd.program
def functions_of_all_kinds(A: split(f64[N]), q: f64[6]):
    t = 100
    q[0] = loops(A, 4)
    q[1] = t
    A[:] = picks(A, 3) - picks(A, 1)
    narrows(A)
    B, k = pair(A, 3)
    A[1:] = B[:-1]
    q[2] = k
    A -= chain(A) * 0.5
    total = 1.0
    q[3] = accumulates(A, total)
    q[4] = total


@directed(lambda rng, n: [rng.random(n), rng.random(3)])
@sd.program
def number_or_array_argument(A: split(f64[N]), x: f64[3]):
    y = 1.0
    adds(y, 2.0)
    adds(A, y)
    adds(x[:1], 5.0)
    z = x[1]
    adds(z, 100.0)
    x[2] = z


@directed(lambda rng, n: [rng.random(n), np.zeros(1)])
@sd.program
def array_of_one_as_argument(A: split(f64[N]), r: f64[1]):
    adds(r, 2.0)
    adds(r, np.max(A))
    A *= r
