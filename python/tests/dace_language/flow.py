"""Conditions, loops, exceptions."""
# ruff: noqa: PT018 -- programs are as people write them

from __future__ import annotations

import numpy as np

import dace
from dace_language.row import A2, V1, M, N, Row, f64, i64, some

conditions = Row("`if`, `elif`, `else`, `x if c else y`")
logic = Row("`and`, `or`, `not`, `1 < k < 5`")
ranges = Row("`for` over `range`")
items = Row("`for` over tuples and lists")
whiles = Row("`while`, `break`, `continue`")
maps = Row("`dace.map`")
returns = Row("`return`")
raises = Row("`raise`, `assert`")
effects = Row("statements without effect")
FLOW = (conditions, logic, ranges, items, whiles, maps, returns, raises, effects)


@conditions.takes(some(9), np.array([2.0]), 4)
def branches(A: V1, r: f64[1], n: i64):
    if r > 3.0:
        x, T = 1.0, A * 2.0
    elif n > 3:
        x, T = 2.0, A * 3.0
    else:
        x, T = 3.0, A * 4.0
    y = x if n % 2 else x + 1.0
    T[0] = 7.0
    A[:] = T * x - y
    if n:
        A[1:] = A[:-1]


@conditions.refuses("whose truth value is ambiguous")
def of_an_array(A: V1):
    if A > 0.5:
        A[:] = 1.0


@logic.takes(some(9), 4)
def of_numbers(A: V1, k: i64):
    if (1 < k < 5 and not (k == 3 or k == 2)) or k:
        A[:] = A + 1.0
    b = k > 3 and k < 9
    if b:
        A[:] = A * 2.0


@logic.refuses("is no truth value beside or")
def one_of_the_operands(A: V1, k: i64):
    x = k or 3
    A[:] = x


@ranges.takes(some(9))
def of_range(A: V1):
    m, c, i = 5, 0, 100
    for i in range(m):
        c += i
        m = 2
        i = i + 10
        c += i
    for j in range(7, 0, -2):
        c -= j
    for q in range(0):
        i = 5
    A[:] = A + c * i + j


@ranges.refuses("a step is a literal number other than 0")
def by_a_step(A: V1, k: i64):
    for i in range(0, 9, k):
        A[:] = A + i


@ranges.refuses("goes over range(...), dace.map[...], or a tuple or list of literals")
def over_an_array(A: V1, B: f64[N]):
    for x in B:
        A[:] = A + x


@items.takes(some(9))
def over_literals(A: V1):
    for w, (k, s) in ((0.5, (1, 2)), (2.0, (3, 4))):
        A[k:-k] = A[k:-k] * w + s
    for c in [1, 2]:
        A[:] = A + c


@items.refuses("which are written out one by one")
def over_many(A: V1):
    for c in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
              29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54,
              55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65]:  # fmt: skip
        A[:] = A + c


@whiles.takes(some(9), some(9) * 2, 9)
def until(A: V1, B: V1, n: i64):
    t = 0
    while True:
        t += 1
        B[1:-1] = A[:-2] - A[2:]
        A, B = B, A
        if t > n:
            break
    for t in range(5):
        if t % 3 == 0:
            continue
        A[:] = A + t
    while np.max(A) > 1.0:
        A[:] = A * 0.5
    B[:] = A + t


@whiles.refuses("written out pass by pass")
def break_of_items(A: V1, n: i64):
    for c in (1, 2):
        if n > 2:
            break
        A[:] = A + c


@whiles.refuses("change places in a loop that has continue")
def continue_of_a_swap(A: V1, B: V1, n: i64):
    for t in range(n):
        if t == 3:
            continue
        B[1:-1] = A[2:]
        A, B = B, A


@whiles.refuses("of a loop is not known")
def else_of_a_loop(A: V1):
    for c in range(2):
        A[:] = A + c
    else:
        A[:] = 0.0


@maps.refuses("is written and read at other places by iterations")
def that_depend(A: V1, B: V1):
    for i in dace.map[1:N]:
        A[i] = A[i - 1] + B[i]


@maps.refuses("is written by several iterations")
def at_one_place(A: f64[N], B: f64[M]):
    for i in dace.map[0:M]:
        A[0] = B[i]


@maps.refuses("use np.where for conditions")
def with_a_condition(A: V1):
    for i in dace.map[0:N]:
        if A[i] > 0.5:
            A[i] = 1.0


@maps.refuses("use rectangles")
def triangle(A: f64[N, N]):
    for i in dace.map[0:N]:
        for j in dace.map[0:i]:
            A[i, j] = 0.0


@returns.takes(some(9), 4)
def early(A: V1, n: i64):
    for t in range(9):
        if t == n:
            return
        A[:] = A + t
    A[:] = 0.0


@returns.refuses("gives a value, which a program cannot")
def a_value(A: V1):
    return np.sum(A)


@raises.takes(some(9), 4)
def that_holds(A: V1, n: i64):
    assert n < 9 and n > 3, "n is too large"
    A[:] = A + 1.0


@raises.takes(some(9), 4)
def an_exception(A: V1, n: i64):
    for t in range(9):
        A[:] = A + t
        if t == n:
            raise ValueError("so far")


@raises.takes(some(9), 4)
def an_assertion(A: V1, n: i64):
    A[:] = 1.0
    assert np.max(A) > 1.5, "too small"
    A[:] = 2.0


@raises.refuses("raises what is no exception of Python's own")
def another_exception(A: V1):
    raise dace.DaceError("x")


@raises.refuses("with a literal text")
def a_computed_text(A: V1, n: i64):
    if n > 3:
        raise ValueError(f"n is {n}")


@effects.takes(some(9))
def texts(A: V1):
    """A text says what it does."""
    "and"
    pass
    A[:] = A + 1.0


@effects.refuses("has no effect")
def an_expression(A: V1):
    A[:] = 1.0
    A + 1.0


@maps.takes(some(4, 3), some(4, 3) * 2, np.zeros(1))
def over_elements(A: A2, B: A2, r: f64[1]):
    tot = 1.0
    for i, j in dace.map[0 : A.shape[0], 0 : A.shape[1]]:
        x = A[i, j]
        A[i, j] = B[i, j] * 2.0
        B[i, j] = x
        r[0] += x
        tot += x
    A[:] = A + tot
