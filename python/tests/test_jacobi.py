"""Jacobi's method: NumPy's solve and SciPy's solve_banded are the oracles."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import solve_banded

from starling.errors import ArgumentError, ElementTypeError, NotConverged, NotDominant
from starling.linalg import jacobi, jacobi_banded


def dominant(rng, n, entries, dtype=np.float64):
    """Random entries, and a diagonal of either sign that is larger than them together."""
    a = sparse.random_array((n, n), density=min(entries / n, 1), rng=rng, format="csr", dtype=np.float64)
    a.data = 2 * a.data - 1
    a.setdiag(0)
    sums = np.asarray(abs(a).sum(axis=1)).ravel()
    signs = np.where(rng.random(n) < 0.3, -1.0, 1.0)
    return sparse.csr_array(a + sparse.diags_array(signs * (1.3 * sums + 0.1))).astype(dtype)


def band(rng, n, lower, upper, dtype=np.float64):
    """A dominant band, what lies outside poisoned."""
    ab = (2 * rng.random((lower + upper + 1, n)) - 1).astype(dtype)
    whole = np.zeros((n, n))
    for i in range(n):
        for j in range(max(0, i - lower), min(n, i + upper + 1)):
            whole[i, j] = ab[upper + i - j, j] if i != j else 0
    ab[upper] = 1.4 * np.abs(whole).sum(axis=1) + 0.1
    whole[np.arange(n), np.arange(n)] = ab[upper]
    for k in range(-lower, upper + 1):
        outside = slice(0, k) if k > 0 else slice(n + k, n)
        ab[upper - k, outside] = np.nan if k else ab[upper - k, outside]
    return ab, whole


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "dense"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_random(devices, rng, form, dtype, count):
    n = int(rng.integers(4, 120))
    a = dominant(rng, n, 6, dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sparse.SparseEfficiencyWarning)  # of many diagonals
        given = a.toarray() if form == "dense" else a.asformat(form)
    b = rng.standard_normal(n).astype(dtype)
    rtol = 1e-10 if dtype == "float64" else 1e-5
    x, report = jacobi(given, b, rtol=rtol, machine=devices(count), report=True)
    assert x.dtype == dtype
    assert np.linalg.norm(b - a @ x) <= 1.01 * rtol * np.linalg.norm(b)
    expected = np.linalg.solve(a.toarray().astype(np.float64), b)
    assert np.allclose(
        x, expected, rtol=1e-3 if dtype == "float32" else 1e-7, atol=1e-4 if dtype == "float32" else 1e-9
    )
    assert report.converged
    assert report.history[-1] <= report.target
    assert len(report.history) == report.iterations + 1


@pytest.mark.parametrize(("lower", "upper"), [(0, 0), (1, 1), (2, 0), (0, 3), (4, 2), (9, 9)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_banded(devices, rng, lower, upper, dtype):
    n = int(rng.integers(10, 90))
    ab, whole = band(rng, n, lower, upper, dtype)
    before = ab.copy()
    b = rng.standard_normal(n).astype(dtype)
    rtol = 1e-11 if dtype == "float64" else 1e-5
    x, report = jacobi_banded((lower, upper), ab, b, rtol=rtol, machine=devices(3), report=True)
    expected = solve_banded((lower, upper), np.nan_to_num(ab), b)
    assert x.dtype == dtype
    assert np.allclose(
        x, expected, rtol=1e-3 if dtype == "float32" else 1e-8, atol=1e-4 if dtype == "float32" else 1e-9
    )
    assert report.storage == "diagonals"
    assert np.array_equal(ab, before, equal_nan=True)
    again = jacobi(sparse.csr_array(whole.astype(dtype)), b, rtol=rtol, layout="csr", exchange="halo")
    assert np.allclose(again, x, rtol=1e-3 if dtype == "float32" else 1e-8, atol=1e-4 if dtype == "float32" else 1e-9)


def test_layout(rng):
    banded = sparse.csr_array(band(rng, 40, 2, 2)[1])
    scattered = dominant(rng, 200, 5)
    b = np.ones(40)
    assert jacobi(banded, b, report=True)[1].storage == "diagonals"
    assert jacobi(banded, b, report=True, layout="csr")[1].storage != "diagonals"
    assert jacobi(scattered, np.ones(200), report=True)[1].storage != "diagonals"
    x, report = jacobi(scattered, np.ones(200), report=True, layout="dia", rtol=1e-9)
    assert report.storage == "diagonals"
    assert np.allclose(scattered @ x, 1)


def test_exchange(devices, rng):
    """Bands send their ends to neighbours alone, rows the whole vector, and both what they are told."""
    banded = sparse.csr_array(band(rng, 400, 2, 2)[1])
    b = rng.standard_normal(400)
    sent = {}
    for layout in ("dia", "csr"):
        for exchange in ("auto", "region", "halo"):
            x, report = jacobi(
                banded, b, rtol=1e-11, layout=layout, exchange=exchange, machine=devices(3), chunk=4096, report=True
            )
            assert np.allclose(banded @ x, b)
            sent[layout, exchange] = report.bytes_sent[0][2] > 0
    assert sent == {
        ("dia", "auto"): False, ("dia", "region"): True, ("dia", "halo"): False,
        ("csr", "auto"): True, ("csr", "region"): True, ("csr", "halo"): False,
    }  # fmt: skip


def test_start_and_end(devices, rng):
    a = dominant(rng, 60, 5)
    solution = rng.standard_normal(60)
    b = a @ solution
    x, report = jacobi(a, b, solution, report=True)
    assert report.iterations == 0
    assert np.array_equal(x, solution)
    seen = []
    near, report = jacobi(a, b[:, None], solution[:, None] + 10, rtol=0, atol=1e-8, progress=seen.append, report=True)
    assert report.target == 1e-8
    assert np.allclose(near, solution, atol=1e-7)
    assert seen
    assert seen[-1].target == 1e-8
    assert jacobi(a, np.zeros(60)).tolist() == [0] * 60
    assert jacobi([[4.0]], [8.0]).tolist() == [2]
    assert jacobi([[2, 0], [0, -4]], [2, 8], machine=devices(2)).tolist() == [1, -2]
    assert jacobi_banded((0, 0), [[2.0, 4.0]], [2, 8]).tolist() == [1, 2]


def test_not_dominant(rng):
    a = dominant(rng, 50, 5).tolil()
    a[31, 31] = 0
    with pytest.raises(NotDominant, match=r"row 31 .*0 on the diagonal") as caught:
        jacobi(a, np.ones(50))
    problem = pickle.loads(pickle.dumps(caught.value))
    assert (problem.row, problem.diagonal) == (31, 0)
    assert problem.others == pytest.approx(abs(a.toarray()[31]).sum())
    equal = np.array([[2.0, 1, 0], [1, 2, 1], [0, 1, 2]])
    with pytest.raises(NotDominant, match="row 1 of the matrix is not strictly") as caught:
        jacobi(equal, np.ones(3))
    assert (caught.value.row, caught.value.diagonal, caught.value.others) == (1, 2, 2)
    with pytest.raises(NotDominant, match="row 1 "):
        jacobi_banded((1, 1), [[0, 1.0, 1], [2, 2, 2], [1, 1, 0]], np.ones(3))
    with pytest.raises(NotDominant, match="row 2 "):
        jacobi(sparse.csr_array(([1.0, 1], ([0, 1], [0, 1])), shape=(3, 3)), np.ones(3))
    barely = equal.copy()
    barely[1, 1] = np.nextafter(2, 3)
    assert np.allclose(barely @ jacobi(barely, np.ones(3), rtol=1e-9), 1)


def test_no_convergence(rng):
    a = dominant(rng, 40, 8)
    b = np.ones(40)
    with pytest.raises(NotConverged, match=r"after 3 iterations, the target .*maxiter") as caught:
        jacobi(a, b, rtol=1e-14, maxiter=3)
    problem = caught.value
    assert problem.iterations == 3
    assert np.linalg.norm(b - a @ problem.last) == pytest.approx(problem.change)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: jacobi(np.ones((2, 3)), [1, 1]), ArgumentError, "must be square"),
        (lambda: jacobi(np.eye(3), [1, 1]), ArgumentError, r"b has the shape \(2,\)"),
        (lambda: jacobi(np.eye(2), [1, np.nan]), ArgumentError, r"b\[1\] = nan"),
        (lambda: jacobi(np.eye(2), [1, 1], [np.inf, 1]), ArgumentError, r"x0\[0\] = inf"),
        (lambda: jacobi(np.array([[1, np.nan], [0, 1]]), [1, 1]), ArgumentError, r"A\[0, 1\] = nan"),
        (lambda: jacobi(np.eye(2), [1, 1], rtol=-1), ArgumentError, "rtol = -1"),
        (lambda: jacobi(np.eye(2), [1e200, 1]), ArgumentError, "norm of b is inf; scale the system down"),
        (lambda: jacobi(np.eye(2), [1e-170, 0]), ArgumentError, "norm of b is 0, but b is not; scale the system up"),
        (lambda: jacobi(np.eye(2), [1, 1], atol=1e200), ArgumentError, r"target = 1e\+200.*scale the system"),
        (lambda: jacobi(np.eye(2), [1e-161, 0], rtol=1e-9), ArgumentError, r"target = 9.94.*e-171.*scale the system"),
        (lambda: jacobi(np.eye(2) * 1e-320, [1, 1]), NotConverged, "residual is inf.*scale the system"),
        (lambda: jacobi(np.eye(2), [1, 1], maxiter=0), ArgumentError, "maxiter = 0"),
        (lambda: jacobi(np.eye(2), [1, 1], layout="ellpack"), ArgumentError, "layout = 'ellpack'"),
        (lambda: jacobi(np.eye(2), [1, 1], exchange="post"), ArgumentError, "exchange = 'post'"),
        (lambda: jacobi(np.eye(2), [1, 1], agent="post"), ArgumentError, "agent = 'post'"),
        (lambda: jacobi(np.eye(2) * 1j, [1, 1]), ElementTypeError, "complex"),
        (lambda: jacobi("a.mtx", [1, 1]), ElementTypeError, "a text"),
        (lambda: jacobi_banded((1, 1), np.ones((2, 5)), np.ones(5)), ArgumentError, "must have 3 rows"),
        (lambda: jacobi_banded((1, 5), np.ones((7, 5)), np.ones(5)), ArgumentError, r"\(l, u\) = \(1, 5\)"),
        (lambda: jacobi_banded((-1, 1), np.ones((1, 5)), np.ones(5)), ArgumentError, "l = -1"),
        (lambda: jacobi_banded(1, np.ones((3, 5)), np.ones(5)), ElementTypeError, "l_and_u = 1"),
        (lambda: jacobi_banded((1, 0), [[4, 4, 4], [1, np.inf, 0]], np.ones(3)), ArgumentError, r"ab\[1, 1\]"),
        (lambda: jacobi_banded((0, 0), [["a", "b"]], np.ones(2)), ElementTypeError, "ab is a list"),
    ],
)
def test_wrong_arguments(call, error, text):
    with pytest.raises(error, match=text):
        call()
