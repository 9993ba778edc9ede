"""Layers at the edges of a PE's part, which inserted puts send, in C++."""

from __future__ import annotations

from starling.dace.emit.index import cpp_index, minus
from starling.dace.emit.writer import Writer
from starling.dace.ir import Array, Put

__all__ = ["box_of", "first_at", "in_columns", "last_axis", "protocol_of_layers"]


def last_axis(s: Put, a: Array) -> int:
    """The last axis along which the box is not all of the array."""
    return len(a.shape) - 1 if in_columns(s, a) else max(d.axis for d in a.dealt)


def box_of(w: Writer, s: Put, a: Array, *, halo: bool = False) -> str:
    """Layers at an edge of the PE's part, or those beyond the other edge to which these go at a PE; along axes with no
    edge there, all that the block has."""
    start, count = ["0"] * len(a.shape), [cpp_index(n) for n in a.shape]
    for axis, (d, step) in enumerate(zip(a.dealt, s.step, strict=True)):
        owner, k = w.owner(True, axis, d.length), d.axis
        if step == 0:
            start[k], count[k] = f"{owner}.mine.begin{minus(d.shift)}", f"{owner}.mine.size()"
        elif step < 0:
            start[k], count[k] = f"{owner}.pe.{'end' if halo else 'begin'}{minus(d.shift)}", str(d.high)
        else:
            start[k], count[k] = f"{owner}.pe.{'begin' if halo else 'end'}{minus(d.shift + d.low)}", str(d.low)
    return f"{{{{{', '.join(start)}}}, {{{', '.join(count)}}}}}"


def first_at(a: Array) -> str:
    """The element that the memory of the PE `to` begins with."""
    first = ["0"] * len(a.shape)
    for axis, d in enumerate(a.dealt):
        first[d.axis] = f"pes.first_of({cpp_index(d.length)}, {axis}, to){minus(d.shift + d.low)}"
    return f"{{{', '.join(first)}}}"


def in_columns(s: Put, a: Array) -> bool:
    """Whether layers of an inserted put lie along the last axis, and there are many elements along that before."""
    rank = len(a.shape)
    axes = {d.axis: step for d, step in zip(a.dealt, s.step, strict=True)}
    return rank > 1 and axes.get(rank - 1, 0) != 0 and axes.get(rank - 2, 0) == 0


def _in_one_piece(s: Put, a: Array) -> bool:
    """Whether what an inserted put sends lies so: one layer along each axis before the last that is not whole."""
    last = max(d.axis for d in a.dealt)
    layers = {d.axis: n for d, n in zip(a.dealt, s.least, strict=True)}
    return all(layers.get(k) == 1 for k in range(last))


def protocol_of_layers(s: Put, a: Array) -> tuple[str, str]:
    """How they travel if not as packets, and why."""
    if _in_one_piece(s, a):
        return "put_signal", "layers in one piece"
    if in_columns(s, a):
        return "iput, fence, signal", "layers along the last axis"
    return "put, fence, signal", "layers in pieces"
