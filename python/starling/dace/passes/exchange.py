"""Exchanges of split arrays: which halos there must be, which writes are sent, and where they are awaited.

A write is sent to the neighbours if somebody may read their halo of it before the next write of the array, in the next
run too: arguments stay on the devices. A reader waits for all that was sent. Where PEs share two axes, corners go to
the PEs that lie across: what is read at an offset along both axes is in the halo of one side, of the other or of the
corner between them.
"""

from __future__ import annotations

import itertools

from starling.dace.ir import (
    EACH,
    Assign,
    Compute,
    If,
    Program,
    Put,
    Read,
    Reduce,
    Statement,
    Trade,
    Wait,
    While,
    reads_of,
    statements,
)
from starling.dace.ir.names import is_made, shown
from starling.dace.passes.flow import Flow
from starling.dace.passes.place import offset_of, owner_of
from starling.dace.passes.uses import expressions_of
from starling.dace.program_error import ProgramError

__all__ = ["Side", "exchange", "halo_reads", "sides_of"]

Side = tuple[int, ...]  # for each axis that PEs share: -1 below, 1 above, 0 neither


def sides_of(distance: tuple[int, ...]) -> set[Side]:
    """The sides of a PE beyond which an element may lie that is read at a distance.

    >>> sorted(sides_of((0, 2))), sorted(sides_of((-1, 2)))
    ([(0, 1)], [(-1, 0), (-1, 1), (0, 1)])
    """
    along = [{0, (d > 0) - (d < 0)} for d in distance]
    return {side for side in itertools.product(*along) if any(side)}


def halo_reads(s: Statement, p: Program) -> set[tuple[str, tuple[int, ...]]]:
    """What a statement reads of halos, as (array, distance).

    Raises:
        ProgramError: It reads a split array in a way that is no distance along the axes.
    """
    found: set[tuple[str, tuple[int, ...]]] = set()
    split = [r for e in expressions_of(s) for r in reads_of(e) if p.arrays[r.array].split]
    owner = owner_of(s, p)
    if isinstance(s, Compute) and p.arrays[s.target].split and owner is None:
        raise ProgramError.at(s.place, shown(s.target), "is written in an order along its split axis that is no stride")
    for r in split:
        distance = None if owner is None or not owner.split else offset_of(r, owner, p)
        if distance is None:
            raise _refusal(s, r, p)
        if any(distance):
            found.add((r.array, distance))
            for d, along in zip(p.arrays[r.array].dealt, distance, strict=True):
                d.low, d.high = max(d.low, -along), max(d.high, along)
    return found


def _refusal(s: Statement, r: Read, p: Program) -> ProgramError:
    a = p.arrays[r.array]
    if isinstance(s, (Assign, While, If)):
        why = "one element of a split array is wanted on every PE; reduce the array to a number, with np.sum or np.max"
    elif isinstance(s, Compute) and not p.arrays[s.target].split:
        why = (
            f"{shown(s.target)} is whole on every PE and would need all of it; "
            + ("" if is_made(s.target) else f"split {shown(s.target)} too, or ")
            + f"reduce {shown(r.array)} to a number with np.sum, np.max or np.min"
        )
    elif isinstance(s, Reduce):
        why = "is reduced in another order than along its split axis; reduce one array at a time"
    else:
        why = (
            "elements at no fixed distance along its split axis are read; let all indices of that axis differ by "
            "constants, or pass the array whole, without split"
        )
    axes = " and ".join(str(d.axis) for d in a.dealt)
    return ProgramError.at(s.place, shown(r.array), f"(split along axis {axes}) {why}")


def exchange(p: Program) -> None:
    """Inserts puts and waits.

    Raises:
        ProgramError: A split array is read in a way that exchanges of halos do not serve.
    """
    readers: dict[tuple[str, Side], list[Statement]] = {}
    reach: dict[tuple[str, Side], int] = {}
    lists = {s: body for body, s in statements(p.body)}
    for s in lists:
        for name, distance in sorted(halo_reads(s, p)):
            for side in sides_of(distance):
                key = (name, side)
                reading = readers.setdefault(key, [])
                if s not in reading:
                    reading.append(s)
                reach[key] = max(reach.get(key, 0), abs(distance[0]))
    for a in p.arrays.values():
        for d, other in zip(a.dealt, p.arrays[a.next].dealt if a.next else [], strict=False):
            other.low, other.high = d.low, d.high
    flow = Flow(p.body)
    made: dict[tuple[str, Side], list[Put]] = {}
    for (name, side), reading in sorted(readers.items(), key=lambda x: (x[0][0], [-k for k in x[0][1]])):
        writes = [s for s in lists if _writes(s, name)]
        for w in writes:
            if _is_read(flow, w, reading, writes, again=p.arrays[name].argument):
                put = _put(p, name, side, reach[name, side], w)
                made.setdefault((name, side), []).append(put)
    for (name, side), puts in made.items():
        for put in puts:
            put.channel = p.channels
        p.channels += 1
        for s in readers[name, side]:
            wait = Wait(s.place, array=name, put=puts[0])
            lists[s].insert(lists[s].index(s), wait)
    _drop_waits(p)


def _is_read(flow: Flow, write: Statement, readers: list[Statement], writes: list[Statement], *, again: bool) -> bool:
    """Whether a reader may come before the next write; `again`: also one of the next run, which begins anew."""

    def reads(n: Statement) -> bool:
        return n in readers

    def stops(n: Statement) -> bool:
        return n in writes

    if flow.reaches([write], reads, stops):
        return True
    return again and flow.reaches([write], lambda n: n is flow.exit, stops) and flow.reaches([flow.entry], reads, stops)


def _writes(s: Statement, name: str) -> bool:
    return (isinstance(s, Compute) and s.target == name) or (isinstance(s, Trade) and s.array == name)


def _put(p: Program, name: str, side: Side, across: int, after: Statement) -> Put:
    """The put that fills the halo on one side of the PEs on the other. `across`: how far readers look along the axis
    that blocks share."""
    a = p.arrays[name]
    put = Put(after.place, "exchange", name, source=name, inserted=True, step=tuple(-k for k in side))
    put.least = tuple(0 if k == 0 else d.low if k < 0 else d.high for k, d in zip(side, a.dealt, strict=True))
    if side[0] == 0:
        # Every block sends its rows and reads those of the same block of the other PE, and what is `across` of them.
        put.by = put.to = EACH
        put.width, put.reach = across, min(across, 1)
    else:
        put.by, put.to = ("first", "last") if side[0] > 0 else ("last", "first")
        put.width = put.least[0]
    for body, s in list(statements(p.body)):
        if s is after:
            at = body.index(s) + 1
            while at < len(body) and isinstance(body[at], Put):
                at += 1
            body.insert(at, put)
    a.symmetric = True
    if a.next:
        p.arrays[a.next].symmetric = True
    return put


def _drop_waits(p: Program) -> None:
    """Removes waits for what was awaited before on all paths."""
    for body, s in list(statements(p.body)):
        if not isinstance(s, Wait) or s.put is None:
            continue
        channel = s.put.channel

        def sent(n: Statement, c: int = channel) -> bool:
            return isinstance(n, Put) and n.channel == c

        def awaited(n: Statement, c: int = channel) -> bool:
            return isinstance(n, Wait) and n.put is not None and n.put.channel == c

        if not Flow(p.body).reaches([s], sent, awaited, back=True):
            body.remove(s)
