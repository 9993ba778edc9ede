"""Indices, slices, masks, attributes."""
# ruff: noqa: F841 -- programs are as people write them

from __future__ import annotations

import numpy as np

from dace_language.row import A2, B1, V1, M, N, Row, f64, i64, some

indices = Row("whole indices")
slices = Row("slices")
new_axes = Row("`None` and `...` in indices")
masks = Row("masks")
fancy = Row("arrays as indices")
chained = Row("chained assignment")
attributes = Row("`A.shape`, `len(A)`, `A.size`, `A.ndim`, `A.dtype`, `A.T`")
made = Row("new arrays")
rolled = Row("`np.roll`")
ARRAYS = (indices, slices, new_axes, masks, fancy, chained, attributes, made, rolled)


@indices.takes(some(6, 19), some(6, 19) * 2, 3)
def columns(A: A2, B: A2, k: i64):
    for i in range(1, 5):
        j = 2 * i - 1
        B[:, j] = A[:, i - 1] + A[:, (i + 15) % 19] + A[:, -1]
        A[:, i + k] = B[:, A.shape[1] - i]
    c = 0
    while c < 8:
        A[:, c] = B[:, c + 1]
        c += 3


@indices.refuses("add the length", some(6, 9), 3)
def computed_and_negative(A: A2, k: i64):
    c = 5
    while c > 0:
        c = c - k
    A[:, c] = 1.0


@indices.refuses("a whole number must stand")
def of_a_float(A: A2):
    A[:, A.shape[1] / 2] = 1.0


@slices.takes(some(20), some(20) * 2)
def literal(A: V1, B: V1):
    A[:100] = B[:100]
    A[3:7] = B[5:9]
    B[1:-1:3] = A[1:-1:3] * 2.0
    B[15:3] = 7.0


@slices.takes(some(6, 12), 4)
def computed(A: A2, k: i64):
    A[:, k : k + 3] = 1.0
    A[:, : A.shape[1] // 2] = 2.0
    for i in range(3):
        A[:, i : A.shape[1] - 3 + i] += 0.5


@slices.takes(some(6, 12), some(6, 12) * 2)
def backwards(A: f64[M, N], B: f64[M, N]):
    A[:, 3:7] = B[:, -7:-3]
    B[:, :] = A[:, ::-1]
    A[::-1, :] = B * 0.5


@slices.refuses("where Python counts from the end", some(6, 9), 5)
def to_a_negative_end(A: A2, k: i64):
    A[:, : k - 9] = 5.0


@slices.refuses("NumPy cuts it off there", some(6, 9), 12)
def beyond_the_end(A: A2, k: i64):
    A[:, :k] = 5.0


@slices.refuses("let the axis be longer", some(6, 9))
def before_the_axis(A: A2):
    A[:, -100:3] = 1.0


@slices.refuses("goes backwards between ends")
def backwards_between(A: f64[M, N]):
    A[:, 5:1:-1] = 1.0


@new_axes.takes(some(6, 9), some(6))
def broadcast(A: A2, v: B1):
    A[...] = A * v[:, None] + v[:, np.newaxis]
    A[..., 0] = v[...]


@masks.takes(some(9), some(9) * 2)
def by_mask(A: V1, B: V1):
    A[A > 0.5] = 0.0
    m = B < 1.0
    A[m] += 2.0
    A[~m & (A > 1.0)] = -1.0


@masks.refuses("use np.where")
def read_by_mask(A: V1, B: V1):
    B[:] = np.sum(A[A > 0.5])


@masks.refuses("write np.where")
def arrays_by_mask(A: V1, B: V1):
    A[A > 0.5] = B


@fancy.refuses("chooses elements by an array of indices")
def by_indices(A: f64[N], B: f64[N], k: i64[N]):
    B[:] = A[k]


@chained.takes(some(6, 9), some(6, 9) * 2)
def several_targets(A: A2, B: A2):
    A[0, :] = B[0, :] = 3.0
    a, (b, c) = 1, (2.5, 4)
    A[1:, 1] = B[1:, 1] = A[1:, 0] * a + b * c


@chained.refuses("takes 2 values and gets")
def three_for_two(A: V1):
    a, b = 1, 2, 3
    A[:] = a


@attributes.takes(some(6, 6), some(6, 6) * 2)
def shapes(A: f64[M, M], B: f64[M, M]):
    rows, columns = A.shape
    B[:] = A.T * rows + len(A) * columns + A.size - A.ndim
    B[0, :] = np.zeros(columns, dtype=A.dtype)


@attributes.refuses("is no attribute of arrays that a program knows")
def strides(A: V1):
    A[:] = A.strides[0]


@made.takes(some(9), some(9) * 2)
def of_sizes(A: V1, B: V1):
    n = A.shape[0]
    a, b, c = np.zeros_like(A), np.full_like(A, 2.0), np.ones_like(A)
    d = A.copy()
    A[:] = a + b * c
    e = np.empty_like(A)
    e[:] = d + 1.0
    B[:] = e + d + A.astype(np.float32) + np.arange(n)


@made.takes(some(9))
def whole(A: f64[N]):
    a = np.zeros(A.shape[0]) + np.full((A.shape[0],), 2) + np.ones(A.shape)
    A[:] = np.copy(A) * a


@made.refuses("lengths of arrays are made of sizes")
def of_a_number(A: f64[N], n: i64):
    a = np.zeros(n)
    A[:] = np.sum(a)


@rolled.takes(some(6, 9), some(6, 9))
def periodic(A: A2, B: A2):
    B[:] = np.roll(A, 1, axis=1) + np.roll(A, -2, axis=1)


@rolled.refuses("np.roll")
def by_a_number(A: A2, k: i64):
    A[:] = np.roll(A, k, axis=1)
