"""Credits: a put must not overwrite what its receiver still reads.

The sender of a put knows that the last one was read if, since then, it has waited for a put that the receiver made
after its reading, block for block, or all have met. Where no such put is on every path, the receiver says so itself,
and the sender waits.
"""

from __future__ import annotations

import sympy

from starling.dace.ir import Collective, Program, Put, Ready, Reduce, Statement, Trade, Wait, reads_of, statements
from starling.dace.passes.barriers import MEETING
from starling.dace.passes.bind import end_of
from starling.dace.passes.exchange import sides_of
from starling.dace.passes.flow import Flow
from starling.dace.passes.place import offset_of, owner_of
from starling.dace.passes.uses import expressions_of

__all__ = ["add_credits", "all_meet", "answers", "apart"]


def add_credits(p: Program) -> None:
    """Marks puts that need a credit, and inserts what gives it."""
    flow = Flow(p.body)
    puts = [(body, s) for body, s in statements(p.body) if isinstance(s, Put) and s.channel >= 0]
    for _, put in puts:
        if put.verb != "SignalOp" and not _proven(p, flow, put):
            put.credit = True
    for channel in {put.channel for _, put in puts if put.credit}:
        for body, put in puts:
            if put.channel == channel:
                put.credit = True
                put.why = "the receiver may still read what came before, so it says when it has"
                _insert_ready(p, body, put)
    for _, put in puts:
        if not put.credit and put.verb != "SignalOp":
            put.why = "an answer of the receiver, given after it has read, was awaited before"


def all_meet(s: Statement, p: Program) -> bool:
    """Whether all blocks of all PEs meet there, after what they have read."""
    if isinstance(s, Reduce):
        owner = owner_of(s, p)
        return owner is not None and owner.split
    return isinstance(s, Collective) and s.verb in MEETING


def answers(q: Put, put: Put) -> bool:
    """Whether one put is made by all blocks that read what the other one brings, for those that make it."""
    opposite = (q.step, q.ring) == (tuple(-k for k in put.step), put.ring)
    return opposite and q.by == put.to and q.to == put.by and q.reach >= put.reach and q is not put


def _reads(s: Statement, put: Put, p: Program) -> bool:
    """Whether a statement may read what a put brings."""
    if put.inserted:
        owner = owner_of(s, p)
        side = tuple(-k for k in put.step)
        for e in expressions_of(s):
            for r in reads_of(e):
                if r.array == put.array and owner is not None:
                    distance = offset_of(r, owner, p)
                    if distance is None or side in sides_of(distance):
                        return True
        return False
    if isinstance(s, Collective) and s.source == put.array:
        return True
    return any(r.array == put.array for e in expressions_of(s) for r in reads_of(e)) or (
        isinstance(s, Put) and s.source == put.array and s is not put and not apart(s, put, p)
    )


def apart(s: Put, put: Put, p: Program) -> bool:
    """Whether a put's source is certainly not what another one brings."""
    a = p.arrays[put.array]
    for axis, (source, box) in enumerate(zip(s.source_box, put.box, strict=True)):
        below, above = sympy.expand(source[1] - box[0]), sympy.expand(box[1] - source[0])
        if below.is_nonpositive or above.is_nonpositive:
            return True
        if axis == a.dealt[0].axis:
            (side, depth), (other, more) = (end_of(b, axis, a.dealt[0].length) for b in (s.source_box, put.box))
            # At both ends of what a PE has, which has as many layers as a put needs.
            if {side, other} == {"first", "last"} and depth + more <= max(s.least[0], put.least[0]):
                return True
    return False


_State = tuple[Statement, frozenset[int], bool, bool]  # where a path is, and what is known there


def _proven(p: Program, flow: Flow, put: Put) -> bool:
    """Whether on every path back from a put its receiver's answer was awaited, before a reader comes."""
    if not put.by or not put.to:
        return False
    # `now`: the generation that the put writes is the one that has the array's name there.
    todo: list[_State] = [(n, frozenset(), False, True) for n in flow.before[put]]
    seen: set[_State] = set()
    while todo:
        state = n, awaited, answered, now = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        again = now and isinstance(n, Put) and n.channel == put.channel
        if answered:
            # The answer tells that the last put was read only if its receiver has waited for it.
            if again:
                return False
            if now and isinstance(n, Wait) and n.put is not None and n.put.channel == put.channel:
                continue
        elif (isinstance(n, Put) and n.channel in awaited) or all_meet(n, p):
            answered = True
        elif again or (now and _reads(n, put, p)):
            return False
        if isinstance(n, Wait) and n.put is not None and answers(n.put, put):
            awaited |= {n.put.channel}
        if isinstance(n, Trade) and n.array == put.array:
            now = not now
        todo.extend((b, awaited, answered, now) for b in flow.before[n])
    return True


def _insert_ready(p: Program, body: list[Statement], put: Put) -> None:
    """Says so as soon as the last reader in the same list is behind."""
    at = body.index(put)
    while at > 0:
        before = body[at - 1]
        inside = [s for _, s in statements([before])]
        if len(inside) > 1 or _reads(before, put, p):
            break
        if isinstance(before, (Put, Wait)) and not isinstance(before, Ready):
            channel = before.channel if isinstance(before, Put) else before.put.channel if before.put else -1
            if channel == put.channel:
                break
        at -= 1
    body.insert(at, Ready(put.place, put))
