"""Several right-hand sides: each column has the bits of a solve of its own, and one program goes through all."""

from __future__ import annotations

import json

import numpy as np
import pytest

import starling
from starling import linalg, trace
from starling.errors import ArgumentError, ElementTypeError, NotPositiveDefinite
from starling.linalg import DistributedMatrix

SIDE = 14
ROWS = SIDE * SIDE


@pytest.fixture(scope="module")
def sides():
    """Right-hand sides that take different numbers of iterations; one is zero, two are alike."""
    rng = np.random.default_rng(11)
    smooth = np.sin(np.linspace(0, np.pi, ROWS))
    noise = rng.standard_normal(ROWS)
    return np.stack([noise, np.zeros(ROWS), smooth, 1e-3 * noise, noise], axis=1)


def matrix(devices, n=2, **options):
    return DistributedMatrix(linalg.matrices.grid_2d(SIDE, SIDE), machine=devices(n), block_size=3, **options)


def check_columns(a, b, x, reports, **options):
    for i in range(b.shape[1]):
        x0 = options.pop("x0", None)
        alone, _, report = a.solve(b[:, i], None if x0 is None else x0[:, i], report=True, **options)
        if x0 is not None:
            options["x0"] = x0
        assert np.array_equal(x[:, i], alone), i
        got = reports[i]
        assert (got.why, got.iterations, got.residual, got.history, got.replacements) == (
            report.why, report.iterations, report.residual, report.history, report.replacements,
        )  # fmt: skip
        assert got.seconds >= 0


@pytest.mark.parametrize("control", ["cpu_free", "streams", "graph"])
@pytest.mark.parametrize("method", ["standard", "fused", "pipelined"])
@pytest.mark.parametrize("m", [None, "jacobi", "block_jacobi", "chebyshev"])
def test_columns_have_the_bits_of_their_own_solves(devices, sides, method, m, control):
    a = matrix(devices)
    options = {"rtol": 1e-9, "method": method, "M": m, "control": control}
    x, info, reports = a.solve(sides, report=True, **options)
    assert (x.shape, x.flags.c_contiguous, info, len(reports)) == (sides.shape, True, 0, sides.shape[1])
    check_columns(a, sides, x, reports, **options)
    assert not x[:, 1].any()
    assert reports[1].iterations == 0
    assert np.array_equal(x[:, 0], x[:, 4])


@pytest.mark.parametrize("options", [{"reorder": "rcm"}, {"storage": "compressed"}, {"partition": "rows"}])
def test_columns_of_matrices_that_lie_otherwise(devices, sides, options):
    a = matrix(devices, 3, **options)
    start = np.random.default_rng(3).standard_normal(sides.shape)
    x, info, reports = a.solve(sides, start, rtol=1e-10, report=True)
    assert info == 0
    check_columns(a, sides, x, reports, rtol=1e-10, x0=start)


def test_float32_and_other_layouts(devices, sides):
    a = DistributedMatrix(linalg.matrices.grid_2d(SIDE, SIDE, dtype="float32"), machine=devices(2))
    b = sides.astype("f4")
    expected, info = a.solve(b)
    assert (expected.dtype, info) == (np.float32, 0)
    for same in (np.asfortranarray(b), np.repeat(b, 2, axis=1)[:, ::2], b.astype(">f4"), b.tolist()):
        if isinstance(same, list):
            same = np.array(same, dtype="f4")
        assert np.array_equal(a.solve(same)[0], expected)


def test_one_column_is_a_vector(devices, sides):
    a = matrix(devices)
    x, _, report = a.solve(sides[:, :1], report=True)
    assert x.shape == (ROWS,)
    assert isinstance(report, linalg.Report)
    assert np.array_equal(x, a.solve(sides[:, 0])[0])


def test_iterations_that_do_not_suffice(devices, sides):
    a = matrix(devices)
    x, info, reports = a.solve(sides, rtol=1e-12, maxiter=5, report=True)
    assert info == 5
    assert [r.iterations for r in reports] == [5, 0, 5, 5, 5]
    check_columns(a, sides, x, reports, rtol=1e-12, maxiter=5)
    x, info, reports = a.solve(sides, fixed_iterations=7, report=True)
    assert [r.iterations for r in reports] == [7] * 5


def test_one_program_goes_through_all_columns(tmp_path, devices, sides):
    """Few iterations in all: one launch, and what computes the residual of each."""
    m = devices(2)
    a = DistributedMatrix(linalg.matrices.grid_2d(SIDE, SIDE), machine=m)
    with trace.record(tmp_path / "out.json", machines=m) as recording:
        _, _, reports = a.solve(sides[:, [0, 2, 3]], fixed_iterations=10, report=True)
    assert sum(r.iterations for r in reports) == 30
    assert len(recording.trace.machines[0].programs) == 1
    assert json.loads((tmp_path / "out.json").read_text())["starling"]["machines"][0]["runs"] == 1


def test_watching(devices, sides):
    a = matrix(devices)
    seen, places = [], []
    expected, _, reports = a.solve(sides, rtol=1e-8, report=True)
    x, info = a.solve(sides, rtol=1e-8, callback=seen.append, progress=places.append)
    assert info == 0
    assert np.array_equal(x, expected)
    counts = [sum(1 for p in places if p.column == c and p.iterations > 0) for c in range(5)]
    assert counts[1] == 0
    assert [p.column for p in places] == sorted(p.column for p in places)
    assert {p.column: p.iterations for p in places} == {i: r.iterations for i, r in enumerate(reports)}
    assert len(seen) == sum(r.iterations for r in reports)
    assert np.array_equal(seen[-1], x[:, 4])


def test_an_exception_of_the_callback_ends_it(devices, sides):
    a = matrix(devices)
    expected, _ = a.solve(sides)

    def stop(at):
        if at.column == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        a.solve(sides, callback=lambda x: None, progress=stop)
    assert np.array_equal(a.solve(sides)[0], expected)


def test_a_breakdown_names_the_column(devices):
    rows = 40
    indefinite = np.eye(rows) + np.diag(np.ones(rows - 1), 1) + np.diag(np.ones(rows - 1), -1)
    a = DistributedMatrix(indefinite, machine=devices(2))
    b = np.random.default_rng(2).standard_normal((rows, 3))
    b[:, 0] = 0
    with pytest.raises(NotPositiveDefinite, match="for column 1 of b") as caught:
        a.solve(b)
    assert caught.value.value < 0


def test_more_columns_then_fewer_then_more(devices, sides):
    a = matrix(devices)
    for some in (sides[:, :2], sides, sides[:, 2], sides[:, :3], np.tile(sides, 3)):
        x, info = a.solve(some, rtol=1e-10)
        assert info == 0
        columns = some.reshape(ROWS, -1)
        for i in range(columns.shape[1]):
            assert np.array_equal(x.reshape(ROWS, -1)[:, i], a.solve(columns[:, i], rtol=1e-10)[0])


@pytest.mark.parametrize("method", ["standard", "fused", "pipelined"])
def test_schedules(method):
    """Deliveries as late and disordered as the contract allows give the same bits."""
    a = linalg.matrices.grid_2d(5, 4)
    b = np.random.default_rng(6).standard_normal((20, 3))
    expected, _ = DistributedMatrix(a, machine="host", devices=2).solve(b, rtol=1e-6, method=method)
    results = []

    def run(m):
        results.append(DistributedMatrix(a, machine=m).solve(b, rtol=1e-6, method=method)[0])

    found = starling.check(run, devices=2, seeds=25)
    assert found.schedules > 25
    assert np.array_equal(results[0], expected)


B = np.ones((ROWS, 2))
WRONG = {
    "rows": (lambda a: a.solve(np.ones((5, 2))), ArgumentError, ["(5, 2)", "columns"]),
    "transposed": (lambda a: a.solve(B.T), ArgumentError, ["(2, 196)", "columns"]),
    "no columns": (lambda a: a.solve(np.ones((ROWS, 0))), ArgumentError, ["(196, 0)"]),
    "three dimensions": (lambda a: a.solve(np.ones((ROWS, 2, 2))), ArgumentError, ["(196, 2, 2)"]),
    "NaN": (lambda a: a.solve(np.where(np.arange(2) == 1, np.nan, B)), ArgumentError, ["b[0, 1] = nan"]),
    "complex": (lambda a: a.solve(B * 1j), ElementTypeError, ["complex128", "b.real"]),
    "x0": (lambda a: a.solve(B, np.ones(ROWS)), ArgumentError, ["x0 has 1 columns, b 2"]),
    "x0 rows": (lambda a: a.solve(B, np.ones((3, 2))), ArgumentError, ["x0", "(3, 2)"]),
    "x0 NaN": (lambda a: a.solve(B, B * np.nan), ArgumentError, ["x0[0, 0] = nan"]),
    "cg": (lambda a: linalg.cg(a, B), ArgumentError, ["b has the shape (196, 2)"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_columns(devices, case):
    call, error, texts = WRONG[case]
    with pytest.raises(error) as caught:
        call(matrix(devices, 1))
    for text in texts:
        assert text in str(caught.value)


def test_columns_that_do_not_fit():
    with starling.machine.host(2, memory="2M") as m:
        a = DistributedMatrix(linalg.matrices.grid_2d(60, 60), machine=m)
        before = m.memory.in_use
        with pytest.raises(starling.errors.OutOfMemory):
            a.solve(np.ones((3600, 500)))
        x, info = a.solve(np.ones((3600, 2)))
        assert info == 0
        assert np.array_equal(x[:, 0], x[:, 1])
        assert m.memory.in_use >= before
