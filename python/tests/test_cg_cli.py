"""`starling solve`: files in, files out; what is wrong gives one line on stderr, an exit code, and no file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from scipy import io, sparse
from typer.testing import CliRunner

import starling
from cg_systems import random_system, residual
from starling.cli import app
from starling.linalg import DistributedMatrix, cg, matrices


@pytest.fixture
def system(tmp_path, rng, monkeypatch):
    """A current folder with a.mtx, b.npy and what they hold."""
    monkeypatch.chdir(tmp_path)
    a = random_system(rng, 60)
    b = rng.standard_normal(60)
    io.mmwrite("a.mtx", a, symmetry="symmetric", precision=17)
    np.save("b.npy", b)
    return a, b


@pytest.fixture
def solve(kind):
    """solve(...): the result of `starling solve ... --machine <under test>`."""

    def run(*arguments, code=0):
        result = CliRunner().invoke(app, ["solve", *map(str, arguments), "--machine", kind])
        assert result.exit_code == code, result.output
        return result

    return run


def test_files(solve, system, kind):
    a, b = system
    result = solve("a.mtx", "b.npy", "--out", "x.npy", "--devices", 1, "--rtol", 1e-10)
    x = np.load("x.npy")
    assert np.array_equal(x, cg(a, b, rtol=1e-10, machine=kind, devices=1)[0])
    assert "wrote x.npy" in result.stdout
    assert "converged" in result.stdout
    assert "fused, cpu_free, preconditioner none" in result.stdout
    assert "A @ ones" not in result.stdout
    assert result.stderr == ""


def test_without_right_hand_side(solve, system):
    result = solve("a.mtx", "--out", "x.npy", "--rtol", 1e-10)
    assert np.load("x.npy") == pytest.approx(np.ones(60))
    assert "b = A @ ones" in result.stdout
    assert "largest error" in result.stdout


def test_all_options(solve, system, kind):
    a, b = system
    io.mmwrite("b.mtx", b[:, None], precision=17)
    sparse.save_npz("a.npz", a)
    options = "--method standard --control cpu_free --preconditioner jacobi --rtol 1e-4 --atol 1e-3 --maxiter 500"
    where = "--devices 1 --partition rows --reorder rcm --storage sliced --dtype float32"
    solve(*f"a.npz b.mtx {options} {where} --out x.mtx --report r.json --plot h.png --debug".split())
    x = io.mmread("x.mtx").ravel()
    assert residual(a, x, b) <= 1.1 * max(1e-4 * np.linalg.norm(b), 1e-3)
    facts = json.loads(Path("r.json").read_text())
    assert facts["starling"] == starling.__version__
    assert (facts["matrix"], facts["right_hand_side"], facts["largest_error"]) == ("a.npz", "b.mtx", None)
    assert (facts["rows"], facts["nonzeros"], facts["dtype"]) == (60, a.nnz, "float32")
    assert (facts["method"], facts["control"], facts["preconditioner"]) == ("standard", "cpu_free", "jacobi")
    assert (facts["machine"], facts["devices"], len(facts["device_names"])) == (kind, 1, 1)
    assert (facts["reorder"], facts["storage"], facts["converged"]) == ("rcm", "sliced", True)
    assert len(facts["history"]) == facts["iterations"] + 1
    assert facts["asked"]["maxiter"] == 500
    assert facts["residual"] <= facts["target"]
    assert Path("h.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(os.listdir()) == sorted(["a.mtx", "a.npz", "b.npy", "b.mtx", "x.mtx", "r.json", "h.png"])


def test_preconditioners_with_numbers(solve, system):
    for name in ("none", "jacobi", "block_jacobi", "block_jacobi:2", "chebyshev", "chebyshev:5"):
        solve("a.mtx", "--preconditioner", name, "--report", "r.json")
        shown = json.loads(Path("r.json").read_text())["preconditioner"]
        assert shown.replace("(", ":").replace(")", "").startswith(name)


def test_nothing_is_written_unless_asked(solve, system):
    solve("a.mtx")
    assert sorted(os.listdir()) == ["a.mtx", "b.npy"]


def test_not_converged(solve, system):
    result = solve("a.mtx", "b.npy", "--maxiter", 2, "--rtol", 1e-12, "--out", "x.npy", "--report", "r.json", code=1)
    assert result.stderr.startswith("starling: not converged: residual")
    assert "--maxiter" in result.stderr
    assert np.load("x.npy").shape == (60,)
    facts = json.loads(Path("r.json").read_text())
    assert (facts["why"], facts["iterations"], facts["converged"]) == ("iterations", 2, False)


CASES = {
    "no such file": ("nowhere.mtx", ["nowhere.mtx", "no such file"]),
    "folder": (".", ["not a file"]),
    "unknown input": ("b.npy", ["b.npy", ".npy", ".mtx"]),
    "damaged": ("cut.mtx", ["cut.mtx", "line 3", "Truncated"]),
    "not symmetric": ("skew.mtx", ["symmetric"]),
    "not positive definite": ("wrong.mtx one.npy", ["not positive definite", "iteration", "must be positive"]),
    "no such right-hand side": ("a.mtx c.npy", ["c.npy", "no such file"]),
    "right-hand side too short": ("a.mtx short.npy", ["short.npy", "3 numbers", "60 rows"]),
    "right-hand side complex": ("a.mtx complex.npy", ["complex.npy", "complex128"]),
    "right-hand side NaN": ("a.mtx nan.npy", ["b[7] = nan"]),
    "unknown output": ("a.mtx --out x.txt", ["x.txt", ".txt", ".npy or .mtx"]),
    "missing folder": ("a.mtx --out no/x.npy", ["no", "does not exist"]),
    "report in a missing folder": ("a.mtx --report no/r.json", ["no", "does not exist"]),
    "plot": ("a.mtx --plot h.jpg", ["h.jpg", ".png"]),
    "rtol": ("a.mtx --rtol -1", ["rtol = -1", "at least 0"]),
    "atol": ("a.mtx --atol nan", ["atol = nan", "finite"]),
    "maxiter": ("a.mtx --maxiter 0", ["maxiter = 0", "at least 1"]),
    "devices": ("a.mtx --devices 0", ["devices = 0", "at least 1"]),
    "devices beyond rows": ("a.mtx --machine host --devices 61", ["60 rows", "61 devices"]),
    "preconditioner": ("a.mtx --preconditioner ilu", ["'ilu'", "jacobi"]),
    "preconditioner number": ("a.mtx --preconditioner chebyshev:x", ["'chebyshev:x'", "whole number"]),
    "preconditioner size": ("a.mtx --preconditioner block_jacobi:7", ["size = 7", "or 32"]),
    "storage": ("a.mtx short.npy --storage sliced_3x3", ["short.npy"]),
}


@pytest.mark.parametrize("case", CASES)
def test_wrong_use(system, case):
    head = "%%MatrixMarket matrix coordinate real general\n"
    Path("cut.mtx").write_text(head + "3 3 3\n1 1 1\n")
    Path("skew.mtx").write_text(head + "2 2 3\n1 1 1\n1 2 .5\n2 2 1\n")
    Path("wrong.mtx").write_text(head + "2 2 4\n1 1 1\n1 2 3\n2 1 3\n2 2 1\n")
    np.save("one.npy", np.array([1.0, -1.0]))
    np.save("short.npy", np.ones(3))
    np.save("complex.npy", np.ones(60) * 1j)
    np.save("nan.npy", np.where(np.arange(60) == 7, np.nan, 1.0))
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    words, texts = CASES[case]
    result = CliRunner().invoke(app, ["solve", *words.split()])
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("starling: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    for text in texts:
        assert text in result.stderr
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before


@pytest.mark.parametrize("words", ["", "a.mtx --method gmres", "a.mtx --control gpu", "a.mtx --rtol small", "--no"])
def test_wrong_words(system, words):
    result = CliRunner().invoke(app, ["solve", *words.split()])
    assert result.exit_code == 2
    assert "Usage" in result.stderr
    assert "Traceback" not in result.stderr


def test_failures_of_the_machine(system, monkeypatch):
    monkeypatch.setenv("STARLING_HOST_MEMORY", "1K")
    result = CliRunner().invoke(app, ["solve", "a.mtx", "--out", "x.npy", "--machine", "host"])
    assert result.exit_code == 1
    assert "STARLING_HOST_MEMORY" in result.stderr
    assert not Path("x.npy").exists()


def test_output_stays_when_writing_fails(system, monkeypatch, kind):
    Path("x.npy").write_bytes(b"before")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    result = CliRunner().invoke(app, ["solve", "a.mtx", "--out", "x.npy", "--machine", kind])
    assert result.exit_code == 1
    assert "No space left" in result.stderr
    assert Path("x.npy").read_bytes() == b"before"
    assert not [name for name in os.listdir() if name.endswith(".part")]


def test_interrupted(system, monkeypatch, kind):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(DistributedMatrix, "solve", interrupt)
    result = CliRunner().invoke(app, ["solve", "a.mtx", "--out", "x.npy", "--machine", kind])
    assert (result.exit_code, result.stderr) == (130, "starling: interrupted; nothing was written\n")
    assert not Path("x.npy").exists()


def test_ctrl_c(tmp_path, kind):
    path = tmp_path / "a.npz"
    side = 300 if kind == "host" else 1500  # GPUs would be at the end too soon
    sparse.save_npz(path, matrices.grid_2d(side, side))
    process = subprocess.Popen(
        [
            *[sys.executable, "-m", "starling", "solve", path, "--out", tmp_path / "x.npy"],
            *["--rtol", "0", "--maxiter", str(10**9), "--devices", "1", "--debug"],
        ],
        stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "STARLING_MACHINE": kind},
        # A shell that runs the tests in the background has its children ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert process.stderr is not None
    while "machine: " not in (line := process.stderr.readline()):  # then the matrix is read, and the solve begins
        assert line
    # The residual cannot become zero within this second, and it may not have stagnated either.
    time.sleep(1)
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130, err
        assert "interrupted; nothing was written" in err
    else:
        process.communicate()
        pytest.skip("it ended before it was interrupted")
    assert not (tmp_path / "x.npy").exists()
