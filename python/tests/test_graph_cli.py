"""`starling pagerank`, `sssp` and `jacobi`: files in, files out; what is wrong gives one line on stderr, an exit code,
and no file."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from scipy import io, sparse
from scipy.sparse.csgraph import dijkstra
from typer.testing import CliRunner

from graph_cases import power_iteration, random_graph
from starling import _regions
from starling.cli import app


@pytest.fixture
def graph(tmp_path, rng, monkeypatch):
    """A current folder with a graph in several forms, and its matrix."""
    monkeypatch.chdir(tmp_path)
    last = sparse.csr_array(([3.0], ([49], [0])), shape=(50, 50))  # a list has vertices up to the last with an edge
    a = random_graph(rng, 50, 300, lambda n: rng.integers(1, 9, n)) + last
    io.mmwrite("a.mtx", a, field="integer")
    sparse.save_npz("a.npz", a)
    coo = a.tocoo()
    rows = list(zip(coo.coords[0].tolist(), coo.coords[1].tolist(), coo.data.tolist(), strict=True))
    with gzip.open("a.csv.gz", "wt") as file:
        file.writelines(f"{u},{v},{w:.0f}\n" for u, v, w in rows)
    with open("a.txt", "w") as file:
        file.writelines(f"{u + 1}\t{v + 1}\t{w:.0f}\n" for u, v, w in rows)
    return a


@pytest.fixture
def starling(kind):
    """starling(command, ...): what it says, on the machine under test."""

    def run(*arguments, code=0):
        result = CliRunner().invoke(app, [*map(str, arguments), "--machine", kind])
        assert result.exit_code == code, result.output
        return result

    return run


FILES = [("a.mtx",), ("a.npz",), ("a.csv.gz", "--base", 0), ("a.txt", "--base", 1)]


@pytest.mark.parametrize("file", FILES)
def test_pagerank(starling, graph, file, pes_per_gpu):
    got = starling(
        "pagerank", *file, "--tol", 1e-12, "--max-iter", 500, "--out", "r.npy", "--report", "r.json", "--plot", "r.png",
        "--devices", 3, "--pes-per-gpu", pes_per_gpu(3), "--top", 4, "--agent", "polling", "--chunk", "8K",
        "--agent-blocks", 2,
    )  # fmt: skip
    ranks = np.load("r.npy")
    assert np.allclose(ranks, power_iteration(graph))
    report = json.loads(Path("r.json").read_text())
    assert report["converged"]
    assert (report["devices"], report["rows"], report["entries"]) == (3, 50, graph.nnz)
    assert (report["asked"]["chunk"], report["chunk_bytes"]) == ("8K", 8192)
    assert (report["asked"]["agent_blocks"], report["agent_blocks"]) == (2, 2)
    assert Path("r.png").read_bytes()[:4] == b"\x89PNG"
    first = 0 if file[0] in ("a.npz", "a.csv.gz") else 1
    table = got.stdout.split("largest ranks")[1].splitlines()
    shown = [int(line.split("│")[1]) for line in table if line.startswith("│")]
    assert shown == (np.argsort(-ranks, kind="stable")[:4] + first).tolist()
    assert "wrote r.npy" in got.stdout
    assert "wrote r.png" in got.stdout
    assert got.stderr == ""


def test_pagerank_options(starling, graph):
    starling("pagerank", "a.mtx", "--no-weights", "--alpha", 0.5, "--out", "r.csv", "--tol", 1e-12, "--top", 0)
    lines = Path("r.csv").read_text().splitlines()
    assert lines[0] == "number,rank"
    table = np.loadtxt("r.csv", delimiter=",", skiprows=1)
    ones = graph.copy()
    ones.data[:] = 1
    assert table[:, 0].tolist() == list(range(1, 51))
    assert np.allclose(table[:, 1], power_iteration(ones, 0.5))
    starling("pagerank", "a.csv.gz", "--no-directed", "--out", "u.npy", "--tol", 1e-12, "--dtype", "float64")
    loops = sparse.diags_array(graph.diagonal())
    assert np.allclose(np.load("u.npy"), power_iteration(graph + graph.T - loops))


def test_no_convergence(starling, graph):
    got = starling("pagerank", "a.mtx", "--max-iter", 2, "--out", "r.npy", "--report", "r.json", code=1)
    assert np.allclose(np.load("r.npy"), power_iteration(graph, iterations=2))
    assert not json.loads(Path("r.json").read_text())["converged"]
    assert "the last of 2 iterations" in got.stderr
    assert got.stderr.count("\n") == 1


@pytest.mark.parametrize("file", FILES)
def test_sssp(starling, graph, file, pes_per_gpu):
    first = 0 if file[0] in ("a.npz", "a.csv.gz") else 1
    two = ("--devices", 2, "--pes-per-gpu", pes_per_gpu(2))
    got = starling("sssp", *file, "--source", 7 + first, "--out", "d.csv", "--plot", "d.png", *two)
    expected = dijkstra(graph, indices=7)
    numbers, lengths, before = np.genfromtxt("d.csv", delimiter=",", skip_header=1).T
    assert numbers.tolist() == list(range(first, 50 + first))
    assert np.array_equal(lengths, expected)
    reached = np.isfinite(expected) & (np.arange(50) != 7)
    assert np.all(before[~reached] == -9999)
    assert np.all(expected[before[reached].astype(int) - first] < expected[reached])
    assert f"{reached.sum() + 1} of 50 vertices reached from {7 + first}" in got.stdout
    assert "farthest vertices" in got.stdout
    starling("sssp", *file, "--source", 7 + first, "--out", "d.npy", "--no-weights")
    assert np.array_equal(np.load("d.npy"), dijkstra(graph, indices=7, unweighted=True))


def test_jacobi(starling, graph, rng):
    a = sparse.csr_array(graph + sparse.diags_array(np.asarray(graph.sum(axis=1)).ravel() + 9.0))
    io.mmwrite("j.mtx", a)
    got = starling("jacobi", "j.mtx", "--out", "x.npy", "--rtol", 1e-10, "--plot", "x.png", "--report", "x.json")
    assert np.allclose(np.load("x.npy"), 1)
    assert "b = A @ ones" in got.stdout
    b = rng.standard_normal(50)
    np.save("b.npy", b)
    starling("jacobi", "j.mtx", "b.npy", "--out", "x.csv", "--rtol", 1e-10, "--exchange", "halo", "--layout", "dia")
    assert np.allclose(a @ np.loadtxt("x.csv", delimiter=",", skiprows=1)[:, 1], b)
    got = starling("jacobi", "j.mtx", "b.npy", "--out", "y.npy", "--rtol", 1e-14, "--maxiter", 1, code=1)
    assert np.load("y.npy").shape == (50,)
    assert "after 1 iterations" in got.stderr
    got = starling("jacobi", "a.mtx", code=2)
    assert "not strictly diagonally dominant" in got.stderr


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("pagerank", "nothing.mtx"), "no such file"),
        (("pagerank", "a.png"), "no such file"),
        (("pagerank", "a.mtx", "--base", 1), "base = 1"),
        (("pagerank", "a.txt", "--base", 0, "--out", "r.xls"), "suffix .xls"),
        (("pagerank", "a.txt", "--report", "nowhere/r.json"), "folder nowhere does not exist"),
        (("pagerank", "a.txt", "--chunk", "1K"), "chunk = '1K'"),
        (("pagerank", "a.txt", "--alpha", 2), "alpha = 2"),
        (("sssp", "a.mtx", "--source", 0), "source = 0, but the first vertex of the file has the number 1"),
        (("sssp", "a.npz", "--source", 50), "source = 50; vertices are numbered from 0 to 49"),
        (("sssp", "b.txt", "--source", 0), "b.txt, line 2: has 1 columns, not 2, and ends there"),
        (("sssp", "c.txt", "--source", 0), "A[0, 1] = -4"),
        (("jacobi", "a.mtx", "c.npy"), "c.npy: no such file"),
    ],
)
def test_wrong_use(starling, graph, tmp_path, arguments, text):
    (tmp_path / "b.txt").write_text("0 1\n1")
    (tmp_path / "c.txt").write_text("0 1 -4\n")
    before = sorted(p.name for p in tmp_path.iterdir())
    got = starling(*arguments, code=2)
    assert text in got.stderr
    assert got.stderr.startswith("starling: ")
    assert got.stderr.count("\n") == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", [("pagerank", "a.mtx"), ("sssp", "a.mtx", "--source", 1), ("jacobi", "j.mtx")])
def test_interrupted(starling, graph, tmp_path, command, monkeypatch):
    io.mmwrite("j.mtx", graph + sparse.diags_array(np.asarray(graph.sum(axis=1)).ravel() + 9.0))

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(_regions, "reported", interrupted)
    got = starling(*command, "--out", "o.npy", code=130)
    assert "interrupted; nothing was written" in got.stderr
    assert not (tmp_path / "o.npy").exists()


def test_empty_graph(starling, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.txt").write_text("# nothing\n")
    starling("pagerank", "e.txt", "--out", "e.npy", "--plot", "e.png")
    assert np.load("e.npy").shape == (0,)
    got = starling("sssp", "e.txt", "--source", 0, code=2)
    assert "no vertices" in got.stderr
