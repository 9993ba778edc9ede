"""Strides and masks: red and black, levels of grids, wavelets, histograms."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import M, N, directed, f32, f64, i32, i64, split


@directed(lambda rng, n: [rng.random(n), n - 11])
@sd.program
def red_black_line(A: split(f64[N]), steps: i64):
    for t in range(steps):
        A[1:-1:2] = 0.5 * (A[:-2:2] + A[2::2])
        A[2:-1:2] = 0.5 * (A[1:-2:2] + A[3::2])


@directed(lambda rng, n: [rng.random((n, 9)), n - 12])
@sd.program
def red_black_plane(A: split(f64[M, N], 0), steps: i64):
    for t in range(steps):
        for parity in (0, 1):
            A[1:-1:2, 1 + parity : N - 1 : 2] = 0.25 * (
                A[:-2:2, 1 + parity : N - 1 : 2]
                + A[2::2, 1 + parity : N - 1 : 2]
                + A[1:-1:2, parity : N - 2 : 2]
                + A[1:-1:2, 2 + parity : N : 2]
            )
            A[2:-1:2, 2 - parity : N - 1 : 2] *= 0.75


@directed(lambda rng, n: [rng.random((n, n)), np.indices((n, n), "i4").sum(0, "i4") % 2, n - 11])
@sd.program
def red_black_by_colors(A: split(f64[M, N], (0, 1)), color: split(i32[M, N], (0, 1)), steps: i64):
    for t in range(steps):
        for c in range(2):
            mean = 0.25 * (A[:-2, 1:-1] + A[2:, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:])
            A[1:-1, 1:-1] = np.where(color[1:-1, 1:-1] == c, mean, A[1:-1, 1:-1])


@directed(lambda rng, n: [rng.random(n), 3])
@sd.program
def wavelet(A: split(f64[N]), steps: i64):
    for t in range(steps):
        A[1:-1:2] -= 0.5 * (A[:-2:2] + A[2::2])
        A[2:-1:2] += 0.25 * (A[1:-2:2] + A[3::2])


@directed(lambda rng, n: [rng.random(2 * n + 1), np.zeros(n + 1), np.zeros(2 * n + 1)])
@sd.program
def restrict_and_prolong(fine: f64[2 * N - 1], coarse: f64[N], back: f64[2 * N - 1]):
    coarse[1:-1] = 0.25 * fine[1:-2:2] + 0.5 * fine[2:-1:2] + 0.25 * fine[3::2]
    coarse[0], coarse[-1] = fine[0], fine[-1]
    back[::2] = coarse
    back[1::2] = 0.5 * (coarse[:-1] + coarse[1:])
    fine -= back


@directed(lambda rng, n: [rng.random((n, 17))])
@sd.program
def cycle_along_columns(A: split(f64[M, N], 0)):
    A[:, 2:-2:4] = 0.25 * A[:, 1:-3:4] + 0.5 * A[:, 2:-2:4] + 0.25 * A[:, 3:-1:4]
    A[:, 4:-4:8] += 0.5 * (A[:, 2:-6:8] + A[:, 6:-2:8])
    A[1:-1, 1::2] = A[:-2, :-1:2] - A[2:, 1::2]


@directed(lambda rng, n: [rng.random((n, 7))])
@sd.program
def every_third(A: split(f64[M, N], 0)):
    A[::3, ::2] = 0.0
    A[1::3, 1::2] += 10.0
    A[2:-2:3, -1] = A[4::3, 0]
    A[:-1:3] *= -2.0
    A[5::3, 2:4] = A[3:-2:3, 4:6]


@directed(lambda rng, n: [rng.random(n) - 0.5, rng.random(n)])
@sd.program
def masks_of_numbers(A: split(f64[N]), B: split(f64[N])):
    A[A < 0.0] = 0.0
    m = B > 0.5
    B[m] *= 2.0
    B[1:][m[:-1]] -= 1.0
    A[(B > 1.2) & ~m] = 7.0
    A[m & (A != 0.0)] += 0.25
    A[:-1][B[1:] < 0.0] = -1.0


@directed(lambda rng, n: [rng.random((n, 6)), np.zeros(5, "i8")])
@sd.program
def histogram_by_masks(A: split(f64[M, N]), counts: i64[5]):
    low = 0.0
    for k in range(5):
        high = (k + 1) * 0.2
        counts[k] = np.sum((A >= low) & (A < high))  # noqa: SIM300
        low = high


@directed(lambda rng, n: [rng.integers(-20, 20, n), np.zeros(8, "i8")])
@sd.program
def histogram_of_thresholds(A: split(i64[N]), counts: i64[8]):
    place = 0
    for threshold in (-100, -7, 0, 3, 11, 100):
        inside = A > threshold  # noqa: SIM300
        counts[place] += inside.sum()
        place += 1  # noqa: SIM113
        A[inside] -= 1
    counts[6] = np.sum(A % 4 == 1)
    counts[7] = np.any(A == 3)


@directed(lambda rng, n: [rng.random((n, 8), dtype="f4"), rng.random((n, 8), dtype="f4")])
@sd.program
def mask_of_another_array(A: split(f32[M, N], 1), B: split(f32[M, N], 1)):
    wet = (A > 0.25) & (B[:, :] < 0.75)
    A[wet] = 1.5
    B[:, 1:-1] = np.where(wet[:, 2:] | wet[:, :-2], A[:, 1:-1], B[:, 1:-1])
    B[~wet] += 3


@directed(lambda rng, n: [rng.random((n, 10)), np.zeros((n, 5))])
@sd.program
def coarser_rows(A: split(f64[M, 10], 0), C: split(f64[M, 5], 0)):
    C[:] = 0.5 * (A[:, ::2] + A[:, 1::2])
    A[:, ::2] = C
    A[:, 1::2] = C[:, ::-1]


@directed(lambda rng, n: [rng.random(n)])
@sd.program
def backwards(A: f64[N]):
    A[:] = A[::-1]
    A[1:-1] += A[::-1][2:]
    A[::-1][:3] = A[:3]
    A *= A[::-1]
