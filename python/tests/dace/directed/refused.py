"""Programs that the table of the language refuses: names, numbers, indices, masks, types."""

from __future__ import annotations

import numpy as np

import dace
from starling import dace as sd

from .registry import M, N, directed, f64, i32, i64, split

TABLE = np.arange(30.0)
ONE = (13,)


@directed(lambda rng, n: [rng.random(n), 2], refused="has no type", sizes=ONE)
@sd.program
def argument_without_type(A: split(f64[N]), k):
    A *= k


@directed(lambda rng, n: [rng.random(n), 2.0], refused="takes arguments by * or", sizes=ONE)
@sd.program
def arguments_by_star(A: split(f64[N]), *more: f64):
    A *= more[0]


@directed(lambda rng, n: [rng.random(n).astype("f2")], refused="must be float32, float64, int32 or int64", sizes=ONE)
@sd.program
def half_precision(A: split(dace.float16[N])):
    A *= 2


@directed(lambda rng, n: [rng.random(n)], refused="pass it as an argument", sizes=ONE)
@sd.program
def array_from_outside(A: f64[N]):
    A[:] = A * TABLE[:N]


@directed(lambda rng, n: [rng.random(n)], refused="has no value yet here", sizes=ONE)
@sd.program
def read_before_bound(A: split(f64[N])):
    A *= ONE[0]
    A += later  # noqa: F821
    later = 2.0  # noqa: F841


@directed(lambda rng, n: [rng.random(n), n - 14], refused="has a value only if")
@sd.program
def bound_on_one_path(A: split(f64[N]), k: i64):
    if k > 0:
        x = 2.0
    A *= x


@directed(lambda rng, n: [rng.random(n), n - 13], refused="has a value only if")
@sd.program
def bound_in_a_loop(A: split(f64[N]), steps: i64):
    while steps > 0:
        last = steps
        steps -= 1
    A *= last


@directed(lambda rng, n: [rng.random(n), np.zeros(1), 4], refused="give it one from the start", sizes=ONE)
@sd.program
def whole_here_and_float_there(A: split(f64[N]), q: f64[1], steps: i64):
    x = 7
    for t in range(steps):
        q[0] += x // 2
        x = x / 2


@directed(lambda rng, n: [rng.random(n), rng.random(n), n - 14], refused="write x = x.copy() before")
@sd.program
def write_through_one_of_two(A: split(f64[N]), B: split(f64[N]), k: i64):
    x = A
    if k > 0:
        x = B
    x[1:] = 2.0


@directed(lambda rng, n: [rng.random(n), rng.random(n), n - 14], refused="let each name stand for one array")
@sd.program
def read_of_one_of_two(A: split(f64[N]), B: split(f64[N]), k: i64):
    x = A
    if k > 0:
        x = B
    A *= 2.0
    B[1:] += x[:-1]


@directed(lambda rng, n: [rng.integers(0, 9, n)], refused="raises UFuncTypeError", sizes=ONE)
@sd.program
def update_that_does_not_fit(A: split(i64[N])):
    A += 0.5


@directed(lambda rng, n: [rng.integers(0, 9, n, "i4")], refused="raises UFuncTypeError", sizes=ONE)
@sd.program
def division_in_place(A: split(i32[N])):
    A[1:] /= 2


@directed(lambda rng, n: [rng.random(n), rng.random(n)], refused="add the length", sizes=ONE)
@sd.program
def negative_index_of_a_loop(x: f64[N], y: f64[N]):
    for i in range(N):
        y[i] = x[i - 1] + x[i]


@directed(lambda rng, n: [rng.random(n), rng.random(n)], refused="a whole number must stand", sizes=ONE)
@sd.program
def float_as_index(x: f64[N], y: f64[N]):
    x[N / 2] = 1.0


@directed(lambda rng, n: [rng.random((n, 9)), 4], refused="where Python counts from the end", sizes=ONE)
@sd.program
def negative_end(A: split(f64[M, N]), steps: i64):
    for k in range(steps):
        A[:, k:-k] += 1.0


@directed(lambda rng, n: [rng.random((n, 9)), 7], refused="NumPy cuts it off there", sizes=ONE)
@sd.program
def end_beyond_the_axis(A: split(f64[M, N]), k: i64):
    A[:, k : k + 5] += 1.0


@directed(lambda rng, n: [rng.random((n, 9))], refused="goes backwards between ends", sizes=ONE)
@sd.program
def backwards_between_ends(A: split(f64[M, N])):
    A[:, 1:4] = A[:, 7:4:-1]


@directed(lambda rng, n: [rng.random(n), np.zeros(1)], refused="use np.where", sizes=ONE)
@sd.program
def read_by_mask(A: split(f64[N]), q: f64[1]):
    q[0] = np.max(A[A < 0.5])


@directed(lambda rng, n: [rng.random(n), rng.random(n)], refused="write np.where", sizes=ONE)
@sd.program
def array_for_a_mask(A: split(f64[N]), B: split(f64[N])):
    m = A >= 0.0
    A[m] = B


@directed(
    lambda rng, n: [rng.random(n), rng.integers(0, n, n)],
    refused="chooses elements by an array of indices",
    sizes=ONE,
)
@sd.program
def array_as_index(A: f64[N], k: i64[N]):
    A[:] = A[k]


@directed(lambda rng, n: [rng.random(n)], refused="takes 2 values and gets", sizes=ONE)
@sd.program
def three_for_two(A: split(f64[N])):
    a, b = 1, 2, 3
    A *= a + b


@directed(lambda rng, n: [rng.random(n)], refused="whose truth value is ambiguous", sizes=ONE)
@sd.program
def array_in_condition(A: split(f64[N])):
    if A > 0.5:
        A *= 2.0


@directed(lambda rng, n: [rng.random(n), 0], refused="is no truth value beside or", sizes=ONE)
@sd.program
def number_or_number(A: split(f64[N]), k: i64):
    x = k or 3
    A *= x


@directed(lambda rng, n: [rng.random(n), n - 14], refused="one type")
@sd.program
def values_of_two_types(A: split(f64[N]), k: i64):
    x = 3 if k > 0 else 2.5
    A *= x // 2 + 1


@directed(lambda rng, n: [rng.random(n)], refused="takes whole numbers and truth values", sizes=ONE)
@sd.program
def bits_of_floats(A: split(f64[N])):
    A[:] = A | 1


@directed(lambda rng, n: [rng.random(n)], refused="which NumPy refuses", sizes=ONE)
@sd.program
def minus_of_truth_values(A: split(f64[N])):
    A[:] = (A > 0.5) - (A < 0.25)


@directed(lambda rng, n: [rng.random(n), 3], refused="write np.float64(...) around the base", sizes=ONE)
@sd.program
def computed_power(A: split(f64[N]), steps: i64):
    for t in range(-1, steps):
        A += 2**t


@directed(lambda rng, n: [rng.random(n), 3], refused="write np.minimum or np.maximum", sizes=ONE)
@sd.program
def smallest_of_two_types(A: split(f64[N]), k: i64):
    A *= min(k, 2.5) // 2 + 1
