"""Each call of starling.dace.nvshmem against what it means."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import dace_programs as programs
from starling.machine import Machine

pytestmark = pytest.mark.skipif(
    os.environ.get("STARLING_TEST_COMPLETE") != "1",
    reason="compiles seven programs twice: STARLING_TEST_COMPLETE=1 runs it",
)
Devices = Callable[[int], Machine]
SHAPES = [(pes, blocks) for pes in (1, 2, 4) for blocks in (1, 3)]


@pytest.fixture(params=SHAPES, ids=lambda s: f"{s[0]}x{s[1]}")
def shape(request: pytest.FixtureRequest) -> tuple[int, int]:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=("device", "stream", "call"))
def control(request: pytest.FixtureRequest) -> str:
    return request.param  # type: ignore[no-any-return]


def some(pes: int, n: int, rng: np.random.Generator) -> list[Any]:
    return [rng.random(n) for _ in range(pes)]


def test_ring(shape: tuple[int, int], control: str, rng: np.random.Generator, devices: Devices) -> None:
    pes, blocks = shape
    a = some(pes, 7, rng)
    want = [x.copy() for x in a]
    for _ in range(5):
        want = [want[pe - 1] + 1.0 for pe in range(pes)]
    programs.ring(a, some(pes, 7, rng), 5, machine=devices(pes), blocks=blocks, control=control)
    np.testing.assert_array_equal(a, want)


def test_columns(shape: tuple[int, int], control: str, rng: np.random.Generator, devices: Devices) -> None:
    pes, blocks = shape
    whole = rng.random((6, 5 * pes + 2))
    parts = [whole[:, 5 * pe : 5 * pe + 7].copy() for pe in range(pes)]
    for _ in range(4):
        whole[:, 1:-1] = 0.5 * (whole[:, :-2] + whole[:, 2:])
    programs.columns(
        parts, [np.full((6, 7), np.nan) for _ in parts], 4, machine=devices(pes), blocks=blocks, control=control
    )
    for pe, part in enumerate(parts):
        np.testing.assert_array_equal(part[:, 1:-1], whole[:, 5 * pe + 1 : 5 * pe + 6])


def test_dot(shape: tuple[int, int], control: str, rng: np.random.Generator, devices: Devices) -> None:
    pes, blocks = shape
    a, b = some(pes, 20, rng), some(pes, 20, rng)
    s, r = [np.full(1, np.nan) for _ in a], [np.full(3, np.nan) for _ in a]
    programs.dot(a, b, s, r, machine=devices(pes), blocks=blocks, control=control)
    own = [float(np.sum(x * y)) for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(np.ravel(s), own, rtol=1e-14)
    for result in r:
        np.testing.assert_allclose(result, [np.sum(own), max(own), min(own)], rtol=1e-14)


def test_moves(shape: tuple[int, int], control: str, rng: np.random.Generator, devices: Devices) -> None:
    pes, blocks = shape
    a, b, c = some(pes, 9, rng), some(pes, 9, rng), some(pes, 9, rng)
    want_b, want_c = [x.copy() for x in b], [x.copy() for x in c]
    for pe in range(1, pes):
        want_b[pe][1:4], want_b[pe][0], want_b[pe][4::2] = a[pe - 1][1:4], 7.0, a[pe - 1][4::2]
    for pe in range(pes):
        if pe + 1 < pes:
            want_c[pe][0:3] = want_b[pe + 1][0:3]
        want_c[pe][4] = a[0][2]
    programs.moves(a, b, c, machine=devices(pes), blocks=blocks, control=control)
    np.testing.assert_array_equal(b, want_b)
    np.testing.assert_array_equal(c, want_c)


def test_numbers(shape: tuple[int, int], control: str, rng: np.random.Generator, devices: Devices) -> None:
    pes, blocks = shape
    a = some(pes, 6, rng)
    want = [x + pe * 10 + pes for pe, x in enumerate(a)]
    programs.numbers(a, machine=devices(pes), blocks=blocks, control=control)
    np.testing.assert_array_equal(a, want)


def test_signal_without_data(shape: tuple[int, int], control: str, rng: np.random.Generator, devices: Devices) -> None:
    pes, blocks = shape
    a, b = some(pes, 6, rng), [np.full(6, np.nan) for _ in range(pes)]
    want = [x * 2.0 for x in a]
    programs.told(a, b, machine=devices(pes), blocks=blocks, control=control)
    np.testing.assert_array_equal(b, want)


def test_loop_until_all_agree(shape: tuple[int, int], control: str, rng: np.random.Generator, devices: Devices) -> None:
    pes, blocks = shape
    a = some(pes, 6, rng)
    top = max(x.max() for x in a)
    times = 0
    while times == 0 or top * 0.5**times > 0.01:
        times += 1
    want = [x * 0.5**times for x in a]
    ones = [[np.zeros(1) for _ in a] for _ in range(2)]
    programs.until(a, *ones, 0.01, machine=devices(pes), blocks=blocks, control=control)
    np.testing.assert_array_equal(a, want)
