"""The C++ source of a program whose time loop the host runs: a kernel for each loop over elements, called a phase, and
what the thread of the host does that drives a PE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from starling.dace.emit.declarations import emit_arrays, emit_fields, emit_kept, emit_variables
from starling.dace.emit.elements import emit_computation, emit_reduction, fold_of, kind_of
from starling.dace.emit.expression import CPP
from starling.dace.emit.kernel import USUAL_THREADS, emit_bounds, emit_header
from starling.dace.emit.names import cpp_name, struct_name
from starling.dace.emit.statements import emit_statements
from starling.dace.emit.writer import Writer
from starling.dace.ir import Compute, Expression, Program, Read, Reduce, Value, map_expression
from starling.dace.passes.place import owner_of
from starling.dace.passes.types import WEAK

__all__ = ["Hosted", "emit_hosted"]


@dataclass(frozen=True)
class Hosted:
    """A source and how many phases it has, which are numbered from 0."""

    source: str
    phases: int


def emit_hosted(p: Program, threads: int = USUAL_THREADS) -> Hosted:
    """The source of a program after all passes, for blocks of at most so many threads.

    Raises:
        ProgramError: An index has no form in C++, or a loop no rectangular range.
    """
    phases: list[str] = []

    def launch(w: Writer, s: Compute | Reduce) -> None:
        number = len(phases)
        fields = _fields_of(s, w)
        phases.append(_phase(p, number, s, fields, threads))
        owner = owner_of(s, p)
        everyone = "true" if isinstance(s, Reduce) or owner is not None else "false"
        given = ", ".join(["*this", *(cpp_name(n) for n in fields)])
        w.line(f"b.launch({number}, {everyone}, {struct_name(p, f'phase_{number}')}{{{given}}});")
        if isinstance(s, Reduce):
            kind = CPP[kind_of(s, w)]
            of_all = "true" if owner is not None and owner.split else "false"
            w.line(f"{cpp_name(s.name)} = b.combined<{kind}>(slots, {fold_of(s)}, {of_all});")

    host = Writer(p, launch)
    host.line(f"struct {struct_name(p, 'host')} : {struct_name(p, 'data')} {{")
    host.line("void operator()(sg::host_pe& b) const {")
    host.line("[[maybe_unused]] constexpr st::index_t signals = 0;")
    emit_arrays(host, list(p.arrays.values()))
    emit_variables(host)
    emit_statements(host)
    emit_kept(host)
    host.line("}")
    host.line("};")
    host.line("")
    host.line(f"STARLING_HOST_PROGRAM({struct_name(p, 'host')})")
    return Hosted("".join([_data(p), *phases, host.text()]), len(phases))


def _data(p: Program) -> str:
    w = Writer(p)
    emit_header(w, "host_pe")
    w.line(f"struct {struct_name(p, 'data')} {{")
    emit_fields(w)
    w.line("};")
    w.line("")
    return w.text()


def _phase(p: Program, number: int, s: Compute | Reduce, fields: dict[str, str], threads: int) -> str:
    """The kernel of a phase; `fields`: what the host gives it beside the program's data."""
    w = Writer(p)
    name = struct_name(p, f"phase_{number}")
    w.line(f"struct {name} : {struct_name(p, 'data')} {{")
    emit_bounds(w, threads)
    w.backwards = "true" if number % 2 else "false"
    for field, kind in fields.items():
        w.line(f"{kind} {cpp_name(field)};")
    w.line("")
    w.line("STARLING_HD void operator()(st::block& b) const {")
    touched = _arrays_of(s, p)
    emit_arrays(w, [a for a in p.arrays.values() if a.name in touched and not a.scalar])
    w.at(s.place)
    if isinstance(s, Compute):
        emit_computation(w, s)
    else:
        emit_reduction(w, s, "sg::leave_part(b, slots, ")
    w.line("}")
    w.line("};")
    w.line("")
    w.line(f"STARLING_PROGRAM({name}, starling_phase_{number})")
    w.line("")
    return w.text()


def _names_in(s: Compute | Reduce) -> tuple[set[str], set[str]]:
    """Names of numbers, and of arrays, that a statement uses."""
    numbers: set[str] = set()
    arrays = {s.target} if isinstance(s, Compute) else set()

    def leaf(e: Expression) -> Expression:
        if isinstance(e, Value):
            numbers.add(e.name)
        elif isinstance(e, Read):
            arrays.add(e.array)
        return e

    def index(i: Any) -> Any:
        numbers.update(str(n) for n in sympy.sympify(i).free_symbols)
        return i

    map_expression(s.value, leaf, index)
    for q in s.params:
        index(q.begin)
        index(q.end)
    for i in s.index if isinstance(s, Compute) else ():
        index(i)
    return numbers, arrays


def _arrays_of(s: Compute | Reduce, p: Program) -> set[str]:
    """Arrays that a statement uses, of those with two generations both and the number of the one that it is now."""
    names = _names_in(s)[1]
    for a in p.arrays.values():
        if a.next and names & {a.name, a.next}:
            names |= {a.name, a.next, a.turn}
    return names


def _fields_of(s: Compute | Reduce, w: Writer) -> dict[str, str]:
    """What the host knows by now that a statement uses, and the types of it."""
    p = w.program
    names = _names_in(s)[0]
    found = {n: "st::index_t" for n in dict.fromkeys(w.loops) if n in names}
    found.update({n: CPP[WEAK.get(t, t)] for n, t in p.variables.items() if n in names})
    touched = _arrays_of(s, p)
    found.update({a.name: CPP[a.dtype] for a in p.arrays.values() if a.scalar and a.name in touched})
    return found
