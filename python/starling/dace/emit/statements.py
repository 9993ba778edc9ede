"""Statements in C++: of a persistent kernel, of a phase that the host launches, or of what the host does itself."""

from __future__ import annotations

import sympy

from starling.dace.emit.communication import emit_collective, emit_put, emit_ready, emit_wait
from starling.dace.emit.elements import emit_computation, emit_reduction
from starling.dace.emit.expression import cpp_value
from starling.dace.emit.index import cpp_index
from starling.dace.emit.names import cpp_name
from starling.dace.emit.writer import Writer
from starling.dace.ir import (
    Assign,
    Barrier,
    BlockSync,
    Body,
    Break,
    Collective,
    Compute,
    Continue,
    Expression,
    For,
    If,
    Program,
    Put,
    Ready,
    Reduce,
    Require,
    Statement,
    Stop,
    Trade,
    Wait,
    While,
    statements,
    substitute,
    symbol,
)
from starling.dace.passes.place import owner_of
from starling.dace.passes.types import WEAK
from starling.dace.passes.uses import written_by

__all__ = ["emit_statements"]


def emit_statements(w: Writer) -> None:
    """All statements of the program; a Stop leads behind them."""
    ends = any(isinstance(s, Stop) for _, s in statements(w.program.body))
    if ends:
        w.line("[&] {")
    _body(w, w.program.body)
    if ends:
        w.line("}();")


def _body(w: Writer, body: Body) -> None:
    for s in body:
        _statement(w, s)


def _statement(w: Writer, s: Statement) -> None:
    if isinstance(s, Require):
        return  # calls are checked
    p = w.program
    w.at(s.place)
    if isinstance(s, Compute) and p.arrays[s.target].scalar:
        _one_element(w, s)
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
        _for(w, s)
    elif isinstance(s, While):
        w.line(f"while ({_condition(s.condition, p)}) {{")
        _body(w, s.body)
        w.line("}")
    elif isinstance(s, If):
        for k, (condition, inner) in enumerate(s.branches):
            test = "" if condition is None else f"if ({_condition(condition, p)}) "
            w.line(f"{'else ' if k else ''}{test}{{")
            _body(w, inner)
            w.line("}")
    elif isinstance(s, (Break, Continue)):
        w.line("break;" if isinstance(s, Break) else "continue;")
    elif isinstance(s, Stop):
        if s.number:
            w.line(f"stopped = {s.number};")
        w.line("return;")
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


def _one_element(w: Writer, s: Compute) -> None:
    """Every block computes it: its parameters have one value, or none."""
    p = w.program
    changes = {symbol(q.name): q.begin for q in s.params}
    lengths = [sympy.expand(q.end - q.begin) for q in s.params]
    bounds = [f"{cpp_index(n)} > 0" for n in lengths if not (n.is_Integer and n > 0)]
    if bounds:
        w.line(f"if ({' && '.join(bounds)}) {{")
    w.line(f"{cpp_name(s.target)} = {cpp_value(substitute(s.value, changes), p, p.arrays[s.target].dtype)};")
    if bounds:
        w.line("}")


def _for(w: Writer, s: For) -> None:
    """A loop, whose end is what it was when it began."""
    v, compare = cpp_name(s.variable), "<" if s.step > 0 else ">"
    step = f"++{v}" if s.step == 1 else f"{v} += {s.step}"
    end = cpp_index(s.end)
    written = {n for _, t in statements(s.body) for n in written_by(t)} | {s.variable}
    changes = bool({str(n) for n in sympy.sympify(s.end).free_symbols} & written)
    if changes:
        name = f"end_{len(w.loops)}"
        w.line(f"for (st::index_t {v} = {cpp_index(s.begin)}, {name} = {end}; {v} {compare} {name}; {step}) {{")
    else:
        w.line(f"for (st::index_t {v} = {cpp_index(s.begin)}; {v} {compare} {end}; {step}) {{")
    w.loops.append(s.variable)
    _body(w, s.body)
    w.loops.pop()
    w.line("}")


def _condition(e: Expression, p: Program) -> str:
    """A condition, without parentheses around all of it."""
    text = cpp_value(e, p, "bool")
    depth = 0
    for k, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and k < len(text) - 1:
            return text
    return text[1:-1] if text.startswith("(") else text
