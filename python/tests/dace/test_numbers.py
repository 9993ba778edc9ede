"""Arithmetic against NumPy, bit by bit, where C++ or DaCe does it otherwise: rounded quotients, whole numbers that wrap
around, powers, and the types of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

sd = pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import dace
from starling import machine
from starling.dace import ProgramError
from starling.machine import Machine

M, N = sd.symbols("M N")
i32, i64, f32, f64 = sd.int32, sd.int64, sd.float32, sd.float64
Devices = Callable[[int], Machine]


def quiet(function: Any, *arguments: Any) -> None:
    """NumPy's result, without its warnings of overflow and division by zero."""
    with np.errstate(all="ignore"):
        function(*arguments)


def beside_numpy(program: Any, m: Machine, *arguments: Any) -> None:
    have = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    want = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    quiet(program.function, *want)
    program(*have, machine=m, blocks=2)
    for a, b in zip(have, want, strict=True):
        np.testing.assert_array_equal(a, b)
        if isinstance(a, np.ndarray) and a.dtype.kind == "f":
            known = ~np.isnan(b)
            np.testing.assert_array_equal(np.signbit(a[known]), np.signbit(b[known]))


def whole(dtype: str, n: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Numbers of all sizes, the smallest and the largest too."""
    limits = np.iinfo(dtype)
    found = rng.integers(limits.min, limits.max, n, dtype=dtype, endpoint=True)
    found >>= rng.integers(0, limits.bits, n).astype(dtype)
    ends = [limits.min, limits.min, limits.min, limits.max, -1, 0, 1]
    found[: len(ends)] = ends
    return found


@sd.program
def quotients_64(A: i64[N], B: i64[N], D: i64[N], R: i64[N]):
    D[:] = A // B
    R[:] = A % B


@sd.program
def quotients_32(A: i32[N], B: i32[N], D: i32[N], R: i32[N]):
    D[:] = A // B
    R[:] = A % B


@sd.program
def quotients_f64(A: f64[N], B: f64[N], D: f64[N], R: f64[N]):
    D[:] = A // B
    R[:] = A % B


@sd.program
def quotients_f32(A: f32[N], B: f32[N], D: f32[N], R: f32[N]):
    D[:] = A // B
    R[:] = A % B


@pytest.mark.parametrize(("program", "dtype"), [(quotients_64, "int64"), (quotients_32, "int32")])
def test_whole_quotients(program: Any, dtype: str, rng: np.random.Generator, devices: Devices) -> None:
    a, b = whole(dtype, 500, rng), rng.permutation(whole(dtype, 500, rng))
    b[:3] = -1, 0, 1  # of the smallest number
    beside_numpy(program, devices(1), a, b, np.zeros_like(a), np.zeros_like(a))


@pytest.mark.parametrize(("program", "dtype"), [(quotients_f64, "float64"), (quotients_f32, "float32")])
def test_rounded_quotients(program: Any, dtype: str, rng: np.random.Generator, devices: Devices) -> None:
    special = np.array([0.0, -0.0, 1.0, -1.0, 0.1, -0.1, np.inf, -np.inf, np.nan, 5e-324, 1e-45, 3e38, -7.5], dtype)
    a, b = (g.ravel() for g in np.meshgrid(special, special))
    decimals = np.round(rng.uniform(-9, 9, (2, 2000)), 1).astype(dtype)
    any_size = (rng.standard_normal((2, 1000)) * 10.0 ** rng.integers(-20, 20, (2, 1000))).astype(dtype)
    a, b = (np.concatenate(parts) for parts in ((a, decimals[0], any_size[0]), (b, decimals[1], any_size[1])))
    beside_numpy(program, devices(1), a, b, np.zeros_like(a), np.zeros_like(a))


@sd.program
def quotients_of_scalars(A: f64[N], x: f64, y: f64):
    d = x // y
    r = x % y
    A[0:1] = d
    A[1:2] = r


def test_quotients_of_scalars(rng: np.random.Generator, devices: Devices) -> None:
    for x, y in ((1.0, 0.1), (-1.0, np.inf), (-0.0, 2.0), *np.round(rng.uniform(-9, 9, (20, 2)), 1).tolist()):
        if y != 0:
            beside_numpy(quotients_of_scalars, devices(1), np.zeros(2), x, y)


@sd.program
def powers_64(A: i64[N], E: i64[N], k: i64, two: i64[N], three: i64[N], by: i64[N], scalar: i64[N], part: i64[N]):
    two[:] = A**2
    three[:] = A**3
    by[:] = A**E
    scalar[:] = A**k
    part[:] = A**2 * 3 - (A + 1) ** 5 + (A // 2 + (-9223372036854775808))


@sd.program
def powers_32(A: i32[N], E: i32[N], k: i32, two: i32[N], three: i32[N], by: i32[N], wide: i64[N], root: f64[N]):
    two[:] = A**2
    three[:] = A**3
    by[:] = A**E
    wide[:] = A**2 + A**k
    root[:] = np.abs(A // 2) ** 0.5


def test_whole_powers(rng: np.random.Generator, devices: Devices) -> None:
    a, e = whole("int64", 200, rng), rng.integers(0, 70, 200)
    beside_numpy(powers_64, devices(1), a, e, 5, *(np.zeros_like(a) for _ in range(5)))
    a, e = whole("int32", 200, rng), rng.integers(0, 40, 200, dtype="int32")
    wide, root = np.zeros(200, "int64"), np.zeros(200)
    beside_numpy(powers_32, devices(1), a, e, np.int32(4), *(np.zeros_like(a) for _ in range(3)), wide, root)


@sd.program
def negative_power(A: i64[N], D: i64[N]):
    D[:] = A**-1


@sd.program
def computed_power(A: i64[N], B: i64[N], D: i64[N]):
    D[:] = A ** (B + 1)


@sd.program
def too_large(A: i32[N], D: i64[N]):
    D[:] = A * 3000000000


def test_powers_that_numpy_raises_for(rng: np.random.Generator) -> None:
    a = rng.integers(0, 9, 30)
    before, m = a.copy(), machine.host(1)
    others = [np.zeros_like(a) for _ in range(5)]
    e = a.copy()
    e[7] = -2
    with pytest.raises(ProgramError, match=r"E: holds -2, a negative exponent of whole numbers; make"):
        powers_64(a, e, 5, *others, machine=m)
    with pytest.raises(ProgramError, match=r"k: as exponent of whole numbers is -1 in this call"):
        powers_64(a, np.abs(e), -1, *others, machine=m)
    with pytest.raises(ProgramError, match=r"is a negative exponent of whole numbers"):
        negative_power.explain()
    with pytest.raises(ProgramError, match=r"is computed and may be negative; NumPy would raise"):
        computed_power(a, np.abs(e), others[0], machine=m)
    np.testing.assert_array_equal(a, before)


@sd.program
def thirds(A: f64[N]):
    for i in range(5):
        A[:] = A + i / 3


@sd.program
def of_a_loop(A: f64[N]):
    for i in range(5):
        A[:] = A + np.float64(i) / 3 + i / 2 + i * 0.1


def test_quotients_of_loop_variables_are_not_rounded(rng: np.random.Generator, devices: Devices) -> None:
    beside_numpy(thirds, devices(1), rng.random(30))
    beside_numpy(of_a_loop, devices(1), rng.random(30))


def test_numbers_that_do_not_fit() -> None:
    with pytest.raises(ProgramError, match=r"3000000000: does not fit in int32, the type of what it meets"):
        too_large.explain()
    with pytest.raises(ProgramError, match=r"3000000000: does not fit in int32"):
        too_large_to_compare.explain()


@sd.program
def too_large_to_compare(A: i32[N], D: i64[N]):
    D[:] = np.where(A > 3000000000, A, 2)


@sd.program
def mixed(A: i32[N], F: f32[N], C: i64[N], D: i64[N], G: f64[N], H: f64[N], E: i64[N], S: i32[N]):
    C[:] = A * 100000
    D[:] = A * A - (A + 7) * 12345
    G[:] = F // 0.1 + F * 0.1
    H[:] = A * F + A / 3
    E[:] = np.where(A > 3, A, 100000) * 30000
    x = 0.1
    t = np.empty_like(C)
    for i in dace.map[0 : A.shape[0]]:
        t[i] = A[i] * A[i]
    G[:] = G + F * x
    E[:] = E + t * 100000 + np.minimum(A, 40000) * 65000 + abs(A) * 2
    S[:] = -A
    u = A * 100000
    u += A
    v = (A**2).copy()
    D[:] = D + u * 3 + v * 100000


def test_types_are_numpys(rng: np.random.Generator, devices: Devices) -> None:
    a, f = whole("int32", 100, rng), rng.random(100, dtype="float32")
    c = np.zeros(100, "int64")
    beside_numpy(mixed, devices(1), a, f, c, c.copy(), np.zeros(100), np.zeros(100), c.copy(), np.zeros_like(a))


OUTSIDE_64, OUTSIDE = np.float64(0.1), 0.1


@sd.program
def typed_numbers(F: f32[N], G: f64[N], H: f64[N]):
    G[:] = F * OUTSIDE_64
    H[:] = F * np.float64(0.3)


@sd.program
def plain_numbers(F: f32[N], G: f64[N]):
    G[:] = F * OUTSIDE


def test_numbers_from_outside(rng: np.random.Generator, devices: Devices) -> None:
    f, g = rng.random(50, dtype="float32"), np.zeros(50)
    beside_numpy(typed_numbers, devices(1), f, g, g.copy())
    beside_numpy(plain_numbers, devices(1), f, g)


@sd.program
def of_loops(A: i64[N], F: f64[N], P: i64[M, N], n: i64):
    for i in range(7):
        A[:] = A + i // 3 - (i + 1) // 2 * 5 + i**2
        F[:] = F + i // 2 + i**2
    for k in range(2, n, 2):
        P[k // 2, :] = P[(k - 1) // 2, :] + k // 2
    for t in range(n // 3):
        F[1 : N // 2] = F[1 : N // 2] * 2.0


def test_quotients_of_loop_variables(rng: np.random.Generator, devices: Devices, monkeypatch: Any) -> None:
    a, f, p = rng.integers(-50, 50, 20), rng.random(20), rng.integers(-50, 50, (6, 20))
    monkeypatch.setitem(of_loops.function.__globals__, "N", 20)
    want = a.copy(), f.copy(), p.copy()
    of_loops.function(*want, 9)
    monkeypatch.undo()
    of_loops(a, f, p, 9, machine=devices(1), blocks=2)
    for have, wanted in zip((a, f, p), want, strict=True):
        np.testing.assert_array_equal(have, wanted)


@sd.program
def long_sums(A: f32[N], B: f32[M, N], s: f32[1], rows: f32[M]):
    s[0] = np.sum(A)
    rows[:] = np.sum(B, axis=1)


def test_long_sums_lose_nothing(rng: np.random.Generator) -> None:
    m, s, rows = machine.host(1), np.zeros(1, "float32"), np.zeros(2, "float32")
    long_sums(np.ones(2**25, "float32"), np.ones((2, 2**25), "float32"), s, rows, machine=m, blocks=1)
    assert s[0] == rows[0] == rows[1] == 2**25
    for n in (1, 127, 128, 129, 1000, 300001):
        a, b = rng.standard_normal(n, dtype="float32"), rng.random((2, n), dtype="float32")
        long_sums(a, b, s, rows, machine=m, blocks=1)
        np.testing.assert_allclose(s[0], np.sum(a, dtype="float64"), atol=1e-6 * np.abs(a).sum())
        np.testing.assert_allclose(rows, np.sum(b, axis=1, dtype="float64"), rtol=2e-6)


@sd.program
def sums(A: sd.split(i32[M, N]), s: i64[4], rows: sd.split(i64[M]), largest: sd.split(i32[M]), means: sd.split(f64[M])):
    s[0] = np.sum(A)
    s[1] = np.sum(A > 3)
    s[2] = np.max(A)
    s[3] = np.sum(A * 2)
    rows[:] = np.sum(A, axis=1)
    largest[:] = np.max(A, axis=1)
    means[:] = np.mean(A, axis=1)


@sd.program
def products(A: i32[M, N], B: i32[N, M], C: i64[M, M], s: i32[1], w: i64[1]):
    C[:] = A @ B
    for i, j in dace.map[0:M, 0:N]:
        s[0] += A[i, j]
    for i, j in dace.map[0:M, 0:N]:
        w[0] += A[i, j]


def test_sums_of_whole_numbers(rng: np.random.Generator, devices: Devices) -> None:
    a = whole("int32", 6 * 50, rng).reshape(6, 50)
    for pes in (1, 3):
        zeros = [np.zeros(4, "int64"), np.zeros(6, "int64"), np.zeros(6, "int32"), np.zeros(6)]
        beside_numpy(sums, devices(pes), a, *zeros)


def test_products_and_updates_keep_their_type(rng: np.random.Generator, devices: Devices) -> None:
    a, b = whole("int32", 6 * 50, rng).reshape(6, 50), whole("int32", 300, rng).reshape(50, 6)
    c, s, w = np.zeros((6, 6), "int64"), np.zeros(1, "int32"), np.zeros(1, "int64")
    products(a, b, c, s, w, machine=devices(1), blocks=2)
    np.testing.assert_array_equal(c, a @ b)
    assert s[0] == np.sum(a, dtype="int32")
    assert w[0] == np.sum(a)
