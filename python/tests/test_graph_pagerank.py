"""PageRank: SciPy's power iteration and networkx are the oracles."""

from __future__ import annotations

import pickle
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from graph_cases import power_iteration, random_graph
from starling import _regions
from starling.errors import ArgumentError, ElementTypeError, EntryError, Error, NotConverged
from starling.graph import Progress, pagerank

CLOSE = {"float32": {"rtol": 2e-4, "atol": 1e-9}, "float64": {"rtol": 1e-8, "atol": 1e-14}}
EXACT = {"tol": 1e-13, "max_iter": 3000}


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dok", "lil"])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_random(devices, rng, form, n):
    a = random_graph(rng, int(rng.integers(5, 300)), 900, form=form)
    before = a.copy()
    ranks = pagerank(a, machine=devices(n), **EXACT)
    assert ranks.dtype == np.float64
    assert ranks.shape == (a.shape[0],)
    assert np.allclose(ranks, power_iteration(a), **CLOSE["float64"])
    assert abs(ranks.sum() - 1) < 1e-10
    assert (before != a).nnz == 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_weights(devices, rng, dtype):
    a = random_graph(rng, 120, 700, lambda n: rng.random(n) * 10)
    a.data[:3] = 0
    tol = 1e-13 if dtype == "float64" else 2e-9  # of the sum of changes; what is left is several times as much
    ranks = pagerank(a, dtype=dtype, tol=tol, max_iter=1000, machine=devices(2))
    assert ranks.dtype == dtype
    assert np.allclose(ranks, power_iteration(a), **CLOSE[dtype])
    ones = a.copy()
    ones.data[:] = 1
    assert np.allclose(pagerank(a, weight=None, machine=devices(2), **EXACT), power_iteration(ones), **CLOSE["float64"])


@pytest.mark.parametrize("order", ["auto", "given", "degree"])
def test_orders(devices, rng, order):
    a = random_graph(rng, 200, 900, lambda n: rng.random(n) * 10)
    teleport, start = rng.random(200), rng.random(200)
    where = {"personalization": teleport, "nstart": start, "machine": devices(3), **EXACT}
    ranks = pagerank(a, order=order, **where)
    expected = power_iteration(a, personalization=teleport)
    assert np.allclose(ranks, expected, **CLOSE["float64"])


def test_ones_are_not_stored(rng):
    a = random_graph(rng, 50, 200)
    _, report = pagerank(a, report=True)
    assert not report.weights
    assert report.entries == a.nnz
    a.data[0] = 2
    _, report = pagerank(a, report=True)
    assert report.weights


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.99, 1.0])
def test_alpha(rng, alpha):
    a = random_graph(rng, 60, 400) + sparse.eye_array(60)
    assert np.allclose(pagerank(a, alpha, max_iter=5000, tol=1e-11), power_iteration(a, alpha), rtol=1e-6, atol=1e-8)


def test_where_ranks_go(devices, rng):
    n = 80
    a = random_graph(rng, n, 300)
    assert np.any(np.diff(a.indptr) == 0)
    p, d, s = (rng.random(n) * (rng.random(n) < 0.5) for _ in range(3))
    expected = power_iteration(a, 0.7, p, s, d)
    got = pagerank(a, 0.7, p, nstart=s, dangling=d, machine=devices(3), **EXACT)
    assert np.allclose(got, expected, **CLOSE["float64"])
    by_vertex = [{i: v for i, v in enumerate(some.tolist()) if v > 0} for some in (p, d, s)]
    again = pagerank(a, 0.7, by_vertex[0], nstart=by_vertex[2], dangling=by_vertex[1], machine=devices(3), **EXACT)
    assert np.array_equal(got, again)
    assert np.allclose(pagerank(a, personalization=p, **EXACT), power_iteration(a, personalization=p), atol=1e-13)


def test_parallel_edges_count_both():
    a = sparse.coo_array(([1, 1, 1, 1], ([0, 0, 0, 1], [1, 1, 2, 2])), shape=(3, 3))
    graph = nx.MultiDiGraph([(0, 1), (0, 1), (0, 2), (1, 2)])
    expected = list(nx.pagerank(graph, tol=1e-13).values())
    assert np.allclose(pagerank(a, **EXACT), expected)
    assert np.allclose(list(pagerank(graph, **EXACT).values()), expected)
    kept = sparse.csr_array((np.ones(4), [2, 1, 1, 2], [0, 3, 4, 4]), shape=(3, 3))
    assert np.allclose(pagerank(kept, **EXACT), expected)
    assert kept.indices.tolist() == [2, 1, 1, 2]


def test_small_graphs(devices):
    assert pagerank(sparse.csr_array((0, 0))).shape == (0,)
    empty, report = pagerank(np.zeros((0, 0)), report=True, machine=devices(3))
    assert empty.size == 0
    assert (report.iterations, report.converged, report.devices) == (0, True, 3)
    assert pagerank(sparse.csr_array((1, 1))).tolist() == [1.0]
    assert pagerank([[1]]).tolist() == [1.0]
    assert np.allclose(pagerank(sparse.csr_array((7, 7))), 1 / 7)
    assert np.allclose(pagerank(np.eye(5), machine=devices(4)), 0.2)
    loops = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0]])
    assert np.allclose(pagerank(loops, **EXACT), power_iteration(loops))


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx(devices, rng, kind):
    names = [f"n{i}" for i in range(40)]
    graph = kind()
    graph.add_nodes_from(names)
    for _ in range(150):
        u, v = rng.choice(names, 2)
        graph.add_edge(str(u), str(v), weight=float(rng.integers(1, 9)), cost=float(rng.random()))
    graph.add_edge("n0", "n1")
    p = {name: float(rng.random()) for name in names[:9]} | {"elsewhere": 3.0}
    for options in ({}, {"weight": None}, {"weight": "cost", "personalization": p}, {"dangling": p, "alpha": 0.5}):
        theirs = nx.pagerank(graph, tol=1e-13, max_iter=1000, **options)
        ours = pagerank(graph, tol=1e-13, max_iter=1000, machine=devices(2), **options)
        assert list(ours) == names
        assert np.allclose(list(ours.values()), list(theirs.values()), **CLOSE["float64"])
        assert all(type(rank) is float for rank in ours.values())
    assert pagerank(kind()) == {}


def test_iterations(devices, rng):
    a = random_graph(rng, 200, 1500)
    seen = []
    ranks, report = pagerank(a, fixed_iterations=7, progress=seen.append, report=True, agent="polling", chunk="64K")
    assert report.iterations == len(report.history) == 7
    assert (report.agent, report.chunk_bytes, report.target) == ("polling", 65536, None)
    assert np.allclose(ranks, power_iteration(a, iterations=7), rtol=1e-10)
    assert all(isinstance(at, Progress) for at in seen)
    ranks, report = pagerank(a, tol=1e-5, report=True, machine=devices(3))
    assert report.converged
    assert report.history[-1] < report.target == pytest.approx(200e-5)
    assert len(report.bytes_sent) == report.devices == 3
    assert report.first_rows[-1] == report.rows == 200
    assert "pagerank" in repr(report)
    assert "<svg" in report._repr_html_()


def test_no_convergence(rng):
    a = random_graph(rng, 100, 900)
    with pytest.raises(NotConverged, match=r"last of 2 iterations.*max_iter") as caught:
        pagerank(a, max_iter=2, tol=1e-12)
    problem = caught.value
    assert problem.iterations == problem.report.iterations == 2
    assert problem.change == problem.report.history[-1] > 0
    assert np.allclose(problem.last, power_iteration(a, iterations=2))
    again = pickle.loads(pickle.dumps(problem))
    assert np.array_equal(again.last, problem.last)
    assert isinstance(problem, (Error, ArithmeticError))


@pytest.mark.parametrize(
    ("value", "text"), [(-1.0, "must not be negative"), (np.nan, "must be finite"), (np.inf, "must be finite")]
)
def test_wrong_weights(rng, value, text):
    a = random_graph(rng, 30, 100, lambda n: np.ones(n)).tocoo()
    a.data[17] = value
    row, column = int(a.coords[0][17]), int(a.coords[1][17])
    with pytest.raises(EntryError, match=rf"A\[{row}, {column}\] = {value}; weights {text}") as caught:
        pagerank(a)
    problem = pickle.loads(pickle.dumps(caught.value))
    assert (problem.row, problem.column) == (row, column)
    assert isinstance(problem, ValueError)
    graph = nx.DiGraph()
    graph.add_edge("a", "b", weight=value)
    with pytest.raises(EntryError, match="the edge from 'a' to 'b'"):
        pagerank(graph)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"alpha": 1.5}, "alpha = 1.5"),
        ({"order": "rcm"}, "order = 'rcm'"),
        ({"alpha": float("nan")}, "alpha"),
        ({"tol": -1}, "tol = -1"),
        ({"max_iter": 0}, "max_iter = 0"),
        ({"fixed_iterations": 0}, "fixed_iterations = 0"),
        ({"dtype": "float16"}, "dtype = 'float16'; must be 'float32' or 'float64'"),
        ({"dtype": "nonsense"}, "dtype = 'nonsense'; must be 'float32' or 'float64'"),
        ({"machine": "host", "devices": 200}, "up to 64 devices, the machine has 200; use devices=64 or fewer"),
        ({"agent": "carrier pigeon"}, "agent = 'carrier pigeon'"),
        ({"chunk": 17}, "chunk = 17"),
        ({"chunk": "64M"}, "chunk = '64M'"),
        ({"agent_blocks": 0}, "agent_blocks = 0; must be at least 1"),
        ({"agent_blocks": 10_000}, "agent_blocks = 10000; must be at most 4095"),
        ({"agent_blocks": 2, "agent": "own_warp"}, "agent_blocks = 2 with agent='own_warp', which has none"),
        ({"deadline": 0}, "deadline = 0"),
        ({"devices": 0}, "devices = 0"),
        ({"personalization": {}}, "personalization adds up to 0"),
        ({"personalization": np.zeros(4)}, "personalization adds up to 0"),
        ({"nstart": np.ones(5)}, r"nstart has the shape \(5,\)"),
        ({"dangling": {1: -2.0}}, r"dangling\[1\] = -2"),
        ({"dangling": {1: float("inf")}}, r"dangling\[1\] = inf"),
        ({"personalization": {4: 1.0}}, "a vertex of personalization = 4"),
    ],
)
def test_wrong_options(options, text):
    with pytest.raises(ArgumentError, match=text):
        pagerank(np.ones((4, 4)), **options)


@pytest.mark.parametrize(
    ("graph", "error", "text"),
    [
        (np.ones((3, 4)), ArgumentError, r"shape \(3, 4\)"),
        (sparse.csr_array((2, 5)), ArgumentError, r"shape \(2, 5\)"),
        (np.ones(4), ArgumentError, "shape"),
        (np.ones((2, 2), complex), ElementTypeError, "complex128"),
        (np.array([["a", "b"], ["c", "d"]]), ElementTypeError, "weights must be real"),
        ("graph.mtx", ElementTypeError, "starling.graph.read"),
        (None, ElementTypeError, "NoneType"),
        (7, ElementTypeError, "int"),
        (np.ma.masked_array(np.ones((2, 2)), mask=np.eye(2)), ElementTypeError, "masked"),
    ],
)
def test_no_graph(graph, error, text):
    with pytest.raises(error, match=text):
        pagerank(graph)


@pytest.mark.parametrize("dtype", ["f4", np.float32, np.dtype("float32"), ">f4"])
def test_names_of_element_types(dtype):
    assert pagerank(np.ones((4, 4)), dtype=dtype).dtype == np.float32
    with pytest.raises(ElementTypeError, match="'float32' or 'float64'"):
        pagerank(np.ones((4, 4)), dtype=np.int32)


def test_large_whole_numbers():
    graph = nx.DiGraph([("a", "b"), ("b", "a")])
    graph.add_edge("a", "b", weight=2**70)
    assert pagerank(graph) == {"a": 0.5, "b": 0.5}
    graph.add_edge("b", "a", weight=10**5000)
    with pytest.raises(
        EntryError, match="from 'b' to 'a' has a weight of 16610 bits, more than float64 holds"
    ) as caught:
        pagerank(graph)
    assert (caught.value.row, caught.value.column) == (1, 0)
    for weight in (np.complex64(1), np.timedelta64(3)):
        graph.add_edge("b", "a", weight=weight)
        with pytest.raises(ElementTypeError, match=r"from 'b' to 'a' has weight = .*; weights must be real numbers"):
            pagerank(graph)


def test_wrong_attributes():
    graph = nx.DiGraph()
    graph.add_edge(1, 2, weight="far")
    with pytest.raises(ElementTypeError, match="from 1 to 2 has weight = 'far'"):
        pagerank(graph)
    with pytest.raises(ElementTypeError, match=r"personalization\[1\] = 'x'"):
        pagerank(nx.DiGraph([(1, 2)]), personalization={1: "x"})
    with pytest.raises(ElementTypeError, match="personalization is a str"):
        pagerank(np.ones((2, 2)), personalization="all")


def test_large_sums():
    a = np.zeros((2, 2))
    a[0] = 3e38
    assert np.allclose(pagerank(a, **EXACT), power_iteration(a))
    with pytest.raises(EntryError, match="vertex 0 add up to 6e"):
        pagerank(a, dtype="float32")


def test_weights_that_are_too_small():
    a = np.array([[0, 1, 1e-50], [1, 0, 0], [0, 1e-60, 0]])
    with pytest.raises(EntryError, match=r"A\[0, 2\] = 1e-50; float32 holds.*float64'.*\(2 of 4") as caught:
        pagerank(a, dtype="float32")
    assert (caught.value.row, caught.value.column, caught.value.value) == (0, 2, 1e-50)
    assert np.allclose(pagerank(a, **EXACT), power_iteration(a))
    with pytest.raises(EntryError, match=r"float64 holds no weight between 0 and 2.23e-308; scale them"):
        pagerank(a * 1e-260)


def test_numbers_that_are_not_finite(monkeypatch):
    """No input is known that leads there, so the program is told to have seen one."""

    def broken(subject, *arrays, **options):
        report = _regions.nothing_to_do(subject, 1)
        return np.full(2, np.nan), replace(report, converged=False, iterations=3, history=(0.5, np.inf, np.nan))

    monkeypatch.setattr(_regions, "pagerank", broken)
    with pytest.raises(NotConverged, match=r"iteration 2 changes the ranks by inf.*beyond float64.*scale the weights$"):
        pagerank(np.ones((2, 2)))
    with pytest.raises(NotConverged, match=r"beyond float32.*or use dtype='float64'"):
        pagerank(np.ones((2, 2)), dtype="float32")


def test_damaged_matrix():
    a = sparse.csr_array(np.ones((3, 3)))
    a.indices[4] = 7
    with pytest.raises(ArgumentError, match="A is damaged"):
        pagerank(a)
