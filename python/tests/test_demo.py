"""The programs of the demo: what they do on which machine, and that they do it on virtual devices."""

from __future__ import annotations

import importlib.util
import sys
import types
from types import ModuleType

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
from rich.console import Console

import starling
from test_process import ROOT, python

PROGRAMS = {name: ROOT / "examples" / f"{name}.py" for name in ("diffuse_photograph", "solve_matrix")}
pytestmark = pytest.mark.skipif(not PROGRAMS["solve_matrix"].exists(), reason="not in the source tree")


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, PROGRAMS[name])
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # for its dataclasses
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def diffusion() -> ModuleType:
    return loaded("diffuse_photograph")


@pytest.fixture(scope="module")
def systems() -> ModuleType:
    return loaded("solve_matrix")


def test_gpus_get_a_large_picture_and_virtual_devices_the_photograph(diffusion) -> None:
    small, large = diffusion.sizes("host"), diffusion.sizes("cuda")
    assert (small.enlarged, small.steps, small.checked_steps) == (1, 500, 500)
    assert 512 * large.enlarged >= 2000
    assert large.steps == 500 * large.enlarged**2  # the same picture
    assert large.checked_steps < large.steps
    assert diffusion.sizes("cuda", steps=9, enlarged=2) == diffusion.Sizes(2, 9, 9, 64)


def test_gpus_get_a_million_rows(systems) -> None:
    assert systems.points_of("host") == 0
    assert systems.points_of("cuda") ** 2 == 1_000_000


def test_a_strip_of_numpy_is_what_the_whole_domain_has(diffusion) -> None:
    planes = [np.random.default_rng(k).random((40, 90), dtype="f4") for k in range(3)]
    coefficients = [0.2, 0.2, 0.2, 0.2, 0.2]
    strips = diffusion.expected_of(planes, diffusion.Sizes(2, 11, 11, 32), coefficients).planes
    for strip, u in zip(strips, planes, strict=True):
        assert strip.tobytes() == diffusion.diffuse_with_numpy(u, 11, coefficients)[:, :32].tobytes()


def test_what_is_held_at_the_edges_does_not_reach_the_picture(diffusion) -> None:
    """A uniform picture between edges of another value stays as it is, to a grey step of 8 bits."""
    steps = 200
    margin = diffusion.margin_of(steps)
    assert margin % diffusion.MARGIN_MULTIPLE == 0
    u = np.ones((2 * margin + 8, 2 * margin + 8), dtype="f4")
    u[0] = u[-1] = u[:, 0] = u[:, -1] = 0
    r = diffusion.RATIO
    after = diffusion.diffuse_with_numpy(u, steps, [1 - 4 * r, r, r, r, r])
    assert abs(after[margin:-margin, margin:-margin] - 1).max() < 1 / 255
    assert abs(after[1:-1, 1] - 1).max() > 0.5


def test_another_picture_is_noticed(diffusion) -> None:
    planes = [np.zeros((2, 2), dtype="f4")]
    first = diffusion.Result(planes, "graph", 1.0, True)
    other = diffusion.Result([planes[0] + 1], "temporal", 1.0, True)
    assert "yes" in diffusion.verdict(first, first)
    assert "NO, as graph" in diffusion.verdict(other, first)
    assert "NO" in diffusion.verdict(diffusion.Result(planes, "temporal", 1.0, False), first)


def test_the_line_at_the_end_compares_with_the_best(diffusion, systems) -> None:
    times = {"overlap": 9.0, "graph": 6.0, "auto": 2.0}
    results = {v: diffusion.Result([], "temporal" if v == "auto" else v, us, True) for v, us in times.items()}
    assert diffusion.summary(results, "2 GPUs") == (
        "on 2 GPUs a step of `temporal` was 3.00 times as fast as of `graph`, which the host controls"
    )
    x = np.ones(3)
    system = systems.System("s", "s", scipy.sparse.eye_array(3).tocsr(), False)
    seconds = {"SciPy": 8.0, "CuPy": 1.0, "standard": 0.5, "fused": 0.25, "pipelined": 0.5}
    solves = {name: systems.Solve(x, [], 1, t) for name, t in seconds.items()}
    text = systems.summary(system, solves)
    assert text.endswith("32.00 times as fast as SciPy on a processor and 4.00 times as fast as CuPy on a GPU")
    solves["SciPy"] = systems.Solve(x, [], 4, 8.0, converged=False)
    assert "was in an iteration 8.00 times as fast as SciPy on a processor in its first 4 and" in systems.summary(
        system, solves
    )
    solves["SciPy"] = systems.Solve(x, [], 1, 8.0)
    del solves["CuPy"]
    assert systems.summary(system, solves).endswith("as SciPy on a processor")


def test_many_rows_are_not_solved_to_the_end_on_a_processor(systems, monkeypatch, capsys) -> None:
    system = systems.heat_step(12)
    with starling.machine.host(2) as m:
        whole = systems.solved(system, m)
        monkeypatch.setattr(systems, "MANY_ROWS", 144)
        monkeypatch.setattr(systems, "FIRST_ITERATIONS", 3)
        part = systems.solved(system, m)
    assert whole["SciPy"].converged
    assert (part["SciPy"].converged, part["SciPy"].iterations) == (False, 3)
    assert systems.show(Console(width=160), system, part)
    assert "the first 3" in capsys.readouterr().out


@pytest.mark.parametrize("tolerance", ["tol", "rtol"])
def test_cupy_is_asked_as_its_version_wants(systems, monkeypatch, tolerance: str) -> None:
    """A stand-in of SciPy's solver under the names of CuPy."""
    asked = []

    def solve(a, b, maxiter, callback, **given):
        asked.append(given)
        return scipy.sparse.linalg.cg(a, b, rtol=given.get(tolerance, 1e-5), maxiter=maxiter, callback=callback)

    def older(a, b, tol=1e-5, maxiter=None, callback=None):
        return solve(a, b, maxiter, callback, tol=tol)

    def newer(a, b, *, rtol=1e-5, maxiter=None, callback=None):
        return solve(a, b, maxiter, callback, rtol=rtol)

    modules = {name: types.ModuleType(name) for name in
               ("cupy", "cupyx", "cupyx.scipy", "cupyx.scipy.sparse", "cupyx.scipy.sparse.linalg")}  # fmt: skip
    modules["cupy"].asarray = modules["cupy"].asnumpy = np.asarray
    modules["cupy"].ndarray = modules["cupy"].generic = type("ndarray", (), {})  # NumPy's arrays are none of these
    modules["cupyx.scipy"].sparse = modules["cupyx.scipy.sparse"]
    modules["cupyx.scipy.sparse"].csr_matrix = scipy.sparse.csr_matrix
    modules["cupyx.scipy.sparse.linalg"].cg = older if tolerance == "tol" else newer
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    system = systems.heat_step(12)
    b = system.A @ np.ones(144)
    done = systems.solve_with_cupy(system.A, b)
    assert asked == [{tolerance: systems.RTOL}] * 2
    assert abs(done.x - 1).max() < 1e-5
    assert done.iterations == systems.solve_with_scipy(system.A, b).iterations > 2


def test_no_cupy_is_no_error(systems, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert systems.solve_with_cupy(None, np.ones(1)) is None


@pytest.mark.parametrize("options", [["--steps", "20"], ["--steps", "70", "--enlarge", "2", "--devices", "2"]])
def test_the_photograph(tmp_path, pes_per_gpu, options: list[str]) -> None:
    pytest.importorskip("skimage")
    told = tmp_path / "told.txt"
    words = [str(PROGRAMS["diffuse_photograph"]), *options, "--out", str(tmp_path), "--summary", str(told)]
    result = python(*words, STARLING_PES_PER_GPU=str(pes_per_gpu(2 if "--devices" in options else 1)))
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("yes, every bit") == 3
    assert result.stdout.splitlines()[-1] == told.read_text().strip()
    assert {path.name for path in tmp_path.glob("*.png")} == {"before.png", "after.png", "side_by_side.png"}


def test_the_systems(tmp_path) -> None:
    told = tmp_path / "told.txt"
    words = [str(PROGRAMS["solve_matrix"]), "--points", "30", "--out", str(tmp_path), "--summary", str(told)]
    result = python(*words)
    assert result.returncode == 0, result.stderr
    assert "cg of 900 rows was" in told.read_text()
    assert {path.name for path in tmp_path.glob("*.png")} == {"bar_residuals.png", "heat_step_residuals.png"}


@pytest.mark.parametrize(
    ("program", "options", "said"),
    [
        ("diffuse_photograph", ["--steps", "0"], "--steps 0: must be at least 1"),
        ("diffuse_photograph", ["--enlarge", "-1"], "--enlarge -1: must be at least 1"),
        ("solve_matrix", ["--points", "-1"], "--points -1: must be at least 0"),
        ("solve_matrix", ["missing.mtx"], "missing.mtx"),
    ],
)
def test_what_cannot_be_done_is_said(tmp_path, program: str, options: list[str], said: str) -> None:
    result = python(str(PROGRAMS[program]), *options, "--out", str(tmp_path))
    assert result.returncode != 0
    assert said in result.stderr
    assert "Traceback" not in result.stderr
