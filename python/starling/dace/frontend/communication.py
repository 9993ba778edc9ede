"""Calls of communication, from nodes of the tree to statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starling.dace.frontend.expressions import index_of
from starling.dace.ir import Body, Collective, Expression, Index, Number, Put, Wait
from starling.dace.program_error import Place, ProgramError

if TYPE_CHECKING:
    from starling.dace.frontend.lower import Lowering

__all__ = ["communication"]

PUTS = ("PutmemSignal", "Putmem", "Iput", "P", "SignalOp")
OPS = ("set", "add")


def communication(lowering: Lowering, call: Any, place: Place) -> Body:
    """The statement of one call.

    Raises:
        ProgramError: An argument is not what the call takes.
    """
    node = call.node
    verb = str(node.verb)
    memlets = dict(call.in_memlets)

    def scalar(name: str) -> Expression:
        if f"_{name}" in memlets:
            m = memlets[f"_{name}"]
            return lowering.element(m.data, tuple(index_of(r[0]) for r in m.subset.ranges), place)
        value = getattr(node, name)
        if value is None or getattr(value, "is_Float", False):
            return Number(-1 if value is None else float(value))
        return Index(index_of(value))

    def region(m: Any) -> tuple[str, tuple[tuple[Any, Any, Any], ...]]:
        if m.data not in lowering.program.arrays:
            raise ProgramError.at(place, f"{verb} of {m.data}", "takes a part of an argument, such as A[1]")
        return m.data, tuple((index_of(b), index_of(e) + 1, index_of(s)) for b, e, s in m.subset.ranges)

    if verb == "SignalWait":
        peer = scalar("peer") if node.peer is not None or "_peer" in memlets else None
        wait = Wait(place, _flag(lowering, memlets["_flag"], verb, place), scalar("value"))
        wait.peer = Number(-2) if peer is None else peer
        return [wait]
    if verb in PUTS:
        put = Put(place, verb)
        put.peer = scalar("peer")
        if "_dest" in call.out_memlets:
            put.array, put.box = region(call.out_memlets["_dest"])
        if "_source" in memlets:
            put.source, put.source_box = region(memlets["_source"])
            _same_shape(lowering, put, place)
        if verb in ("PutmemSignal", "SignalOp"):
            put.flag = _flag(lowering, memlets["_flag"], verb, place)
            put.op = _op(str(node.detail), verb, place)
        if verb != "Putmem" and verb != "Iput":
            put.value = scalar("value")
        return [put]
    collective = Collective(place, verb)
    if "_dest" in call.out_memlets:
        collective.array, collective.box = region(call.out_memlets["_dest"])
    if "_source" in memlets:
        collective.source, collective.source_box = region(memlets["_source"])
    collective.peer = scalar("peer")
    return [collective]


def _op(op: str, verb: str, place: Place) -> str:
    if op not in OPS:
        raise ProgramError.at(place, verb, f"op = {op!r}; must be 'set' or 'add'")
    return op


def _flag(lowering: Lowering, m: Any, verb: str, place: Place) -> int:
    if m.data not in lowering.flags:
        raise ProgramError.at(place, f"{verb} of {m.data}", "takes one of nvshmem.flags(n), such as flags[0]")
    (begin, end, _), *_rest = m.subset.ranges
    first, last = index_of(begin), index_of(end)
    if not first.is_Integer or first != last:
        raise ProgramError.at(place, verb, f"flag index {begin} is not constant; name one flag, such as flags[0]")
    count = int(lowering.tree.containers[m.data].shape[0])
    if not 0 <= int(first) < count:
        raise ProgramError.at(place, verb, f"flag {first} of {count}; flags are numbered from 0")
    return lowering.flags[m.data] + int(first)


def _same_shape(lowering: Lowering, put: Put, place: Place) -> None:
    """Both regions have as many elements along the same number of axes, and the same type."""

    def lengths(box: tuple[tuple[Any, Any, Any], ...]) -> list[Any]:
        found = [(e - b) if s == 1 else (e - b + s - 1) // s for b, e, s in box]
        return [n for n in (n.expand() for n in found) if n != 1]

    to, source = lengths(put.box), lengths(put.source_box)
    if to != source:
        raise ProgramError.at(place, put.verb, f"dest has the shape {tuple(to)}, source {tuple(source)}")
    arrays = lowering.program.arrays
    if arrays[put.array].dtype != arrays[put.source].dtype:
        raise ProgramError.at(
            place,
            put.verb,
            f"dest holds {arrays[put.array].dtype}, source {arrays[put.source].dtype}; they must be equal",
        )
