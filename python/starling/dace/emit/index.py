"""Index expressions in C++."""

from __future__ import annotations

from typing import Any

import sympy

from starling.dace.emit.names import cpp_name
from starling.dace.ir.pes import N_PES, PE, is_neighbour, neighbour_of
from starling.dace.program_error import ProgramError

__all__ = ["cpp_index", "cpp_symbol", "minus"]


def cpp_index(e: Any) -> str:
    """A whole number."""
    e = sympy.sympify(e)
    if e.is_Integer:
        return str(int(e))
    if e.is_Symbol:
        return cpp_symbol(str(e))
    if e.is_Add:
        terms = sorted(e.args, key=lambda t: (t.is_Integer, t.could_extract_minus_sign(), str(t)))
        text = cpp_index(terms[0])
        for t in terms[1:]:
            text += f" - {_factor(-t)}" if t.could_extract_minus_sign() else f" + {cpp_index(t)}"
        return text
    if e.is_Mul:
        return " * ".join(_factor(f) for f in e.args)
    if isinstance(e, sympy.Mod):
        return f"sg::modulo<st::index_t>({cpp_index(e.args[0])}, {cpp_index(e.args[1])})"
    if isinstance(e, sympy.floor):
        over, under = sympy.fraction(sympy.together(e.args[0]))
        return f"sg::floor_divide<st::index_t>({cpp_index(over)}, {cpp_index(under)})"
    if isinstance(e, sympy.ceiling):
        return cpp_index(-sympy.floor(-e.args[0]))
    if isinstance(e, (sympy.Min, sympy.Max)):
        call = "sg::least" if isinstance(e, sympy.Min) else "sg::most"
        text = cpp_index(e.args[0])
        for a in e.args[1:]:
            text = f"{call}({text}, {cpp_index(a)})"
        return text
    if e.is_Pow and e.exp.is_Integer and e.exp > 0:
        return " * ".join([_factor(e.base)] * int(e.exp))
    raise ProgramError(f"index {e}: is no sum, product, quotient or remainder of sizes and numbers", node=str(e))


def minus(e: Any) -> str:
    """What takes a whole number away from the text before; empty for 0."""
    e = sympy.expand(e)
    return "" if e == 0 else f" - {_factor(e)}"


def _factor(e: Any) -> str:
    text = cpp_index(e)
    return f"({text})" if sympy.sympify(e).is_Add else text


def cpp_symbol(name: str) -> str:
    """A scalar, a loop variable, or the number of a PE."""
    if name == PE:
        return "b.pe()"
    if name == N_PES:
        return "b.n_pes()"
    if is_neighbour(name):
        axis, step, ring = neighbour_of(name)
        return f"pes.{'ring_' if ring else ''}neighbour({'0, ' * axis}{step})"
    return cpp_name(name)
