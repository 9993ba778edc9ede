"""Loops until something holds: residuals, counters, flags, time steps that adapt, early ends."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import M, N, directed, f64, i64, split


@directed(lambda rng, n: [rng.random(n), rng.random(n), np.zeros(2), 1e-2])
@sd.program
def element_in_condition(A: split(f64[N]), B: split(f64[N]), r: f64[2], tol: f64):
    r[0] = 1.0
    while r[0] > tol:
        B[1:-1] = (A[:-2] + A[2:]) * 0.5
        r[0] = np.max(np.abs(B[1:-1] - A[1:-1]))
        A[1:-1] = B[1:-1]
        r[1] += 1


@directed(lambda rng, n: [rng.random((n, 9)), rng.random((n, 9)), np.zeros(3), 1e-3, n])
@sd.program
def several_conditions(A: split(f64[M, N]), B: split(f64[M, N]), told: f64[3], tol: f64, most: i64):
    err = 1.0
    passes = 0
    while err > tol and passes < most and not np.any(np.isnan(A)):
        B[1:-1, 1:-1] = 0.25 * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
        err = np.max(np.abs(B[1:-1, 1:-1] - A[1:-1, 1:-1]))
        A[1:-1, 1:-1] = B[1:-1, 1:-1]
        passes += 1
    told[0] = passes
    told[1] = err
    told[2] = passes < most


@directed(lambda rng, n: [rng.random(n), np.zeros(3), 40])
@sd.program
def residual_old_and_new(A: split(f64[N]), r: f64[3], steps: i64):
    old = np.max(A)
    new = old
    count = 0
    for t in range(steps):
        A[1:-1] = 0.3 * (A[:-2] + A[1:-1] + A[2:])
        A[0] *= 0.75
        A[-1] *= 0.5
        old = new
        new = np.max(np.abs(A))
        count = t
        if new < 0.2 * r[2] + 0.01:
            break
    r[0] = old
    r[1] = new
    r[2] = count


@directed(lambda rng, n: [rng.random(n), rng.random(n), np.zeros(1, "i8"), 1e-2])
@sd.program
def pass_of_break(A: split(f64[N]), B: split(f64[N]), passes: i64[1], tol: f64):
    for t in range(1000):
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        if np.max(np.abs(B[1:-1] - A[1:-1])) < tol:
            break
        A[1:-1] = B[1:-1]
    passes[0] = t


@directed(lambda rng, n: [rng.random(n), np.zeros(1, "i8"), n])
@sd.program
def passes_left_out(A: split(f64[N]), count: i64[1], steps: i64):
    for t in range(steps):
        if t % 3 == 1:
            continue
        A[1:-1] += 0.25 * (A[:-2] - A[2:])
        if np.max(A) > 1.5:
            A *= 0.5
            continue
        A += 0.125
        count[0] += 1


@directed(lambda rng, n: [rng.random(n), np.zeros(2, "i8")])
@sd.program
def loops_in_loops(A: split(f64[N]), told: i64[2]):
    outer = 0
    inner = 0
    while outer < 4:
        k = 0
        while True:
            k += 1
            if k > outer + 2:
                break
            if k == 2:
                continue
            A[1:] = A[:-1] + 0.5 * A[1:]
            inner += 1
        outer += 1
        A *= 0.25
    told[0] = outer
    told[1] = inner


@directed(lambda rng, n: [rng.random(n) + 0.5, np.zeros(2), 1.5])
@sd.program
def step_that_adapts(U: split(f64[N]), told: f64[2], end: f64):
    t = 0.0
    steps = 0
    while t < end:
        dt = 0.4 / np.max(np.abs(U))
        if t + dt > end:
            dt = end - t
        U[1:-1] = U[1:-1] - dt * U[1:-1] * (U[1:-1] - U[:-2])
        t += dt
        steps += 1
    told[0] = t
    told[1] = steps


@directed(lambda rng, n: [rng.random((n, 6)), np.zeros(3), 0.75])
@sd.program
def smallest_of_steps(U: split(f64[M, N], 1), told: f64[3], end: f64):
    t = 0.0
    while end - t > 1e-9:
        fastest = np.max(np.abs(U))
        dt = np.minimum(0.25 / fastest, end - t)
        dt = np.maximum(dt, 1e-3)
        U[:, 1:-1] -= dt * U[:, 1:-1] * (U[:, 2:] - U[:, :-2])
        t = t + dt
        told[0] = t
        told[1] = dt
        told[2] += 1.0


@directed(lambda rng, n: [rng.random(n) * n / 13, np.zeros(1), 1.25])
@sd.program
def early_end(A: split(f64[N]), q: f64[1], limit: f64):
    q[0] = np.max(A)
    if q[0] > limit:
        return
    for t in range(10):
        A[1:-1] = 0.5 * (A[:-2] + A[2:])
        if np.max(A[1:-1]) - np.min(A[1:-1]) < 0.3:
            q[0] = t
            return
    q[0] = -1.0


@directed(lambda rng, n: [rng.random(n), rng.random(n), np.zeros(1, "i8"), 1e-2])
@sd.program
def done_is_a_flag(A: split(f64[N]), B: split(f64[N]), passes: i64[1], tol: f64):
    done = False
    t = 0
    while not done:
        B[1:-1] = 0.5 * (A[:-2] + A[2:])
        done = np.all(np.abs(B[1:-1] - A[1:-1]) < tol)
        A[1:-1] = B[1:-1]
        t += 1
    passes[0] = t


@directed(lambda rng, n: [rng.random(n), np.zeros(2, "i8"), n])
@sd.program
def two_counters(A: split(f64[N]), told: i64[2], steps: i64):
    hot, cold = 0, 0
    for t in range(steps):
        A[1:-1] = A[1:-1] + 0.75 * (A[2:] - A[:-2])
        if np.any(A > 1.5) and not (A < -1.5).any():
            hot += 1
        elif np.any(A > 1.5) or (A < -1.5).any():
            cold -= 2
        else:
            hot, cold = hot + 1, cold + 1
        A *= 0.9
    told[0] = hot
    told[1] = cold


@directed(lambda rng, n: [rng.random(n) + 0.1, np.zeros(2)])
@sd.program
def halved_interval(A: split(f64[N]), told: f64[2]):
    low, high = 0.0, 16.0
    while high - low > 1e-6:
        mid = 0.5 * (low + high)
        if np.max(A * mid) > 1.0:
            high = mid
        else:
            low = mid
    told[0], told[1] = low, high
    A *= low


@directed(lambda rng, n: [rng.random(4) + 1.0, np.zeros(4), np.zeros(4, "i8")])
@sd.program
def roots_by_newton(a: f64[4], x: f64[4], passes: i64[4]):
    for k in range(4):
        guess = a[k]
        while abs(guess * guess - a[k]) > 1e-12 and passes[k] < 50:
            guess = 0.5 * (guess + a[k] / guess)
            passes[k] += 1
        x[k] = guess


@directed(lambda rng, n: [rng.random(n), np.zeros(1, "i8"), 1, 3])
@sd.program
def condition_of_numbers(A: split(f64[N]), last: i64[1], first: i64, second: i64):
    a, b = first, second
    while (a < 100 and b != 0) or a == b:
        A[1:] = A[1:] * 0.5 + A[:-1] * (1.0 / a)
        a, b = a + b, b - 1 if b % 2 else b + 2
        if not 0 <= b < 50:
            break
    last[0] = a * 1000 + b
