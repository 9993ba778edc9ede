"""The native programs that work on regions: PageRank, shortest ways, Jacobi's method.

This is the one place where Python meets them. Each function takes arrays that are checked and in the form that devices
read, and gives new arrays and a :class:`Report`. The three functions of the native module:

``pagerank(machine, row_start, source, weight, out_weight, teleport, dangling, start, *, alpha, tolerance,
most_iterations, fixed, order, agent, chunk_bytes, deadline, measuring, watch) -> (rank, report)``

``shortest_ways(machine, row_start, source, weight, from_vertex, *, predecessors, single, agent, chunk_bytes, deadline,
measuring, watch) -> (distance, predecessor, report)``

``jacobi(machine, matrix, diagonal, b, x0, *, target, most_iterations, exchange, agent, chunk_bytes, deadline,
measuring, watch) -> (x, report)``

All arrays are C-contiguous NumPy arrays in the memory of the host, one-dimensional unless said otherwise; T is float32
or float64, the same for all arrays of a call. Native code need not check them again but for what would make it crash.

* ``machine``: a ``Machine``. A PE may be without rows; there is at least one row.
* ``agent``: ``"auto"``, or one of :data:`AGENTS`; ``chunk_bytes``: 0 for auto; ``deadline``: seconds, 0 for the
  machine's; ``measuring``: a dictionary with the fields of ``starling.graph.Measuring``.
* ``watch``: None, or ``watch(iterations, value)``, called now and then with the interpreter lock held, while the
  program goes on or between two stretches of iterations; ``value`` is the last entry of ``history`` so far. What it
  raises ends the run and is raised by the call. So does Ctrl-C, also without a watch: the process's signals are looked
  at as often.
* ``report``: a dictionary with the keys of :data:`NATIVE_FACTS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, SupportsFloat, TypeAlias, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from starling import _region_tuning
from starling import machine as machines
from starling._arguments import callable_or_none, finite_number, one_of, whole_number
from starling._measuring import Arrivals, Measuring, as_arguments
from starling._native import native
from starling._region_report import Progress, Report
from starling.errors import ArgumentError
from starling.machine import Machine

Agent = Literal["auto", "inline", "polling", "bulk_polling", "own_warp", "launched", "copy_engine"]
Order = Literal["auto", "given", "degree"]
Exchange = Literal["region", "halo"]
AGENTS: tuple[Agent, ...] = ("auto", "inline", "polling", "bulk_polling", "own_warp", "launched", "copy_engine")
ORDERS: tuple[Order, ...] = ("auto", "given", "degree")
EXCHANGES: tuple[Exchange, ...] = ("region", "halo")

LEAST_CHUNK = 4096
MOST_CHUNK = 2**24
CHUNK_UNIT = 128  # bytes

Values: TypeAlias = "NDArray[Any]"
"""Of float32 or float64."""
Watch: TypeAlias = "Callable[[int, float], object] | None"


class Where(TypedDict, total=False):
    """The keyword arguments that all three programs have; :func:`starling.graph.pagerank` explains them."""

    devices: int | None
    machine: Machine | str | None
    agent: Agent
    chunk: int | str | None
    deadline: SupportsFloat | None
    progress: Callable[[Progress], object] | None
    measuring: Measuring | None


class Sending(TypedDict):
    """How what one PE computes comes to the others, and what runs beside it; the same for all three programs."""

    agent: str
    chunk_bytes: int
    deadline: float
    measuring: dict[str, Any]
    watch: Watch


class NativeFacts(TypedDict):
    """The report of a native program."""

    converged: bool
    """The tolerance was reached; of shortest ways always true. With `fixed`: whether it would have been."""
    iterations: int
    history: list[float]
    """What each iteration changed: of PageRank the sum of absolute changes; of shortest ways how many vertices have a
    new distance; of Jacobi's method norm(b - A x) at the start and after each iteration."""
    seconds: float
    """Of the iterations alone."""
    agent: str
    """The one that was used, never "auto"."""
    chunk_bytes: int
    blocks: int
    """Of each PE, that compute."""
    threads: int
    tiles: int
    """Of each PE."""
    tiles_skipped: int
    """Of all PEs and rounds: shortest ways have left them out, since nothing that they read had changed."""
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


class NativeRegions(Protocol):
    """What the native module has for this."""

    def pagerank(
        self,
        machine: Machine,
        row_start: NDArray[np.int64],
        source: NDArray[np.int32],
        weight: Values | None,
        out_weight: Values,
        teleport: Values | None,
        dangling: Values | None,
        start: Values | None,
        *,
        alpha: float,
        tolerance: float,
        most_iterations: int,
        fixed: bool,
        order: str,
        agent: str,
        chunk_bytes: int,
        deadline: float,
        measuring: dict[str, Any],
        watch: Watch,
    ) -> tuple[Values, NativeFacts]:
        """Power iteration: ``x' = alpha (sum over in-edges of w x / out_weight + d m) + (1 - alpha) t``.

        Here m is the sum of x over the vertices whose `out_weight` is zero, d is `dangling` and t is `teleport`.

        Args:
            row_start: [n + 1] where the edges that lead to each vertex begin.
            source: [edges] the vertex that each comes from, ascending for each vertex, each once.
            weight: [edges], at least 0 and finite. None: all are 1, and none are stored.
            out_weight: [n] the sum of the weights of the edges from each vertex, rounded from float64; 0: dangling. Its
                element type is that of the vectors, T.
            teleport: [n], sum 1. None: 1/n each.
            dangling: [n], sum 1. None: the same as teleport.
            start: [n], sum 1. None: 1/n each.
            tolerance: Ends when the sum of ``abs(x' - x)`` is less than this.
            fixed: Do `most_iterations`, whatever changes.
            order: One of :data:`ORDERS`: the numbers of vertices on the devices. Arrays are in the caller's order.

        Returns:
            [n] of T: the x' of the last iteration.
        """

    def shortest_ways(
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
            Distances [n] of T, infinity where no way leads; with `predecessors` [n] the vertex before each on such a
            way, -9999 at `from_vertex` and where no way leads: ``d(p) + w == d(v)``, and following predecessors ends at
            `from_vertex`, also where weights are zero.
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


NATIVE_FACTS = tuple(NativeFacts.__annotations__)


@dataclass(frozen=True)
class Subject:
    """What a report says of the matrix and of the machine, which the native part does not know or need not repeat."""

    program: str
    machine: Machine
    rows: int
    entries: int
    dtype: str
    weights: bool
    target: float | None


def pagerank(
    subject: Subject,
    *arrays: Any,
    alpha: float,
    tolerance: float,
    most_iterations: int,
    fixed: bool,
    order: Order,
    sending: Sending,
) -> tuple[Values, Report]:
    """:meth:`NativeRegions.pagerank` on the subject's machine."""
    sending = tuned(subject, sending)
    rank, facts = _native().pagerank(
        subject.machine,
        *arrays,
        alpha=alpha,
        tolerance=tolerance,
        most_iterations=most_iterations,
        fixed=fixed,
        order=order,
        **sending,
    )
    return rank, reported(subject, facts)


def shortest_ways(
    subject: Subject, *arrays: Any, predecessors: bool, sending: Sending
) -> tuple[Values, NDArray[np.int32] | None, Report]:
    """:meth:`NativeRegions.shortest_ways` on the subject's machine."""
    single = subject.dtype == "float32"
    sending = tuned(subject, sending)
    distance, predecessor, facts = _native().shortest_ways(
        subject.machine, *arrays, predecessors=predecessors, single=single, **sending
    )
    return distance, predecessor, reported(subject, facts)


def jacobi(
    subject: Subject, *arrays: Any, target: float, most_iterations: int, exchange: str, sending: Sending
) -> tuple[Values, Report]:
    """:meth:`NativeRegions.jacobi` on the subject's machine."""
    sending = tuned(subject, sending)
    x, facts = _native().jacobi(
        subject.machine, *arrays, target=target, most_iterations=most_iterations, exchange=exchange, **sending
    )
    return x, reported(subject, facts)


def on(machine: object, devices: int | None, rows: int) -> Machine:
    """The machine that these arguments mean; where nobody asked for more, not more devices than rows."""
    m = machines.of(machine, devices)
    if devices is None and not isinstance(machine, Machine) and m.size > max(rows, 1):
        return machines.named(m.kind, max(rows, 1))
    return m


def sending(
    agent: object,
    chunk: int | str | None,
    deadline: SupportsFloat | None,
    progress: Callable[[Progress], object] | None,
    target: float | None,
    measuring: object = None,
) -> Sending:
    """These arguments, checked."""
    one_of("agent", agent, AGENTS)
    callable_or_none("progress", progress)
    seconds = 0.0 if deadline is None else finite_number("deadline", deadline)
    if deadline is not None and not 0 < seconds < 1e6:
        raise ArgumentError(f"deadline = {deadline} s; must be more than 0 and less than 1e6")

    def watch(iterations: int, value: float) -> None:
        if progress is not None:
            progress(Progress(iterations, value, target))

    return {
        "agent": str(agent),
        "chunk_bytes": _chunk_bytes(chunk),
        "deadline": seconds,
        "measuring": as_arguments(measuring),
        "watch": None if progress is None else watch,
    }


def tuned(subject: Subject, asked: Sending) -> Sending:
    """What was asked for, and for what was left open what was found for such an input, if it was measured."""
    if asked["agent"] != "auto" and asked["chunk_bytes"] != 0:
        return asked
    found = _region_tuning.kept(subject.program, subject.entries, subject.machine)
    if found is None or asked["agent"] not in ("auto", found.agent):
        return asked
    return {**asked, "agent": found.agent, "chunk_bytes": asked["chunk_bytes"] or found.chunk}


def _chunk_bytes(chunk: int | str | None) -> int:
    if chunk is None:
        return 0
    size = native.parse_bytes(chunk, "chunk") if isinstance(chunk, str) else whole_number("chunk", chunk)
    if not LEAST_CHUNK <= size <= MOST_CHUNK or size % CHUNK_UNIT != 0:
        raise ArgumentError(
            f"chunk = {chunk!r}; must be from {LEAST_CHUNK} to {MOST_CHUNK} bytes ('4K' to '16M'), a multiple of "
            f"{CHUNK_UNIT}"
        )
    return int(size)


def nothing_to_do(subject: Subject, devices: int) -> Report:
    """The report on a graph without vertices, which no device sees."""
    zeros = [0] * devices
    return reported(
        subject,
        {
            "converged": True, "iterations": 0, "history": [], "seconds": 0.0, "agent": "none", "chunk_bytes": 0,
            "blocks": 0, "threads": 0, "tiles": 0, "tiles_skipped": 0, "first_rows": [0, *zeros],
            "bytes_sent": [zeros] * devices, "wait_seconds": [0.0] * devices, "storage": "none", "sending": "all",
            "links": (0.0, 0.0), "line_stores": (0, 0), "times": [],
        },
    )  # fmt: skip


def reported(subject: Subject, facts: NativeFacts) -> Report:
    """One report from what both know."""
    iterations, seconds = facts["iterations"], facts["seconds"]
    return Report(
        program=subject.program,
        converged=facts["converged"],
        iterations=iterations,
        history=tuple(facts["history"]),
        target=subject.target,
        seconds=seconds,
        microseconds_per_iteration=1e6 * seconds / max(iterations, 1),
        rows=subject.rows,
        entries=subject.entries,
        weights=subject.weights,
        storage=facts["storage"],
        dtype=subject.dtype,
        machine=subject.machine.kind,
        devices=subject.machine.size,
        choice=subject.machine.choice,
        first_rows=tuple(facts["first_rows"]),
        agent=facts["agent"],
        chunk_bytes=facts["chunk_bytes"],
        blocks=facts["blocks"],
        threads=facts["threads"],
        tiles=facts["tiles"],
        tiles_skipped=facts["tiles_skipped"],
        bytes_sent=tuple(tuple(row) for row in facts["bytes_sent"]),
        wait_seconds=tuple(facts["wait_seconds"]),
        sending=facts["sending"],
        simulated_links=facts["links"] if any(facts["links"]) else None,
        line_stores=facts["line_stores"],
        arrivals=tuple(Arrivals(*times) for times in facts["times"]),
    )


def _native() -> NativeRegions:
    return cast(NativeRegions, native)
