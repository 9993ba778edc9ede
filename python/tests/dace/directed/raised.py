"""Programs whose Python raises for some of the arguments: the same exception, or a ProgramError."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import M, N, directed, f64, i32, i64, split


def checked(A, limit):
    assert np.max(A) < limit, "too large"
    A *= 2.0


@directed(lambda rng, n: [rng.random(n) * n / 13, rng.random(n), np.zeros(2)])
@sd.program
def raise_of_a_value(A: split(f64[N]), B: split(f64[N]), q: f64[2]):
    q[0] = 1.0
    B[1:] = A[:-1]
    if np.max(A) > 1.1:
        q[1] = np.max(A)
        raise ValueError("above the limit")
    B *= 2.0


@directed(lambda rng, n: [rng.random((n, 5)), np.zeros(1, "i8"), n, 1e6 if n > 16 else 20.0])
@sd.program
def raise_in_a_loop(A: split(f64[M, N]), count: i64[1], steps: i64, limit: f64):
    for t in range(steps):
        A[1:-1] = A[1:-1] * 1.25 + 0.1 * A[:-2]
        count[0] += 1
        if np.max(A) > limit:
            raise RuntimeError("it grows")
        if t == 14:
            raise StopIteration


@directed(lambda rng, n: [rng.random(n) * n / 13, 1.0])
@sd.program
def assert_of_all(A: split(f64[N]), limit: f64):
    assert np.all(A >= 0.0)
    A += 1.0
    assert (A <= 1.0 + limit).all(), "one is larger"  # noqa: SIM300
    A += 1.0


@directed(lambda rng, n: [rng.random(n), 5])
@sd.program
def assert_in_a_function(A: split(f64[N]), steps: i64):
    for t in range(steps):
        checked(A, 8.0)
        A[1:-1] += A[:-2]


@directed(lambda rng, n: [rng.random(n), n - 13, np.zeros(3)])
@sd.program
def kinds_of_exceptions(A: split(f64[N]), k: i64, q: f64[3]):
    q[0] = 1
    if k == 0:
        raise KeyError("no such key")
    if k == 3:
        q[1] = 2
        raise OverflowError("too much")
    A[1:] = A[:-1]
    q[2] = 3
    assert k < 0, "an end"


@directed(lambda rng, n: [rng.random(n), np.array([0, n - 14, n // 2, 23])])
@sd.program
def index_beyond_the_end(x: f64[N], k: i64[4]):
    for i in range(4):
        x[k[i]] += 1.0
    x[0] = 7.0


@directed(lambda rng, n: [rng.random(n), np.zeros(4)])
@sd.program
def division_of_a_pass(A: split(f64[N]), q: f64[4]):
    for t in range(-2, 3):
        A += 1.0 / t
        q[0] += 1


@directed(lambda rng, n: [rng.random(n), np.zeros(2), n - 16, 0.0])
@sd.program
def division_of_arguments(A: split(f64[N]), q: f64[2], k: i64, x: f64):
    q[0] = 7 // k
    q[1] = 5.0 % x


@directed(lambda rng, n: [rng.random(n), np.zeros(2), n - 16])
@sd.program
def largest_of_nothing(A: split(f64[N]), q: f64[2], k: i64):
    q[0] = 1.0
    q[1] = np.max(A[3:3])


@directed(lambda rng, n: [rng.random(16), np.zeros(2), n - 16])
@sd.program
def largest_of_a_computed_part(x: f64[16], q: f64[2], k: i64):
    q[0] = np.max(x[: 3 + k])
    q[1] = np.sum(x[3:3])


@directed(lambda rng, n: [rng.random(n), rng.random(7)], sizes=(13, 7))
@sd.program
def lengths_that_differ(x: f64[M], y: f64[N]):
    x[0] = 1.0
    x += y


@directed(lambda rng, n: [rng.random(n), np.zeros(1, "i8")])
@sd.program
def no_number_to_int(A: split(f64[N]), q: i64[1]):
    x = np.max(A) - np.max(A)
    q[0] = int(x / x)


@directed(lambda rng, n: [rng.integers(0, 9, n, dtype="i4")])
@sd.program
def number_too_large(A: split(i32[N])):
    A += 1
    A[:] = A + 3000000000


@directed(lambda rng, n: [rng.integers(0, 9, n), n - 14])
@sd.program
def negative_power(A: split(i64[N]), k: i64):
    A[:] = A**k


@directed(lambda rng, n: [rng.random(n), n - 14], refused="has a value only if")
@sd.program
def read_before_it_is_set(A: split(f64[N]), k: i64):
    for t in range(k):
        A *= 0.5
    A += t
