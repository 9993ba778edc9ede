"""The native programs that work on regions: PageRank, shortest paths, Jacobi's method.

The one place where Python meets them. Each function takes arrays that are checked and in the form that devices read,
and gives new arrays and a :class:`Report`; :mod:`starling._native_regions` says what native code expects and gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from starling import _region_tuning
from starling import machine as machines
from starling._arguments import callable_or_none, finite_number, one_of, whole_number
from starling._measuring import Arrivals, Measuring, as_arguments
from starling._native import native
from starling._native_regions import NativeFacts, NativeRegions, OrderedEdges, Values, Watch
from starling._region_report import Progress, Report
from starling.errors import ArgumentError
from starling.machine import Machine

Agent = Literal["auto", "inline", "polling", "own_warp", "launched", "copy_engine"]
Order = Literal["auto", "given", "degree"]
Exchange = Literal["auto", "region", "halo"]
AGENTS: tuple[Agent, ...] = ("auto", "inline", "polling", "own_warp", "launched", "copy_engine")
ORDERS: tuple[Order, ...] = ("auto", "given", "degree")
EXCHANGES: tuple[Exchange, ...] = ("auto", "region", "halo")

MOST_DEVICES = 64  # as most_pes of the native part
LEAST_CHUNK = 4096
MOST_CHUNK = 2**24
CHUNK_UNIT = 128  # bytes
MOST_AGENT_BLOCKS = 4095


class Where(TypedDict, total=False):
    """The keyword arguments that all three programs have; :func:`starling.graph.pagerank` explains them."""

    devices: int | None
    machine: Machine | str | None
    agent: Agent
    chunk: int | str | None
    agent_blocks: SupportsIndex | None
    deadline: SupportsFloat | None
    progress: Callable[[Progress], object] | None
    measuring: Measuring | None


class Sending(TypedDict):
    """How what one PE computes comes to the others, and what runs beside it; the same for all three programs."""

    agent: str
    chunk_bytes: int
    agent_blocks: int
    deadline: float
    measuring: dict[str, Any]
    watch: Watch


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
    sending: Sending,
) -> tuple[Values, Report]:
    """:meth:`NativeRegions.pagerank` on the subject's machine."""
    sending = tuned(subject, sending)
    before = subject.machine.traffic
    rank, facts = _native().pagerank(
        subject.machine,
        *arrays,
        alpha=alpha,
        tolerance=tolerance,
        most_iterations=most_iterations,
        fixed=fixed,
        **sending,
    )
    return rank, reported(subject, facts, before)


def shortest_paths(
    subject: Subject, *arrays: Any, predecessors: bool, sending: Sending
) -> tuple[Values, NDArray[np.int32] | None, Report]:
    """:meth:`NativeRegions.shortest_paths` on the subject's machine."""
    single = subject.dtype == "float32"
    sending = tuned(subject, sending)
    before = subject.machine.traffic
    distance, predecessor, facts = _native().shortest_paths(
        subject.machine, *arrays, predecessors=predecessors, single=single, **sending
    )
    return distance, predecessor, reported(subject, facts, before)


def jacobi(
    subject: Subject, *arrays: Any, target: float, most_iterations: int, exchange: str, sending: Sending
) -> tuple[Values, Report]:
    """:meth:`NativeRegions.jacobi` on the subject's machine."""
    sending = tuned(subject, sending)
    before = subject.machine.traffic
    x, facts = _native().jacobi(
        subject.machine, *arrays, target=target, most_iterations=most_iterations, exchange=exchange, **sending
    )
    return x, reported(subject, facts, before)


def ordered(start: Any, source: Any, weight: Any, element: np.dtype[Any], order: Order, devices: int) -> OrderedEdges:
    """Edges by where they lead to, as :func:`pagerank` takes them."""
    return _native().OrderedGraph(start, source, weight, single=element == np.float32, order=order, devices=devices)


def on(machine: object, devices: int | None, rows: int) -> Machine:
    """The machine that these arguments mean; where nobody asked for more, not more devices than rows."""
    m = machines.of(machine, devices)
    if devices is None and not isinstance(machine, Machine) and m.size > max(rows, 1):
        m = machines.named(m.kind, max(rows, 1))
    check_size(m)
    return m


def check_size(m: Machine) -> None:
    """Raises ArgumentError for a machine with more devices than regions have."""
    if m.size > MOST_DEVICES:
        raise ArgumentError(
            f"regions take up to {MOST_DEVICES} devices, the machine has {m.size}; use devices={MOST_DEVICES} or fewer"
        )


def sending(
    agent: object,
    chunk: int | str | None,
    agent_blocks: SupportsIndex | None,
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
        "agent_blocks": _agent_blocks(agent, agent_blocks),
        "deadline": seconds,
        "measuring": as_arguments(measuring),
        "watch": None if progress is None else watch,
    }


def tuned(subject: Subject, asked: Sending) -> Sending:
    """What was asked for, and for what was left open what was found for such an input, if it was measured."""
    if asked["agent"] != "auto" and asked["chunk_bytes"] != 0 and asked["agent_blocks"] != 0:
        return asked
    found = _region_tuning.kept(subject.program, subject.entries, subject.machine)
    if found is None or asked["agent"] not in ("auto", found.agent):
        return asked
    if asked["agent_blocks"] != 0 and found.agent not in _region_tuning.WITH_BLOCKS:
        return asked
    chunk, blocks = asked["chunk_bytes"] or found.chunk, asked["agent_blocks"] or found.blocks
    return {**asked, "agent": found.agent, "chunk_bytes": chunk, "agent_blocks": blocks}


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


def _agent_blocks(agent: object, blocks: SupportsIndex | None) -> int:
    if blocks is None:
        return 0
    if agent not in ("auto", *_region_tuning.WITH_BLOCKS):
        raise ArgumentError(
            f"agent_blocks = {blocks} with agent={agent!r}, which has none; leave it out, or take one of "
            f"{', '.join(_region_tuning.WITH_BLOCKS)}"
        )
    return whole_number("agent_blocks", blocks, least=1, most=MOST_AGENT_BLOCKS)


def nothing_to_do(subject: Subject, devices: int) -> Report:
    """The report on a graph without vertices, which no device sees."""
    zeros = [0] * devices
    return reported(
        subject,
        {
            "converged": True, "iterations": 0, "history": [], "seconds": 0.0, "agent": "none", "chunk_bytes": 0,
            "agent_blocks": 0,
            "blocks": 0, "threads": 0, "tiles": 0, "tiles_skipped": 0, "first_rows": [0, *zeros],
            "bytes_sent": [zeros] * devices, "wait_seconds": [0.0] * devices, "storage": "none", "sending": "all",
            "links": (0.0, 0.0), "line_stores": (0, 0), "times": [],
        },
        subject.machine.traffic,
    )  # fmt: skip


def reported(subject: Subject, facts: NativeFacts, moved_before: Sequence[tuple[int, int, str, int]]) -> Report:
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
        agent_blocks=facts["agent_blocks"],
        blocks=facts["blocks"],
        threads=facts["threads"],
        tiles=facts["tiles"],
        tiles_skipped=facts["tiles_skipped"],
        bytes_sent=tuple(tuple(row) for row in facts["bytes_sent"]),
        wait_seconds=tuple(facts["wait_seconds"]),
        sending=facts["sending"],
        simulated_links=facts["links"] if any(facts["links"]) else None,
        line_stores=facts["line_stores"],
        traffic=machines.traffic_since(subject.machine, moved_before),
        arrivals=tuple(Arrivals(*times) for times in facts["times"]),
    )


def _native() -> NativeRegions:
    return cast(NativeRegions, native)
