"""Numbers of Python in programs: conditions, conversions, names that C++ has too."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import M, N, directed, f32, f64, i32, i64, split

LIMITS = (1, 5, 9)
STEP = 0.125
COUNT = 3
ON = True


@directed(lambda rng, n: [rng.random(n), np.zeros(8), n - 11])
@sd.program
def chained_comparisons(A: f64[N], q: f64[8], k: i64):
    q[0] = 1 < k < 5
    q[1] = 0 <= k == 2 < 10 != k
    if 0.0 <= np.min(A) < np.max(A) <= 1.0:
        q[2] = 1.0
    if not 1 < k < 5 or k == 2 > 1:
        q[3] = 1.0
    q[4] = LIMITS[0] < k < LIMITS[1] < LIMITS[-1]
    inside = 1 <= k <= 5 and A[0] > 0.5
    q[5] = inside
    q[6] = not inside
    q[7] = (1 < k) < 5  # noqa: SIM300
    A[:] = np.where((A > 0.2) & (A < 0.8), A, k if 1 < k < 5 else -k)


@directed(lambda rng, n: [rng.random(n), np.zeros(6), n - 14, 0.5])
@sd.program
def conditional_expressions(A: f64[N], q: f64[6], k: i64, x: f64):
    y = x if k > 0 else -x
    q[0] = y
    n = 3 if k % 2 else 4 if k > 5 else 5
    q[1] = n
    A[1:-1] = A[2:] * (y if k > 0 else -2.0)
    q[2] = A[0] if A[0] > A[-1] else A[-1]
    if k != 0:
        q[3] = 1.0 / k
    q[4] = (k if k < 3 else 3) * (1 if ON else 2)
    q[5] = (x if k else 2 * x) if x > 0.25 else (3 * x if k < 0 else 4 * x)


@directed(lambda rng, n: [np.array([-2.7, 2.7, 0.0, 3.0]), np.zeros(12), np.zeros(6, "i8"), -3])
@sd.program
def conversions(x: f64[4], q: f64[12], m: i64[6], k: i64):
    m[0] = int(x[0])
    m[1] = int(x[1]) + int(-0.5)
    m[2] = int(k / 2)
    m[3] = abs(k) + abs(-2)
    m[4] = bool(x[2]) + bool(x[3]) * 2 + bool(k) * 4
    m[5] = max(k, 2) + min(k, 2, -5) * 100
    q[0] = float(k) / 2
    q[1] = abs(x[0]) + np.abs(k)
    q[2] = min(x[0], x[1]) + max(x[2], x[3])
    q[3] = k / 2
    q[4] = k // 2
    q[5] = -k // 2 + (-k) % 4 - -7 % 3
    q[6] = x[0] // 1 + x[0] % 1
    q[7] = np.floor(x[0]) + np.ceil(x[0])
    q[8] = 7 / 2 + 7 // 2 - 2**0.5
    q[9] = float(int(x[1] * 10) % 7)
    q[10] = len(x) + k * True
    q[11] = -(k**2) + (-k) ** 2 + 2**3


@directed(lambda rng, n: [rng.random(n), np.zeros(n), np.zeros(n), 2, 3])
@sd.program
def names_of_cpp(new: split(f64[N]), delete: split(f64[N]), this: split(f64[N]), int_: i64, template: i64):
    auto = 0.5
    double = int_ * 2
    for char in range(template):
        union = auto * double
        delete[1:-1] = new[:-2] * union + new[2:]
        switch = np.max(delete)
        signed, unsigned = switch * 0.5, char + 1
        this += delete * signed / unsigned
        new[:] = this * 0.25
        auto += 0.25
    struct = new.copy()
    this[1:] = struct[:-1]


@directed(lambda rng, n: [rng.random((n, 5)), rng.random((n, 5)), np.zeros(2), 3])
@sd.program
def names_of_a_generator(
    __x: split(f64[M, N]),
    threadIdx: split(f64[M, N]),
    printf: f64[2],
    blocks: i64,
):
    i = 1.5
    j = 2
    tmp = i * j
    t0, NULL = np.zeros_like(__x), 0
    for pe in range(blocks):
        std = 0.5
        for block in range(2):
            i0 = pe + block
            t0[1:-1] = __x[:-2] * i + threadIdx[2:]
            std = std - tmp * i0
            threadIdx[:] = t0 + i0
        main = std * 0.125
        __x += main
        NULL = pe
    errno, size, M_PI, INFINITY, EOF = 1.0, 2, 3.0, 4, 5.0
    printf[0] = errno + size + M_PI + INFINITY + EOF + NULL
    printf[1] = i + j + tmp


@directed(lambda rng, n: [rng.random(n), rng.random(n), 0.1, 3])
@sd.program
def names_of_other_alphabets(Δ: split(f64[N]), ψ: split(f64[N]), λ: f64, кол: i64):
    μ = λ * 2.0
    for été in range(кол):
        ψ[1:-1] = Δ[:-2] - μ * Δ[2:]
        größe = np.max(ψ)
        Δ += ψ * größe
        μ = μ + été


@directed(lambda rng, n: [rng.random(n), np.zeros(4)])
@sd.program
def names_of_builtins(A: split(f64[N]), q: f64[4]):
    max = np.max(A)
    min = np.min(A)
    sum = max - min
    abs = np.abs(A - sum)
    A[1:] = abs[:-1] * 2
    len = 4
    list, id, type, print = 1.0, 2, 3.0, len
    q[0] = max + min * sum
    q[1] = list + id + type + print
    float = 1
    for range_ in range(3):
        float += range_
    q[2] = float
    bool = q[2] > 1 and sum < 5
    q[3] = bool


@directed(lambda rng, n: [rng.random((n, 4)), np.zeros(4), 4])
@sd.program
def numbers_are_values(A: f64[M, N], q: f64[4], k: i64):
    x = A[0, 1]
    y = x
    A[0, 1] = 7.0
    x += 1.0
    q[0], q[1] = x, y
    k += 1
    old = k
    k = k * 2
    q[2] = old * 100 + k
    largest = np.max(A)
    A *= 2.0
    q[3] = largest
    x, y = y, x
    A[1:-1] += x - 2 * y


@directed(lambda rng, n: [rng.random(n), np.zeros(5), 3])
@sd.program
def types_of_a_name(A: f64[N], q: f64[5], k: i64):
    x = k
    q[0] = x // 2
    x = x / 2
    q[1] = x
    x = x > 1
    q[2] = x
    y = 1
    A *= y
    y = A[0]
    A[1:] -= y * A[:-1]
    z = 0.0
    for t in range(k):
        z = z + t
        q[3] += z / 2
    q[4] = z


@directed(lambda rng, n: [rng.random(n), np.zeros(4, "i8"), n])
@sd.program
def passes_computed_in_whole_numbers(A: split(f64[N]), q: i64[4], k: i64):
    for t in range(-4, 5):
        q[0] += t // 2 * 10 + t % 3
        q[1] = q[1] * 3 + (-t) // 3 - (t - 5) % 4
        A += (t // 2) * STEP
        if t % 2 == 1 and t // 3 != -1:
            q[2] += 1
        A[1:] *= 1.0 + (t % 3) / 8
    for t in range(k, 0, -5):
        q[3] = 10 * q[3] + t % 10


@directed(lambda rng, n: [rng.random(n), np.zeros(3)])
@sd.program
def numbers_from_outside(A: split(f64[N]), q: f64[3]):
    for t in range(COUNT):
        A[1:-1] += STEP * (A[2:] - A[:-2]) if ON else 0.0
    total = 0
    for limit in LIMITS:
        total += limit**2
    q[0] = total
    q[1] = LIMITS[COUNT - 1] / len(LIMITS)
    q[2] = N * STEP + A.shape[0] // COUNT


@directed(lambda rng, n: [rng.random(n), np.zeros(3), np.float32(0.1), np.int32(7), 2.5])
@sd.program
def arguments_changed(A: split(f64[N]), q: f64[3], a: f32, k: i32, x: f64):
    q[0] = a * k
    k = k // 2
    x *= k
    for t in range(3):
        x -= 0.5
        k -= 1
        A[1:] = A[1:] * x + A[:-1]
    q[1] = x
    q[2] = a / 3 + k


@directed(lambda rng, n: [rng.random(1), np.zeros(1), rng.random(n), np.zeros(1, "i8")])
@sd.program
def arrays_of_one_element(r: f64[1], s: f64[1], A: split(f64[N]), k: i64[1]):
    s[:] = r
    if r > 0.25 and s < 2:
        s += r
    A[:] = A * r + s[0]
    while k < 3:
        k += 1
        A[1:] -= s * A[:-1]
    r[:] = np.max(A)
    s[0] = r[0] if k == 3 else s[0]
