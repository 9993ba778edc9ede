"""Puts, waits and what joins PEs, in C++."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

import sympy

from starling.dace.emit.expression import CPP, FOLDS, cpp_value
from starling.dace.emit.index import cpp_index
from starling.dace.emit.layers import box_of, first_at, in_columns, last_axis, protocol_of_layers
from starling.dace.emit.literals import converted
from starling.dace.emit.names import cpp_name
from starling.dace.emit.regions import box_of_region, in_one_piece, lengths_of
from starling.dace.emit.writer import Writer
from starling.dace.ir import EACH, Array, Box, Collective, Program, Put, Ready, Wait, statements
from starling.dace.program_error import ProgramError

__all__ = [
    "channels_of",
    "emit_collective",
    "emit_put",
    "emit_ready",
    "emit_wait",
    "needs_credit",
    "packet_channels",
    "protocol_of",
]

REDUCTIONS = {"SumReduce": "sum", "MaxReduce": "max", "MinReduce": "min"}


def _signal(w: Writer, put: Put, which: int) -> str:
    """Of the two signals of a channel: 0, what was put has arrived; 1, it was read. Of EACH, those of block 0.

    An array with two generations has two signals of arrival, since puts to the one do not come before those to the
    other, and no credits.
    """
    narrow, wide = channels_of(w.program)
    a = w.program.arrays.get(put.array)
    turn = f" + {cpp_name(a.turn)}" if a is not None and a.turn else ""
    if put.channel in narrow:
        return f"signals + {2 * narrow.index(put.channel) + which}{turn}"
    number = f"{2 * wide.index(put.channel) + which}{turn}"
    return f"signals + {2 * len(narrow)} + {f'({number})' if turn else number} * b.blocks_per_pe()"


def channels_of(p: Program) -> tuple[list[int], list[int]]:
    """Channels with one pair of signals, and those with one for each block."""
    wide = sorted({s.channel for _, s in statements(p.body) if isinstance(s, Put) and s.by == EACH})
    return [c for c in range(p.channels) if c not in wide], wide


def packet_channels(p: Program) -> dict[int, Put]:
    """Channels whose messages may be packets, each with one of its puts."""
    return {s.channel: s for _, s in statements(p.body) if isinstance(s, Put) and s.packets}


def _slots(put: Put) -> str:
    block = ", b.index()" if put.by == EACH else ""
    return f"packets + packets_{put.channel}.of(sent_{put.channel}{block})"


def _own(put: Put) -> str:
    """What leads from the signal of block 0 to that of this block."""
    return " + b.index()" if put.by == EACH else ""


def _wait(w: Writer, put: Put, which: int, pe: str) -> None:
    """Waits for what all blocks have done that the put has to do with."""
    if which == 0 and put.channel in w.packets:
        a = w.program.arrays[put.array]
        last, halo = (last_axis(put, a), box_of(w, put, a, halo=True)) if put.inserted else box_of_region(put.box)
        w.line(f"sg::take_packets<{last}>(b, {cpp_name(a.name)}, {halo},")
        w.line(f"        {_slots(put)}, sent_{put.channel}, {pe});")
    elif which == 1 and put.channel in w.packets:
        # The message before the last lies where this one goes.
        w.line(f"b.wait({_signal(w, put, 1)}{_own(put)}, sent_{put.channel} - 1, {pe});")
    elif put.reach:
        w.line(f"sg::wait_blocks(b, {_signal(w, put, which)}, sent_{put.channel}, {pe}, {put.reach});")
    else:
        w.line(f"b.wait({_signal(w, put, which)}{_own(put)}, sent_{put.channel}, {pe});")


def needs_credit(put: Put, packets: Collection[int]) -> bool:
    """Whether a put waits for a credit. `packets`: the channels that use them."""
    return put.packet_credit if put.channel in packets else put.credit


@contextmanager
def _by(w: Writer, end: str, a: Array | None) -> Iterator[None]:
    """What one block does: that at an end of the PE. All of them: EACH."""
    if end == EACH:
        yield
        return
    if end and a is not None:
        w.line(f"if ({w.owner(a.split, 0, a.dealt[0].length)}.has_{end}()) {{")
    else:
        w.line("if (b.index() == 0) {")
    yield
    w.line("}")


def _other(w: Writer, put: Put, direction: int) -> str:
    """The PE that a put goes to, or comes from."""
    step = ", ".join(str(direction * k) for k in put.step)
    if put.ring and len(put.step) < w.program.grid:
        return f"sg::next_by_number(b, {step})"
    return f"pes.{'ring_' if put.ring else ''}neighbour({step})"


def emit_put(w: Writer, s: Put) -> None:
    p = w.program
    source = p.arrays.get(s.source)
    if s.channel >= 0:
        w.line(f"++sent_{s.channel};")
    peer = _other(w, s, 1) if s.channel >= 0 else f"static_cast<int>({cpp_value(s.peer, p, 'int64')})"
    with _by(w, s.by, source):
        w.line(f"if (const int to = {peer}; to != sg::nobody) {{")
        if needs_credit(s, w.packets):
            _wait(w, s, 1, "to")
        if s.inserted:
            assert source is not None
            _put_box(w, s, source)
        elif s.channel in w.packets:
            assert source is not None
            _put_packets(w, s, source, *box_of_region(s.source_box))
        elif s.verb == "SignalOp":
            w.line(f"b.signal_set({_signal(w, s, 0)}, sent_{s.channel}, to);")
        elif s.verb == "P":
            assert s.value is not None
            value = cpp_value(s.value, p, p.arrays[s.array].dtype)
            w.line(f"b.p({_address(p.arrays[s.array], s.box)}, {value}, to);")
        else:
            assert source is not None
            _put_region(w, s, p.arrays[s.array], source)
        w.line("}")


def _put_box(w: Writer, s: Put, a: Array) -> None:
    last, box = last_axis(s, a), box_of(w, s, a)
    if s.channel in w.packets:
        _put_packets(w, s, a, last, box)
        return
    call = "sg::put_columns" if in_columns(s, a) else f"sg::put_box<{last}>"
    w.line(f"{call}(b, {cpp_name(a.name)}, {box}, {first_at(a)},")
    w.line(f"        {_signal(w, s, 0)}{_own(s)}, sent_{s.channel}, to);")


def _put_packets(w: Writer, s: Put, a: Array, last: int, box: str) -> None:
    w.line(f"sg::put_packets<{last}>(b, {cpp_name(a.name)}, {box}, {_slots(s)}, sent_{s.channel}, to);")


def protocol_of(s: Put, arrays: dict[str, Array], packets: frozenset[int] | None = None) -> tuple[str, str]:
    """How a put travels, and why. `packets`: the channels that use them; None: that is not known."""
    protocol, why = protocol_of_layers(s, arrays[s.array]) if s.inserted else _protocol_of_region(s, arrays)
    if s.packets and packets is None:
        return f"packets or {protocol}", f"{why}, packets where that is short"
    return ("packets", f"{why}, and short") if s.packets and s.channel in (packets or ()) else (protocol, why)


def _protocol_of_region(s: Put, arrays: dict[str, Array]) -> tuple[str, str]:
    if s.verb == "SignalOp":
        return "signal", "no data"
    if s.verb == "P":
        return "p", "one element"
    signal = s.verb == "PutmemSignal"
    if in_one_piece(arrays[s.array], s.box) and in_one_piece(arrays[s.source], s.source_box):
        return ("put_signal" if signal else "put"), "in one piece on both sides"
    return ("iput, fence, signal" if signal else "iput"), "strides on one side"


def _address(a: Array, box: Box, extra: str = "") -> str:
    indices = ", ".join(cpp_index(b) for b, _, _ in box)
    return f"{cpp_name(a.name)}.at({indices}){extra}"


def _start(a: Array, box: Box) -> str:
    """The address of the first element of a region in the PE's own memory."""
    return f"{cpp_name(a.name)}.address({{{', '.join(cpp_index(b) for b, _, _ in box)}}})"


def _put_region(w: Writer, s: Put, to: Array, source: Array) -> None:
    lengths = lengths_of(s.source_box)
    count = cpp_index(sympy.Mul(*lengths))
    start = _start(source, s.source_box)
    signal = s.verb == "PutmemSignal"
    if in_one_piece(to, s.box) and in_one_piece(source, s.source_box):
        if signal:
            w.line(f"b.put_signal({_address(to, s.box)}, {start}, {count}, {_signal(w, s, 0)}, sent_{s.channel}, to);")
        else:
            w.line(f"b.put({_address(to, s.box)}, {start}, {count}, to);")
        return
    here = [k for k, n in enumerate(lengths) if n != 1]
    there = [k for k, n in enumerate(lengths_of(s.box)) if n != 1]
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
        w.line(f"b.signal_set({_signal(w, s, 0)}, sent_{s.channel}, to);")


def _stride(a: Array, box: Box, axis: int) -> str:
    step = box[axis][2]
    return f"{'' if step == 1 else f'{cpp_index(step)} * '}{cpp_name(a.name)}.stride({axis})"


def emit_wait(w: Writer, s: Wait) -> None:
    put = s.put
    assert put is not None
    with _by(w, put.to or EACH, w.program.arrays.get(s.array)):
        w.line(f"if (const int from = {_other(w, put, -1)}; from != sg::nobody) {{")
        _wait(w, put, 0, "from")
        w.line("}")


def emit_ready(w: Writer, s: Ready) -> None:
    put = s.put
    if not needs_credit(put, w.packets):
        return
    with _by(w, put.to, w.program.arrays.get(put.array)):
        w.line(f"if (const int from = {_other(w, put, -1)}; from != sg::nobody) {{")
        # What was put before has to be there: nobody may have waited for it.
        _wait(w, replace(put, reach=0), 0, "from")
        w.line(f"b.signal_set({_signal(w, put, 1)}{_own(put)}, sent_{put.channel} + 1, from);")
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
            if any(n != 1 for n in lengths_of(box)):
                raise ProgramError.at(s.place, f"{s.verb} of {name}", "takes one element of each array, such as r[0]")
        source, to = p.arrays[s.source], p.arrays[s.array]
        kind = "int32" if source.dtype == "bool" else source.dtype  # that threads exchange
        t = CPP[kind]
        mine = f"{cpp_name(source.name)}({', '.join(cpp_index(b) for b, _, _ in s.source_box)})"
        w.line("{")
        if s.verb == "Broadcast":
            root = f"static_cast<int>({cpp_value(s.peer, p, 'int64')})"
            w.line(f"const {t} told_ = b.broadcast(b.index() == 0 ? {mine} : {t}{{}}, {root});")
        else:
            op = f"st::{FOLDS[REDUCTIONS[s.verb]]}{{}}"
            w.line(f"const {t} told_ = b.all_reduce(b.index() == 0 ? {mine} : sg::nothing<{t}>({op}), {op});")
        given = converted("told_", kind, to.dtype)
        if w.launch:
            w.line(f"b.store({_start(to, s.box)}, {given});")
        else:
            w.line(f"if (b.index() == 0 && b.member() == 0) *{_start(to, s.box)} = {given};")
        w.line("}")


def _get(w: Writer, s: Collective) -> None:
    p = w.program
    to, source = p.arrays[s.array], p.arrays[s.source]
    if not (in_one_piece(to, s.box) and in_one_piece(source, s.source_box)):
        raise ProgramError.at(s.place, f"Getmem of {s.source}", "takes regions that lie in one piece")
    peer = f"static_cast<int>({cpp_value(s.peer, p, 'int64')})"
    dest = _start(to, s.box)
    w.line("if (b.index() == 0) {")
    w.line(f"if (const int from = {peer}; from != sg::nobody) {{")
    w.line(f"b.get({dest}, {_address(source, s.source_box)}, {cpp_index(sympy.Mul(*lengths_of(s.source_box)))}, from);")
    w.line("}")
    w.line("}")
