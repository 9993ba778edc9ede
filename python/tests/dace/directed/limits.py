"""Numbers at the limits: zeros as divisors, NaN and infinity, what does not fit in a type."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import N, directed, f32, f64, i32, i64, split


@directed(lambda rng, n: [np.zeros(8), np.float64(0.0), np.int64(0)])
@sd.program
def np_zero_args(q: f64[8], x: f64, k: i64):
    q[0] = 1.0 / x
    q[1] = 3 // k


@directed(lambda rng, n: [np.zeros(8), rng.random(n)])
@sd.program
def max_zero(q: f64[8], A: split(f64[N])):
    q[0] = 1.0 / np.max(A * 0)
    q[1] = -1.0 // np.max(A * 0)
    q[2] = 1.0 % np.max(A * 0)


@directed(lambda rng, n: [np.zeros(8), rng.random(n)])
@sd.program
def float_of_max_zero(q: f64[8], A: split(f64[N])):
    q[0] = 1.0 / float(np.max(A * 0))


@directed(lambda rng, n: [np.zeros(8), np.zeros(3), np.zeros(2, "i8")])
@sd.program
def element_zero(q: f64[8], r: f64[3], k: i64[2]):
    q[0] = 1.0 / r[0]
    q[1] = 5 // k[0]
    q[2] = 5 % k[0]
    q[3] = r[0] / r[1]
    q[4] = 0 / k[1]


@directed(lambda rng, n: [np.zeros(8, "i8"), np.array([1e300, 2.0**63, -3.7])])
@sd.program
def int_of_large(q: i64[8], x: f64[3]):
    q[0] = int(x[2])
    q[1] = int(x[1])


@directed(lambda rng, n: [np.zeros(8), 5.0, np.inf])
@sd.program
def remainder_inf(q: f64[8], x: f64, inf: f64):
    q[0] = x % inf
    q[1] = -x % inf
    q[2] = -x // inf
    q[3] = -0.0 % x
    q[4] = x // 0.1
    q[5] = -x % 0.3
    q[6] = x % -0.3
    q[7] = x % -inf


@directed(lambda rng, n: [np.zeros(8), np.nan, 1.0])
@sd.program
def min_max_nan(q: f64[8], x: f64, y: f64):
    q[0] = min(x, y)
    q[1] = min(y, x)
    q[2] = max(x, y)
    q[3] = max(y, x)
    q[4] = min(y, x, 0.5)
    q[5] = bool(x)
    q[6] = not x
    q[7] = x == x or x != x


@directed(lambda rng, n: [np.zeros(8), np.array([np.nan, 1.0])])
@sd.program
def min_max_nan_elements(q: f64[8], x: f64[2]):
    q[0] = min(x[0], x[1])
    q[1] = min(x[1], x[0])
    q[2] = max(x[0], x[1])
    q[3] = max(x[1], x[0])


@directed(lambda rng, n: [np.zeros(8, "i8"), 13])
@sd.program
def augmented_whole(q: i64[8], k: i64):
    x = k
    x //= 2
    x <<= 3
    x |= 5
    x ^= 3
    x &= 62
    x %= 17
    x **= 2
    x -= 300
    x >>= 1
    x //= -4
    q[0] = x


@directed(lambda rng, n: [np.zeros(8), True, 3])
@sd.program
def bool_for_whole_argument(q: f64[8], k: i64, x: f64):
    q[0] = ~k
    q[1] = x // 2


@directed(lambda rng, n: [np.zeros(8), np.float32(0.1)])
@sd.program
def float32_for_float64(q: f64[8], x: f64):
    q[0] = x * 0.1
    q[1] = x / 3


@directed(lambda rng, n: [np.zeros(8), 0.1])
@sd.program
def float_for_float32(q: f64[8], x: f32):
    q[0] = x * 0.1
    q[1] = x / 3


@directed(lambda rng, n: [np.zeros(8, "i8"), n - 16])
@sd.program
def shift_out(q: i64[8], k: i64):
    q[0] = 1 << (k + 60)


@directed(
    lambda rng, n: [np.zeros(8, "i4"), np.array([2**40 + 5, 3]), n - 16],
)
@sd.program
def assigned_int64_to_int32(q: i32[8], k: i64[2], j: i64):
    q[0] = k[1]
    q[1] = k[0]


@directed(lambda rng, n: [np.zeros(8, "i4"), 2**40 + 5])
@sd.program
def assigned_argument_to_int32(q: i32[8], j: i64):
    q[0] = 1
    q[1] = j


@directed(lambda rng, n: [np.zeros(8, "i4"), 3.7])
@sd.program
def assigned_float_to_int32(q: i32[8], x: f64):
    q[0] = x
    q[1] = -x
    q[2:4] = x * 2
    q[4] = True
    q[5] = 1e3


@directed(lambda rng, n: [np.zeros(8, "i4"), 1e10])
@sd.program
def assigned_large_float_argument(q: i32[8], x: f64):
    q[0] = x


@directed(lambda rng, n: [rng.random(n), np.zeros(1, "i8"), n - 16])
@sd.program
def shift_of_a_number(A: split(f64[N]), q: i64[1], k: i64):
    q[0] = 1 << (k + 2)
    A += 5 >> k


@directed(lambda rng, n: [rng.random(n), 1 << 62], sizes=(13,), refused="has more than 64 bits there")
@sd.program
def numbers_beyond_64_bits(A: split(f64[N]), k: i64):
    x = k * 4
    A += x // 4
