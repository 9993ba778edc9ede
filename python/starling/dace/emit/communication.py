"""Puts, waits and what joins PEs, in C++."""

from __future__ import annotations

from typing import Any

import sympy

from starling.dace.emit.expression import CPP, FOLDS, cpp_index, cpp_name, cpp_value
from starling.dace.emit.writer import Writer
from starling.dace.ir import Array, Box, Collective, Put, Ready, Wait, same
from starling.dace.program_error import ProgramError

__all__ = ["emit_collective", "emit_put", "emit_ready", "emit_wait", "protocol_of"]

REDUCTIONS = {"SumReduce": "sum", "MaxReduce": "max", "MinReduce": "min"}


def _arrival(put: Put) -> str:
    return f"signals + {2 * put.channel}"


def _ready(put: Put) -> str:
    return f"signals + {2 * put.channel + 1}"


def _block(w: Writer, end: str, a: Array | None) -> str:
    """The condition under which a block is that at an end of the PE."""
    if not end or a is None:
        return "b.index() == 0"
    return f"{w.owner(a.split is not None, a.length)}.has_{end}()"


def _other(put: Put, direction: int) -> str:
    """The PE that a put goes to, or comes from."""
    return f"sg::{'ring_' if put.ring else ''}neighbour(b, {direction * put.step})"


def emit_put(w: Writer, s: Put) -> None:
    p = w.program
    source = p.arrays.get(s.source)
    if s.channel >= 0:
        w.line(f"++sent_{s.channel};")
    w.line(f"if ({_block(w, s.by, source)}) {{")
    peer = _other(s, 1) if s.channel >= 0 else f"static_cast<int>({cpp_value(s.peer, p, 'int64')})"
    w.line(f"if (const int to = {peer}; to != sg::nobody) {{")
    if s.credit:
        w.line(f"b.wait({_ready(s)}, sent_{s.channel}, to);")
    if s.inserted:
        assert source is not None
        _put_layers(w, s, source)
    elif s.verb == "SignalOp":
        w.line(f"b.signal_set({_arrival(s)}, sent_{s.channel}, to);")
    elif s.verb == "P":
        assert s.value is not None
        value = cpp_value(s.value, p, p.arrays[s.array].dtype)
        w.line(f"b.p({_address(p.arrays[s.array], s.box)}, {value}, to);")
    else:
        assert source is not None
        _put_region(w, s, p.arrays[s.array], source)
    w.line("}")
    w.line("}")


def _put_layers(w: Writer, s: Put, a: Array) -> None:
    owner = w.owner(True, a.length)
    shift = f" - ({cpp_index(a.shift)})" if a.shift != 0 else ""
    start = f"{owner}.pe.begin{shift}" if s.by == "first" else f"{owner}.pe.end{shift} - {s.width}"
    first = f"sg::first_layer({cpp_index(a.length)}, b.n_pes(), to, {cpp_index(a.shift)}, {a.low})"
    w.line(f"sg::put_layers(b, {cpp_name(a.name)}, {start}, {s.width}, {first}, {_arrival(s)}, sent_{s.channel}, to);")


def _lengths(box: Box) -> list[Any]:
    return [sympy.expand(e - b) if s == 1 else sympy.floor((e - b + s - 1) / s) for b, e, s in box]


def _contiguous(a: Array, box: Box) -> bool:
    """Whether a region lies in one piece."""
    varying = [k for k, n in enumerate(_lengths(box)) if n != 1]
    if not varying:
        return True
    whole = all(
        box[k][0] == 0 and same(box[k][1], a.shape[k]) and box[k][2] == 1 for k in range(varying[0] + 1, len(box))
    )
    return whole and box[varying[0]][2] == 1


def protocol_of(s: Put, arrays: dict[str, Array]) -> tuple[str, str]:
    """How a put travels, and why."""
    if s.inserted:
        return (
            ("put_signal", "layers in one piece")
            if arrays[s.array].split == 0
            else ("put, fence, signal", "layers in pieces")
        )
    if s.verb == "SignalOp":
        return "signal", "no data"
    if s.verb == "P":
        return "p", "one element"
    signal = s.verb == "PutmemSignal"
    if _contiguous(arrays[s.array], s.box) and _contiguous(arrays[s.source], s.source_box):
        return ("put_signal" if signal else "put"), "in one piece on both sides"
    return ("iput, fence, signal" if signal else "iput"), "strides on one side"


def _address(a: Array, box: Box, extra: str = "") -> str:
    indices = ", ".join(cpp_index(b) for b, _, _ in box)
    return f"{cpp_name(a.name)}.at(0, {indices}){extra}"


def _put_region(w: Writer, s: Put, to: Array, source: Array) -> None:
    lengths = _lengths(s.source_box)
    count = cpp_index(sympy.Mul(*lengths))
    start = f"&{cpp_name(source.name)}({', '.join(cpp_index(b) for b, _, _ in s.source_box)})"
    signal = s.verb == "PutmemSignal"
    if _contiguous(to, s.box) and _contiguous(source, s.source_box):
        if signal:
            w.line(f"b.put_signal({_address(to, s.box)}, {start}, {count}, {_arrival(s)}, sent_{s.channel}, to);")
        else:
            w.line(f"b.put({_address(to, s.box)}, {start}, {count}, to);")
        return
    here = [k for k, n in enumerate(lengths) if n != 1]
    there = [k for k, n in enumerate(_lengths(s.box)) if n != 1]
    offsets = ["", ""]
    for depth, (k, m) in enumerate(zip(here[:-1], there[:-1], strict=True)):
        v = f"row_{depth}"
        w.line(f"for (st::index_t {v} = 0; {v} < {cpp_index(lengths[k])}; ++{v}) {{")
        offsets[0] += f" + {v} * {_stride(to, s.box, m)}"
        offsets[1] += f" + {v} * {_stride(source, s.source_box, k)}"
    w.line(
        f"b.iput({_address(to, s.box, offsets[0])}, {_stride(to, s.box, there[-1])}, {start}{offsets[1]}, "
        f"{_stride(source, s.source_box, here[-1])}, {cpp_index(lengths[here[-1]])}, to);"
    )
    for _ in here[:-1]:
        w.line("}")
    if signal:
        w.line("b.fence();")
        w.line(f"b.signal_set({_arrival(s)}, sent_{s.channel}, to);")


def _stride(a: Array, box: Box, axis: int) -> str:
    step = box[axis][2]
    return f"{'' if step == 1 else f'{cpp_index(step)} * '}{cpp_name(a.name)}.stride({axis})"


def emit_wait(w: Writer, s: Wait) -> None:
    put = s.put
    assert put is not None
    a = w.program.arrays.get(s.array)
    if put.to:
        w.line(f"if ({_block(w, put.to, a)}) {{")
    w.line(f"if (const int from = {_other(put, -1)}; from != sg::nobody) {{")
    w.line(f"b.wait({_arrival(put)}, sent_{put.channel}, from);")
    w.line("}")
    if put.to:
        w.line("}")


def emit_ready(w: Writer, s: Ready) -> None:
    put = s.put
    w.line(f"if ({_block(w, put.to, w.program.arrays.get(put.array))}) {{")
    w.line(f"if (const int from = {_other(put, -1)}; from != sg::nobody) {{")
    # What was put before has to be there: nobody may have waited for it.
    w.line(f"b.wait({_arrival(put)}, sent_{put.channel}, from);")
    w.line(f"b.signal_set({_ready(put)}, sent_{put.channel} + 1, from);")
    w.line("}")
    w.line("}")


def emit_collective(w: Writer, s: Collective) -> None:
    p = w.program
    if s.verb == "Barrier":
        w.line("b.barrier_all();")
    elif s.verb in ("Quiet", "Fence"):
        w.line(f"b.{s.verb.lower()}();")
    elif s.verb == "Getmem":
        _get(w, s)
    else:
        for name, box in ((s.source, s.source_box), (s.array, s.box)):
            if any(n != 1 for n in _lengths(box)):
                raise ProgramError.at(s.place, f"{s.verb} of {name}", "takes one element of each array, such as r[0]")
        source, to = p.arrays[s.source], p.arrays[s.array]
        t = CPP[source.dtype]
        mine = f"{cpp_name(source.name)}({', '.join(cpp_index(b) for b, _, _ in s.source_box)})"
        w.line("{")
        if s.verb == "Broadcast":
            root = f"static_cast<int>({cpp_value(s.peer, p, 'int64')})"
            w.line(f"const {t} told = b.broadcast(b.index() == 0 ? {mine} : {t}{{}}, {root});")
        else:
            op = f"st::{FOLDS[REDUCTIONS[s.verb]]}{{}}"
            w.line(f"const {t} told = b.all_reduce(b.index() == 0 ? {mine} : sg::nothing<{t}>({op}), {op});")
        result = f"{cpp_name(to.name)}({', '.join(cpp_index(b) for b, _, _ in s.box)})"
        w.line(f"if (b.index() == 0 && b.member() == 0) {result} = static_cast<{CPP[to.dtype]}>(told);")
        w.line("}")


def _get(w: Writer, s: Collective) -> None:
    p = w.program
    to, source = p.arrays[s.array], p.arrays[s.source]
    if not (_contiguous(to, s.box) and _contiguous(source, s.source_box)):
        raise ProgramError.at(s.place, f"Getmem of {s.source}", "takes regions that lie in one piece")
    peer = f"static_cast<int>({cpp_value(s.peer, p, 'int64')})"
    dest = f"&{cpp_name(to.name)}({', '.join(cpp_index(b) for b, _, _ in s.box)})"
    w.line("if (b.index() == 0) {")
    w.line(f"if (const int from = {peer}; from != sg::nobody) {{")
    w.line(f"b.get({dest}, {_address(source, s.source_box)}, {cpp_index(sympy.Mul(*_lengths(s.source_box)))}, from);")
    w.line("}")
    w.line("}")
