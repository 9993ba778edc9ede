"""Schemes in time: leapfrog, Runge-Kutta, predictors and correctors, upwind, with temporaries and functions."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import K, M, N, directed, f32, f64, i64, split


def slope(u, h):
    d = np.zeros_like(u)
    d[1:-1] = (u[2:] - u[:-2]) / (2.0 * h)
    return d


def flux(u):
    return 0.5 * u * u


@directed(lambda rng, n: [rng.random(n), 3, 0.01, 0.1])
@sd.program
def runge_kutta_4(U: split(f64[N]), steps: i64, dt: f64, h: f64):
    for t in range(steps):
        k1 = slope(U, h)
        k2 = slope(U + 0.5 * dt * k1, h)
        k3 = slope(U + 0.5 * dt * k2, h)
        k4 = slope(U + dt * k3, h)
        U += dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


@directed(lambda rng, n: [rng.random(n), 5, 0.05])
@sd.program
def heun_in_place(U: split(f64[N]), steps: i64, dt: f64):
    for t in range(steps):
        first = slope(U, 0.5)
        old = U.copy()
        U += dt * first
        second = slope(U, 0.5)
        U[:] = old + 0.5 * dt * (first + second)


@directed(lambda rng, n: [rng.random((n, 6)), rng.random((n, 6)), n - 10])
@sd.program
def leapfrog_with_filter(old: split(f64[M, N]), now: split(f64[M, N]), steps: i64):
    for t in range(steps):
        new = np.zeros_like(now)
        new[1:-1, :] = old[1:-1, :] - 0.2 * (now[2:, :] - now[:-2, :])
        new[0, :] = now[0, :]
        new[-1, :] = now[-1, :]
        old[:] = now + 0.05 * (old - 2.0 * now + new)
        now[:] = new


@directed(lambda rng, n: [rng.random(n), np.zeros(n), 4])
@sd.program
def adams_bashforth(U: split(f64[N]), R: split(f64[N]), steps: i64):
    before = slope(U, 1.0)
    for t in range(steps):
        new = slope(U, 1.0)
        U += 0.1 * (1.5 * new - 0.5 * before)
        before = new
    R[:] = before


@directed(lambda rng, n: [rng.random((n, 7)), rng.random((n, 7)) - 0.5, 6, 0.3])
@sd.program
def upwind(U: split(f64[M, N], 0), c: split(f64[M, N], 0), steps: i64, dt: f64):
    for t in range(steps):
        left = U[1:-1, 1:-1] - U[:-2, 1:-1]
        right = U[2:, 1:-1] - U[1:-1, 1:-1]
        across = np.where(c[1:-1, 1:-1] > 0.0, left, right)
        along = np.where(c[1:-1, 1:-1] < -0.25, U[1:-1, 2:] - U[1:-1, 1:-1], np.where(c[1:-1, 1:-1] > 0.25, left, 0.0))
        U[1:-1, 1:-1] -= dt * (np.abs(c[1:-1, 1:-1]) * across + along)


@directed(lambda rng, n: [rng.random((n, 8)), 7, 0.4])
@sd.program
def lax_wendroff_periodic(U: split(f64[M, N], 0), steps: i64, c: f64):
    for t in range(steps):
        east, west = np.roll(U, -1, axis=1), np.roll(U, 1, axis=1)
        U[:] = U - 0.5 * c * (east - west) + 0.5 * c * c * (east - 2.0 * U + west)


@directed(lambda rng, n: [rng.random(n), 6, 0.2])
@sd.program
def mac_cormack(U: split(f64[N]), steps: i64, ratio: f64):
    P = U.copy()
    for t in range(steps):
        F = flux(U)
        P[:-1] = U[:-1] - ratio * (F[1:] - F[:-1])
        F = flux(P)
        U[1:] = 0.5 * (U[1:] + P[1:] - ratio * (F[1:] - F[:-1]))


@directed(lambda rng, n: [rng.random((n, 5), "f4"), np.zeros((n, 5), "f4"), 5, np.float32(0.1)])
@sd.program
def symplectic(q: split(f32[M, N]), p: split(f32[M, N]), steps: i64, dt: f32):
    for t in range(steps):
        force = -q
        force[1:-1] += 0.5 * (q[2:] - 2 * q[1:-1] + q[:-2])
        p += dt * force
        q += dt * p


@directed(lambda rng, n: [rng.random((n, 5, 6)), rng.random((n, 5, 6)), 3])
@sd.program
def volume_in_two_halves(A: split(f64[K, M, N], 0), B: split(f64[K, M, N], 0), steps: i64):
    for t in range(2 * steps):
        if t % 2 == 0:
            B[1:-1, 1:-1, 1:-1] = (A[2:, 1:-1, 1:-1] + A[:-2, 1:-1, 1:-1]) * 0.5 - 0.1 * A[1:-1, 2:, :-2]
        else:
            A[1:-1, 1:-1, 1:-1] = (B[1:-1, 2:, 1:-1] + B[1:-1, :-2, 1:-1]) * 0.5 - 0.1 * B[:-2, 1:-1, 2:]


@directed(lambda rng, n: [rng.random((4, n, n + 1)), rng.random((4, n, n + 1)), 4])
@sd.program
def horizontal_diffusion(A: split(f64[K, M, N], (1, 2)), B: split(f64[K, M, N], (1, 2)), steps: i64):
    for t in range(steps):
        lap = 4.0 * A[:, 1:-1, 1:-1] - (A[:, 2:, 1:-1] + A[:, :-2, 1:-1] + A[:, 1:-1, 2:] + A[:, 1:-1, :-2])
        B[:, 2:-2, 2:-2] = A[:, 2:-2, 2:-2] - 0.05 * (
            lap[:, 1:-1, 2:] - lap[:, 1:-1, :-2] + lap[:, 2:, 1:-1] - lap[:, :-2, 1:-1]
        )
        A[:] = 0.5 * (A + B)


@directed(lambda rng, n: [rng.random(n), 4])
@sd.program
def stages_in_a_loop(U: split(f64[N]), steps: i64):
    for t in range(steps):
        start = U.copy()
        for a, b in ((0.0, 1.0), (0.75, 0.25), (1.0 / 3.0, 2.0 / 3.0)):
            U[:] = a * start + b * (U + 0.1 * slope(U, 1.0))


@directed(lambda rng, n: [rng.random(n), rng.random(n), rng.random(n), 5])
@sd.program
def predator_and_prey(a: split(f64[N]), b: split(f64[N]), seen: split(f64[N]), steps: i64):
    for t in range(steps):
        da = a * (1.0 - b)
        db = b * (a - 1.0)
        da[1:-1] += 0.1 * (a[2:] - 2.0 * a[1:-1] + a[:-2])
        a, b = a + 0.05 * da, b + 0.05 * db
        seen[:] = np.maximum(seen, a)
    seen[1:] -= b[:-1]
