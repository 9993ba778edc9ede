"""Loops over elements in C++: computations and reductions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import sympy

from starling.dace.emit.expression import CPP, FOLDS, cpp_value
from starling.dace.emit.index import cpp_index
from starling.dace.emit.names import cpp_name
from starling.dace.emit.rows import along_row, rows_of
from starling.dace.emit.writer import Writer
from starling.dace.ir import Compute, Param, Reduce, Statement, Sym
from starling.dace.ir.names import shown
from starling.dace.passes.place import Owner, owner_of
from starling.dace.passes.types import WEAK
from starling.dace.program_error import ProgramError

__all__ = ["emit_computation", "emit_reduction", "fold_of", "kind_of"]

MOST_RANGES = 3  # that block::for_each takes


def emit_computation(w: Writer, s: Compute) -> None:
    """The elements of an array that this block has to do with."""
    owner = owner_of(s, w.program)
    guard = _guard(w, owner)
    if not guard:
        _map(w, s, owner)
        return
    turn = w.backwards
    if s.params:  # all blocks take the turn, so that loops behind it stay opposite to each other in all of them
        w.line("{")
        w.line(f"[[maybe_unused]] const bool turn_ = {turn};")
        w.backwards = "turn_"
    w.line(f"if ({guard}) {{")
    _map(w, s, owner)
    w.line("}")
    if s.params:
        w.line("}")
        w.backwards = turn


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
    kind, op = kind_of(s, w), fold_of(s)
    t = CPP[kind]
    owner = owner_of(s, p)
    w.line("{")
    w.line(f"sg::partial<{t}, st::{FOLDS[s.op]}> part_;")
    guard = _guard(w, owner)
    if guard:
        w.line(f"if ({guard}) {{")
    body = f"part_.add({cpp_value(s.value, p, kind)});"
    with _ranges(w, s, s.params, owner) as (ranges, names):
        w.line(f"b.for_each({ranges}, [&]({names}) {{ {body} }});")
    if guard:
        w.line("}")
    w.line(f"{combine}part_.value(), {op});")
    w.line("}")


def kind_of(s: Reduce, w: Writer) -> str:
    """The element type in which parts of a reduction are combined: truth values as numbers, which threads exchange."""
    declared = w.program.variables[s.name]
    kind = WEAK.get(declared, declared)
    return "int32" if kind == "bool" else kind


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
    x = cpp_name(s.params[-1].name)
    with _ranges(w, s, s.params, owner) as (ranges, names):
        names = names.replace("st::index_t", "[[maybe_unused]] st::index_t")
        t = CPP[kind]
        lanes = "[[maybe_unused]] const auto& lanes_"
        read = [f"sg::row<{', '.join(map(str, r.offsets))}>(lanes_, {_element(r.array, r.index)})" for r in rows]
        w.line(f"sg::map<{t}>(b, {w.backwards}, {ranges}, [&]({lanes}, {names}) {{")
        w.line(f"return sg::rows({', '.join(read)});")
        given = "".join(f", [[maybe_unused]] const auto& row_{k}_" for k in range(len(rows)))
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
            what = shown(s.target) if isinstance(s, Compute) else "reduction"
            raise ProgramError.at(
                s.place, what, f"its loop from {q.begin} to {q.end} depends on another loop; use rectangles"
            )
        ranges.append(_range(w, q, owner))
    outer = max(0, len(params) - MOST_RANGES)
    for q, r in zip(params[:outer], ranges, strict=False):
        w.line(f"for (const auto range_ = {r}; const st::index_t {cpp_name(q.name)} : sg::numbers{{range_}}) {{")
    if params:
        yield ", ".join(ranges[outer:]), ", ".join(f"st::index_t {cpp_name(q.name)}" for q in params[outer:])
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
