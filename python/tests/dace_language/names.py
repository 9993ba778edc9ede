"""Arguments, names, numbers, names of arrays."""
# ruff: noqa: F841, F823, SIM108 -- programs are as people write them

from __future__ import annotations

import math

import numpy as np

from dace_language.row import V1, W1, N, Row, f64, i64, some
from starling import dace as sd

arguments = Row("arguments")
names = Row("names")
outside = Row("numbers from outside")
numbers = Row("numbers")
arrays = Row("names of arrays")
updates = Row("updates in place")
NAMES = (arguments, names, outside, numbers, arrays, updates)

SCALE, WEIGHTS, TYPED = 3, (0.25, [0.5, 2.0]), np.float64(0.1)
TABLE = np.ones(3)


@arguments.takes(some(9), 3)
def an_array_and_a_number(A: V1, n: i64):
    A[:] = A + n


@arguments.refuses("must be float32, float64, int32 or int64")
def of_bytes(A: sd._dace.uint8[N]):
    A[:] = A


@arguments.refuses("has no type")
def without_a_type(A: V1, n):
    A[:] = A + n


@arguments.refuses("takes arguments by * or **")
def any_number_of(A: V1, *rest: f64):
    A[:] = A


@names.takes(some(9))
def of_generated_code(A: V1):
    i0, k0, t0, total0, b, st, sg, pes, turns, auto, int_, lanes_ = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
    before_A, next_A, part, α = A * 0.5, A * 2.0, 13, 14
    for i1 in range(2):
        A[:] = A + i0 * k0 + t0 - total0 * b + st - sg + pes - turns * auto + int_ - lanes_ + i1 + part - α
    A[1:-1] = A[:-2] + A[2:] + before_A[1:-1] + next_A[2:]


@names.takes(some(9), 4)
def as_outside(A: V1, n: i64):
    SCALE = n
    A[:] = A * SCALE


@names.refuses("has no value yet here")
def read_early(A: V1):
    A[:] = A * SCALE
    SCALE = 2


@names.refuses("has a value only if")
def bound_in_a_branch(A: V1, n: i64):
    if n > 3:
        SCALE = 2
    A[:] = A * SCALE


@outside.takes(some(9))
def from_outside(A: V1):
    A[:] = A * SCALE + WEIGHTS[0] * WEIGHTS[1][1] + TYPED + math.pi + A.shape[0]


@outside.refuses("pass it as an argument")
def an_array_from_outside(A: V1):
    A[0:3] = TABLE


@numbers.takes(some(9))
def are_values(A: V1):
    x = 1.0
    y = x
    x = x + 1
    x, y = y, x * 4
    for t in range(3):
        x, y = y, x + t
        x += 0.5
    A[:] = A * x + y


@numbers.takes(np.arange(9), np.zeros(9, "int64"), 4)
def residuals(A: W1, B: W1, n: i64):
    old = 0
    new = 1
    for t in range(n):
        old = new
        new = np.sum(A)
        A[:] = A + 1
    B[:] = new - 2 * old


@numbers.refuses("give it one from the start")
def int_and_float(A: W1, n: i64):
    x = 0
    for t in range(n):
        A[:] = A + x
        x = x + 0.5


@arrays.takes(some(9), some(9) * 2, 5)
def change_places(A: V1, B: V1, n: i64):
    v = A[1:-1]
    for t in range(n):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        A, B = B, A
    v[:] = v + 1.0
    A = A + 1.0
    B[2:] = A[:-2]


@arrays.takes(some(9), some(9) * 2)
def two_names(A: V1, B: V1):
    t = A * 2.0
    u = t
    t = t + 1.0
    B[:] = u
    A = B
    A[1:] = 3.0


@arrays.refuses(".copy() before")
def one_of_two(A: V1, B: V1, n: i64):
    if n > 3:
        X = A
    else:
        X = B
    X[:] = 1.0


@arrays.refuses(".copy() before")
def in_an_inner_loop(A: V1, B: V1, C: V1, n: i64):
    for k in range(3):
        for t in range(n):
            B[1:-1] = A[2:]
            A, B = B, A
        C[:] = C + A


@arrays.refuses("let each name stand for one array")
def written_meanwhile(A: V1, B: V1, n: i64):
    if n > 3:
        X = A
    else:
        X = B
    A[:] = A + 1.0
    B[:] = X


@updates.takes(some(9), some(9) * 2)
def in_place(A: V1, B: V1):
    A += B
    A[1:-1:2] *= 2
    u = A * 2.0
    v = u
    u -= 1.0
    B[:] = v


@updates.takes(some(6))
def of_an_element(r: f64[N]):
    r[0] -= 1
    r[-1] += r[0]


@updates.refuses("raises UFuncTypeError")
def int_by_float(A: W1):
    A *= 0.5
