"""Waits that a user wrote, and the puts that they wait for.

A put to the PE `step` further along meets the wait on the same flag for the PE as far back. The wait, not the put, is
where the own copy changes.
"""

from __future__ import annotations

from typing import Any

import sympy

from starling.dace.ir import (
    Box,
    Collective,
    Expression,
    Number,
    Program,
    Put,
    Statement,
    Wait,
    reads_of,
    same,
    statements,
    symbol,
    values_of,
)
from starling.dace.ir.pes import N_PES, PE, is_neighbour, neighbour_of
from starling.dace.passes.differing import check_branches
from starling.dace.passes.flow import Flow
from starling.dace.passes.place import offset_of, owner_of
from starling.dace.passes.resolve import as_index
from starling.dace.passes.uses import expressions_of
from starling.dace.program_error import ProgramError

__all__ = ["bind", "distance_text", "end_of", "reach_of"]

SIGNALLING = ("PutmemSignal", "SignalOp")


def bind(p: Program) -> None:
    """Binds them.

    Raises:
        ProgramError: A wait without a put, a put without a wait, two puts on one flag, other values or PEs.
    """
    for _, s in statements(p.body):
        for name in _names_in(s):
            if is_neighbour(name):
                p.grid = max(p.grid, 1 + neighbour_of(name)[0])
    for _, s in statements(p.body):
        if isinstance(s, (Put, Collective)) and not p.per_pe:
            raise ProgramError.at(s.place, s.verb, "in a program with split arrays, whose communication is inserted")
    flow = Flow(p.body)
    puts = [s for _, s in statements(p.body) if isinstance(s, Put)]
    waits = [s for _, s in statements(p.body) if isinstance(s, Wait)]
    for put in puts:
        if put.array:
            p.arrays[put.array].symmetric = True
        if put.verb not in SIGNALLING:
            continue
        put.step, put.ring = _step(put.peer, put, p)
        others = [q for q in puts if q.flag == put.flag and q is not put and q.verb in SIGNALLING]
        if others:
            raise ProgramError.at(
                put.place, f"flags[{put.flag}]", f"is raised at {others[0].place} too; use another flag"
            )
        if put.op != "set":
            raise ProgramError.at(put.place, put.verb, "op = 'add' cannot be bound to a wait; use 'set'")
        if not any(w.flag == put.flag for w in waits):
            raise ProgramError.at(put.place, put.verb, f"nobody waits for flags[{put.flag}]; add a SignalWait")
        put.channel = p.channels
        p.channels += 1
        _edges(put, p)
    for wait in waits:
        found = [q for q in puts if q.flag == wait.flag and q.verb in SIGNALLING]
        if not found:
            raise ProgramError.at(wait.place, "SignalWait", f"no put raises flags[{wait.flag}]")
        (put,) = found
        wait.put, wait.array, wait.box = put, put.array, put.box
        _check_peer(wait, put, p)
        a, b = (_value(e, p) for e in (wait.value, put.value))
        if a is None or b is None or not same(a, b):
            raise ProgramError.at(
                wait.place,
                "SignalWait",
                f"waits for another value than the put at {put.place} gives; let both be equal",
            )
        if flow.reaches([flow.entry], lambda n, w=wait: n is w, lambda n, q=put: n is q):  # type: ignore[misc]
            raise ProgramError.at(wait.place, "SignalWait", f"comes before the put that it waits for, at {put.place}")
    check_branches(p)


def _value(e: Expression | None, p: Program) -> Any:
    integers = {n for n, t in {**p.scalars, **p.variables}.items() if t in ("int32", "int64", "weak int")}
    return None if e is None else as_index(e, integers)


def _step(peer: Expression, s: Statement, p: Program) -> tuple[tuple[int, ...], bool]:
    """How far along each axis of the grid a PE is, and whether the last is followed by the first; one number: by the
    number of the PE."""
    value = _value(peer, p)
    if value is not None:
        if is_neighbour(str(value)):
            axis, step, ring = neighbour_of(str(value))
            return tuple(step if k == axis else 0 for k in range(p.grid)), ring
        if isinstance(value, sympy.Mod) and same(value.args[1], symbol(N_PES)):
            step = sympy.expand(value.args[0] - symbol(PE))
            for k in (step, sympy.expand(step - symbol(N_PES))):
                if k.is_Integer:
                    return (int(k),), True
    verb = s.verb if isinstance(s, Put) else "SignalWait"
    raise ProgramError.at(s.place, verb, "names a PE that is no neighbour(step) and no (my_pe() + step) % n_pes()")


def distance_text(step: tuple[int, ...]) -> str:
    """A step as it is told: one number where the PEs lie along one axis."""
    return str(step[0]) if len(step) == 1 else str(step)


def _names_in(s: Statement) -> set[str]:
    return {n for e in expressions_of(s) for n in values_of(e)}


def _check_peer(wait: Wait, put: Put, p: Program) -> None:
    if isinstance(wait.peer, Number) and wait.peer.value == -2:
        return
    step, ring = _step(wait.peer, wait, p)
    back = tuple(-k for k in put.step)
    if (step, ring) != (back, put.ring):
        raise ProgramError.at(
            wait.place,
            "SignalWait",
            f"waits for the PE at distance {distance_text(step)}, and flags[{wait.flag}] is raised by the one at "
            f"{distance_text(back)}",
        )


def reach_of(name: str, p: Program) -> tuple[int, int] | None:
    """How far below and above their own layers blocks read an array; None: anywhere."""
    low = high = 0
    for _, s in statements(p.body):
        for e in expressions_of(s):
            for r in reads_of(e):
                if r.array != name:
                    continue
                owner = owner_of(s, p)
                distances = None if owner is None else offset_of(r, owner, p)
                if distances is None:
                    return None
                low, high = max(low, -distances[0]), max(high, distances[0])
        if isinstance(s, Collective) and s.source == name:
            return None
    return low, high


def _edges(put: Put, p: Program) -> None:
    """Which block makes a put and which one reads what it brings, if these are the blocks at the ends of a PE."""
    depths = []
    for name, box, attribute in ((put.source, put.source_box, "by"), (put.array, put.box, "to")):
        if not name:
            continue
        a = p.arrays[name]
        side, depth = end_of(box, a.dealt[0].axis, a.dealt[0].length)
        if attribute == "to" and side:
            reach = reach_of(name, p)
            side, depth = ("", 0) if reach is None else (side, depth + max(reach))
        setattr(put, attribute, side)
        depths.append(depth)
    if put.verb == "SignalOp":
        put.by = put.to = ""
    put.width, put.least = max(depths, default=0), (sum(depths),)


def end_of(box: Box, axis: int, length: Any) -> tuple[str, int]:
    """The end of an array at which a region lies, and how many layers deep it reaches; "": it lies at none."""
    begin, end, _ = box[axis]
    if end.is_Integer and begin.is_Integer:
        return "first", int(end)
    depth = sympy.expand(length - begin)
    if depth.is_Integer and depth > 0:
        return "last", int(depth)
    return "", 0
