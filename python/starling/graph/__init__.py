"""Programs on graphs, on all devices of a machine: PageRank and shortest paths.

A graph is a sparse matrix of SciPy whose entry (i, j) is the weight of the edge from vertex i to vertex j, or a graph
of networkx. :func:`read` reads one from a file, :mod:`starling.graph.generators` makes some to try programs with.
Vertices are partitioned among the devices. Each device has the ranks or distances of all and computes those of its own
vertices, which are sent to the others while the rest is still being computed.

>>> from starling import graph
>>> A = graph.generators.rmat(8, edges_per_vertex=8, seed=2, weights=(1, 9))
>>> ranks, report = graph.pagerank(A, report=True, devices=3)
>>> report.converged, bool(abs(ranks.sum() - 1) < 1e-9)
(True, True)

Where networkx is installed, ``networkx.pagerank(G, backend="starling")`` comes here.
"""

from starling._measuring import Arrivals, Measuring
from starling._region_report import Progress, Report
from starling._regions import AGENTS, Agent
from starling.graph import generators
from starling.graph._pagerank import pagerank
from starling.graph._plot import plot_history
from starling.graph._read import read
from starling.graph._sssp import sssp
from starling.graph._tune import RegionTuning, plot_tuning, tune

__all__ = [
    "AGENTS",
    "Agent",
    "Arrivals",
    "Measuring",
    "Progress",
    "RegionTuning",
    "Report",
    "generators",
    "pagerank",
    "plot_history",
    "plot_tuning",
    "read",
    "sssp",
    "tune",
]
