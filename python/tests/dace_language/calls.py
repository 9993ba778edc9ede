"""Operators and functions."""

from __future__ import annotations

import numpy as np

from dace_language.row import A2, B1, V1, W1, M, N, Row, f64, i64, some
from starling import dace as sd

functions = Row("calls of functions")
operators = Row("operators")
of_elements = Row("functions of elements")
sums = Row("sums and the like")
products = Row("products")
of_python = Row("`int`, `float`, `bool`, `abs`, `min`, `max`, `len`")
others = Row("everything else")
CALLS = (functions, operators, of_elements, sums, products, of_python, others)


def doubled(X, c=2.0):
    c = c * 1.0
    X = X * c
    return X + 0.0


@sd.program
def smoothed(X: V1, Y: V1):
    Y[1:-1] = X[:-2] + X[2:]
    X, Y = Y, X
    X[0] = 5.0


def calls_itself(X):
    calls_itself(X)


def returns_early(X, n):
    if n > 3:
        return
    X[:] = 1.0


def writes(X):
    X[:] = X + 1.0
    return 1.0


@functions.takes(some(9), some(9) * 2)
def of_the_user(A: V1, B: V1):
    c = 1.0
    smoothed(A, B)
    A[:] = doubled(A, 3.0) + doubled(X=B)
    smoothed(B, A)
    A[:] = A + c


@functions.refuses("calls itself")
def recursion(A: V1):
    calls_itself(A)


@functions.refuses("stands before the end of a function that is called")
def early(A: V1, n: i64):
    returns_early(A, n)


@functions.refuses("call it in a statement of its own")
def writes_meanwhile(A: V1):
    A[:] = A * 2.0 + writes(A)


@functions.refuses("is a call of Python")
def prints(A: V1):
    print("x")


@operators.takes(some(9), np.arange(-4, 5), np.arange(9) % 4 + 1)
def all_of_them(A: V1, I: W1, J: W1):  # noqa: E741
    m = (A > 0.5) & (I != 2) | ~(J <= 1) ^ (A == 1.0)
    A[:] = np.where(m, -A / 2.0 + A // 3.0, A % 4.0 - A**2) * (A >= 0.0)
    I[:] = (I // J + I % J * 3 - (I & 5) + (J | 2) - (I ^ J)) * (I > 0) + (J << 2) - (I >> 1) + ~I


@operators.refuses("takes whole numbers and truth values")
def bits_of_floats(A: V1):
    A[:] = A & 3


@operators.refuses("which NumPy refuses")
def minus_of_truths(A: V1):
    A[:] = (A > 1.0) - (A > 2.0)


@operators.refuses("numbers are compared by value")
def identity(A: V1, n: i64):
    if n is None:
        A[:] = 1.0


@operators.refuses("of which NumPy makes short numbers")
def power_of_truths(A: V1):
    A[:] = (A > 1.0) ** 2


@operators.refuses("write np.float64(...) around the base")
def computed_power(A: V1, n: i64):
    for t in range(n):
        A[:] = A + 2**t


@operators.takes(some(9), 0)
def divided_by_zero(A: V1, n: i64):
    x = 1.0
    for t in range(3):
        x = x - 0.5
        A[:] = A + 1.0 / x


@of_elements.takes(np.abs(some(9)) + 1.0, some(9), np.arange(9))
def exact(A: V1, B: V1, I: W1):  # noqa: E741
    A[:] = np.sqrt(A) + np.abs(B) + np.floor(B * 0.3) - np.ceil(B * 0.7) + np.square(B)
    B[:] = np.minimum(A, np.maximum(B, 0.5)) + np.where(np.isnan(B), 1.0, np.clip(B, -1.0, 1.0))
    I[:] = np.add(I, np.multiply(I, 2)) - np.where(np.logical_and(I > 2, np.logical_not(B > 0.0)), 1, I)


@of_elements.refuses("is a call of Python")
def another_function(A: V1):
    A[:] = np.cumsum(A)


@of_elements.refuses("alone")
def with_out(A: V1):
    np.add(A, 1.0, out=A)


@sums.takes(np.arange(54).reshape(6, 9) % 7, np.zeros(6, "int64"), np.zeros((6, 9), "int64"))
def whole_numbers(A: sd.split(i64[M, N]), s: sd.split(i64[M]), B: sd.split(i64[M, N])):
    s[:] = np.sum(A, axis=1) + A.max(axis=-1) - np.min(A, axis=1)
    B[:] = A - np.max(A, axis=1, keepdims=True) + np.sum(A) * np.any(A > 5) - np.all(A > -1, axis=1)[:, None]
    B[:, 0] = np.mean(A, axis=1) > 2.0


@sums.refuses("is whole on every PE and would need all of it")
def of_columns(A: A2, s: f64[N]):
    s[:] = np.sum(A, axis=0)


@products.takes(some(6, 4), some(4, 3), np.zeros((6, 3)), some(4), np.zeros(6))
def of_matrices(A: sd.split(f64[M, 4]), B: f64[4, 3], C: sd.split(f64[M, 3]), v: f64[4], w: B1):
    C[:] = A @ B + np.matmul(A, B)
    w[:] = np.dot(A, v) + np.dot(v, v)


@products.takes(some(6), some(4), np.zeros((6, 4)))
def of_vectors(a: f64[M], b: f64[N], C: f64[M, N]):
    C[:] = np.outer(a, b) + np.linalg.norm(np.abs(b[:1]))


@products.refuses("of more than two axes")
def of_volumes(A: f64[M, N, N], C: f64[M, N, N]):
    C[:] = A @ A


@products.refuses("make them int64")
def of_short_vectors(a: sd.int32[N], r: i64[1]):
    r[0] = a @ a


@of_python.takes(some(9), 4)
def of_numbers(A: V1, n: i64):
    k = int(A.shape[0] / 2) + len(A) - abs(-3)
    x = float(k) * max(1, k, 3) + min(2.5, 1.0)
    A[:] = A * x + bool(k) * n


@of_python.refuses("write np.minimum or np.maximum")
def of_several_types(A: V1):
    A[:] = max(1, 2.5 * A.shape[0])


@others.refuses("which a program cannot have")
def a_comprehension(A: V1):
    w = [k * 2 for k in range(3)]
    A[:] = w[0]


@others.refuses("which a program cannot have")
def a_try(A: V1):
    try:
        A[:] = 1.0
    except ValueError:
        A[:] = 2.0


@others.refuses("which a program cannot have")
def a_complex_number(A: V1):
    A[:] = np.abs(A * 1j)


@others.refuses("which a program cannot have")
def a_lambda(A: V1):
    f = lambda x: x + 1.0  # noqa: E731
    A[:] = f(A)
