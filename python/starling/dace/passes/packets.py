"""Packets: which puts may travel so, and which of these need a credit.

Messages of a channel go to two sets of slots by turns, from which the receiver takes them into its halo. A message may
overwrite the one before the last: if no block takes that any more, and the sender knows it. So it mostly needs no
credit where the same put would need one that writes the halo itself.
"""

from __future__ import annotations

import sympy

from starling.dace.emit.regions import in_one_piece
from starling.dace.ir import Collective, Program, Put, Statement, Wait, statements
from starling.dace.passes.credits import all_meet, answers, apart
from starling.dace.passes.flow import Flow

__all__ = ["mark_packets", "untaken"]

TYPES = ("int32", "int64", "float32", "float64")  # of elements that packets carry


def mark_packets(p: Program) -> None:
    """Marks the puts that may travel as packets."""
    flow = Flow(p.body)
    puts = [s for _, s in statements(p.body) if isinstance(s, Put) and s.channel >= 0]
    if any(_orders(s) for _, s in statements(p.body)):
        return
    for channel in {put.channel for put in puts}:
        mine = [put for put in puts if put.channel == channel]
        unproven = {put for put in mine if not _proven(p, flow, put)}
        # Who has no credits by signals has no place where they are given.
        served = all(put.credit or put not in unproven for put in mine)
        for put in mine:
            # Who takes a message is the only one that reads it.
            alone = put.to != "" and put.reach == 0
            fits = put.inserted or _is_plain(p, put)
            put.packets = served and alone and fits and p.arrays[put.array].dtype in TYPES
            put.packet_credit = put.packets and put in unproven


def _orders(s: Statement) -> bool:
    """Whether puts may be complete, or other memory in order, by what a packet does not take part in."""
    if isinstance(s, Put):
        return not s.inserted and s.verb != "PutmemSignal"
    return isinstance(s, Collective) and s.verb in ("Quiet", "Fence", "Barrier", "Getmem")


def _is_plain(p: Program, put: Put) -> bool:
    """Whether a put of the user's is from one piece to one piece, which are the same wherever it is awaited, and no put
    sends on what it brings."""
    regions = ((p.arrays[put.array], put.box), (p.arrays[put.source], put.source_box))
    known = all(str(n) in p.sizes for _, box in regions for r in box for x in r for n in sympy.sympify(x).free_symbols)
    senders = [s for _, s in statements(p.body) if isinstance(s, Put) and s.source == put.array]
    return known and all(in_one_piece(*r) for r in regions) and all(apart(s, put, p) for s in senders)


def untaken(p: Program) -> list[Put]:
    """Puts, one of a channel, whose last message may not be awaited before the program ends."""
    flow = Flow(p.body)
    found: dict[int, Put] = {}
    for _, put in statements(p.body):
        if isinstance(put, Put) and put.packets:
            channel = put.channel

            def taken(n: Statement, c: int = channel) -> bool:
                return isinstance(n, Wait) and n.put is not None and n.put.channel == c

            if flow.reaches([put], lambda n: n is flow.exit, taken):
                found.setdefault(channel, put)
    return list(found.values())


_State = tuple[Statement, frozenset[int], bool, int]  # where a path is, and what is known there


def _proven(p: Program, flow: Flow, put: Put) -> bool:
    """Whether on every path back from a put its receiver's answer was awaited, given after the last time that the
    message before the last was taken."""
    todo: list[_State] = [(n, frozenset(), False, 0) for n in flow.before[put]]
    seen: set[_State] = set()
    while todo:
        state = n, awaited, answered, sent = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        if isinstance(n, Put) and n.channel == put.channel:
            # Of a message that nobody has waited for, nobody knows that it has come.
            if sent == 1:
                return False
            sent = 1
        elif isinstance(n, Wait) and n.put is not None and n.put.channel == put.channel and sent == 1:
            if not answered:
                return False
            continue
        elif (isinstance(n, Put) and n.channel in awaited) or all_meet(n, p):
            answered = True
        elif isinstance(n, Wait) and n.put is not None and answers(n.put, put):
            awaited |= {n.put.channel}
        todo.extend((b, awaited, answered, sent) for b in flow.before[n])
    return True
