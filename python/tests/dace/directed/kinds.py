"""Types of arrays and numbers: masks in arithmetic, casts, arrays that are made."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import N, directed, f32, f64, i32, i64, split


@directed(lambda rng, n: [np.zeros(8, "i8"), rng.random(4)])
@sd.program
def numpy_bools(q: i64[8], x: f64[4]):
    a = x[0] > 0.1
    b = x[1] > 0.01
    q[0] = a + b
    q[2] = ~a
    q[3] = a * 2 + b
    q[4] = a | b
    q[5] = a * b
    q[6] = a < b


@directed(lambda rng, n: [np.zeros(8), n - 16])
@sd.program
def bool_division(q: f64[8], k: i64):
    for t in range(3):
        q[0] += (t > 1) / 2
        q[1] += (t > 0) // 2
        q[2] += (t > 0) % 2
        q[3] += (t > 0) ** 2


@directed(
    lambda rng, n: [np.zeros((2, n)), np.zeros(n, "f4"), rng.random(n), rng.integers(-5, 9, n, "i4"), np.zeros(8, "i8")]
)
@sd.program
def where_types(R: split(f64[2, N], 1), s: split(f32[N]), a: split(f64[N]), k: split(i32[N]), q: i64[8]):
    R[0] = np.where(a > 0.5, 1, 0) / 2
    R[1] = np.where(k > 0, k, 0.5) + np.maximum(k, 2.5) + np.clip(k, 0, 5)
    s[:] = np.where(a > 0.5, s, 0.1) * 3
    s += np.where(k > 2, np.float32(0.1), 0.2)
    R[0] += np.where(k > 2, 1, 0.5) * np.minimum(k, 3)
    k[:] = np.where(a > 0.2, k, -1) * 2


@directed(lambda rng, n: [rng.random(n, "f4"), np.zeros(n), rng.integers(-5, 9, n, "i4")])
@sd.program
def clip_types(s: split(f32[N]), R: split(f64[N]), k: split(i32[N])):
    R[:] = np.clip(s, 0.1, 0.7) * 3
    R += np.clip(s, np.float64(0.1), 0.7)
    R += np.clip(k, -2, 3) / 2
    R += s // np.float32(0.3) + s % 0.3


@directed(lambda rng, n: [rng.random(n), rng.random(n), np.zeros(n, "i8"), np.zeros(n)])
@sd.program
def masks_in_arithmetic(a: split(f64[N]), b: split(f64[N]), k: split(i64[N]), r: split(f64[N])):
    m, w = a > 0.5, b > 0.5
    k[:] = m * w + (m < w) * 2 + (m <= w) * 4 + (m != w) * 8
    k += m + 1 + m.astype(np.int64) * 3
    r[:] = m / 2
    r += np.maximum(m, w) + np.minimum(m, w) * 0.5


@directed(lambda rng, n: [rng.random(n), np.zeros(8)])
@sd.program
def mask_statistics(a: split(f64[N]), q: f64[8]):
    m = a > 0.5
    q[0] = np.sum(m)
    q[1] = np.mean(m)
    q[2] = np.max(m)
    q[3] = m.sum() / m.size
    q[4] = np.sum(~m) - np.sum(m)


@directed(lambda rng, n: [rng.random(n), np.zeros(n, "i8")], refused="of which NumPy makes short numbers")
@sd.program
def mask_power(a: split(f64[N]), k: split(i64[N])):
    m = a > 0.5
    k[:] = m**2


@directed(lambda rng, n: [rng.random(n), np.zeros(n, "i8")])
@sd.program
def mask_floor_division(a: split(f64[N]), k: split(i64[N])):
    m = a > 0.5
    k[:] = m // 2


@directed(lambda rng, n: [rng.random(n), rng.random(n)])
@sd.program
def mask_made(a: split(f64[N]), b: split(f64[N])):
    m = np.zeros(N, dtype=bool)
    m[2:5] = True
    m |= a > 0.5
    m[1:] &= b[:-1] > 0.2
    m[0] = not m[0] if False else True
    a[m] += 1.0
    m ^= m
    b[~m] -= 1.0


@directed(lambda rng, n: [rng.random(n), np.zeros(n)])
@sd.program
def full_types(x: f64[N], y: f64[N]):
    a = np.full(N, 2) / 3
    b = np.full(N, 1) // 2
    c = np.ones(N, np.int32) * 7 // 2
    d = np.zeros((2, N))
    d[0] += a
    d[1] = b + c
    e = np.empty_like(x)
    e[:] = d[0] + d[1]
    f = np.full_like(x, 1)
    f += 0.5
    y[:] = e * f
    g = np.ones_like(x[1:-1])
    y[1:-1] += g
    y += np.arange(N) / N
    y += np.arange(N)


@directed(lambda rng, n: [rng.random(n), np.zeros(n)])
@sd.program
def full_of_number(x: f64[N], y: f64[N]):
    k = 3
    a = np.full(N, k)
    a[0] = 2.7
    y[:] = a / 2
    b = np.full(N, np.max(x))
    b[1] = 2
    y += b
    c = np.zeros_like(a)
    c += a
    y -= c // 2


@directed(lambda rng, n: [rng.normal(size=n) * 5, np.zeros(n, "i8"), np.zeros(n, "i4"), np.zeros(n, "f4")])
@sd.program
def assignments_that_cast(a: split(f64[N]), k: split(i64[N]), j: split(i32[N]), s: split(f32[N])):
    k[:] = a * 3.7
    j[:] = k * 2**30
    s[:] = a
    s[1:] = k[:-1] * 16777217
    a[:] = s
    a[2:] = True
    k[a > 0.5] = 3.9
    j[:] = j > 0


@directed(lambda rng, n: [rng.random(n), np.zeros(8), 3])
@sd.program
def aug_on_bool(A: split(f64[N]), q: f64[8], k: i64):
    found = False
    for t in range(4):
        found |= t == k
        found = found or t > 10
    q[0] = found
    count = 0
    for t in range(4):
        count += t == k
        count += bool(t)
    q[1] = count
    any_hot = False
    any_hot |= np.any(A > 0.9)
    any_hot = any_hot or A.max() > 0.8
    q[2] = any_hot
