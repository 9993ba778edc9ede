"""Matrices on the devices: as operators of SciPy, reordered, partitioned in different ways."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.sparse.linalg
from scipy import sparse

from cg_systems import CLASSES, random_system, residual
from starling import linalg
from starling.errors import ArgumentError, ElementTypeError, Unsupported
from starling.linalg import DistributedMatrix, cg, matrices, spmv


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CLASSES)
def test_products(devices, rng, name, dtype, n):
    a = CLASSES[name]().astype(dtype)
    x = rng.standard_normal(a.shape[0]).astype(dtype)
    y = spmv(a, x, machine=devices(n))
    assert y.dtype == np.dtype(dtype)
    assert np.allclose(y, a @ x, rtol=1e-5, atol=20 * np.finfo(dtype).eps * abs(a).max() * abs(x).max() * 30)


@pytest.mark.parametrize("reorder", [None, "rcm", "graph"])
@pytest.mark.parametrize("storage", ["auto", "sliced", "compressed"])
def test_products_with_matrices_of_any_kind(devices, rng, storage, reorder):
    if reorder == "graph":
        pytest.importorskip("pymetis")
    a = sparse.random_array((101, 101), density=0.03, rng=rng, format="csr")  # neither symmetric nor of full rank
    x = rng.standard_normal(101)
    y = spmv(a, x, machine=devices(3), storage=storage, reorder=reorder)
    assert np.allclose(y, a @ x, rtol=1e-12, atol=1e-13)


def test_product_with_nothing(devices):
    assert np.array_equal(spmv(sparse.csr_array((7, 7)), np.ones(7), machine=devices(2)), np.zeros(7))


def test_shapes_and_types_of_products(devices):
    a = matrices.grid_2d(4, 3)
    x = np.arange(12.0)
    assert spmv(a, x[:, None], machine=devices(2)).shape == (12, 1)
    assert spmv(a.astype("f4"), x.astype("f4"), machine=devices(2)).dtype == np.float32
    assert spmv(a.astype("f4"), x, machine=devices(2)).dtype == np.float64
    assert spmv(a, x.astype("i4"), machine=devices(2)).dtype == np.float64


def test_is_an_operator(devices, rng):
    given = random_system(rng, 60)
    a = DistributedMatrix(given, machine=devices(2))
    assert isinstance(a, scipy.sparse.linalg.LinearOperator)
    assert (a.shape, a.dtype) == ((60, 60), np.float64)
    x = rng.standard_normal(60)
    several = rng.standard_normal((60, 3))
    assert np.allclose(a @ x, given @ x)
    assert np.allclose(a @ several, given @ several)
    assert np.allclose(a.T @ x, given @ x)
    assert np.allclose(a.H @ x, given @ x)
    assert np.allclose(a.rmatvec(x), given @ x)
    assert np.allclose((2 * a + a) @ x, 3 * (given @ x))
    assert a.matmat(np.zeros((60, 0))).shape == (60, 0)
    assert np.allclose(scipy.sparse.linalg.cg(a, x, rtol=1e-10)[0], cg(a, x, rtol=1e-10)[0])
    largest = scipy.sparse.linalg.eigsh(given, 1, return_eigenvectors=False)
    assert scipy.sparse.linalg.eigsh(a, 1, return_eigenvectors=False) == pytest.approx(largest)


def test_solves_again_and_again(devices, rng):
    given = random_system(rng, 200)
    a = DistributedMatrix(given, machine=devices(4))
    for scale in (1, 1e-20, 1e20):
        b = scale * rng.standard_normal(200)
        x, info = a.solve(b, rtol=1e-9)
        assert info == 0
        assert residual(given, x, b) <= 1.05e-9 * np.linalg.norm(b)
        assert np.allclose(a @ x, b, rtol=1e-5, atol=1e-7 * scale)


def test_keeps_blocks(devices, rng):
    given = matrices.elasticity_3d(3, 3, 3)
    b = rng.standard_normal(81)
    a = DistributedMatrix(given, machine=devices(2), block_size=6)
    x, info, report = a.solve(b, M="block_jacobi", report=True)
    assert (info, report.preconditioner) == (0, "block_jacobi(6)")
    assert np.array_equal(x, cg(given, b, M=linalg.BlockJacobi(6), machine=devices(2))[0])


def test_facts(devices):
    a = DistributedMatrix(matrices.grid_2d(10, 12), machine=devices(3))
    f = a.facts
    assert (f.rows, f.nonzeros, f.devices, f.machine) == (120, 556, 3, a.machine.kind)
    assert (f.first_rows[0], f.first_rows[-1], len(f.first_rows)) == (0, 120, 4)
    assert len(f.halo) == len(f.bytes) == 3
    assert min(f.halo) >= 10
    assert f.storage in linalg.STORAGES
    assert f.offset_bits in (16, 32)
    assert "float64 (120, 120)" in repr(a)


def test_partitions(devices):
    a = sparse.csr_array(sparse.block_diag([np.full((30, 30), 1.0) + 30 * np.eye(30), sparse.eye_array(70)]))
    rows = DistributedMatrix(a, machine=devices(2), partition="rows").facts.first_rows
    nonzeros = DistributedMatrix(a, machine=devices(2), partition="nonzeros").facts.first_rows
    assert rows == (0, 50, 100)
    assert 10 < nonzeros[1] < 30


def shuffled(a, rng):
    places = rng.permutation(a.shape[0])
    return sparse.csr_array(a[places][:, places])


@pytest.mark.parametrize("n", [1, 3, 4])
@pytest.mark.parametrize("reorder", linalg.REORDERS)
@pytest.mark.parametrize("name", CLASSES)
def test_orders(devices, rng, name, reorder, n):
    if reorder == "graph":
        pytest.importorskip("pymetis")
    a = shuffled(CLASSES[name](), rng)
    b = rng.standard_normal(a.shape[0])
    x, info, report = cg(a, b, b, M="jacobi", rtol=1e-9, reorder=reorder, machine=devices(n), report=True)
    assert (info, report.reorder) == (0, reorder)
    assert residual(a, x, b) <= 1.05e-9 * np.linalg.norm(b)
    assert np.allclose(spmv(a, b, reorder=reorder, machine=devices(n)), a @ b, atol=1e-9)


@pytest.mark.parametrize("reorder", linalg.REORDERS)
def test_orders_make_devices_exchange_less(devices, rng, reorder):
    if reorder == "graph":
        pytest.importorskip("pymetis")
    a = shuffled(matrices.grid_2d(40, 40), rng)
    before = DistributedMatrix(a, machine=devices(4)).facts
    after = DistributedMatrix(a, machine=devices(4), reorder=reorder).facts
    assert sum(after.halo) < sum(before.halo) / 3


def test_parts_are_of_about_equal_size(devices, rng):
    pytest.importorskip("pymetis")
    a = shuffled(matrices.grid_2d(40, 40), rng)
    rows = np.diff(DistributedMatrix(a, machine=devices(4), reorder="graph").facts.first_rows)
    assert rows.max() < 1.2 * rows.min()


@pytest.mark.parametrize("reorder", linalg.REORDERS)
def test_orders_keep_the_rows_of_a_node_together(devices, rng, reorder):
    if reorder == "graph":
        pytest.importorskip("pymetis")
    nodes = rng.permutation(4 * 5 * 6)
    places = (3 * nodes[:, None] + np.arange(3)).ravel()
    a = sparse.csr_array(matrices.elasticity_3d(4, 5, 6)[places][:, places])
    b = rng.standard_normal(360)
    f = DistributedMatrix(a, machine=devices(3), reorder=reorder, storage="sliced_3x3").facts
    assert all(row % 3 == 0 for row in f.first_rows)
    m = linalg.BlockJacobi(3)
    plain = cg(a, b, M=m, rtol=1e-9, machine=devices(3), report=True)[2]
    ordered = cg(a, b, M=m, rtol=1e-9, machine=devices(3), reorder=reorder, storage="sliced_3x3", report=True)[2]
    assert abs(plain.iterations - ordered.iterations) <= 2  # the same blocks


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_orders_of_small_matrices(devices, rng, rows):
    pytest.importorskip("pymetis")
    a = random_system(rng, rows, entries=2)
    b = rng.standard_normal(rows)
    for reorder in linalg.REORDERS:
        x, info = cg(a, b, rtol=1e-10, reorder=reorder, machine=devices(min(rows, 4)))
        assert info == 0
        assert np.allclose(a @ x, b)


def test_without_pymetis(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pymetis", None)
    with pytest.raises(Unsupported, match=r"pymetis.*pip install"):
        cg(np.eye(4), np.ones(4), reorder="graph")


def test_products_only(devices):
    a = DistributedMatrix([[0.0, 2], [3, 0]], machine=devices(1), products_only=True)
    assert (a @ [1, 10]).tolist() == [20, 3]
    with pytest.raises(ArgumentError, match=r"products_only.*conjugate gradients solve no others"):
        a.solve([1.0, 2.0])
    for call in (lambda: a.rmatvec([1.0, 2.0]), lambda: a.T @ np.ones(2), lambda: a.H @ np.ones((2, 2))):
        with pytest.raises(ArgumentError, match=r"products_only.*DistributedMatrix of A\.T"):
            call()


def test_nothing_is_rounded_unasked(devices):
    a = DistributedMatrix(matrices.grid_2d(3, 3, dtype="float32"), machine=devices(1))
    with pytest.raises(ElementTypeError, match=r"float64.*float32.*astype"):
        a @ np.ones(9)
    with pytest.raises(ElementTypeError, match=r"float64.*float32.*astype"):
        a.solve(np.ones(9))
    assert a.solve(np.ones(9, "f4"), np.zeros(9))[0].dtype == np.float32


def test_wrong_shapes_of_operands(devices):
    a = DistributedMatrix(matrices.grid_2d(3, 3), machine=devices(1))
    for x in (np.ones(8), np.ones((9, 2, 1)), np.ones((8, 2)), 3.0):
        with pytest.raises((ArgumentError, ValueError)):
            a @ x


def test_a_matrix_on_devices_cannot_be_told_where(devices):
    a = DistributedMatrix(matrices.grid_2d(3, 3), machine=devices(1))
    for where in (
        {"devices": 2},
        {"machine": "host"},
        {"reorder": "rcm"},
        {"storage": "sliced"},
        {"partition": "rows"},
    ):
        with pytest.raises(ArgumentError, match="DistributedMatrix"):
            cg(a, np.ones(9), **where)
        with pytest.raises(ArgumentError, match="DistributedMatrix"):
            spmv(a, np.ones(9), **where)
    assert np.array_equal(spmv(a, np.ones(9)), a @ np.ones(9))


def test_threads_take_turns(devices, rng):
    given = random_system(rng, 150)
    a = DistributedMatrix(given, machine=devices(2))
    rights = [rng.standard_normal(150) for _ in range(6)]
    found = [None] * 6
    seen = []

    def solve(i):
        found[i] = a.solve(rights[i], rtol=1e-9, callback=seen.append if i % 2 else None)[0]

    threads = [threading.Thread(target=solve, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for x, b in zip(found, rights, strict=True):
        assert residual(given, x, b) <= 1.05e-9 * np.linalg.norm(b)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_generators(dtype):
    made = {
        "grid_2d": matrices.grid_2d(5, 4, dtype=dtype),
        "grid_3d": matrices.grid_3d(3, 4, 5, dtype=dtype),
        "elasticity_3d": matrices.elasticity_3d(3, 2, 4, dtype=dtype),
        "circuit": matrices.circuit(50, nets=2, seed=3, dtype=dtype),
        "uneven": matrices.uneven(60, mean_degree=4, seed=3, dtype=dtype),
    }
    assert made["grid_2d"].shape == (20, 20)
    assert made["elasticity_3d"].shape == (72, 72)
    for name, a in made.items():
        assert isinstance(a, sparse.csr_array), name
        assert a.dtype == np.dtype(dtype)
        assert a.has_canonical_format
        assert (a != a.T).nnz == 0
        assert np.linalg.eigvalsh(a.toarray().astype("f8")).min() > 0
    again = matrices.circuit(50, nets=2, seed=3, dtype=dtype)
    assert (again != made["circuit"]).nnz == 0
    assert (matrices.circuit(50, nets=2, seed=4, dtype=dtype) != again).nnz > 0
