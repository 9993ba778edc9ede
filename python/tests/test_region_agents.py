"""The programs on regions give the same whoever carries what they write to the other devices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from starling import graph, machine
from starling.linalg import jacobi

CARRIERS = [agent for agent in graph.AGENTS if agent != "auto"]


@pytest.mark.parametrize("agent", ["auto", "polling", "launched", "copy_engine"])
@pytest.mark.parametrize("blocks", [1, 3, 17])
def test_however_many_blocks_it_has(agent: graph.Agent, blocks: int) -> None:
    rng = np.random.default_rng(8)
    a = scipy.sparse.random(301, 301, 0.03, format="csr", random_state=rng, data_rvs=lambda n: rng.integers(1, 9, n))
    m = machine.host(3)
    rank, moved = graph.pagerank(a, machine=m, agent=agent, agent_blocks=blocks, chunk="4K", report=True)
    assert moved.agent_blocks == blocks
    np.testing.assert_array_equal(rank, graph.pagerank(a, machine=m, agent="inline", chunk="4K"))
    found, moved = graph.sssp(a, 5, machine=m, agent=agent, agent_blocks=blocks, report=True)
    np.testing.assert_array_equal(found, scipy.sparse.csgraph.dijkstra(a, indices=5))
    assert moved.agent_blocks == blocks
    dominant = a + scipy.sparse.diags(np.asarray(abs(a).sum(axis=1)).ravel() + 1.0)
    b = rng.random(301)
    x, moved = jacobi(dominant, b, machine=m, agent=agent, agent_blocks=blocks, rtol=1e-8, report=True)
    assert np.linalg.norm(b - dominant @ x) <= 1.1e-8 * np.linalg.norm(b)
    assert moved.agent_blocks == blocks


@pytest.mark.parametrize("agent", CARRIERS)
@pytest.mark.parametrize("devices", [1, 3])
def test_every_agent_gives_the_same(agent: graph.Agent, devices: int) -> None:
    rng = np.random.default_rng(7)
    a = scipy.sparse.random(301, 301, 0.03, format="csr", random_state=rng, data_rvs=lambda n: rng.integers(1, 9, n))
    m = machine.host(devices)
    rank, moved = graph.pagerank(a, machine=m, agent=agent, chunk="4K", report=True)
    assert moved.agent == agent
    np.testing.assert_array_equal(rank, graph.pagerank(a, machine=m, agent="inline", chunk="4K"))
    found = graph.sssp(a, 5, machine=m, agent=agent, chunk="4K")
    np.testing.assert_array_equal(found, scipy.sparse.csgraph.dijkstra(a, indices=5))
    dominant = a + scipy.sparse.diags(np.asarray(abs(a).sum(axis=1)).ravel() + 1.0)
    b = rng.random(301)
    for exchange in ("region", "halo"):
        x = jacobi(dominant, b, machine=m, agent=agent, exchange=exchange, rtol=1e-8)
        assert np.linalg.norm(b - dominant @ x) <= 1.1e-8 * np.linalg.norm(b)
