"""Filters of pictures with constant windows."""

from __future__ import annotations

import numpy as np

from starling import dace as sd

from .registry import K, M, N, directed, f32, f64, i32, split

WEIGHTS = ((1.0, 2.0, 1.0), (2.0, 4.0, 2.0), (1.0, 2.0, 1.0))
SOBEL = np.array([-1.0, 0.0, 1.0]).tolist()
LEVELS = [0.2, 0.4, 0.8]
SCALE = np.float64(16.0)


@directed(lambda rng, n: [rng.random((n, 9)), np.zeros((n, 9))])
@sd.program
def gauss(img: split(f64[M, N]), out: split(f64[M, N])):
    acc = np.zeros_like(img)
    for i in (0, 1, 2):
        for j in (0, 1, 2):
            acc[1:-1, 1:-1] += WEIGHTS[i][j] * img[i : img.shape[0] - 2 + i, j : img.shape[1] - 2 + j]
    out[:] = acc / SCALE


@directed(lambda rng, n: [rng.random((n, n + 1)), np.zeros((n, n + 1))])
@sd.program
def sobel(img: split(f64[M, N], (0, 1)), out: split(f64[M, N], (0, 1))):
    gx = img[:-2, 2:] - img[:-2, :-2] + 2.0 * (img[1:-1, 2:] - img[1:-1, :-2]) + img[2:, 2:] - img[2:, :-2]
    gy = img[2:, :-2] - img[:-2, :-2] + 2.0 * (img[2:, 1:-1] - img[:-2, 1:-1]) + img[2:, 2:] - img[:-2, 2:]
    out[1:-1, 1:-1] = np.sqrt(gx**2 + gy**2)
    out[out > 1.5] = 1.5


@directed(lambda rng, n: [rng.random((n, 8)), np.zeros((n, 8))])
@sd.program
def window_of_tuples(img: split(f64[M, N], 1), out: split(f64[M, N], 1)):
    for weight, k in ((SOBEL[0], 0), (SOBEL[1], 1), (SOBEL[2], 2)):
        out[:, 1:-1] += weight * img[:, k : N - 2 + k]
    for level in LEVELS:
        out[1:-1, :] = np.where(out[1:-1, :] > level, level + 0.5 * (out[1:-1, :] - level), out[1:-1, :])


@directed(lambda rng, n: [rng.random((n, 7)), np.zeros((n, 7)), 2])
@sd.program
def open_and_close(img: split(f64[M, N]), out: split(f64[M, N]), times: sd.int64):
    out[:] = img
    for t in range(times):
        low = out.copy()
        low[1:-1] = np.minimum(np.minimum(out[:-2], out[1:-1]), out[2:])
        out[:] = low
        out[1:-1] = np.maximum(np.maximum(low[:-2], low[1:-1]), low[2:])


@directed(lambda rng, n: [rng.random((n, 9), dtype="f4"), np.zeros((n, 9), "f4"), np.float32(1.5)])
@sd.program
def sharpen(img: split(f32[M, N]), out: split(f32[M, N]), amount: f32):
    blurred = img.copy()
    blurred[1:-1, 1:-1] = (img[:-2, 1:-1] + img[2:, 1:-1] + img[1:-1, :-2] + img[1:-1, 2:]) / 4
    out[:] = np.clip(img + amount * (img - blurred), 0.0, 1.0)


@directed(lambda rng, n: [rng.random((n, 9)), np.zeros((n, 9)), rng.random(5)])
@sd.program
def weights_from_an_array(img: split(f64[M, N]), out: split(f64[M, N]), w: f64[5]):
    for k in range(5):
        out[2:-2, 2:-2] += w[k] * img[k : M - 4 + k, 2:-2]
    for k in range(-2, 3):
        out[2:-2, 2:-2] += w[k + 2] * img[2:-2, 2 + k : N - 2 + k]


@directed(lambda rng, n: [rng.random((n, 11))])
@sd.program
def boxes_in_place(img: split(f64[M, N])):
    rows = (img[:-2] + img[1:-1] + img[2:]) / 3.0
    img[1:-1, 1:-1] = (rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:]) / 3.0
    img[1:-1] = (img[:-2] + img[1:-1] + img[2:]) / 3.0


@directed(lambda rng, n: [rng.random((n, 6)), np.zeros((n, 6))])
@sd.program
def median_of_three(img: split(f64[M, N]), out: split(f64[M, N])):
    a, b, c = img[:-2], img[1:-1], img[2:]
    out[1:-1] = np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))
    out[0], out[-1] = img[0], img[-1]
    a[:] = out[1:-1]


@directed(lambda rng, n: [rng.integers(0, 2, (n, 8), dtype="i4"), n - 12])
@sd.program
def game_of_life(cells: split(i32[M, N]), steps: sd.int64):
    for t in range(steps):
        around = np.zeros_like(cells)
        for i in (-1, 0, 1):
            for j in (-1, 0, 1):
                if i != 0 or j != 0:
                    around[1:-1, 1:-1] += cells[1 + i : M - 1 + i, 1 + j : N - 1 + j]
        born = (cells == 0) & (around == 3)
        stay = (cells == 1) & ((around == 2) | (around == 3))
        cells[:] = np.where(born | stay, 1, 0)


@directed(lambda rng, n: [rng.random((3, n, 7)), np.zeros((n, 7))])
@sd.program
def color_to_gray(rgb: split(f64[K, M, N], 1), gray: split(f64[M, N], 0)):
    for c, w in ((0, 0.299), (1, 0.587), (2, 0.114)):
        gray += w * rgb[c]
    rgb[0] = np.where(gray > 0.5, 1.0, rgb[0])
    rgb[-1, 1:] = gray[:-1]
    rgb[1, :, ::2] = rgb[0, :, 1::2][:, :1] + rgb[2, :, ::2]


@directed(lambda rng, n: [rng.random((n, 9)), 0.25])
@sd.program
def anisotropic(img: split(f64[M, N], 0), k: f64):
    for t in range(4):
        north = img[:-2, 1:-1] - img[1:-1, 1:-1]
        south = img[2:, 1:-1] - img[1:-1, 1:-1]
        west = img[1:-1, :-2] - img[1:-1, 1:-1]
        img[1:-1, 1:-1] += k * (
            north / (1.0 + (north / k) ** 2) + south / (1.0 + (south / k) ** 2) + west / (1.0 + np.square(west / k))
        )
