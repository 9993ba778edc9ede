"""Programs that the table of the language refuses: statements, calls, reductions, and what PEs cannot share."""

from __future__ import annotations

import math

import numpy as np

import dace
from starling import dace as sd

from .registry import M, N, directed, f64, i32, i64, split

ONE = (13,)


class OwnError(Exception):
    pass


def recurses(A, k):
    if k > 0:
        A *= 0.5
        recurses(A, k - 1)


def early(A, k):
    if k > 2:
        return 1.0
    A *= 2.0
    return 2.0


def adds(A):
    A += 1.0
    return np.max(A)


@directed(lambda rng, n: [rng.random(n), n // 4], refused="a step is a literal number other than 0")
@sd.program
def step_of_an_argument(A: split(f64[N]), k: i64):
    for t in range(0, 10, k):
        A += t


@directed(lambda rng, n: [rng.random(n), np.zeros(1)], refused="goes over range", sizes=ONE)
@sd.program
def loop_over_elements(A: f64[N], q: f64[1]):
    for x in A:
        q[0] = x - q[0]


@directed(lambda rng, n: [rng.random(n), 3], refused="written out pass by pass", sizes=ONE)
@sd.program
def break_in_a_tuple(A: split(f64[N]), k: i64):
    for t in (1, 2, 3, 4):
        if t > k:
            break
        A += t


@directed(lambda rng, n: [rng.random(n), 3], refused="of a loop is not known", sizes=ONE)
@sd.program
def loop_with_else(A: split(f64[N]), k: i64):
    for t in range(5):
        A += t
        if t > k:
            break
    else:
        A *= 2.0


@directed(lambda rng, n: [rng.random(n)], refused="is written and read at other places by iterations", sizes=ONE)
@sd.program
def map_that_depends(A: split(f64[N])):
    for i in dace.map[1:N]:
        A[i] = A[i - 1] + A[i]


@directed(lambda rng, n: [rng.random(n)], refused="use np.where for conditions", sizes=ONE)
@sd.program
def map_with_if(A: split(f64[N])):
    for i in dace.map[0:N]:
        if A[i] > 0.5:
            A[i] = 0.5


@directed(lambda rng, n: [rng.random((n, n))], refused="use rectangles", sizes=ONE)
@sd.program
def map_over_a_triangle(A: f64[N, N]):
    for i in dace.map[0:N]:
        for j in dace.map[0:i]:
            A[i, j] = 0.0


@directed(lambda rng, n: [rng.random(n)], refused="gives a value, which a program cannot", sizes=ONE)
@sd.program
def value_of_a_program(A: split(f64[N])):
    A *= 2.0
    return np.max(A)


@directed(lambda rng, n: [rng.random(n)], refused="raises what is no exception of Python's own", sizes=ONE)
@sd.program
def exception_of_the_user(A: split(f64[N])):
    A *= 2.0
    if np.max(A) > 0.5:
        raise OwnError("mine")


@directed(lambda rng, n: [rng.random(n), 5], refused="with a literal text", sizes=ONE)
@sd.program
def text_that_is_computed(A: split(f64[N]), k: i64):
    if k > 3:
        raise ValueError(f"{k} is too many")


@directed(lambda rng, n: [rng.random(n), 3], refused="calls itself", sizes=ONE)
@sd.program
def recursion(A: split(f64[N]), k: i64):
    recurses(A, 3)


@directed(lambda rng, n: [rng.random(n), n - 14], refused="stands before the end of a function that is called")
@sd.program
def early_return_of_a_function(A: split(f64[N]), k: i64):
    A *= early(A, k)


@directed(lambda rng, n: [rng.random(n)], refused="call it in a statement of its own", sizes=ONE)
@sd.program
def write_within_an_expression(A: split(f64[N])):
    A[1:] = A[:-1] * adds(A) + A[1:]


@directed(lambda rng, n: [rng.random(n), 0.5], refused="is a call of Python", sizes=ONE)
@sd.program
def function_of_math(A: split(f64[N]), x: f64):
    A *= math.gamma(x)


@directed(lambda rng, n: [rng.random(n)], refused="is a call of Python", sizes=ONE)
@sd.program
def prefix_sum(A: f64[N]):
    A[:] = np.cumsum(A)


@directed(lambda rng, n: [rng.random(n), np.zeros(n)], refused="alone", sizes=ONE)
@sd.program
def result_by_out(A: split(f64[N]), B: split(f64[N])):
    np.add(A, 1.0, out=B)


@directed(lambda rng, n: [rng.random((n, 4)), np.zeros(4)], refused="would need all of it", sizes=ONE, rounded=True)
@sd.program
def sum_over_the_split_axis(A: split(f64[M, N]), s: f64[N]):
    s[:] = np.sum(A, axis=0)


@directed(lambda rng, n: [rng.integers(0, 9, n, "i4"), np.zeros(1, "i4")], refused="make them int64", sizes=ONE)
@sd.program
def product_of_int32(a: i32[N], q: i32[1]):
    q[0] = a @ a


@directed(lambda rng, n: [rng.random(n)], refused="elements at no fixed distance along its split axis", sizes=ONE)
@sd.program
def roll_of_the_split_axis(A: split(f64[N])):
    A[:] = np.roll(A, 1)


@directed(lambda rng, n: [rng.random(n), 3], refused="lengths of arrays are made of sizes", sizes=ONE)
@sd.program
def length_of_a_number(A: f64[N], k: i64):
    B = np.zeros(k)
    A[:2] += B[:2]


@directed(lambda rng, n: [rng.random(n)], refused="is no attribute of arrays that a program knows", sizes=ONE)
@sd.program
def attribute_of_arrays(A: split(f64[N])):
    A += A.nbytes


@directed(lambda rng, n: [rng.random(n)], refused="has no effect", sizes=ONE)
@sd.program
def no_effect(A: split(f64[N])):
    A + 1.0


@directed(lambda rng, n: [rng.random(n)], refused="which a program cannot have", sizes=ONE)
@sd.program
def comprehension(A: split(f64[N])):
    weights = [0.5 * k for k in range(3)]
    A *= weights[1]


@directed(lambda rng, n: [rng.random(n)], refused="which a program cannot have", sizes=ONE)
@sd.program
def try_and_except(A: split(f64[N])):
    try:
        A *= 1 / 0
    except ZeroDivisionError:
        A *= 2.0


@directed(lambda rng, n: [rng.random(n)], refused="which a program cannot have", sizes=ONE)
@sd.program
def complex_number(A: split(f64[N])):
    A *= abs(3 + 4j)


@directed(lambda rng, n: [rng.random(n)], refused="elements at no fixed distance along its split axis", sizes=ONE)
@sd.program
def split_axis_reversed(A: split(f64[N])):
    A[:] = A[::-1]


@directed(lambda rng, n: [rng.random((n, n))], refused="elements at no fixed distance along its split axis", sizes=ONE)
@sd.program
def split_array_transposed(A: split(f64[N, N])):
    A += A.T


@directed(
    lambda rng, n: [rng.random(n), np.zeros(n)], refused="elements at no fixed distance along its split axis", sizes=ONE
)
@sd.program
def element_on_every_pe(A: split(f64[N]), B: split(f64[N])):
    for i in range(N):
        B[1:] += A[i]


@directed(lambda rng, n: [rng.random(n)], refused="slices, or with", sizes=ONE)
@sd.program
def elements_of_a_split_array(A: split(f64[N])):
    for i in range(1, N):
        A[i] = A[i - 1] * 0.5 + A[i]
