"""Graphs from files and from generators."""

from __future__ import annotations

import gzip
import io as streams
import pickle

import numpy as np
import pytest
from scipy import io, sparse

from graph_cases import random_graph
from starling.errors import ArgumentError, ElementTypeError, MatrixFileError
from starling.graph import generators, read


@pytest.fixture
def written(tmp_path):
    """written(name, text): the path of a new file, packed if its name says so."""

    def write(name, text):
        raw = text.encode() if isinstance(text, str) else text
        path = tmp_path / name
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") and isinstance(text, str) else raw)
        return path

    return write


def edges_of(a):
    coo = a.tocoo()
    return sorted(zip(coo.coords[0].tolist(), coo.coords[1].tolist(), coo.data.tolist(), strict=True))


@pytest.mark.parametrize("suffix", ["mtx", "mtx.gz", "npz", "npz.gz"])
@pytest.mark.parametrize("weights", ["pattern", "integer", "real"])
def test_matrices(tmp_path, rng, suffix, weights):
    a = random_graph(
        rng, 40, 200, {"pattern": None, "integer": lambda n: rng.integers(-9, 9, n)}.get(weights, rng.random)
    )
    path = tmp_path / f"a.{suffix}"
    raw = streams.BytesIO()
    if suffix.startswith("mtx"):
        io.mmwrite(raw, a.astype(np.int64) if weights == "integer" else a, field=weights, precision=17)
    else:
        sparse.save_npz(raw, a)
    path.write_bytes(gzip.compress(raw.getvalue()) if suffix.endswith("gz") else raw.getvalue())
    got = read(path)
    assert isinstance(got, sparse.csr_array)
    assert edges_of(got) == edges_of(a)
    assert got.has_sorted_indices


LIST = [(1, 2, 3), (3, 1, 4), (2, 2, 5), (1, 2, 6)]


@pytest.mark.parametrize("name", ["a.txt", "a.snap.gz", "a.tsv", "a.edges", "a.el", "a.csv", "a.csv.gz"])
@pytest.mark.parametrize("base", [0, 1])
@pytest.mark.parametrize("weights", [False, True])
def test_lists(written, name, base, weights):
    comma = "," if "csv" in name else "\t" if "tsv" in name else "  "
    lines = [comma.join(map(str, (u, v, w) if weights else (u, v))) for u, v, w in LIST]
    for before in ("", "# a comment\n#\n", "from,to,weight\n" if comma == "," else "", "% one\n\n"):
        path = written(name, before + "\n".join(lines) + "\n")
        a = read(path, base=base)
        assert a.shape == (4 - base, 4 - base)
        assert edges_of(a) == sorted((u - base, v - base, w if weights else 1) for u, v, w in LIST)
        assert a.dtype == (np.int64 if weights else np.int32)
        assert a.nnz == 4, "parallel edges stay"
        assert edges_of(read(path, base=base, vertices=9, weights=weights)) == edges_of(a)
    assert read(path, base=base, vertices=9).shape == (9, 9)


def test_list_details(written):
    both = read(written("a.txt", "0 1 2.5\n1 1 7\n"), directed=False)
    assert edges_of(both) == [(0, 1, 2.5), (1, 0, 2.5), (1, 1, 7)]
    assert both.dtype == np.float64
    for text in ("# nothing\n", "\n"):
        assert read(written("none.txt", text)).shape == (0, 0)
        assert read(written("none.csv", text), vertices=3).shape == (3, 3)
    assert edges_of(read(written("a.csv", "source,target\n0, 1\n 1,0"))) == [(0, 1, 1), (1, 0, 1)]
    assert edges_of(read(written("a.txt", "0 1\r\n1 0\r\n"))) == [(0, 1, 1), (1, 0, 1)]
    assert edges_of(read(str(written("a.txt", "0 1 1e3\n")))) == [(0, 1, 1000)]
    for text in ("0 1\n1 0\n", "# Stra\xdfen\n0 1\n1 0\n"):
        for name, raw in (("a.txt", text.encode("utf-8-sig")), ("a.txt.gz", gzip.compress(text.encode("utf-8-sig")))):
            assert edges_of(read(written(name, raw))) == [(0, 1, 1), (1, 0, 1)], "a mark before the first line"
        assert edges_of(read(written("a.txt", text.encode("latin1")))) == [(0, 1, 1), (1, 0, 1)]


@pytest.mark.parametrize(
    ("name", "text", "line", "part"),
    [
        ("a.txt", "0 1\n1 2\n2", 3, "has 1 columns, not 2, and ends there"),
        ("a.txt", "# c\n0 1\n\n1 2 3\n", 4, "has 3 columns, not 2"),
        ("a.txt", "0 1 2\n1 2\n", 2, "has 2 columns, not 3"),
        ("a.txt", "0 1\n1 x\n", 2, "has 'x' for a vertex"),
        ("a.txt", "0 1\n1 2.5\n", 2, "has '2.5' for a vertex"),
        ("a.txt", "0 1\n1 -2\n", 2, "has vertex -2, but vertices are numbered from 0"),
        ("a.txt.gz", "0 1\n7777777777 2\n", 2, "has vertex 7777777777; the last one is"),
        ("a.txt", "0 1\n99999999999999999999999 2\n", 2, "has vertex 99999999999999999999999"),
        ("a.txt", "0 1 1\n1 2 nan\n", 2, "has the weight nan"),
        ("a.txt", "0 1 1\n1 2 -inf\n", 2, "has the weight -inf"),
        ("a.txt", "0 1 1\n1 2 far\n", 2, "has 'far' for a weight"),
        ("a.csv", "a,b\n0,1\n1,\n", 3, "has '' for a vertex"),
        ("a.csv", "0,1\n1;2\n", 2, "has 1 columns, not 2"),
    ],
)
def test_damaged_lists(written, name, text, line, part):
    path = written(name, text)
    with pytest.raises(MatrixFileError, match="line") as caught:
        read(path)
    assert f"{path}, line {line}: {part}" in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).line == line


def test_vertices_out_of_range(written):
    path = written("a.txt", "1 2\n3 4\n")
    with pytest.raises(MatrixFileError, match="line 2: has vertex 4; the last one is 3"):
        read(path, vertices=4)
    with pytest.raises(MatrixFileError, match="line 2: has vertex 4; the last one is 3"):
        read(path, vertices=3, base=1)
    assert read(path, vertices=4, base=1).shape == (4, 4)
    with pytest.raises(MatrixFileError, match="line 2: has vertex 0, but vertices are numbered from 1"):
        read(written("b.txt", "1 2\n0 4\n"), base=1)


def test_cut_off(written, tmp_path, rng):
    lines = "".join(f"{i} {i + 1} {rng.random()}\n" for i in range(20000))
    packed, commas = (gzip.compress(text.encode()) for text in (lines, lines.replace(" ", ",")))
    for name, raw in (("a.txt.gz", packed[: len(packed) // 2]), ("a.csv.gz", commas[:5000]), ("b.txt.gz", packed[:9])):
        with pytest.raises(MatrixFileError, match=r"line \d+.*not a whole gzip file") as caught:
            read(written(name, raw))
        assert caught.value.line >= 1
    market = "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 2\n2 3\n"
    with pytest.raises(MatrixFileError, match="line 4") as caught:
        read(written("a.mtx", market))
    assert caught.value.line == 4
    with pytest.raises(MatrixFileError, match="line 5"):
        read(written("b.mtx", market + "4 1\n"))
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(np.eye(30)))
    whole = (tmp_path / "a.npz").read_bytes()
    with pytest.raises(MatrixFileError, match="not a whole sparse matrix"):
        read(written("b.npz", whole[:100]))
    with pytest.raises(MatrixFileError, match="not a whole"):
        read(written("b.npz.gz", gzip.compress(whole)[:50]))


def test_wrong_files(written, tmp_path):
    with pytest.raises(ArgumentError, match="no such file"):
        read(tmp_path / "nothing.txt")
    with pytest.raises(ArgumentError, match=r"suffix \.png is not known"):
        read(written("a.png", "1 2\n"))
    market = written("a.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 1\n")
    with pytest.raises(ArgumentError, match="2 x 3; that of a graph must be square"):
        read(market)
    with pytest.raises(ArgumentError, match="complex"):
        read(written("c.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 1\n"))
    for options in ({"base": 0}, {"vertices": 2}, {"weights": False}, {"directed": False}):
        with pytest.raises(ArgumentError, match=next(iter(options))):
            read(market, **options)
    with pytest.raises(ArgumentError, match="base = 2"):
        read(written("b.txt", "1 2\n"), base=2)
    with pytest.raises(ElementTypeError, match="vertices = 'all'"):
        read(written("b.txt", "1 2\n"), vertices="all")


def test_symmetric_market(written):
    path = written("a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n")
    assert edges_of(read(path)) == [(0, 1, 1), (1, 0, 1), (2, 2, 1)]


GENERATORS = [
    (generators.rmat, (8, 8)),
    (generators.wikipedia_like, (500,)),
    (generators.hv15r_like, (3,)),
    (generators.road_like, (25,)),
]


@pytest.mark.parametrize(("make", "arguments"), GENERATORS)
def test_seeds(make, arguments):
    a = make(*arguments, seed=5)
    assert isinstance(a, sparse.csr_array)
    assert a.has_canonical_format
    again = make(*arguments, seed=5)
    assert np.array_equal(a.indices, again.indices)
    assert np.array_equal(a.data, again.data)
    other = make(*arguments, seed=6)
    assert other.nnz != a.nnz or not np.array_equal(a.data, other.data) or not np.array_equal(a.indices, other.indices)


def test_rmat():
    a = generators.rmat(10, edges_per_vertex=16, weights=(3, 7))
    assert a.shape == (1024, 1024)
    assert 0.5 * 16 * 1024 < a.nnz <= 16 * 1024
    assert set(np.unique(a.data)) == {3, 4, 5, 6, 7}
    degrees = np.diff(a.indptr)
    assert degrees.max() > 10 * degrees.mean()
    assert set(generators.rmat(5).data) == {1}


def test_wikipedia_like():
    a = generators.wikipedia_like(2000, 9000)
    assert a.shape == (2000, 2000)
    assert a.nnz == 9000
    assert not np.any(a.diagonal())
    assert set(a.data) == {1}
    assert np.bincount(a.indices).max() > 20 * 9000 / 2000
    assert generators.wikipedia_like(2000).nnz == 2000 * 45_030_389 // 3_566_907
    assert generators.wikipedia_like(3, 3).nnz == 3
    assert generators.wikipedia_like(2, 0).nnz == 0
    assert (generators.WIKIPEDIA_VERTICES, generators.WIKIPEDIA_EDGES) == (3_566_907, 45_030_389)


def test_hv15r_like():
    a = generators.hv15r_like(5)
    assert a.shape == (5**3 * 7,) * 2
    assert (a != a.T).nnz == 0
    assert a[0].nnz < a[a.shape[0] // 2].nnz == 21 * 7
    assert a.data.min() >= 1
    assert a.data.max() <= 64
    points = generators.HV15R_POINTS
    assert len(set(points)) == 21
    n = 66
    rows = sum((n - abs(x)) * (n - abs(y)) * (n - abs(z)) for x, y, z in points)
    assert (n**3 * 7, rows * 49) == (2_012_472, 288_615_096)
    assert generators.hv15r_like(1).shape == (7, 7)


def test_road_like():
    a = generators.road_like(40)
    assert a.shape == (1600, 1600)
    assert (a != a.T).nnz == 0
    assert a.nnz == 2 * (2 * 40 * 39 - round(0.3 * 2 * 40 * 39))
    rows, columns = sparse.coo_array(a).coords
    assert set(np.abs(rows - columns).tolist()) == {1, 40}
    assert a.data.min() >= 1
    assert a.data.max() <= 100
    assert generators.road_like(4, removed=1).nnz == 0
    assert generators.road_like(4, removed=0).nnz == 48
    assert generators.road_like(1).shape == (1, 1)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: generators.rmat(0), "scale = 0"),
        (lambda: generators.rmat(31), "scale = 31"),
        (lambda: generators.rmat(4, weights=(5, 2)), r"weights\[1\] = 2"),
        (lambda: generators.rmat(4, weights=3), "weights = 3"),
        (lambda: generators.rmat(4, seed=-1), "seed = -1"),
        (lambda: generators.road_like(3, removed=1.5), "removed = 1.5"),
        (lambda: generators.road_like(0), "side = 0"),
        (lambda: generators.wikipedia_like(4, 13), "edges = 13"),
        (lambda: generators.hv15r_like(0), "cells = 0"),
    ],
)
def test_wrong_sizes(call, text):
    with pytest.raises((ArgumentError, ElementTypeError), match=text):
        call()
