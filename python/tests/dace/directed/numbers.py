"""Numbers: whole ones and their remainders, powers, shifts, bits, types that meet."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import M, N, directed, f32, f64, i32, i64, split

MASK = 0x7FFFFFFF


def whole(rng, n, kind="i8"):
    values = rng.integers(-12, 13, n).astype(kind)
    values[:4] = np.iinfo(kind).min, np.iinfo(kind).max, 0, -1
    return values


@directed(lambda rng, n: [whole(rng, n), rng.integers(-4, 5, n), np.zeros(n, "i8"), np.zeros(n, "i8"), -7])
@sd.program
def remainders(a: split(i64[N]), b: split(i64[N]), q: split(i64[N]), r: split(i64[N]), k: i64):
    q[:] = a // b
    r[:] = a % b
    q[1:] += k // 2 - k % 3 + (a[1:] // k) * 100
    r -= a % -5 - -7 % 4 + 7 // -2


@directed(
    lambda rng, n: [whole(rng, n, "i4"), np.where(rng.random(n) < 0.5, -1, 3).astype("i4"), np.zeros((4, n), "i4")]
)
@sd.program
def smallest_by_minus_one(a: split(i32[N]), b: split(i32[N]), r: split(i32[4, N], 1)):
    r[0] = a // b
    r[1] = a % b
    r[2] = -a
    r[3] = np.abs(a)
    a *= 3
    b += a


@directed(lambda rng, n: [whole(rng, n, "i4"), rng.integers(0, 40, n, "i4"), np.zeros((5, n), "i4")])
@sd.program
def shifts_and_bits(a: split(i32[N]), b: split(i32[N]), r: split(i32[5, N], 1)):
    r[0] = (a << 3) ^ (a >> 2)
    r[1] = a << b
    r[2] = a >> b
    r[3] = ~a & 0xFF | b
    r[4] = (a << 33) + (a >> 40)


@directed(lambda rng, n: [rng.integers(-5, 6, n), rng.integers(-5, 6, n, "i4"), np.zeros(n, "i8"), 3])
@sd.program
def whole_powers(a: split(i64[N]), b: split(i32[N]), r: split(i64[N]), k: i64):
    r[:] = a**3 - b**2
    r += a**k
    b[:] = b**5
    r[1:-1] += b[:-2] ** 2 * (-2) ** 3 + 2**10


@directed(lambda rng, n: [rng.normal(size=n) * 3, rng.normal(size=n), np.zeros((4, n))])
@sd.program
def remainders_of_floats(a: split(f64[N]), b: split(f64[N]), r: split(f64[4, N], 1)):
    a[0] = -1e-20
    b[1] = 0.0
    a[2] = -0.0
    b[3] = -0.25
    r[0] = a % b
    r[1] = a // b
    r[2] = a % 1.0 - (a // -0.3)
    r[3] = 1.0 // b + 5.5 % b


@directed(
    lambda rng, n: [rng.normal(size=n).astype("f4"), rng.normal(size=n), rng.integers(-9, 9, n, "i4"), np.zeros(n)]
)
@sd.program
def types_that_meet(a: split(f32[N]), b: split(f64[N]), k: split(i32[N]), r: split(f64[N])):
    r[:] = a * 0.1
    r += a * b
    r -= a * k
    r += k / 3 + k * 2.5
    a[1:] = a[1:] / 3 + k[:-1] * np.float32(0.1)
    r += np.sqrt(np.abs(k)) + np.sqrt(np.abs(a))
    a += b


@directed(lambda rng, n: [rng.normal(size=n) * 100, np.zeros(n, "i4"), np.zeros(n, "i8"), np.zeros(n, "f4")])
@sd.program
def astype_of_all_kinds(a: split(f64[N]), k: split(i32[N]), m: split(i64[N]), r: split(f32[N])):
    k[:] = a.astype(np.int32)
    m[:] = (a * 1e9).astype(np.int64) + k
    r[:] = a.astype(np.float32) * 3
    k += (m.astype(np.int32) % 1000) * (a > 0).astype(np.int32)
    a[:] = (a.astype("float32") + r).astype(np.float64) + k.astype(bool)
    m[1:] = a[:-1]
    r[:] = m


@directed(lambda rng, n: [rng.random(n), rng.random(n), np.zeros(n, "i8"), np.zeros(n)])
@sd.program
def truth_values(a: split(f64[N]), b: split(f64[N]), k: split(i64[N]), r: split(f64[N])):
    p = a > 0.5
    q = b > 0.25
    k[:] = p + q
    k += p * 3 + (p & q) - (p ^ q) * 1
    r[:] = (p == q) * 0.5 + np.logical_not(p) + (~p | q)
    k[1:] += p[1:] & q[:-1] | (a[1:] <= a[:-1])
    r *= p
    r[:] = np.where(p, r, -1)


@directed(lambda rng, n: [rng.normal(size=n), rng.normal(size=n), np.zeros((6, n)), np.zeros(2)])
@sd.program
def no_numbers(a: split(f64[N]), b: split(f64[N]), r: split(f64[6, N], 1), q: f64[2]):
    a[1:4] = np.nan
    b[3:6] = np.inf
    b[5:7] = -np.inf
    r[0] = np.minimum(a, b)
    r[1] = np.maximum(a, b)
    r[2] = np.where(a < b, 1.0, np.where(a >= b, 2.0, 3.0))
    r[3] = np.clip(a, -0.5, 0.5) + np.clip(b, 0, 1)
    r[4] = np.isnan(a) * 2.0 + (a != a) + np.isnan(b - b)
    r[5] = b - b * 0.0
    q[0] = np.max(a)
    q[1] = np.min(np.where(np.isnan(a), 1.0, a))


@directed(lambda rng, n: [rng.normal(size=n), np.zeros((5, n)), np.zeros((2, n), "i8")])
@sd.program
def functions_of_elements(a: split(f64[N]), r: split(f64[5, N], 1), k: split(i64[2, N], 1)):
    a[2] = -0.25
    a[3] = 0.0
    r[0] = np.floor(a) + np.ceil(a * 2.0)
    r[1] = np.square(a) - a**2 + np.absolute(a) ** 0.5
    r[2] = np.add(a, 1.0) * np.subtract(2, a) + np.negative(a)
    r[3] = 1.0 / a + a**-1 - np.true_divide(1, a)
    r[4] = np.logical_and(a > -1, a < 1) + np.greater_equal(a, 0.0) * 2.0
    k[0] = np.floor(a * 10)
    k[1] = np.ceil(-a * 10) + np.logical_or(a, k[0]) * 100


@directed(lambda rng, n: [rng.random(n) + 0.5, np.zeros((6, n))], rounded=True)
@sd.program
def functions_of_the_library(a: split(f64[N]), r: split(f64[6, N], 1)):
    r[0] = np.exp(-a) * np.log(a)
    r[1] = np.sin(a) ** 2 + np.cos(a) * np.tan(a)
    r[2] = np.arctan2(a, 1.0 - a) + np.arctan(a)
    r[3] = np.arcsin(a / 2) - np.arccos(a / 2)
    r[4] = np.sinh(a) - np.cosh(a) * np.tanh(a)
    r[5] = a**3 + a**2.5 + a ** (a * 2)


@directed(lambda rng, n: [rng.integers(0, 1 << 31, n), np.zeros(n), 12345])
@sd.program
def random_numbers(state: split(i64[N]), r: split(f64[N]), seed: i64):
    h = seed
    for t in range(5):
        h = (h * 1103515245 + 12345) % 2147483648
        state[:] = (state * 1664525 + h) & MASK
        state ^= state >> 7
        r += state / 2147483648.0 - h / 2147483648
    r[0] += h % 10


@directed(lambda rng, n: [rng.normal(size=(n, 5)).astype("f4"), np.zeros(4), np.zeros(3, "f4")])
@sd.program
def numbers_of_small_floats(a: f32[M, N], q: f64[4], r: f32[3]):
    third = a[0, 0] / 3
    q[0] = third * 0.1
    q[1] = np.max(a) + np.float64(0.1)
    q[2] = 1 / 3 + a[1, 1] * a[2, 2]
    r[0] = q[2] * third
    r[1] = np.min(a) * 16777217
    r[2] = np.float32(0.1) + 0.2
    q[3] = r[2]


@directed(lambda rng, n: [np.array([2**31 - 5, -3, 7], "i4"), np.zeros(4, "i8"), np.int32(2**31 - 1)])
@sd.program
def numbers_that_wrap(a: i32[3], q: i64[4], k: i32):
    big = a[0] + a[2]
    q[0] = big
    q[1] = a[0] * a[2] - k
    q[2] = np.int64(a[0]) + a[2] + np.sum(a)
    q[3] = 3 * 2**28 + a[1] // 2
    a += k
    a[1:] -= a[:-1]


@directed(
    lambda rng, n: [rng.integers(0, 3, (n, 6), dtype="i4"), np.zeros(6, "i8"), np.zeros(4), np.zeros((2, n), "i8")]
)
@sd.program
def sums_of_whole_numbers(a: split(i32[M, N], 0), q: i64[6], m: f64[4], r: split(i64[2, M], 1)):
    q[0] = np.sum(a)
    q[1] = np.sum(a * 1000000000)
    q[2] = (a > 1).sum()
    q[3] = a.max() - a.min()
    q[4] = np.any(a == 7) + 2 * np.all(a < 3)
    q[5] = np.sum(a, dtype=np.int32)
    m[0] = np.mean(a)
    m[1] = (a == 2).mean()
    m[2] = a[1:-1].mean() + a.size + a.ndim
    m[3] = np.mean(a, dtype=np.float64)
    r[0] = np.sum(a, axis=1)
    r[1] = np.max(a, axis=-1) + (a > 0).any(axis=1) - np.all(a, axis=1)
