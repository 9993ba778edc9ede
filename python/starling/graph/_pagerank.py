"""PageRank."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from starling import _regions
from starling._arguments import MOST_STEPS, finite_number, one_of, whole_number
from starling._element_types import floating_type
from starling._measuring import Measuring
from starling._native_regions import OrderedEdges
from starling._region_report import Progress, Report, first_not_finite
from starling._regions import Agent, Order, Where
from starling.errors import ArgumentError, ElementTypeError, EntryError, NotConverged
from starling.graph import _matrix
from starling.graph._matrix import Graph, InEdges
from starling.machine import Machine

if TYPE_CHECKING:
    from typing_extensions import Unpack

Shares: TypeAlias = "Mapping[Any, SupportsFloat] | NDArray[Any] | None"
"""Numbers for vertices."""
Ranks: TypeAlias = "NDArray[Any] | dict[Hashable, float]"


class PagerankOptions(Where, total=False):
    """The keyword arguments that networkx does not have."""

    dtype: DTypeLike
    fixed_iterations: SupportsIndex | None
    order: Order


@overload
def pagerank(
    A: Any,
    alpha: SupportsFloat = 0.85,
    personalization: Shares = None,
    max_iter: SupportsIndex = 100,
    tol: SupportsFloat = 1e-6,
    nstart: Shares = None,
    weight: str | None = "weight",
    dangling: Shares = None,
    *,
    report: Literal[False] = False,
    **options: Unpack[PagerankOptions],
) -> Any: ...
@overload
def pagerank(
    A: Any,
    alpha: SupportsFloat = 0.85,
    personalization: Shares = None,
    max_iter: SupportsIndex = 100,
    tol: SupportsFloat = 1e-6,
    nstart: Shares = None,
    weight: str | None = "weight",
    dangling: Shares = None,
    *,
    report: Literal[True],
    **options: Unpack[PagerankOptions],
) -> tuple[Any, Report]: ...
def pagerank(
    A: Any,
    alpha: SupportsFloat = 0.85,
    personalization: Shares = None,
    max_iter: SupportsIndex = 100,
    tol: SupportsFloat = 1e-6,
    nstart: Shares = None,
    weight: str | None = "weight",
    dangling: Shares = None,
    *,
    dtype: DTypeLike = "float64",
    fixed_iterations: SupportsIndex | None = None,
    order: Order = "auto",
    devices: int | None = None,
    machine: Machine | str | None = None,
    agent: Agent = "auto",
    chunk: int | str | None = None,
    agent_blocks: SupportsIndex | None = None,
    deadline: SupportsFloat | None = None,
    report: bool = False,
    progress: Callable[[Progress], object] | None = None,
    measuring: Measuring | None = None,
) -> Any:
    """The PageRank of the vertices of a graph, on all devices of a machine.

    The first arguments mean what they mean in ``networkx.pagerank``.

    Args:
        A: Sparse matrix or array of SciPy in any format or a NumPy array, of shape (N, N), whose entry (i, j) is the
            weight of an edge from i to j, at least 0; entries that are there twice count both. Or a graph of networkx,
            each edge of which leads both ways if it is undirected. It is not changed.
        alpha: The share of a vertex's rank that goes on along its edges, 0 to 1.
        personalization: Where the rest starts anew: numbers for vertices, at least 0 and not all 0, which count in
            proportion; a mapping (vertices that it does not name have 0) or an array of shape (N,). None: everywhere
            alike.
        max_iter: The most iterations, at least 1.
        tol: Ends when the absolute changes of an iteration add up to less than N times this.
        nstart: The ranks to begin with, in proportion, as `personalization`. None: all alike.
        weight: The name of the attribute that holds the weights of a networkx graph, 1 where it is missing. None: all
            edges count 1, each stored entry of a matrix too. Where all weights are 1, none are stored on the devices.
        dangling: Where the ranks of vertices without edges go, as `personalization`. None: as `personalization`.
        dtype: The element type of ranks and weights on the devices, float32 or float64.
        fixed_iterations: Do exactly so many, whatever changes; instead of `max_iter` and `tol`.
        order: How vertices are numbered on the devices: ``"given"``, as `A` has them; ``"degree"``, those with the most
            edges out first, distributed round-robin over the devices, so that reads of the ranks meet fewer lines of
            the caches and all devices have as much to send; ``"auto"``, by degree where reads clearly meet fewer lines.
            Results are in the order of `A`.
        devices: How many; None: all GPUs, or 4 virtual devices, or fewer where there are fewer vertices.
        machine: A machine, or ``"host"``, ``"cuda"`` or ``"auto"``; None: ``"auto"``.
        agent: How ranks come to the other devices while they are computed: ``"inline"``, by the blocks that compute
            them; ``"polling"``, by blocks of their own; ``"own_warp"``, by one more warp of each block that computes;
            ``"launched"``, by kernels that who completes a part launches, on virtual devices only; ``"copy_engine"``,
            by the devices' engines for copies; ``"auto"``, as :func:`tune` found, else polling.
        chunk: How much is sent at a time, 4 KB to 16 MB: bytes, or text such as ``"64K"``. None: as :func:`tune` found,
            else about 64 pieces of what a device has, from 64 KB to 1 MB each, and 1 MB with ``"copy_engine"``.
        agent_blocks: How many blocks of a device send, with ``"polling"`` or ``"launched"``, at least 1 and less than
            fit, or streams, with ``"copy_engine"``. None: as :func:`tune` found, else one for each 8 multiprocessors,
            and one stream. The other agents have none.
        deadline: Seconds that a wait on a device may last; None: ``STARLING_DEADLINE``.
        report: Return a :class:`Report` too.
        progress: Called with a :class:`Progress` now and then.
        measuring: A :class:`Measuring`, for finding out what sending costs; most of its options make results wrong.

    Returns:
        For a matrix a new array of shape (N,) of `dtype`, for a graph of networkx a dictionary by node; the sum is 1.
        With `report`, that and the report.

    Raises:
        NotConverged: `max_iter` did not suffice; ``last`` holds the ranks so far.
        EntryError: A weight is negative, NaN or infinite, or beyond what `dtype` holds; has ``row``, ``column`` and
            ``value``.
        ArgumentError: Another value is not allowed: the matrix is not square, all numbers of `personalization` are 0.
        ElementTypeError: `A` is no graph, or an array has another element type.
        OutOfMemory: The graph does not fit into the memory of the devices.
        Unsupported: The machine or the agent asked for cannot be had.
        StallError: A wait on a device passed its deadline.

    Source: L. Page, S. Brin, R. Motwani and T. Winograd, "The PageRank Citation Ranking: Bringing Order to the Web",
    1999, by power iteration; what is sent while it is computed follows "PROACT", 2021.

    >>> import numpy as np
    >>> from starling.graph import pagerank
    >>> links = np.array([[0, 1, 1], [0, 0, 1], [1, 0, 0]])
    >>> pagerank(links, devices=2).round(3).tolist()
    [0.388, 0.215, 0.397]
    """
    damping = finite_number("alpha", alpha, least=0)
    if damping > 1:
        raise ArgumentError(f"alpha = {damping}; must be from 0 to 1")
    threshold = finite_number("tol", tol, least=0)
    most = whole_number("max_iter", max_iter, most=MOST_STEPS)
    one_of("order", order, _regions.ORDERS)
    fixed = fixed_iterations is not None
    if fixed_iterations is not None:
        most = whole_number("fixed_iterations", fixed_iterations, most=MOST_STEPS)
    element = floating_type(dtype)
    graph = _matrix.as_graph(A, weight)
    _matrix.check_weights(graph)
    _matrix.check_least(graph, element)
    n = graph.vertices
    tolerance = threshold * n
    sending = _regions.sending(agent, chunk, agent_blocks, deadline, progress, tolerance, measuring)
    teleport = _shares(personalization, "personalization", graph, element)
    dangles = _shares(dangling, "dangling", graph, element)
    start = _shares(nstart, "nstart", graph, element)
    on = _regions.on(machine, devices, n)
    edges = _matrix.in_edges(graph, np.add, element)
    subject = _regions.Subject(
        "pagerank", on, n, edges.source.size, element.name, edges.weight is not None, None if fixed else tolerance
    )
    if n == 0:
        done = _regions.nothing_to_do(subject, on.size)
        rank = np.zeros(0, element)
    else:
        out_weights = graph.remember(("out weights", element.name), lambda: _out_weights(graph, element))
        rank, done = _regions.pagerank(
            subject, _ordered(graph, edges, element, order, on.size), out_weights, teleport, dangles, start,
            alpha=damping, tolerance=tolerance, most_iterations=most, fixed=fixed, sending=sending,
        )  # fmt: skip
    ranks = _by_node(graph, rank)
    if not done.converged and not fixed:
        raise _not_converged(ranks, done, tolerance)
    return (ranks, done) if report else ranks


def _not_converged(ranks: Ranks, done: Report, tolerance: float) -> NotConverged:
    change = done.history[-1] if done.history else float("nan")
    bad = first_not_finite(done.history)
    if bad is None:
        problem = (
            f"the last of {done.iterations} iterations changes the ranks by {change:.3g}, which is not less than "
            f"N tol = {tolerance:.3g}; allow more with max_iter, or a larger tol"
        )
    else:
        wider = ", or use dtype='float64'" if done.dtype == "float32" else ""
        problem = (
            f"iteration {bad + 1} changes the ranks by {done.history[bad]}: numbers are beyond {done.dtype}, which "
            f"more iterations do not mend; scale the weights{wider}"
        )
    return NotConverged(f"pagerank: {problem}", done.iterations, ranks, change, done)


def _ordered(graph: Graph, edges: InEdges, element: np.dtype[Any], order: Order, devices: int) -> OrderedEdges:
    def make() -> OrderedEdges:
        return _regions.ordered(edges.start, edges.source, edges.weight, element, order, devices)

    return graph.remember(("ordered", element.name, order, devices), make)


def _out_weights(graph: Graph, element: np.dtype[Any]) -> NDArray[Any]:
    """The sum of the weights of the edges from each vertex."""
    edges = graph.edges
    sums = np.zeros(graph.vertices, np.float64)
    rows = np.flatnonzero(np.diff(edges.indptr))
    if rows.size:
        weights = edges.data.astype(np.float64) if edges.dtype.kind in "iu" else edges.data
        sums[rows] = np.add.reduceat(weights, edges.indptr[rows], dtype=np.float64)
    limit = float(np.finfo(element).max)
    if sums.size and sums.max() > limit:
        row = int(np.argmax(sums > limit))
        raise EntryError(
            f"the weights of the edges from vertex {graph.name(row)!r} add up to {sums[row]:g}, more than {element} "
            "holds; scale them",
            row,
            int(edges.indices[edges.indptr[row]]),
            float(sums[row]),
        )
    return sums.astype(element)


def _shares(given: Shares, name: str, graph: Graph, element: np.dtype[Any]) -> NDArray[Any] | None:
    """Numbers for vertices, scaled so that they add up to 1."""
    if given is None:
        return None
    n = graph.vertices
    numbers = _of_mapping(given, name, graph) if isinstance(given, Mapping) else _of_array(given, name, n)
    wrong = ~((numbers >= 0) & (numbers < np.inf))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ArgumentError(f"{name}[{graph.name(at)!r}] = {numbers[at]}; must be finite and at least 0")
    total = float(numbers.sum())
    if n > 0 and not 0 < total < np.inf:
        raise ArgumentError(f"{name} adds up to {total:g}; give at least one vertex of the graph a number above 0")
    return (numbers / total).astype(element) if n else None


def _of_mapping(given: Mapping[Any, SupportsFloat], name: str, graph: Graph) -> NDArray[np.float64]:
    n = graph.vertices
    numbers = np.zeros(n, np.float64)
    index = None if graph.nodes is None else {node: i for i, node in enumerate(graph.nodes)}
    for key, value in given.items():
        if index is not None:
            at = index.get(key)  # as in networkx, what is no node of the graph does not count
            if at is None:
                continue
        else:
            at = whole_number(f"a vertex of {name}", key, least=0, most=max(n - 1, 0)) if n else 0
        try:
            numbers[at] = float(value)
        except (TypeError, ValueError):
            raise ElementTypeError(f"{name}[{key!r}] = {value!r} is a {type(value).__name__}; pass a number") from None
    return numbers


def _of_array(given: Any, name: str, n: int) -> NDArray[np.float64]:
    try:
        array = np.asarray(given)
    except (TypeError, ValueError, RuntimeError):
        array = np.asarray(None)
    if array.dtype.kind not in "biuf":
        raise ElementTypeError(f"{name} is a {type(given).__name__}; pass a dictionary by vertex, or {n} real numbers")
    if array.shape != (n,):
        raise ArgumentError(f"{name} has the shape {array.shape}; the graph has {n} vertices: pass an array of ({n},)")
    return array.astype(np.float64)


def _by_node(graph: Graph, rank: NDArray[Any]) -> Ranks:
    if graph.nodes is None:
        return rank
    return dict(zip(graph.nodes, rank.tolist(), strict=True))
