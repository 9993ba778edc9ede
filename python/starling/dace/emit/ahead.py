"""What a GPU is asked for before a map comes to it, in C++."""

from __future__ import annotations

import sympy

from starling.dace.emit.expression import cpp_index, cpp_name
from starling.dace.ir import Compute, Fold, Program, Read, parts_of, reads_of

__all__ = ["ahead"]

FAR = 1000  # a number for symbols, more than offsets are


def ahead(p: Program, s: Compute) -> str:
    """What asks for the elements that are read with the largest indices: those with smaller ones were read before."""
    largest: dict[str, Read] = {}
    parameters = {q.name for q in s.params}
    folded = {e.variable for e in parts_of(s.value) if isinstance(e, Fold)}

    def place(read: Read) -> tuple[int, ...]:
        return tuple(int(i.subs(dict.fromkeys(i.free_symbols, FAR))) for i in map(sympy.sympify, read.index))

    for read in reads_of(s.value):
        named = {str(n) for i in read.index for n in sympy.sympify(i).free_symbols}
        if p.arrays[read.array].scalar or not named & parameters or named & folded:
            continue
        if read.array not in largest or place(read) > place(largest[read.array]):
            largest[read.array] = read
    return " ".join(
        f"st::target::call_to_l2(&{cpp_name(r.array)}({', '.join(cpp_index(i) for i in r.index)}));"
        for r in largest.values()
    )
