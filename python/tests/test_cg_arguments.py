"""Systems and arguments that are not allowed: a typed error with the value and a next step, and nothing changes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse.linalg
from scipy import sparse

from starling import errors, linalg
from starling.errors import (
    ArgumentError,
    BreakdownError,
    ElementTypeError,
    LaunchError,
    NotPositiveDefinite,
    OutOfMemory,
)
from starling.linalg import BlockJacobi, Chebyshev, DistributedMatrix, Jacobi, cg, matrices, spmv
from starling.machine import host

A = sparse.csr_array(sparse.diags_array([[-1.0] * 5, [4.0] * 6, [-1.0] * 5], offsets=[-1, 0, 1]))
B = np.arange(1.0, 7.0)


def changed(row, column, value):
    """A with another entry."""
    a = A.tolil()
    a[row, column] = value
    return a.tocsr()


def with_value(v, place, value):
    v = v.copy()
    v[place] = value
    return v


def damaged():
    a = A.copy()
    a.indices = with_value(a.indices, 3, 77)
    return a


WRONG_MATRICES = {
    "none": (lambda: cg(None, B), ElementTypeError, ["A is a NoneType", "sparse matrix"]),
    "text": (lambda: cg("a.mtx", B), ElementTypeError, ["'a.mtx'", "read_matrix"]),
    "ragged": (lambda: cg([[1, 2], [3]], B), ElementTypeError, ["list", "sparse matrix"]),
    "number": (lambda: cg(3.0, B), ArgumentError, ["shape ()", "square"]),
    "row": (lambda: cg(B, B), ArgumentError, ["shape (6,)", "square"]),
    "operator": (
        lambda: cg(scipy.sparse.linalg.aslinearoperator(A), B),
        ElementTypeError,
        ["LinearOperator", "entries", "sparse matrix"],
    ),
    "masked": (lambda: cg(np.ma.masked_less(A.toarray(), 0), B), ElementTypeError, ["masked", "A.filled"]),
    "complex": (lambda: cg(A.astype("c16"), B), ElementTypeError, ["A holds complex128", "A.real"]),
    "half": (lambda: cg(A.toarray().astype("f2"), B), ElementTypeError, ["A holds float16", "astype('float64')"]),
    "long double": (lambda: cg(A.astype("g"), B), ElementTypeError, ["A holds float128", "astype('float64')"]),
    "objects": (lambda: cg(A.toarray().astype(object), B), ElementTypeError, ["A holds object", "astype('float64')"]),
    "texts": (lambda: cg(np.array([["a"]]), [1]), ElementTypeError, ["A holds", "astype('float64')"]),
    "not square": (lambda: cg(A[:, :5], B), ArgumentError, ["(6, 5)", "square"]),
    "dense, not square": (lambda: cg(np.ones((3, 2)), B), ArgumentError, ["(3, 2)", "square"]),
    "three dimensions": (lambda: cg(np.ones((2, 2, 2)), B), ArgumentError, ["(2, 2, 2)", "square"]),
    "empty": (lambda: cg(np.ones((0, 0)), []), ArgumentError, ["empty", "(0, 0)", "at least one"]),
    "damaged": (lambda: cg(damaged(), B), ArgumentError, ["damaged", "indices"]),
    "NaN": (lambda: cg(changed(2, 2, np.nan), B), ArgumentError, ["A[2, 2] = nan", "finite"]),
    "infinity": (lambda: cg(changed(1, 0, np.inf), B), ArgumentError, ["A[1, 0] = inf", "finite"]),
    "not symmetric": (lambda: cg(changed(1, 2, -1.5), B), ArgumentError, ["symmetric"]),
    "pattern not symmetric": (lambda: cg(changed(0, 5, 0.5), B), ArgumentError, ["symmetric"]),
    "not symmetric, reordered": (
        lambda: cg(changed(1, 2, -1.5), B, reorder="rcm"),
        ArgumentError,
        ["symmetric", "-1.5", "-1.0"],
    ),
    "empty row": (lambda: cg(sparse.diags_array([1.0, 0.0, 2.0]), np.ones(3)), ArgumentError, ["row 1", "no entries"]),
    "negative diagonal": (lambda: cg(changed(3, 3, -4), B), ArgumentError, ["diagonal", "-4"]),
    "negative diagonal, reordered": (
        lambda: cg(changed(3, 3, -4), B, reorder="rcm"),
        ArgumentError,
        ["A[3, 3] = -4", "positive"],
    ),
}
WRONG_VECTORS = {
    "b none": (lambda: cg(A, None), ElementTypeError, ["b = None", "6 numbers"]),
    "b text": (lambda: cg(A, "b"), ElementTypeError, ["b = 'b'", "6 numbers"]),
    "b short": (lambda: cg(A, B[:5]), ArgumentError, ["b", "(5,)", "6 rows", "(6, 1)"]),
    "b row": (lambda: cg(A, B[None]), ArgumentError, ["b", "(1, 6)", "(6, 1)"]),
    "b number": (lambda: cg(A, 1.0), ArgumentError, ["b", "()", "(6,)"]),
    "b several": (lambda: cg(A, np.ones((6, 2))), ArgumentError, ["b", "(6, 2)", "(6, 1)"]),
    "b complex": (lambda: cg(A, B + 1j), ElementTypeError, ["b holds complex128", "b.real"]),
    "b long double": (lambda: cg(A, B.astype("g")), ElementTypeError, ["b holds float128", "astype"]),
    "too many rows": (
        lambda: cg(sparse.coo_array((2**30 + 1, 2**30 + 1)), B),
        ArgumentError,
        ["1073741825 rows", "1073741824"],
    ),
    "b half": (lambda: cg(A, B.astype("f2")), ElementTypeError, ["b holds float16", "astype"]),
    "b objects": (lambda: cg(A, B.astype(object)), ElementTypeError, ["b holds object", "astype"]),
    "b ragged": (lambda: cg(A, [[1], [1, 2], 3, 4, 5, 6]), ElementTypeError, ["b is a list", "6 numbers"]),
    "b sparse": (lambda: cg(A, sparse.csr_array(B[:, None])), ElementTypeError, ["b is sparse", "toarray"]),
    "b masked": (lambda: cg(A, np.ma.masked_less(B, 2)), ElementTypeError, ["b is a masked", "filled"]),
    "b NaN": (lambda: cg(A, with_value(B, 4, np.nan)), ArgumentError, ["b[4] = nan", "finite"]),
    "b infinity": (lambda: cg(A, with_value(B, 0, -np.inf)), ArgumentError, ["b[0] = -inf", "finite"]),
    "x0 short": (lambda: cg(A, B, B[1:]), ArgumentError, ["x0", "(5,)", "6 rows"]),
    "x0 NaN": (lambda: cg(A, B, with_value(B, 1, np.nan)), ArgumentError, ["x0[1] = nan", "finite"]),
    "x0 complex": (lambda: cg(A, B, B * 1j), ElementTypeError, ["x0 holds complex128", "x0.real"]),
    "x0 Mb": (lambda: cg(A, B, "Mb"), ElementTypeError, ["x0 = 'Mb'", "None"]),
    "x short": (lambda: spmv(A, B[1:]), ArgumentError, ["x", "(5,)", "6 rows"]),
    "x complex": (lambda: spmv(A, B * 1j), ElementTypeError, ["x holds complex128", "x.real"]),
}
WRONG_OPTIONS = {
    "rtol negative": (lambda: cg(A, B, rtol=-1), ArgumentError, ["rtol = -1", "at least 0"]),
    "rtol NaN": (lambda: cg(A, B, rtol=np.nan), ArgumentError, ["rtol = nan", "finite"]),
    "rtol text": (lambda: cg(A, B, rtol="small"), ElementTypeError, ["rtol = 'small'", "number"]),
    "atol negative": (lambda: cg(A, B, atol=-1e-9), ArgumentError, ["atol = -1e-09", "at least 0"]),
    "atol none": (lambda: cg(A, B, atol=None), ElementTypeError, ["atol = None", "number"]),
    "atol legacy": (lambda: cg(A, B, atol="legacy"), ElementTypeError, ["atol = 'legacy'", "number"]),
    "maxiter zero": (lambda: cg(A, B, maxiter=0), ArgumentError, ["maxiter = 0", "at least 1"]),
    "maxiter negative": (lambda: cg(A, B, maxiter=-3), ArgumentError, ["maxiter = -3", "at least 1"]),
    "maxiter fraction": (lambda: cg(A, B, maxiter=1.5), ElementTypeError, ["maxiter = 1.5", "whole number"]),
    "fixed zero": (lambda: cg(A, B, fixed_iterations=0), ArgumentError, ["fixed_iterations = 0", "at least 1"]),
    "both": (lambda: cg(A, B, maxiter=2, fixed_iterations=2), ArgumentError, ["maxiter = 2", "fixed_iterations = 2"]),
    "callback": (lambda: cg(A, B, callback=3), ElementTypeError, ["callback = 3", "function"]),
    "progress": (lambda: cg(A, B, progress="bar"), ElementTypeError, ["progress = 'bar'", "function"]),
    "method": (lambda: cg(A, B, method="gmres"), ArgumentError, ["'gmres'", "'standard'", "'pipelined'"]),
    "method type": (lambda: cg(A, B, method=1), ElementTypeError, ["method = 1", "'fused'"]),
    "control": (lambda: cg(A, B, control="gpu"), ArgumentError, ["'gpu'", "'cpu_free'", "'graph'"]),
    "partition": (lambda: cg(A, B, partition="metis"), ArgumentError, ["'metis'", "'nonzeros' or 'rows'"]),
    "reorder": (lambda: cg(A, B, reorder="amd"), ArgumentError, ["'amd'", "'rcm' or 'graph'"]),
    "reorder type": (lambda: cg(A, B, reorder=True), ElementTypeError, ["True", "'rcm' or 'graph'"]),
    "storage": (lambda: cg(A, B, storage="ellpack"), ArgumentError, ["'ellpack'", "'sliced'", "'compressed'"]),
    "storage of threes": (
        lambda: cg(A[:5, :5], B[:5], storage="sliced_3x3"),
        ArgumentError,
        ["sliced_3x3", "5 rows", "multiple of 3", "'auto', 'sliced' or 'compressed'"],
    ),
    "replace_every": (lambda: cg(A, B, replace_every=-1), ArgumentError, ["replace_every = -1", "at least 0"]),
    "deadline": (lambda: cg(A, B, deadline=0), ArgumentError, ["deadline = 0", "more than 0"]),
    "blocks zero": (lambda: cg(A, B, blocks=0), ArgumentError, ["blocks = 0", "at least 1"]),
    "blocks many": (lambda: cg(A, B, blocks=10**6), LaunchError, ["1000000", "fit", "fewer"]),
    "M matrix": (lambda: cg(A, B, M=A), ElementTypeError, ["M is a csr_array", "'jacobi'", "BlockJacobi(size)"]),
    "M operator": (
        lambda: cg(A, B, M=scipy.sparse.linalg.aslinearoperator(A)),
        ElementTypeError,
        ["LinearOperator", "host", "'jacobi'"],
    ),
    "M name": (lambda: cg(A, B, M="ilu"), ArgumentError, ["M = 'ilu'", "'chebyshev'"]),
    "M class": (lambda: cg(A, B, M=Jacobi), ElementTypeError, ["class Jacobi", "Jacobi()"]),
    "blocks not kept": (
        lambda: DistributedMatrix(A).solve(B, M="block_jacobi"),
        ArgumentError,
        ["BlockJacobi(size=3)", "none", "block_size=3"],
    ),
    "other blocks kept": (
        lambda: DistributedMatrix(A, block_size=2).solve(B, M=BlockJacobi(3)),
        ArgumentError,
        ["BlockJacobi(size=3)", "blocks of 2 rows", "block_size=3"],
    ),
    "block_size": (lambda: DistributedMatrix(A, block_size=48), ArgumentError, ["block_size = 48", "or 32"]),
    "block size": (lambda: BlockJacobi(5), ArgumentError, ["size = 5", "1, 2, 3, 4, 6"]),
    "block size zero": (lambda: BlockJacobi(0), ArgumentError, ["size = 0", "at least 1"]),
    "degree": (lambda: Chebyshev(17), ArgumentError, ["degree = 17", "at most 16"]),
    "degree fraction": (lambda: Chebyshev(2.5), ElementTypeError, ["degree = 2.5", "whole number"]),
}
WRONG_PLACES = {
    "devices zero": (lambda: cg(A, B, devices=0), ArgumentError, ["devices = 0", "at least 1"]),
    "devices fraction": (lambda: cg(A, B, devices=1.5), ElementTypeError, ["devices = 1.5", "whole number"]),
    "devices beyond rows": (
        lambda: cg(A, B, machine="host", devices=7),
        ArgumentError,
        ["6 rows", "7 devices", "fewer devices"],
    ),
    "devices many": (lambda: cg(A, B, machine="host", devices=1000), ArgumentError, ["devices = 1000", "at most 256"]),
    "machine name": (lambda: cg(A, B, machine="tpu"), ArgumentError, ["'tpu'", "'host', 'cuda', 'auto'"]),
    "machine type": (lambda: cg(A, B, machine=3), ElementTypeError, ["int", "'host', 'cuda', 'auto'"]),
    "too large": (
        lambda: cg(matrices.grid_2d(200, 200), np.ones(40000), machine=host(1, memory="1M")),
        OutOfMemory,
        ["1 MiB", "STARLING_HOST_MEMORY"],
    ),
}
WRONG_GENERATORS = {
    "zero": (lambda: matrices.grid_2d(0, 3), ArgumentError, ["nx = 0", "at least 1"]),
    "negative": (lambda: matrices.grid_3d(3, -1, 3), ArgumentError, ["ny = -1", "at least 1"]),
    "fraction": (lambda: matrices.grid_2d(2.5, 3), ElementTypeError, ["nx = 2.5", "whole number"]),
    "too large": (lambda: matrices.grid_2d(2**20, 2**20), ArgumentError, ["column"]),
    "dtype": (lambda: matrices.grid_2d(2, 2, dtype="int8"), ElementTypeError, ["'int8'", "'float32' or 'float64'"]),
    "nets": (lambda: matrices.circuit(9, nets=10), ArgumentError, ["nets"]),
    "degree": (lambda: matrices.uneven(9, mean_degree=9), ArgumentError, ["degree"]),
    "flat": (lambda: matrices.elasticity_3d(1, 3, 3), ArgumentError, ["1", "2"]),
    "seed": (lambda: matrices.uneven(9, 2, seed=-1), ArgumentError, ["seed = -1", "at least 0"]),
}
TABLE = {**WRONG_MATRICES, **WRONG_VECTORS, **WRONG_OPTIONS, **WRONG_PLACES}
TABLE |= {f"generator: {name}": case for name, case in WRONG_GENERATORS.items()}


@pytest.mark.parametrize("case", TABLE)
def test_wrong(case):
    call, error, texts = TABLE[case]
    before = A.toarray(), B.copy()
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    for text in texts:
        assert text in str(caught.value)
    assert "::" not in str(caught.value)  # names are Python's
    assert np.array_equal(A.toarray(), before[0])
    assert np.array_equal(B, before[1])


@pytest.mark.parametrize("control", linalg.CONTROLS)
@pytest.mark.parametrize("method", ["standard", "fused", "pipelined"])
def test_not_positive_definite(devices, method, control):
    a = np.array([[1.0, 3, 0], [3, 1, 0], [0, 0, 2]])  # an eigenvalue is -2
    with pytest.raises(NotPositiveDefinite) as caught:
        cg(a, [1.0, -1, 0], machine=devices(2), method=method, control=control)
    error = caught.value
    assert error.value == pytest.approx(-4, rel=1e-6) or error.value < 0
    assert 0 <= error.iteration <= 2
    assert f"iteration {error.iteration}" in str(error)
    assert f"{error.value:.6g}" in str(error)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.iteration, copy.value) == (
        type(error),
        str(error),
        error.iteration,
        error.value,
    )


def test_singular_is_not_positive_definite(devices):
    with pytest.raises(NotPositiveDefinite, match="must be positive is 0"):
        cg([[1.0, -1], [-1, 1]], [1.0, 1.0], machine=devices(2))


def test_numbers_beyond_the_element_type(devices):
    a = 1e300 * np.eye(5)
    with pytest.raises(BreakdownError) as caught:
        cg(a, 1e100 * np.arange(1.0, 6), machine=devices(2))
    assert not np.isfinite(caught.value.value)
    assert "float64" in str(caught.value)


def test_the_matrix_is_as_good_as_new_after_a_breakdown(devices):
    a = DistributedMatrix([[1.0, 3], [3, 1]], machine=devices(1))
    with pytest.raises(NotPositiveDefinite):
        a.solve([1.0, -1.0])
    x, info = a.solve([4.0, 4.0])
    assert (info, x.tolist()) == (0, [1, 1])


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.BreakdownError, ArithmeticError),
        (errors.BreakdownError, ValueError),
        (errors.NotPositiveDefinite, errors.BreakdownError),
        (errors.MatrixFileError, errors.ArgumentError),
    ],
)
def test_errors_are_also_of_python(error, builtin):
    assert issubclass(error, errors.Error)
    assert issubclass(error, builtin)
    with pytest.raises(builtin):
        raise error("text")
