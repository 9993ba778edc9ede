"""Conditions whose second half is computed only where the first allows it."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import M, N, directed, f64, i64, split


@directed(lambda rng, n: [np.zeros(n), rng.random(n), n])
@sd.program
def linear_search(x: f64[N], y: f64[N], k: i64):
    i = 0
    while i < N and y[i] < 2.0:
        x[i] = y[i]
        i += 1
    x[0] = i
    j = N - 1
    while j >= 0 and y[j] < 2.0:
        j -= 1
    x[1] = j


@directed(lambda rng, n: [rng.random(5), rng.random(n), np.zeros(4)])
@sd.program
def guarded_in_branch(x: f64[5], A: split(f64[N]), q: f64[4]):
    for t in range(7):
        if t < 5:
            q[0] += x[t]
        if t > 0:  # noqa: SIM102
            if t < 6:
                q[1] += x[t - 1]


@directed(
    lambda rng, n: [rng.random(5), rng.random(n), n - 12, np.zeros(4)],
)
@sd.program
def any_order_of_guards(x: f64[5], A: split(f64[N]), k: i64, q: f64[4]):
    for t in range(7):
        if t < 5 and x[t] > 0.25:
            q[0] += x[t]
        if t >= 5 or x[t] < 0.25:
            q[1] += 1
        i = t * 2
        while i < 5 and x[i] > 0.1:
            i += 1
        q[2] += i


@directed(
    lambda rng, n: [rng.random(5), rng.random(n), n - 16, np.zeros(8)],
)
@sd.program
def while_index_guard(x: f64[5], A: split(f64[N]), k: i64, q: f64[8]):
    i = 0
    while i < 5 and x[i] >= 0.0:
        i += 1
    q[0] = i


@directed(lambda rng, n: [rng.random(5), rng.random(n), n - 16, np.zeros(8)])
@sd.program
def while_true_guard(x: f64[5], A: split(f64[N]), k: i64, q: f64[8]):
    i = 0
    while True:
        if i >= 5:
            break
        if x[i] < 0.0:
            break
        i += 1
    q[0] = i


@directed(
    lambda rng, n: [rng.random(n), n - 16, np.zeros(8)],
    sizes=(16, 24),
)
@sd.program
def g_if_or(A: split(f64[N]), k: i64, q: f64[8]):
    if k == 0 or 7 % k == 3:
        q[2] = 1.0


@directed(
    lambda rng, n: [rng.random(n), n - 16, np.zeros(8)],
    sizes=(16, 24),
)
@sd.program
def g_if_and(A: split(f64[N]), k: i64, q: f64[8]):
    if k != 0 and 7 // k > -50:
        q[3] = 1.0


@directed(
    lambda rng, n: [rng.random(n), n - 16, np.zeros(8)],
    sizes=(16, 24),
)
@sd.program
def g_if_and_division(A: split(f64[N]), k: i64, q: f64[8]):
    if k != 0 and not 1 / k > 5:
        q[3] = 1.0


@directed(
    lambda rng, n: [rng.random(n), n - 16, np.zeros(8)],
    sizes=(16, 24),
)
@sd.program
def g_value_and(A: split(f64[N]), k: i64, q: f64[8]):
    q[4] = k != 0 and 7 // k > -50


@directed(
    lambda rng, n: [rng.random(n), n - 16, np.zeros(8)],
    sizes=(16, 24),
)
@sd.program
def g_value_or(A: split(f64[N]), k: i64, q: f64[8]):
    ok = k == 0 or 7 % k > 2
    q[5] = ok


@directed(lambda rng, n: [rng.random(n), n - 16, np.zeros(8)], sizes=(16, 24))
@sd.program
def g_elif(A: split(f64[N]), k: i64, q: f64[8]):
    if k == 0:
        q[0] = 1
    elif 7 // k > 0:
        q[0] = 2


@directed(lambda rng, n: [rng.random(n), n - 16, np.zeros(8)], sizes=(16, 24))
@sd.program
def g_elif_remainder(A: split(f64[N]), k: i64, q: f64[8]):
    if k == 0:
        q[0] = 1
    elif 7 % k < 0:
        q[0] = 3


@directed(lambda rng, n: [rng.random(n), n - 16, np.zeros(8)], sizes=(16, 24))
@sd.program
def g_else_remainder(A: split(f64[N]), k: i64, q: f64[8]):
    if k == 0:
        q[0] = 1
    else:
        q[0] = 7 % k


@directed(
    lambda rng, n: [rng.random(n), n - 16, np.zeros(8)],
    sizes=(16, 24),
)
@sd.program
def g_assert(A: split(f64[N]), k: i64, q: f64[8]):
    assert k == 0 or 12 // k != 100, "no"


@directed(
    lambda rng, n: [rng.random(n), n - 16, np.zeros(8)],
    sizes=(16, 24),
)
@sd.program
def g_while_only(A: split(f64[N]), k: i64, q: f64[8]):
    j = 3
    while j != 0 and 100 // j > 10:
        j -= 1
    q[1] = j


@directed(
    lambda rng, n: [rng.random((n, 8)), rng.random((n, 8)), n - 12],
)
@sd.program
def while_number_shortcut(A: split(f64[M, N]), B: split(f64[M, N]), k: i64):
    while k != 0 and 100 // k > 10:
        k -= 1
        A += k
    if k == 0 or 7 % k == 3:
        A[0] = 1.0
    B[:] = A * (1.0 if k == 0 else 2.0)


@directed(lambda rng, n: [rng.random(n), n - 16, np.zeros(8)], sizes=(16, 24))
@sd.program
def g_modulo_in_range(A: split(f64[N]), k: i64, q: f64[8]):
    for t in range(7 % k):
        q[t] += 1


@directed(lambda rng, n: [rng.random(n), n - 16, np.zeros(8)], sizes=(16, 24))
@sd.program
def g_modulo_plain(A: f64[N], k: i64, q: f64[8]):
    q[0] = 7 % k
