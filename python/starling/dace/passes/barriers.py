"""Barriers of the blocks of a PE, and of the threads of a block: only between accesses that conflict.

What a statement writes belongs to its block, and so does what it reads there. Two accesses of an array conflict when
one of them writes and one of them is of elements that may belong to another block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from starling.dace.ir import (
    Barrier,
    BlockSync,
    Body,
    Collective,
    Compute,
    Continue,
    Program,
    Put,
    Ready,
    Reduce,
    Statement,
    Trade,
    Wait,
    While,
    reads_of,
    statements,
)
from starling.dace.passes.flow import Flow
from starling.dace.passes.place import offset_of, owner_of
from starling.dace.passes.uses import expressions_of

__all__ = ["Access", "accesses", "add_barriers", "add_block_syncs"]

MEETING = ("Barrier", "Broadcast", "SumReduce", "MaxReduce", "MinReduce")


@dataclass(frozen=True)
class Access:
    """Of one statement to an array. `by`: OWN: every block touches only what belongs to it; ONE: block 0 does; ANY."""

    array: str
    write: bool
    by: str


OWN, ONE, ANY = "own", "one", "any"
State = frozenset[Access]


def accesses(s: Statement, p: Program) -> list[Access]:
    """What a statement touches itself, without what stands in it. Of arrays of one element blocks have their own."""
    found: list[Access] = []
    owner = owner_of(s, p)
    if isinstance(s, Compute):
        found.append(Access(s.target, True, OWN if owner is not None else ONE))
    alone = isinstance(s, Put) or (owner is None and isinstance(s, (Compute, Reduce)) and not _by_every_block(s, p))
    for e in expressions_of(s):
        for r in reads_of(e):
            distance = None if owner is None else offset_of(r, owner, p)
            own = distance is not None and distance[0] == 0
            found.append(Access(r.array, False, OWN if own else ONE if alone else ANY))
    if isinstance(s, Put) and s.source:
        found.append(Access(s.source, False, OWN if s.by else ONE))
    if isinstance(s, Put) and s.verb == "SignalOp":  # tells of all that this PE has done
        found += [Access(n, False, ONE) for n in p.arrays]
    if isinstance(s, Ready) and not s.put.to:
        found.append(Access(s.put.array, True, ONE))
    if isinstance(s, Collective):
        found += [Access(n, n == s.array, ONE) for n in (s.source, s.array) if n]
    return [a for a in found if not p.arrays[a.array].scalar]


def _by_every_block(s: Compute | Reduce, p: Program) -> bool:
    """Whether every block computes it: an array of one element, of which each has its own."""
    return isinstance(s, Compute) and p.arrays[s.target].scalar


def _meets(s: Statement) -> bool:
    return isinstance(s, (Barrier, Reduce)) or (isinstance(s, Collective) and s.verb in MEETING)


def _conflict(a: Access, b: Access, of_threads: bool) -> bool:
    if a.array != b.array or not (a.write or b.write):
        return False
    return of_threads or a.by != b.by or a.by == ANY


class _Pending:
    """What was accessed since the last barrier, before each statement."""

    def __init__(self, p: Program, of_threads: bool) -> None:
        self.p = p
        self.of_threads = of_threads
        self.flow = Flow(p.body)
        self.at: dict[Statement, State] = {n: frozenset() for n in self.flow.after}
        todo = list(self.flow.after)
        while todo:
            n = todo.pop(0)
            state = frozenset().union(*(self.behind(b) for b in self.flow.before[n]))
            if state != self.at[n]:
                self.at[n] = state
                todo.extend(self.flow.after[n])

    def behind(self, s: Statement) -> State:
        """What is pending behind a statement."""
        if isinstance(s, Barrier) or (self.of_threads and isinstance(s, BlockSync)):
            return frozenset()
        if isinstance(s, Trade):
            names = {s.array: s.other, s.other: s.array}
            return frozenset(replace(a, array=names.get(a.array, a.array)) for a in self.at[s])
        if isinstance(s, Ready):
            return self.at[s]  # what comes after it is awaited by who reads
        own = frozenset(accesses(s, self.p))
        if isinstance(s, Collective) and s.verb in MEETING:
            return frozenset(a for a in own if a.write)
        if _meets(s):
            return frozenset()
        return self.at[s] | own

    def conflict(self, s: Statement, state: State) -> str:
        """The array for which a statement conflicts with what is pending; empty: none."""
        for a in accesses(s, self.p):
            if any(_conflict(a, b, self.of_threads) for b in state):
                return a.array
        return ""


def add_barriers(p: Program) -> None:
    """Inserts barriers of the PE where they are needed, then removes what others make unnecessary."""
    _insert(p, False)
    for body, s in list(statements(p.body)):
        if isinstance(s, Barrier):
            at = body.index(s)
            body.remove(s)
            if _first(p, False) is not None:
                body.insert(at, s)


def add_block_syncs(p: Program) -> None:
    """Inserts barriers of the block between what its threads write and read."""
    _insert(p, True)


def _insert(p: Program, of_threads: bool) -> None:
    while (found := _first(p, of_threads)) is not None:
        body, at, array, place = found
        if of_threads:
            body.insert(at, BlockSync(place.place))
        else:
            # Before waits: then blocks that wait for no PE can go on.
            while at > 0 and isinstance(body[at - 1], Wait):
                at -= 1
            body.insert(at, Barrier(place.place, f"blocks read or write what others have of {array}"))


def _first(p: Program, of_threads: bool) -> tuple[Body, int, str, Statement] | None:
    """The first statement that conflicts: the list and the place in it where a barrier helps, and why."""
    pending = _Pending(p, of_threads)
    lists = {s: body for body, s in statements(p.body)}
    for s, body in lists.items():
        array = pending.conflict(s, pending.at[s])
        if not array:
            continue
        if isinstance(s, While):
            # The condition is looked at from before the loop and from the ends of its passes.
            inside = {t for _, t in statements(s.body)}
            for before in pending.flow.before[s]:
                if before in inside and pending.conflict(s, pending.behind(before)):
                    end = lists[before] if isinstance(before, Continue) else s.body
                    return end, end.index(before) if isinstance(before, Continue) else len(end), array, s
        return body, body.index(s), array, s
    return None
