"""What a program became: its phases, barriers, puts, waits, credits and exchanges, as data and as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import sympy

from starling.dace.emit.communication import needs_credit, protocol_of
from starling.dace.ir import (
    Array,
    Barrier,
    Body,
    Collective,
    Compute,
    For,
    If,
    Program,
    Put,
    Ready,
    Reduce,
    Statement,
    Stop,
    Wait,
    While,
    statements,
)
from starling.dace.ir.names import label
from starling.dace.passes.barriers import MEETING

__all__ = ["ExplainedPut", "ExplainedWait", "Explanation", "explain"]

TIME_LOOP = {
    "device": "one kernel on every PE, time loop included",
    "stream": "the host runs the time loop; streams wait for events of other PEs' streams",
    "call": "the host runs the time loop, and waits for each launch and each copy",
}


@dataclass(frozen=True)
class ExplainedPut:
    """One put: `bytes`, of all blocks of a PE, is an expression of the sizes, and of grid_0 and grid_1, the rows and
    columns of PEs, where they share two axes."""

    line: int
    array: str
    verb: str
    to: str
    protocol: str
    bytes: str
    why: str


@dataclass(frozen=True)
class ExplainedWait:
    """One wait, and the line of the put that it waits for."""

    line: int
    array: str
    put_line: int


@dataclass(frozen=True)
class ExplainedExchange:
    """The halo of a split array: how many layers on each side, and the lines that send it."""

    array: str
    axis: int
    low: int
    high: int
    lines: tuple[int, ...]


@dataclass(frozen=True)
class Explanation:
    """What a program became.

    Attributes:
        name: Of the program.
        control: Who runs the time loop.
        phases: What is computed, one entry for each loop over elements: (line, array).
        barriers: Barriers of the blocks of a PE in one pass of the innermost loop that has any, outside of branches;
            with one block there is none, and none where the host runs the loop.
        barrier_lines: Where they stand.
        launches: On each PE, in one pass of the innermost loop that has any; 0: the devices run the loop.
        roles: The blocks of a PE, by what they do.
        puts, waits, exchanges: Communication.
        credits: Puts that wait until the receiver has read what came before, by line.
        generations: Arrays that are updated in place by reading one generation and writing the other.
        symmetric: Arrays that other PEs write.
        stops: Where the program may end before its end, and by which exception; "return": by none.
        source: The C++ source.
    """

    name: str
    control: str
    phases: tuple[tuple[int, str], ...]
    barriers: int
    barrier_lines: tuple[int, ...]
    launches: int
    roles: tuple[str, ...]
    puts: tuple[ExplainedPut, ...]
    waits: tuple[ExplainedWait, ...]
    credits: tuple[int, ...]
    exchanges: tuple[ExplainedExchange, ...]
    generations: tuple[str, ...]
    symmetric: tuple[str, ...]
    stops: tuple[tuple[int, str], ...]
    source: str

    def __str__(self) -> str:
        lines = [f"{self.name}: {TIME_LOOP[self.control]}"]
        lines += [f"  line {line}: computes {array}" for line, array in self.phases]
        if self.control == "device":
            lines.append(f"  barriers of the blocks of a PE: {self.barriers} in a pass of the loop")
            lines.append(f"  roles: {', '.join(self.roles)}")
        else:
            lines.append(f"  launches on a PE: {self.launches} in a pass of the loop")
        for x in self.exchanges:
            where = ", ".join(map(str, x.lines))
            lines.append(
                f"  exchange of {x.array} along axis {x.axis}: {x.low} below, {x.high} above, sent at line {where}"
            )
        for q in self.puts:
            lines.append(f"  line {q.line}: {q.verb} of {q.array} to {q.to}, {q.bytes} bytes, {q.protocol}: {q.why}")
        for w in self.waits:
            lines.append(f"  line {w.line}: waits for {w.array}, put at line {w.put_line}")
        if self.credits:
            lines.append(f"  credits for the puts at line {', '.join(map(str, self.credits))}")
        for line, word in self.stops:
            lines.append(f"  line {line}: may end the program{'' if word == 'return' else f' with {word}'}")
        if self.generations:
            lines.append(f"  two generations: {', '.join(self.generations)}")
        lines.append(f"  symmetric: {', '.join(self.symmetric) or 'nothing'}")
        return "\n".join(lines)


def explain(p: Program, source: str, control: str = "device", packets: frozenset[int] | None = None) -> Explanation:
    """What there is to say of a program after all passes, and of this source of it. `packets`: the channels that use
    them; None: that is not known."""
    hosted = control != "device"
    found = [s for _, s in statements(p.body)]
    puts = [s for s in found if isinstance(s, Put)]
    barriers = [s for s in found if isinstance(s, Barrier)]
    sent: dict[str, list[Put]] = {}
    for q in puts:
        if q.inserted:
            sent.setdefault(q.array, []).append(q)
    turns = {a.turn for a in p.arrays.values()}
    edges = any(q.by or q.to for q in puts)
    return Explanation(
        name=p.name,
        control=control,
        phases=tuple(
            (s.place.line, label(s.target if isinstance(s, Compute) else s.name))
            for s in found
            if isinstance(s, Reduce) or (isinstance(s, Compute) and s.target not in turns)
        ),
        barriers=0 if hosted else _in_loop(p.body, _meets),
        barrier_lines=() if hosted else tuple(b.place.line for b in barriers),
        launches=_in_loop(p.body, partial(_is_launch, p)) if hosted else 0,
        roles=("first", "inner", "last") if edges and not hosted else ("all",),
        puts=tuple(_put(q, p, hosted, packets) for q in puts),
        waits=tuple(
            ExplainedWait(s.place.line, label(s.array), s.put.place.line)
            for s in found
            if isinstance(s, Wait) and s.put is not None
        ),
        credits=tuple(
            sorted({s.put.place.line for s in found if isinstance(s, Ready) and needs_credit(s.put, packets or ())})
        ),
        exchanges=tuple(
            ExplainedExchange(
                label(name), d.axis, d.low, d.high, tuple(sorted({q.place.line for q in qs if q.step[axis] != 0}))
            )
            for name, qs in sent.items()
            for axis, d in enumerate(p.arrays[name].dealt)
            if d.low or d.high
        ),
        generations=tuple(sorted(label(a.name) for a in p.arrays.values() if a.next)),
        symmetric=tuple(sorted(label(a.name) for a in p.arrays.values() if a.symmetric)),
        stops=tuple(
            (s.place.line, p.stops[s.number - 1].exception if s.number else "return")
            for s in found
            if isinstance(s, Stop)
        ),
        source=source,
    )


def _meets(s: Statement) -> bool:
    """Whether the blocks of a PE meet there."""
    return isinstance(s, (Barrier, Reduce)) or (isinstance(s, Collective) and s.verb in MEETING)


def _is_launch(p: Program, s: Statement) -> bool:
    """Whether the host launches a kernel for it."""
    return isinstance(s, Reduce) or (isinstance(s, Compute) and not p.arrays[s.target].scalar)


def _in_loop(body: Body, counts: Callable[[Statement], bool]) -> int:
    """How many statements count in one pass of the loop that has the most, else in the whole."""
    loops = [s for _, s in statements(body) if isinstance(s, (For, While))]
    found = [_straight(s.body, counts) for s in loops]
    return max(found) if found else _straight(body, counts)


def _straight(body: Body, counts: Callable[[Statement], bool]) -> int:
    branches = [s.branches for s in body if isinstance(s, If)]
    return sum(map(counts, body)) + sum(max(_straight(inner, counts) for _, inner in b) for b in branches)


def _put(q: Put, p: Program, hosted: bool, packets: frozenset[int] | None) -> ExplainedPut:
    protocol, why = ("copy", "in the stream of its PE") if hosted else protocol_of(q, p.arrays, packets)
    name = label(q.array) or f"flags[{q.flag}]"
    elements: Any = 1
    if q.inserted:
        a = p.arrays[q.array]
        elements = _layers(q, a)
    else:
        for b, e, s in q.source_box:
            elements = elements * sympy.floor((e - b + s - 1) / s)
    width = 8 if not q.array or p.arrays[q.array].dtype.endswith("64") else 4
    step = f"{q.step[0]:+d}" if len(q.step) == 1 else f"({', '.join(f'{k:+d}' if k else '0' for k in q.step)})"
    to = f"{'ring ' if q.ring else ''}neighbour {step}" if any(q.step) else "a PE"
    order = q.why
    if q.packets and not q.packet_credit and packets is not None and q.channel in packets:
        order = "an answer of the receiver, given after it took the last but one, was awaited before"
    elif q.packets and q.credit and not q.packet_credit and packets is None and not hosted:
        order += ", but not of packets"
    reason = f"{why}; {order}" if order else why
    return ExplainedPut(q.place.line, name, q.verb, to, protocol, str(sympy.expand(elements * width)), reason)


def _layers(q: Put, a: Array) -> Any:
    """How many elements an inserted put sends at most."""
    lengths = list(a.shape)
    for axis, (d, layers) in enumerate(zip(a.dealt, q.least, strict=True)):
        lengths[d.axis] = layers or sympy.ceiling(d.length / sympy.Symbol(f"grid_{axis}", integer=True))
    return sympy.Mul(*lengths)
