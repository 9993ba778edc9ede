"""What a kernel, a phase or the host begins with: the program's data, its arrays and its variables."""

from __future__ import annotations

from starling.dace.emit.expression import CPP
from starling.dace.emit.index import cpp_index, minus
from starling.dace.emit.names import cpp_name, data_name
from starling.dace.emit.writer import Writer
from starling.dace.ir import Array, Compute, Program, statements
from starling.dace.passes.types import WEAK

__all__ = ["emit_arrays", "emit_fields", "emit_kept", "emit_variables"]

STOPPED = "data_stopped"  # the number of the reason for which the program has ended


def emit_fields(w: Writer) -> None:
    """A program's data, in words of 8 bytes; run.py lays out the same."""
    p = w.program
    w.line("st::sym<st::signal> signals;")
    w.line("st::sym<sg::slot> slots;")
    w.line("st::sym<st::packet> packets;")
    for c in sorted(w.packets):
        w.line(f"sg::packet_place packets_{c};")
    if p.grid > 1:
        w.line("st::index_t grid_columns;")
    for a in p.arrays.values():
        w.line(f"st::sym<{CPP[a.dtype]}> {data_name(a.name)};")
    if p.raises:
        w.line(f"st::sym<std::int64_t> {STOPPED};")
    for k in range(len(p.pitches())):
        w.line(f"st::index_t pitch_{k};")
    for n in p.sizes:
        w.line(f"st::index_t {cpp_name(n)};")
    for name, dtype in p.scalars.items():
        wide = "std::int64_t" if dtype.startswith("int") else "double"
        w.line(f"{wide} {'given_' if dtype.endswith('32') else ''}{cpp_name(name)};")


def emit_arrays(w: Writer, arrays: list[Array]) -> None:
    """Scalars of the call, who owns what, and these arrays: those of one element as variables."""
    p = w.program
    for name, dtype in p.scalars.items():
        if dtype.endswith("32"):
            w.line(f"const {CPP[dtype]} {cpp_name(name)} = static_cast<{CPP[dtype]}>(given_{cpp_name(name)});")
    for a in arrays:
        if not a.scalar:
            for axis, d in enumerate(a.dealt):
                w.owner(a.split, axis, d.length)
    w.line(f"[[maybe_unused]] const sg::pe_grid pes(b{', grid_columns' if p.grid > 1 else ''});")
    for (shared, length), owner in w.owners.items():
        n = cpp_index(length)
        made = f"sg::layers_of_all(b, {n})" if shared is None else f"pes.layers_of(b, {n}, {shared})"
        w.line(f"[[maybe_unused]] const sg::layers {owner} = {made};")
    for a in arrays:
        _array(w, a)
    for a in arrays:
        if a.next:
            w.line(f"if ({cpp_name(a.turn)} != 0) {cpp_name(a.name)}.trade({cpp_name(a.next)});")


def emit_variables(w: Writer) -> None:
    """Variables of the program, counts of what was put, and why the program ends."""
    p = w.program
    for name, dtype in p.variables.items():
        w.line(f"{CPP[WEAK.get(dtype, dtype)]} {cpp_name(name)}{{}};")
    for c in range(p.channels):
        w.line(f"std::uint64_t sent_{c} = 0;")
    if p.raises:
        w.line("std::int64_t stopped = 0;")


def _array(w: Writer, a: Array) -> None:
    name, data, t, rank = cpp_name(a.name), data_name(a.name), CPP[a.dtype], len(a.shape)
    if a.scalar:
        own = f"{data}.on(b.pe())"
        value = f" = {f'b.fetch({own})' if w.launch else f'{own}[0]'}" if _stays(w.program, a) else "{}"
        w.line(f"{t} {name}{value};")
        return
    extents = [cpp_index(n) for n in a.shape]
    for axis, d in enumerate(a.dealt if a.split else []):
        extents[d.axis] = f"pes.held({cpp_index(d.length)}, {axis}, {d.low + d.high})"
    for k, alike in enumerate(w.program.pitches()):
        if a.name in alike:  # along two axes registers are short: what a kernel computes with it, it computes late
            extents[-1] = f"pitch_{k}" if w.program.grid == 1 else f"st::target::unforeseen(pitch_{k})"
    places = f"{{{', '.join(_first_of(w, a))}}}, {{{', '.join(extents)}}}"
    traded = {n for x in w.program.arrays.values() if x.next for n in (x.name, x.next)}
    kind = f"{'' if a.name in traded else 'const '}{'sg::host_array' if w.launch else 'sg::array'}<{t}, {rank}>"
    w.line(f"{kind} {name}({f'b, {data}' if w.launch else f'{data}, b.pe()'}, {places});")


def _first_of(w: Writer, a: Array) -> list[str]:
    """The indices of the element that a PE's memory begins with."""
    first = ["0"] * len(a.shape)
    for axis, d in enumerate(a.dealt if a.split else []):
        first[d.axis] = f"{w.owner(True, axis, d.length)}.pe.begin{minus(d.shift + d.low)}"
    return first


def emit_kept(w: Writer) -> None:
    """At the end arrays of one element go back to memory, and the number of the reason for which the program ends."""
    kept = [(data_name(a.name), cpp_name(a.name)) for a in _kept_elements(w.program)]
    if w.launch is None and kept:
        w.line("sg::meet(b);")  # all blocks have read them
    if w.program.raises:
        kept.append((STOPPED, "stopped"))
    if w.launch is not None:
        for data, name in kept:
            w.line(f"b.store({data}.on(b.pe()), {name});")
    elif kept:
        w.line("if (b.index() == 0 && b.member() == 0) {")
        for data, name in kept:
            w.line(f"{data}.on(b.pe())[0] = {name};")
        w.line("}")


def _kept_elements(p: Program) -> list[Array]:
    """Arrays of one element that the program writes, and that are there afterwards."""
    written = {s.target for _, s in statements(p.body) if isinstance(s, Compute)}
    return [a for a in p.arrays.values() if a.scalar and a.name in written and _stays(p, a)]


def _stays(p: Program, a: Array) -> bool:
    """Whether what an array holds is there between runs."""
    return a.argument or any(a.name == x.turn for x in p.arrays.values())
