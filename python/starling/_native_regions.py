"""What the native module promises of its programs on regions: PageRank, shortest paths, Jacobi's method.

The three functions:

``pagerank(machine, edges_in, out_weight, teleport, dangling, start, *, alpha, tolerance, most_iterations, fixed, agent,
chunk_bytes, agent_blocks, deadline, measuring, watch) -> (rank, report)``

``shortest_paths(machine, row_start, source, weight, from_vertex, *, predecessors, single, agent, chunk_bytes,
agent_blocks, deadline, measuring, watch) -> (distance, predecessor, report)``

``jacobi(machine, matrix, diagonal, b, x0, *, target, most_iterations, exchange, agent, chunk_bytes,
agent_blocks, deadline, measuring, watch) -> (x, report)``

All arrays are C-contiguous NumPy arrays in the memory of the host, one-dimensional unless said otherwise; T is float32
or float64, the same for all arrays of a call. Native code need not check them again but for what would make it crash.

* ``machine``: a ``Machine``. A PE may be without rows; there is at least one row.
* ``agent``: ``"auto"``, or one of :data:`starling._regions.AGENTS`; ``chunk_bytes``, ``agent_blocks``: 0 for auto;
  ``deadline``: seconds, 0 for the machine's; ``measuring``: a dictionary with the fields of
  ``starling.graph.Measuring``.
* ``watch``: None, or ``watch(iterations, value)``, called now and then with the interpreter lock held, while the
  program goes on or between two stretches of iterations; ``value`` is the last entry of ``history`` so far. What it
  raises ends the run and is raised by the call. So does Ctrl-C, also without a watch: the process's signals are polled
  as often.
* ``report``: a :class:`NativeFacts`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from starling.machine import Machine

Values: TypeAlias = "NDArray[Any]"
"""Of float32 or float64."""
Watch: TypeAlias = "Callable[[int, float], object] | None"


class NativeFacts(TypedDict):
    """The report of a native program."""

    converged: bool
    """The tolerance was reached; of shortest paths always true. With `fixed`: whether it would have been."""
    iterations: int
    history: list[float]
    """What each iteration changed: of PageRank the sum of absolute changes; of shortest paths how many vertices have a
    new distance; of Jacobi's method norm(b - A x) at the start and after each iteration."""
    seconds: float
    """Of the iterations alone."""
    agent: str
    """The one that was used, never "auto"."""
    chunk_bytes: int
    agent_blocks: int
    blocks: int
    """Of each PE, that compute."""
    threads: int
    tiles: int
    """Of each PE."""
    tiles_skipped: int
    """Of all PEs and rounds: shortest paths have left them out, since nothing that they read had changed."""
    first_rows: list[int]
    """[PEs + 1]"""
    bytes_sent: list[list[int]]
    """[from][to] by PE."""
    wait_seconds: list[float]
    """By PE: how long a block waited for chunks of others, on average."""
    storage: str
    """sliced, compressed, or diagonals."""
    sending: str
    links: tuple[float, float]
    """Bytes a second and seconds of latency of simulated links, 0 of what is not simulated."""
    line_stores: tuple[int, int]
    """128-byte lines that an epoch's stores to other PEs come in: as kernels write, and by chunks."""
    times: list[tuple[float, int, float, float, int, float]]
    """The fields of `Arrivals` by PE; nothing unless timed."""


class OrderedEdges(Protocol):
    """Edges as devices are given them, of weights of one element type, for one number of devices."""


class NativeRegions(Protocol):
    """What the native module has for this."""

    def OrderedGraph(  # noqa: N802 - a class
        self,
        row_start: NDArray[np.int64],
        source: NDArray[np.int32],
        weight: Values | None,
        *,
        single: bool,
        order: str,
        devices: int,
    ) -> OrderedEdges:
        """Numbers vertices for the devices.

        Args:
            row_start: [n + 1] where the edges that lead to each vertex begin.
            source: [edges] the vertex that each comes from, ascending for each vertex, each once.
            weight: [edges], at least 0 and finite. None: all are 1, and none are stored.
            single: Whether T is float32.
            order: One of :data:`starling._regions.ORDERS`.
        """

    def pagerank(
        self,
        machine: Machine,
        edges_in: OrderedEdges,
        out_weight: Values,
        teleport: Values | None,
        dangling: Values | None,
        start: Values | None,
        *,
        alpha: float,
        tolerance: float,
        most_iterations: int,
        fixed: bool,
        agent: str,
        chunk_bytes: int,
        agent_blocks: int,
        deadline: float,
        measuring: dict[str, Any],
        watch: Watch,
    ) -> tuple[Values, NativeFacts]:
        """Power iteration: ``x' = alpha (sum over in-edges of w x / out_weight + d m) + (1 - alpha) t``.

        Here m is the sum of x over the vertices whose `out_weight` is zero, d is `dangling` and t is `teleport`.

        Args:
            edges_in: The edges that lead to each vertex. Arrays are in the caller's order, whatever that is.
            out_weight: [n] the sum of the weights of the edges from each vertex, rounded from float64; 0: dangling. Its
                element type is that of the vectors and weights, T.
            teleport: [n], sum 1. None: 1/n each.
            dangling: [n], sum 1. None: the same as teleport.
            start: [n], sum 1. None: 1/n each.
            tolerance: Ends when the sum of ``abs(x' - x)`` is less than this.
            fixed: Do `most_iterations`, whatever changes.

        Returns:
            [n] of T: the x' of the last iteration.
        """

    def shortest_paths(
        self,
        machine: Machine,
        row_start: NDArray[np.int64],
        source: NDArray[np.int32],
        weight: Values | None,
        from_vertex: int,
        *,
        predecessors: bool,
        single: bool,
        agent: str,
        chunk_bytes: int,
        agent_blocks: int,
        deadline: float,
        measuring: dict[str, Any],
        watch: Watch,
    ) -> tuple[Values, NDArray[np.int32] | None, NativeFacts]:
        """Rounds of ``d'(v) = min(d(v), min over in-edges of d(u) + w)`` until nothing changes; at most n.

        Args:
            row_start, source: As for `pagerank`.
            weight: [edges] of T, at least 0 and finite; zero is a weight like others. None: all are 1.
            single: T is float32; else float64. Needed where there are no weights.

        Returns:
            Distances [n] of T, infinity where no path leads; with `predecessors` [n] the vertex before each on such a
            path, -9999 at `from_vertex` and where no path leads: ``d(p) + w == d(v)``, and following predecessors ends
            at `from_vertex`, also where weights are zero.
        """

    def jacobi(
        self,
        machine: Machine,
        matrix: tuple[NDArray[np.int64], NDArray[np.int32], Values] | tuple[NDArray[np.int32], Values],
        diagonal: Values,
        b: Values,
        x0: Values | None,
        *,
        target: float,
        most_iterations: int,
        exchange: str,
        agent: str,
        chunk_bytes: int,
        agent_blocks: int,
        deadline: float,
        measuring: dict[str, Any],
        watch: Watch,
    ) -> tuple[Values, NativeFacts]:
        """``x' = (b - R x) / diagonal`` until norm(b - A x) is not above `target`, A being R and the diagonal.

        Args:
            matrix: R, without its diagonal. Compressed rows: ``(row_start [n + 1], column [entries] ascending in each
                row, value [entries])``; or diagonals: ``(offset [k] int32, ascending, none of them 0, value [k, n])``,
                where ``value[j, i]`` is entry (i, i + offset[j]), and 0 where that is outside.
            diagonal: [n], none of them 0.
            x0: [n]; None: zero.
            exchange: ``"region"``: every PE gets all of x; ``"halo"``: what it reads.

        Returns:
            [n]: an x of which the last entry of the history is the residual, or a later one.
        """
