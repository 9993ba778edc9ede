"""Shortest paths: SciPy's dijkstra is the oracle, exact for whole numbers."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from graph_cases import random_graph
from starling.errors import ArgumentError, ElementTypeError, EntryError, RangeError
from starling.graph import generators, sssp


def check_predecessors(a, source, lengths, before):
    """Each predecessor lies on a shortest way, and following them ends at the source."""
    assert before.dtype == np.int32
    reached = np.isfinite(lengths)
    assert np.all(before[~reached] == -9999)
    assert before[source] == -9999
    coo = sparse.coo_array(a)
    weight = {}
    for u, v, w in zip(*coo.coords, coo.data, strict=True):
        weight[u, v] = min(w, weight.get((u, v), np.inf))
    for v in np.flatnonzero(reached):
        steps, at = 0, v
        while at != source:
            assert lengths[before[at]] + weight[before[at], at] == lengths[at]
            at = before[at]
            steps += 1
            assert steps <= len(lengths), "predecessors go round"


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_whole_numbers(devices, rng, form, count):
    n = int(rng.integers(5, 200))
    a = random_graph(rng, n, 4 * n, lambda m: rng.integers(0, 50, m), form)
    source = int(rng.integers(n))
    expected = dijkstra(sparse.csr_array(a), indices=source)
    lengths, before = sssp(a, source, True, machine=devices(count))
    assert lengths.dtype == np.float64
    assert np.array_equal(lengths, expected)
    check_predecessors(a, source, lengths, before)
    assert np.array_equal(sssp(a, source), expected)


def test_fractions(rng):
    a = random_graph(rng, 150, 900, lambda m: rng.random(m))
    lengths, before, report = sssp(a, 3, True, report=True)
    assert report.dtype == "float64"
    assert np.allclose(lengths, dijkstra(a, indices=3), rtol=1e-13)
    check_predecessors(a, 3, lengths, before)
    rough = sssp(a, 3, dtype="float32")
    assert rough.dtype == np.float64
    assert np.allclose(rough, lengths, rtol=1e-5)


def test_generated(devices):
    for a, source in (
        (generators.rmat(9, 8, seed=4, weights=(1, 64)), 0),
        (generators.road_like(20, seed=4), 210),
        (generators.hv15r_like(3, seed=4), 90),
    ):
        assert np.array_equal(sssp(a, source, machine=devices(3)), dijkstra(a, indices=source))


def test_large_whole_numbers():
    """Beyond 2^24 float32 is not exact, and float64 is taken; lengths that do not fit are seen before or afterwards."""
    chain = sparse.csr_array(([2**23, 2**23, 1, 1], ([0, 1, 2, 3], [1, 2, 3, 4])), shape=(5, 5))
    lengths, report = sssp(chain, 0, report=True)
    assert lengths.tolist() == [0, 2**23, 2**24, 2**24 + 1, 2**24 + 2]
    assert report.dtype == "float64"
    chain.data[0] = 1
    lengths, report = sssp(chain, 0, report=True)
    assert lengths.tolist() == [0, 1, 2**23 + 1, 2**23 + 2, 2**23 + 3]
    assert report.dtype == "float32"
    chain.data[0] = 2**24 + 1
    lengths, report = sssp(chain, 0, report=True)
    assert lengths[1] == 2**24 + 1
    assert report.dtype == "float64"


def test_zeros(devices, rng):
    """A stored zero is an edge; ways of length zero do not go round."""
    ring = sparse.csr_array(([0.0, 0, 0, 5], ([0, 1, 2, 2], [1, 2, 0, 3])), shape=(4, 4))
    lengths, before = sssp(ring, 1, True)
    assert lengths.tolist() == [0, 0, 0, 5]
    check_predecessors(ring, 1, lengths, before)
    assert sssp(ring.toarray(), 2).tolist() == [np.inf, np.inf, 0, 5]
    a = random_graph(rng, 60, 500, lambda m: rng.integers(0, 2, m))
    lengths, before = sssp(a, 0, True, machine=devices(3))
    assert np.array_equal(lengths, dijkstra(a, indices=0))
    check_predecessors(a, 0, lengths, before)


def test_parallel_edges():
    """The shortest counts, also where SciPy would add them up."""
    coo = sparse.coo_array(([7, 3, 5, 1], ([0, 0, 0, 1], [1, 1, 1, 2])), shape=(3, 3))
    assert sssp(coo, 0).tolist() == [0, 3, 4]
    assert coo.nnz == 4
    csr = sparse.csr_array(([5, 7, 3, 1], [1, 1, 1, 2], [0, 3, 4, 4]), shape=(3, 3))
    assert sssp(csr, 0).tolist() == [0, 3, 4]
    graph = nx.MultiDiGraph()
    graph.add_weighted_edges_from([("a", "b", 7), ("a", "b", 3), ("b", "c", 1)])
    assert sssp(graph, "a") == {"a": 0, "b": 3, "c": 4}


def test_small(devices):
    assert sssp(sparse.csr_array((1, 1)), 0).tolist() == [0]
    assert sssp([[4]], 0, True)[1].tolist() == [-9999]
    assert sssp(sparse.csr_array((3, 3)), 1).tolist() == [np.inf, 0, np.inf]
    lengths, report = sssp(np.eye(4), 2, report=True, machine=devices(4))
    assert lengths.tolist() == [np.inf, np.inf, 0, np.inf]
    assert report.program == "sssp"
    assert report.target is None


def test_networkx(devices, rng):
    graph = nx.Graph()
    for u, v in rng.integers(0, 50, (90, 2)).tolist():
        graph.add_edge(f"v{u}", f"v{v}", weight=int(rng.integers(0, 20)), hops=2)
    source = next(iter(graph))
    assert sssp(graph, source) == nx.single_source_dijkstra_path_length(graph, source)
    assert sssp(graph, source, weight=None) == nx.single_source_shortest_path_length(graph, source)
    lengths, before = sssp(graph, source, True, weight="hops", machine=devices(2))
    expected = nx.single_source_dijkstra_path_length(graph, source, weight="hops")
    assert lengths == expected
    assert before.keys() == expected.keys() - {source}
    assert all(graph.has_edge(u, v) and lengths[u] + 2 == lengths[v] for v, u in before.items())
    with pytest.raises(RangeError, match="source = 'nowhere' is no node"):
        sssp(graph, "nowhere")


@pytest.mark.parametrize("source", [-1, 4, 10**12])
def test_no_vertex(source):
    with pytest.raises(RangeError, match=rf"source = {source}; vertices are numbered from 0 to 3") as caught:
        sssp(np.ones((4, 4)), source)
    assert isinstance(caught.value, IndexError)


def test_wrong_arguments():
    with pytest.raises(RangeError, match="no vertices"):
        sssp(sparse.csr_array((0, 0)), 0)
    with pytest.raises(ElementTypeError, match=r"source = 1\.5"):
        sssp(np.ones((4, 4)), 1.5)
    with pytest.raises(ArgumentError, match="dtype = 'int32'"):
        sssp(np.ones((4, 4)), 0, dtype="int32")
    with pytest.raises(ArgumentError, match=r"shape \(4, 3\)"):
        sssp(np.ones((4, 3)), 0)
    with pytest.raises(ArgumentError, match=r"1e\+39 is more than float32 holds"):
        sssp(np.full((2, 2), 1e39), 0, dtype="float32")
    with pytest.raises(EntryError, match=r"A\[0, 0\] = 1e-50; float32 holds no weight between 0 and 1\.18e-38"):
        sssp(np.full((2, 2), 1e-50), 0, dtype=np.float32)
    with pytest.raises(
        EntryError, match=r"A\[2, 1\] = -4; weights must not be negative \(1 of 2 are wrong\)"
    ) as caught:
        sssp(sparse.csr_array(([1, -4], ([0, 2], [1, 1])), shape=(3, 3)), 0)
    assert (caught.value.row, caught.value.column, caught.value.value) == (2, 1, -4)
    with pytest.raises(EntryError, match=r"A\[0, 1\] = nan"):
        sssp(np.array([[0, np.nan], [0, 0]]), 0)


def test_tiles_skipped(devices):
    a = generators.road_like(120, seed=3)
    source = 120 // 2 * 121
    lengths, report = sssp(a, source, report=True, machine=devices(2), chunk=4096)
    assert np.array_equal(lengths, dijkstra(a, indices=source))
    visits = report.tiles * report.devices * (report.iterations + 1)
    assert 0 < report.tiles_skipped < visits
    whole = report.iterations * a.shape[0] * 4
    assert 0 < sum(map(sum, report.bytes_sent)) < whole
