"""Statements in C++: of a persistent kernel, of a phase that the host launches, or of what the host does itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import sympy

from starling.dace.emit.communication import emit_collective, emit_put, emit_ready, emit_wait
from starling.dace.emit.expression import CPP, FOLDS, cpp_index, cpp_name, cpp_value, minus
from starling.dace.emit.rows import along_row, rows_of
from starling.dace.emit.writer import Writer
from starling.dace.ir import (
    Array,
    Assign,
    Barrier,
    BlockSync,
    Body,
    Collective,
    Compute,
    For,
    If,
    Param,
    Program,
    Put,
    Ready,
    Reduce,
    Statement,
    Sym,
    Trade,
    Wait,
    While,
    statements,
)
from starling.dace.passes.place import Owner, owner_of
from starling.dace.passes.types import WEAK
from starling.dace.program_error import ProgramError

__all__ = [
    "emit_arrays",
    "emit_body",
    "emit_computation",
    "emit_fields",
    "emit_reduction",
    "emit_variables",
    "fold_of",
    "kept_elements",
]

MOST_RANGES = 3  # that block::for_each takes


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
        w.line(f"st::sym<{CPP[a.dtype]}> {cpp_name(a.name)}_data;")
    for k in range(len(p.pitches())):
        w.line(f"st::index_t pitch_{k};")
    for n in p.sizes:
        w.line(f"st::index_t {cpp_name(n)};")
    for name, dtype in p.scalars.items():
        wide = "std::int64_t" if dtype.startswith("int") else "double"
        w.line(f"{wide} {cpp_name(name)}{'_given' if dtype.endswith('32') else ''};")


def emit_arrays(w: Writer, arrays: list[Array]) -> None:
    """Scalars of the call, who owns what, and these arrays: those of one element as variables."""
    p = w.program
    for name, dtype in p.scalars.items():
        if dtype.endswith("32"):
            w.line(f"const {CPP[dtype]} {cpp_name(name)} = static_cast<{CPP[dtype]}>({cpp_name(name)}_given);")
    for a in arrays:
        if not a.scalar:
            for axis, d in enumerate(a.dealt):
                w.owner(a.split, axis, d.length)
    w.line(f"[[maybe_unused]] const sg::pe_grid pes(b{', grid_columns' if p.grid > 1 else ''});")
    for (shared, length), owner in w.owners.items():
        n = cpp_index(length)
        made = f"sg::layers_of_all(b, {n})" if shared is None else f"pes.layers_of(b, {n}, {shared})"
        w.line(f"const sg::layers {owner} = {made};")
    for a in arrays:
        _array(w, a)
    for a in arrays:
        if a.next:
            w.line(f"if ({cpp_name(a.turn)} != 0) {cpp_name(a.name)}.trade({cpp_name(a.next)});")


def emit_variables(w: Writer) -> None:
    """Variables of the program, and counts of what was put."""
    p = w.program
    for name, dtype in p.variables.items():
        w.line(f"{CPP[WEAK.get(dtype, dtype)]} {cpp_name(name)}{{}};")
    for c in range(p.channels):
        w.line(f"std::uint64_t sent_{c} = 0;")


def _array(w: Writer, a: Array) -> None:
    name, t, rank = cpp_name(a.name), CPP[a.dtype], len(a.shape)
    if a.scalar:
        own = f"{name}_data.on(b.pe())"
        w.line(f"{t} {name} = {f'b.fetch({own})' if w.launch else f'{own}[0]'};")
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
    w.line(f"{kind} {name}({f'b, {name}_data' if w.launch else f'{name}_data, b.pe()'}, {places});")


def _first_of(w: Writer, a: Array) -> list[str]:
    """The indices of the element that a PE's memory begins with."""
    first = ["0"] * len(a.shape)
    for axis, d in enumerate(a.dealt if a.split else []):
        first[d.axis] = f"{w.owner(True, axis, d.length)}.pe.begin{minus(d.shift + d.low)}"
    return first


def kept_elements(p: Program) -> list[Array]:
    """Arrays of one element that the program writes: they go back to memory at its end."""
    written = {s.target for _, s in statements(p.body) if isinstance(s, Compute)}
    return [a for a in p.arrays.values() if a.scalar and a.name in written]


def emit_body(w: Writer, body: Body) -> None:
    """Statements, one after the other."""
    for s in body:
        _statement(w, s)


def _statement(w: Writer, s: Statement) -> None:
    p = w.program
    w.at(s.place)
    if isinstance(s, Compute) and p.arrays[s.target].scalar:
        w.line(f"{cpp_name(s.target)} = {cpp_value(s.value, p, p.arrays[s.target].dtype)};")
    elif isinstance(s, (Compute, Reduce)) and w.launch is not None:
        w.launch(w, s)
    elif isinstance(s, Compute):
        emit_computation(w, s)
    elif isinstance(s, Assign):
        kind = p.variables[s.name]
        w.line(f"{cpp_name(s.name)} = {cpp_value(s.value, p, WEAK.get(kind, kind))};")
    elif isinstance(s, Reduce):
        owner, name = owner_of(s, p), cpp_name(s.name)
        together = "sg::reduce_all(b, " if owner is not None and owner.split else "sg::reduce_pe(b, slots, round, "
        emit_reduction(w, s, f"{name} = {together}")
    elif isinstance(s, For):
        v, compare = cpp_name(s.variable), "<" if s.step > 0 else ">"
        step = f"++{v}" if s.step == 1 else f"{v} += {s.step}"
        w.line(f"for (st::index_t {v} = {cpp_index(s.begin)}; {v} {compare} {cpp_index(s.end)}; {step}) {{")
        w.loops.append(s.variable)
        emit_body(w, s.body)
        w.loops.pop()
        w.line("}")
    elif isinstance(s, While):
        w.line(f"while ({cpp_value(s.condition, p, 'bool')}) {{")
        emit_body(w, s.body)
        w.line("}")
    elif isinstance(s, If):
        for k, (condition, inner) in enumerate(s.branches):
            test = "" if condition is None else f"if ({cpp_value(condition, p, 'bool')}) "
            w.line(f"{'else ' if k else ''}{test}{{")
            emit_body(w, inner)
            w.line("}")
    elif isinstance(s, (Barrier, BlockSync)):
        if w.launch is None:  # launches of a stream come one after the other
            w.line("sg::meet(b);" if isinstance(s, Barrier) else "b.sync();")
    elif isinstance(s, Trade):
        w.line(f"{cpp_name(s.array)}.trade({cpp_name(s.other)});")
    elif isinstance(s, Put):
        emit_put(w, s)
    elif isinstance(s, Ready):
        emit_ready(w, s)
    elif isinstance(s, Wait):
        emit_wait(w, s)
    elif isinstance(s, Collective):
        emit_collective(w, s)


def emit_computation(w: Writer, s: Compute) -> None:
    """The elements of an array that this block has to do with."""
    owner = owner_of(s, w.program)
    guard = _guard(w, owner)
    if guard:
        w.line(f"if ({guard}) {{")
    _map(w, s, owner)
    if guard:
        w.line("}")


def _guard(w: Writer, owner: Owner | None) -> str:
    """The condition under which a block has to do with a statement at all; empty: there is none."""
    if owner is None:
        return "b.index() == 0"
    return " && ".join(
        f"{w.owner(owner.split, axis, x.length)}.has({cpp_index(x.shift)})"
        for axis, x in enumerate(owner.along)
        if not x.parameter
    )


def emit_reduction(w: Writer, s: Reduce, combine: str) -> None:
    """The part of each thread, and what combines them: the beginning of a call, which gets the part and how."""
    p = w.program
    kind = WEAK.get(p.variables[s.name], p.variables[s.name])
    t, op = CPP[kind], fold_of(s)
    owner = owner_of(s, p)
    w.line("{")
    w.line(f"sg::partial<{t}, st::{FOLDS[s.op]}> part;")
    guard = _guard(w, owner)
    if guard:
        w.line(f"if ({guard}) {{")
    body = f"part.add({cpp_value(s.value, p, kind)});"
    with _ranges(w, s, s.params, owner) as (ranges, names):
        w.line(f"b.for_each({ranges}, [&]({names}) {{ {body} }});")
    if guard:
        w.line("}")
    w.line(f"{combine}part.value(), {op});")
    w.line("}")


def fold_of(s: Reduce) -> str:
    """What combines two parts of a reduction."""
    return f"st::{FOLDS[s.op]}{{}}"


def _map(w: Writer, s: Compute, owner: Owner | None) -> None:
    """Stores a value for each of the parameters."""
    p = w.program
    kind = p.arrays[s.target].dtype
    element = _element(s.target, s.index)
    if not s.params:
        w.line(f"b.for_each(1, [&](st::index_t) {{ {element} = {cpp_value(s.value, p, kind)}; }});")
        return
    rows, value = rows_of(s, p)
    x = s.params[-1].name
    with _ranges(w, s, s.params, owner) as (ranges, names):
        names = names.replace("st::index_t", "[[maybe_unused]] st::index_t")
        t = CPP[kind]
        lanes = "[[maybe_unused]] const auto& lanes_"
        read = [f"sg::row<{', '.join(map(str, r.offsets))}>(lanes_, {_element(r.array, r.index)})" for r in rows]
        w.line(f"sg::map<{t}>(b, {w.backwards}, {ranges}, [&]({lanes}, {names}) {{")
        w.line(f"return sg::rows({', '.join(read)});")
        given = "".join(f", const auto& row_{k}_" for k in range(len(rows)))
        w.line(f"}}, [&]({lanes}, {names}{given}) {{")
        lane = f"[[maybe_unused]] auto lane_, [[maybe_unused]] st::index_t {x}"
        w.line(f"return sg::each(lanes_, {x}, [&]({lane}) -> {t} {{ return {cpp_value(value, p, kind)}; }});")
        begins = f"addresses({', '.join([element, *(_element(r.array, r.index) for r in rows)])})"
        w.line(f"}}, [&]({names}) {{ return sg::{begins if along_row(s) else 'scattered_addresses{}'}; }},")
        w.line(f"   [&]({names}, const auto& value_) {{ sg::place_of(value_, {element}) = value_; }});")


def _element(array: str, index: Iterable[Sym]) -> str:
    return f"{cpp_name(array)}({', '.join(cpp_index(i) for i in index)})"


@contextmanager
def _ranges(w: Writer, s: Statement, params: list[Param], owner: Owner | None) -> Iterator[tuple[str, str]]:
    """The ranges of the last parameters and their names, within loops over those before.

    Raises:
        ProgramError: A range depends on another parameter.
    """
    names = {q.name for q in params}
    ranges = []
    for q in params:
        if {str(n) for x in (q.begin, q.end) for n in sympy.sympify(x).free_symbols} & names:
            what = s.target if isinstance(s, Compute) else "reduction"
            raise ProgramError.at(
                s.place, what, f"its loop from {q.begin} to {q.end} depends on another loop; use rectangles"
            )
        ranges.append(_range(w, q, owner))
    outer = max(0, len(params) - MOST_RANGES)
    for q, r in zip(params[:outer], ranges, strict=False):
        w.line(f"for (const auto r = {r}; const st::index_t {q.name} : sg::numbers{{r}}) {{")
    if params:
        yield ", ".join(ranges[outer:]), ", ".join(f"st::index_t {q.name}" for q in params[outer:])
    else:
        yield "1", "st::index_t"
    for _ in range(outer):
        w.line("}")


def _range(w: Writer, q: Param, owner: Owner | None) -> str:
    """The values of a parameter that are this block's."""
    for axis, x in enumerate(owner.along if owner is not None else ()):
        if x.parameter == q.name:
            arguments = [cpp_index(q.begin), cpp_index(q.end), cpp_index(x.shift)]
            arguments += [str(x.scale)] if x.scale != 1 else []
            return f"{w.owner(owner is not None and owner.split, axis, x.length)}.of({', '.join(arguments)})"
    return f"st::index_range{{{cpp_index(q.begin)}, {cpp_index(q.end)}}}"
