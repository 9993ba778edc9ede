"""Exchanges of split arrays: which halos there must be, which writes are sent, and where they are awaited.

A write is sent to the neighbours if somebody may read their halo of it before the next write of the array. A reader
waits for all that was sent.
"""

from __future__ import annotations

from starling.dace.ir import (
    Assign,
    Compute,
    If,
    Index,
    Program,
    Put,
    Read,
    Reduce,
    Statement,
    Wait,
    While,
    reads_of,
    statements,
    symbol,
)
from starling.dace.passes.flow import Flow
from starling.dace.passes.place import offset_of, owner_of
from starling.dace.passes.resolve import expressions_of
from starling.dace.program_error import ProgramError

__all__ = ["exchange", "halo_reads"]

SIDES = {"low": -1, "high": 1}


def halo_reads(s: Statement, p: Program) -> set[tuple[str, str]]:
    """The halos that a statement reads, as (array, side).

    Raises:
        ProgramError: It reads a split array in a way that is no distance along the axis.
    """
    found: set[tuple[str, str]] = set()
    split = [r for e in expressions_of(s) for r in reads_of(e) if p.arrays[r.array].split is not None]
    owner = owner_of(s, p)
    if isinstance(s, Compute) and p.arrays[s.target].split is not None and owner is None:
        raise ProgramError.at(s.place, s.target, "is written in an order along its split axis that is no stride")
    for r in split:
        distance = None if owner is None or not owner.split else offset_of(r, owner, p)
        if distance is None:
            raise _refusal(s, r, p)
        if distance != 0:
            found.add((r.array, "low" if distance < 0 else "high"))
            a = p.arrays[r.array]
            a.low, a.high = max(a.low, -distance), max(a.high, distance)
    return found


def _refusal(s: Statement, r: Read, p: Program) -> ProgramError:
    a = p.arrays[r.array]
    if isinstance(s, (Assign, While, If)):
        why = "one element of a split array is wanted on every PE; reduce the array to a number, with np.sum or np.max"
    elif isinstance(s, Compute) and p.arrays[s.target].split is None:
        why = (
            f"{s.target} is whole on every PE and would need all of it; split {s.target} too, or reduce {r.array} to a "
            "number with np.sum, np.max or np.min"
        )
    elif isinstance(s, Reduce):
        why = "is reduced in another order than along its split axis; reduce one array at a time"
    else:
        why = (
            "elements at no fixed distance along its split axis are read; let all indices of that axis differ by "
            "constants, or pass the array whole, without split"
        )
    return ProgramError.at(s.place, r.array, f"(split along axis {a.split}) {why}")


def exchange(p: Program) -> None:
    """Inserts puts and waits.

    Raises:
        ProgramError: A split array is read in a way that exchanges of halos do not serve.
    """
    readers: dict[tuple[str, str], list[Statement]] = {}
    lists = {s: body for body, s in statements(p.body)}
    for s in lists:
        for key in halo_reads(s, p):
            readers.setdefault(key, []).append(s)
    flow = Flow(p.body)
    made: dict[tuple[str, str], list[Put]] = {}
    for (name, side), reading in sorted(readers.items()):
        writes = [s for s in lists if isinstance(s, Compute) and s.target == name]
        for w in writes:
            if flow.reaches([w], lambda n, r=reading: n in r, lambda n, w=writes: n in w):  # type: ignore[misc]
                made.setdefault((name, side), []).append(_put(p, name, side, w))
    for (name, side), puts in made.items():
        for put in puts:
            put.channel = p.channels
        p.channels += 1
        for s in readers[name, side]:
            wait = Wait(s.place, array=name, put=puts[0])
            lists[s].insert(lists[s].index(s), wait)
    _drop_waits(p)


def _put(p: Program, name: str, side: str, after: Statement) -> Put:
    a = p.arrays[name]
    step = -SIDES[side]  # the high halo of the PE before is filled from here
    put = Put(after.place, "exchange", name, source=name, inserted=True, step=step)
    put.width = put.least = a.low if side == "low" else a.high
    put.by, put.to = ("first", "last") if side == "high" else ("last", "first")
    put.peer = Index(symbol(f"st_neighbour_{'m' if step < 0 else 'p'}1"))
    for body, s in list(statements(p.body)):
        if s is after:
            at = body.index(s) + 1
            while at < len(body) and isinstance(body[at], Put):
                at += 1
            body.insert(at, put)
    a.symmetric = True
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
