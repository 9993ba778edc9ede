"""Conjugate gradients: the result is SciPy's."""

from __future__ import annotations

import logging

import numpy as np
import pytest
import scipy.sparse.linalg
from scipy import sparse

from cg_systems import CLASSES, random_system, residual
from starling import linalg
from starling.linalg import METHODS, BlockJacobi, Chebyshev, Jacobi, cg, matrices

TOLERANCE = {"float32": 2e-5, "float64": 1e-9}


def scipys(a, b, **options):
    """SciPy's solution, and the norm of b - A x after 0, 1, 2, ... iterations."""
    norms = [float(np.linalg.norm(b))]
    x, info = scipy.sparse.linalg.cg(a, b, callback=lambda xk: norms.append(residual(a, xk, b)), **options)
    assert info == 0
    return x, norms


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CLASSES)
def test_classes_of_matrices(devices, rng, name, dtype, n):
    a = CLASSES[name]().astype(dtype)
    b = a @ rng.standard_normal(a.shape[0]).astype(dtype)
    rtol = TOLERANCE[dtype]
    x, info, report = cg(a, b, rtol=rtol, M="jacobi", machine=devices(n), report=True)
    inverse = sparse.diags_array(1 / a.diagonal())
    expected, norms = scipys(a.astype("f8"), b.astype("f8"), rtol=rtol / 20, M=inverse)
    assert (info, x.dtype, x.shape) == (0, np.dtype(dtype), b.shape)
    assert residual(a, x, b) <= 1.05 * rtol * np.linalg.norm(b)
    if dtype == "float64":
        assert abs(x - expected).max() <= 1e4 * rtol * abs(expected).max()
    # Residuals of CG rise and fall, so a rounding decides in which dip the target is reached: ours must be one of those
    # where SciPy's, in float64, is near it.
    sooner, later = (next(i for i, r in enumerate(norms) if r <= f * report.target) for f in (10, 1 / 10))
    assert sooner <= report.iterations <= 2 + later * (1.05 if dtype == "float64" else 1.25)
    assert report.devices == n
    assert report.dtype == dtype


@pytest.mark.parametrize("control", linalg.CONTROLS)
@pytest.mark.parametrize("method", METHODS)
def test_methods_and_controls(devices, rng, method, control):
    a = random_system(rng, 300)
    b = rng.standard_normal(300)
    x, info, report = cg(a, b, rtol=1e-9, method=method, control=control, machine=devices(3), report=True)
    expected, _ = scipys(a, b, rtol=1e-11)
    assert info == 0
    assert np.allclose(x, expected, rtol=1e-7, atol=1e-8)
    assert report.method == ("fused" if method == "auto" else method)
    assert report.control == control


@pytest.mark.parametrize("method", ["standard", "fused", "pipelined"])
def test_controls_give_the_same_bits(devices, rng, method):
    a = random_system(rng, 200)
    b = rng.standard_normal(200)
    solutions = [cg(a, b, method=method, control=c, machine=devices(2))[0].tobytes() for c in linalg.CONTROLS]
    assert len(set(solutions)) == 1


@pytest.mark.parametrize(
    "m", ["jacobi", "block_jacobi", "chebyshev", Jacobi(), BlockJacobi(1), BlockJacobi(6), Chebyshev(1), Chebyshev(5)]
)
def test_preconditioners(devices, rng, m):
    a = matrices.elasticity_3d(4, 4, 4)
    b = rng.standard_normal(a.shape[0])
    x, info, report = cg(a, b, rtol=1e-9, M=m, machine=devices(2), report=True)
    assert info == 0
    assert residual(a, x, b) <= 1.05e-9 * np.linalg.norm(b)
    assert report.iterations < cg(a, b, rtol=1e-9, machine=devices(2), report=True)[2].iterations
    assert report.preconditioner.startswith(m if isinstance(m, str) else "")


def test_the_preconditioner_by_its_name_is_the_class(devices, rng):
    a = random_system(rng, 120)
    b = rng.standard_normal(120)
    for name, m in (("jacobi", Jacobi()), ("block_jacobi", BlockJacobi(3)), ("chebyshev", Chebyshev(3))):
        assert np.array_equal(cg(a, b, M=name, machine=devices(2))[0], cg(a, b, M=m, machine=devices(2))[0])


@pytest.mark.parametrize("blocks", [1, 2, 3, 7, 16])
def test_numbers_of_blocks(devices, rng, blocks):
    a = matrices.grid_2d(19, 23)
    b = rng.standard_normal(a.shape[0])
    x, info, report = cg(a, b, rtol=1e-9, blocks=blocks, machine=devices(2), report=True)
    assert (info, report.blocks) == (0, blocks)
    assert residual(a, x, b) <= 1.05e-9 * np.linalg.norm(b)
    assert np.array_equal(x, cg(a, b, rtol=1e-9, blocks=blocks, machine=devices(2))[0])  # the same bits again


@pytest.mark.parametrize("storage", linalg.STORAGES)
@pytest.mark.parametrize("name", ["elasticity", "uneven"])
def test_storages(devices, rng, name, storage):
    a = CLASSES[name]()
    if a.shape[0] % 3:
        a = a[: a.shape[0] // 3 * 3, : a.shape[0] // 3 * 3]
    b = rng.standard_normal(a.shape[0])
    x, info, report = cg(a, b, M="jacobi", rtol=1e-9, storage=storage, machine=devices(3), report=True)
    assert info == 0
    assert residual(a, x, b) <= 1.05e-9 * np.linalg.norm(b)
    assert storage in ("auto", report.storage)
    assert report.storage in linalg.STORAGES[1:]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr", "lil", "dok"])
@pytest.mark.parametrize("family", ["array", "matrix"])
def test_formats_of_matrices(devices, form, family):
    made = sparse.csr_array if family == "array" else sparse.csr_matrix
    a = made(matrices.grid_2d(6, 5)).asformat(form)
    before = a.copy()
    b = np.linspace(-1, 1, 30)
    assert np.array_equal(cg(a, b, machine=devices(2))[0], cg(a.toarray(), b, machine=devices(2))[0])
    assert (a != before).nnz == 0


def test_duplicates_are_added_and_order_does_not_matter(devices):
    a = sparse.coo_array(([1.0, 2, 1, 1, 4, 0], ([0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 1, 0])), shape=(2, 2))
    x, info = cg(a, [4.0, 5.0], rtol=1e-12, machine=devices(1))
    assert info == 0
    assert x == pytest.approx([1, 1])
    unsorted = sparse.csr_array(([1.0, 3, 4, 1], [1, 0, 1, 0], [0, 2, 4]), shape=(2, 2))
    assert cg(unsorted, [4.0, 5.0], rtol=1e-12, machine=devices(1))[0] == pytest.approx([1, 1])
    assert unsorted.indices.tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize(
    ("of_a", "of_b", "result"),
    [
        ("f4", "f4", "f4"), ("f4", "f8", "f8"), ("f8", "f4", "f8"), ("i4", "i8", "f8"), ("f4", "i4", "f8"),
        ("u1", "f4", "f8"), (">f8", ">f4", "f8"), ("f8", "?", "f8"),
    ],
)  # fmt: skip
def test_element_types_are_those_of_scipy(devices, of_a, of_b, result):
    a = matrices.grid_2d(4, 5).toarray().clip(0)[:, ::-1][::-1].astype(of_a)
    b = np.arange(20).astype(of_b)
    x, info = cg(a, b, machine=devices(2))
    assert (info, x.dtype) == (0, np.dtype(result))
    native = a.astype(np.dtype(of_a).newbyteorder("=")), b.astype(np.dtype(of_b).newbyteorder("="))
    assert scipy.sparse.linalg.cg(*native)[0].dtype == x.dtype


def test_shapes_of_the_right_hand_side(devices, rng):
    a = random_system(rng, 40)
    b = rng.standard_normal(40)
    expected = cg(a, b, machine=devices(2))[0]
    for same in (b[:, None], b.tolist(), np.repeat(b, 2)[::2], np.asfortranarray(b[:, None])):
        x, _ = cg(a, same, machine=devices(2))
        assert x.shape == (40,)
        assert np.array_equal(x, expected)


def test_start(devices, rng):
    a = random_system(rng, 150)
    b = rng.standard_normal(150)
    exact, _ = scipys(a, b, rtol=1e-13)
    start = exact.copy()
    x, info, report = cg(a, b, start, rtol=1e-8, machine=devices(3), report=True)
    assert (info, report.iterations) == (0, 0)
    assert np.array_equal(x, exact)
    start += 1e-3 * rng.standard_normal(150)
    kept = start.copy()
    x, info, nearer = cg(a, b, start[:, None], rtol=1e-8, machine=devices(3), report=True)
    assert info == 0
    assert nearer.iterations < cg(a, b, rtol=1e-8, machine=devices(3), report=True)[2].iterations
    assert np.array_equal(start, kept)
    assert x is not start


def test_zero_right_hand_side(devices):
    a = matrices.grid_2d(4, 4)
    for b in (np.zeros(16), np.zeros((16, 1), "i4")):
        x, info, report = cg(a, b, np.ones(16), machine=devices(2), report=True)
        assert (info, report.iterations, report.why) == (0, 0, "converged")
        assert np.array_equal(x, np.zeros(16))


def test_tolerances(devices, rng):
    a = random_system(rng, 100)
    b = rng.standard_normal(100)
    x, info, report = cg(a, b, rtol=0, atol=1e-3, machine=devices(2), report=True)
    assert (info, report.target) == (0, 1e-3)
    assert 0 < residual(a, x, b) <= 1.01e-3
    assert report.residual == pytest.approx(residual(a, x, b), rel=1e-3)
    _, info, report = cg(a, b, rtol=1e-2, atol=1e-9, machine=devices(2), report=True)
    assert (info, report.target) == (0, pytest.approx(1e-2 * np.linalg.norm(b)))


def test_too_few_iterations(devices, rng):
    a = matrices.grid_2d(20, 20)
    b = rng.standard_normal(400)
    x, info, report = cg(a, b, rtol=1e-12, maxiter=7, machine=devices(2), report=True)
    assert (info, report.iterations, report.why, report.converged) == (7, 7, "iterations", False)
    expected, expected_info = scipy.sparse.linalg.cg(a, b, rtol=1e-12, maxiter=7)
    assert expected_info == info
    assert np.allclose(x, expected, rtol=1e-9, atol=1e-10)
    assert len(report.history) == 8


def test_fixed_iterations(devices, rng):
    a = random_system(rng, 90)
    b = rng.standard_normal(90)
    x, info, report = cg(a, b, rtol=0.5, fixed_iterations=9, machine=devices(2), report=True)
    assert (info, report.iterations) == (0, 9)
    assert residual(a, x, b) < 0.1 * report.target
    assert cg(a, b, rtol=1e-14, fixed_iterations=1, machine=devices(2))[1] == 1


def test_history(devices, rng):
    a = random_system(rng, 120)
    b = rng.standard_normal(120)
    _, _, report = cg(a, b, machine=devices(2), report=True)
    norms = []
    scipy.sparse.linalg.cg(a, b, callback=lambda xk: norms.append(residual(a, xk, b)))
    assert len(report.history) == report.iterations + 1
    assert report.history[0] == pytest.approx(np.linalg.norm(b))
    for mine, scipys_own in zip(report.history[1:], norms, strict=False):
        assert mine == pytest.approx(scipys_own, rel=1e-5)
    assert report.as_dict()["history"] == report.history
    assert report.microseconds_per_iteration == pytest.approx(1e6 * report.seconds / report.iterations)


@pytest.mark.parametrize("method", ["standard", "fused", "pipelined"])
@pytest.mark.parametrize("reorder", [None, *linalg.REORDERS])
def test_callback_sees_every_iterate(devices, rng, reorder, method):
    if reorder == "graph":
        pytest.importorskip("pymetis")
    a = random_system(rng, 130)
    b = rng.standard_normal(130)
    seen = []
    x, _, report = cg(a, b, callback=seen.append, reorder=reorder, method=method, machine=devices(3), report=True)
    expected = []
    scipy.sparse.linalg.cg(a, b, callback=lambda xk: expected.append(xk.copy()))
    assert len(seen) == report.iterations
    for mine, scipys_own in zip(seen, expected, strict=False):
        assert np.allclose(mine, scipys_own, rtol=1e-6, atol=1e-8)
    assert np.array_equal(seen[-1], x)  # a copy each: none has changed since
    assert np.array_equal(
        x, cg(a, b, reorder=reorder, method=method, machine=devices(3))[0]
    )  # watching changes nothing


def test_what_a_callback_raises_ends_the_solve(devices, rng):
    a = linalg.DistributedMatrix(random_system(rng, 80), machine=devices(2))
    b = rng.standard_normal(80)
    for error in (KeyboardInterrupt, RuntimeError("mine"), SystemExit(3)):
        calls = []

        def fail(xk, error=error, calls=calls):
            calls.append(xk)
            if len(calls) == 2:
                raise error

        with pytest.raises(error if isinstance(error, type) else type(error)):
            a.solve(b, callback=fail)
        assert len(calls) == 2
    x, info = a.solve(b)  # it is as good as new
    assert info == 0
    assert np.isfinite(x).all()


def test_a_callback_must_not_use_the_matrix_that_is_solved_with(devices, rng):
    a = linalg.DistributedMatrix(random_system(rng, 50), machine=devices(1))
    b = rng.standard_normal(50)
    with pytest.raises(linalg._choices.ArgumentError, match="callback"):
        a.solve(b, callback=lambda xk: a @ xk)
    other = linalg.DistributedMatrix(random_system(rng, 50), machine=devices(2))
    norms = []
    assert a.solve(b, callback=lambda xk: norms.append(np.linalg.norm(other @ xk)))[1] == 0
    assert norms


def test_progress(devices, rng):
    a = matrices.grid_2d(40, 40)
    seen = []
    _, _, report = cg(a, rng.standard_normal(1600), rtol=1e-10, progress=seen.append, callback=lambda _: None,
                      machine=devices(2), report=True)  # fmt: skip
    assert [p.iterations for p in seen] == sorted(p.iterations for p in seen)
    assert seen[-1].iterations <= report.iterations
    assert seen[0].target == pytest.approx(report.target)
    assert seen[0].residual == pytest.approx(report.history[seen[0].iterations])


def test_stagnation_is_told(devices, rng, caplog):
    a = matrices.grid_2d(30, 30, dtype="float32")
    b = rng.standard_normal(900).astype("f4")
    with caplog.at_level(logging.WARNING, logger="starling"):
        x, info, report = cg(a, b, rtol=1e-12, machine=devices(2), report=True)
    assert report.why == "stagnated"
    assert info == report.iterations > 0
    assert residual(a, x, b) < 1e-3 * np.linalg.norm(b)
    assert "stagnated" in caplog.text
    assert "float32" in caplog.text


def test_one_row(devices):
    x, info = cg([[4.0]], [2.0], machine=devices(1))
    assert (info, x.tolist()) == (0, [0.5])


def test_fewer_rows_than_devices_where_nobody_asked_for_more(kind):
    x, info, report = cg([[4.0, 1], [1, 3]], [5.0, 4.0], machine=kind, report=True)
    assert info == 0
    assert report.devices <= 2
    assert x == pytest.approx([1, 1])
