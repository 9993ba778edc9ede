"""Starling as a backend of networkx, found as an installed package is: by its entry points."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

from starling import _networkx

ROOT = Path(__file__).resolve().parents[2]


def entry_point(group):
    """What the package says in its metadata."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(rf'\[project\.entry-points\."{re.escape(group)}"\]\nstarling = "(.*)"', text)
    assert found
    return EntryPoint("starling", found.group(1), group)


# networkx looks for backends when it is loaded, so it is loaded again, by a program that may find one.
PROGRAM = """
import networkx as nx
import numpy as np
import pytest

from starling.errors import EntryError

nx.config.warnings_to_ignore.add("cache")  # of what is converted already
rng = np.random.default_rng(SEED)
graph = nx.DiGraph()
for u, v in rng.integers(0, 60, (300, 2)).tolist():
    graph.add_edge(u, v, weight=float(rng.integers(1, 9)))


def same(**options):
    theirs = nx.pagerank(graph, tol=1e-12, max_iter=500, **options)
    ours = nx.pagerank(graph, tol=1e-12, max_iter=500, backend="starling", **options)
    assert list(ours) == list(theirs)
    assert np.allclose(list(ours.values()), list(theirs.values()), rtol=1e-7), options


for options in ({}, {"weight": None}, {"alpha": 0.5, "personalization": {3: 1, 4: 2}}, {"dangling": {5: 1}}):
    same(**options)
assert list(nx.pagerank(graph, backend="starling", devices=2, dtype="float32")) == list(graph)
graph.remove_edges_from(list(graph.edges(3)))
graph.add_edge(3, 4, weight=100.0)
same()

with pytest.raises(nx.PowerIterationFailedConvergence):
    nx.pagerank(graph, tol=1e-14, max_iter=2, backend="starling")
graph.add_edge(3, 4, weight=-1)
with pytest.raises(EntryError, match="from 3 to 4"):
    nx.pagerank(graph, backend="starling")
with pytest.raises(NotImplementedError):
    nx.betweenness_centrality(graph, backend="starling")
print("as networkx does")
"""


def test_pagerank(tmp_path, rng, pes_per_gpu):
    metadata = tmp_path / "starling-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: starling\nVersion: 0\n")
    points = [entry_point(group) for group in ("networkx.backends", "networkx.backend_info")]
    (metadata / "entry_points.txt").write_text("".join(f"[{p.group}]\n{p.name} = {p.value}\n" for p in points))
    path = os.pathsep.join(map(str, (tmp_path, ROOT / "python", ROOT / "python/tests")))
    program = PROGRAM.replace("SEED", str(int(rng.integers(2**32))))
    environment = {**os.environ, "PYTHONPATH": path, "STARLING_PES_PER_GPU": str(pes_per_gpu(2))}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.stdout == "as networkx does\n", done.stderr


def test_what_networkx_is_told():
    info = _networkx.get_info()
    assert info["functions"].keys() == {"pagerank"}
    assert entry_point("networkx.backends").load() is _networkx.backend


def test_loading_networkx_loads_little():
    program = (
        "import sys; from starling import _networkx; _networkx.get_info(); "
        "print(sorted({'numpy', 'scipy', 'networkx', 'starling.graph'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT / "python")
    assert done.stdout.strip() == "[]", done.stderr
