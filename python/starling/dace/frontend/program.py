"""The front end: the program that a function of Python means.

The function is read as Python reads it and played through once with values that are not known yet. What NumPy would
compute becomes statements of the program; what Python decides by itself (names, scopes, constants, which array a name
means) is decided here. What cannot be decided is refused at its line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starling.dace.frontend import statements
from starling.dace.frontend.calls.functions import frame_of
from starling.dace.frontend.indices import index_of
from starling.dace.frontend.loops.written_out import WriteOut
from starling.dace.frontend.single_elements import refuse_single_elements
from starling.dace.frontend.source import place_of
from starling.dace.frontend.translation import Outsiders, Translation
from starling.dace.frontend.types import Split, dtype_name, is_number, type_hints
from starling.dace.frontend.values import Scalar
from starling.dace.ir import Array, Dealt, Program, Value
from starling.dace.program_error import ProgramError

__all__ = ["Translated", "translate"]


class Translated:
    """A program, and what it has taken from outside."""

    def __init__(self, program: Program, outside: Outsiders) -> None:
        self.program = program
        self.outside = outside


def translate(function: Callable[..., Any], numbers: Mapping[str, str]) -> Translated:
    """The program of a function.

    Args:
        function: What the user wrote.
        numbers: The types of arguments that are numbers of NumPy; all others are Python's own, of which the annotation
            says whether they are whole.

    Raises:
        ProgramError: Something in it is outside of the language.
    """
    unroll: frozenset[tuple[str, int]] = frozenset()
    while True:
        try:
            return _translate(function, numbers, unroll)
        except WriteOut as loop:
            unroll |= {loop.place}


def _translate(
    function: Callable[..., Any], numbers: Mapping[str, str], unroll: frozenset[tuple[str, int]]
) -> Translated:
    place = place_of(function)
    hints = type_hints(function)
    p = Program(function.__name__, place.file, place.line, {}, {}, {}, [], list(hints), [])
    t = Translation(p, unroll)
    frame = frame_of(function)
    t.frames.append(frame)
    _arguments(t, hints, numbers)
    statements.block(t, frame.tree.body)
    refuse_single_elements(p, p.body, set())
    p.per_pe = any(a.parts for a in p.arrays.values())
    return Translated(p, t.outside)


def _arguments(t: Translation, hints: dict[str, Any], numbers: Mapping[str, str]) -> None:
    p = t.program
    parts = not any(isinstance(h, Split) for h in hints.values())
    for name, hint in hints.items():
        base = hint.array if isinstance(hint, Split) else hint
        p.defined.add(name)
        if is_number(base):
            written = p.annotated[name] = dtype_name(base)
            p.scalars[name] = numbers.get(name, "int64" if written.startswith("int") else "float64")
            if name not in numbers:
                p.weak.add(name)
            t.env[name] = Scalar(Value(name))
            continue
        shape = tuple(index_of(n) for n in base.shape)
        axes = hint.axes if isinstance(hint, Split) else (0,)
        dealt = [Dealt(k, shape[k]) for k in axes]
        p.arrays[name] = Array(name, dtype_name(base), shape, True, isinstance(hint, Split), dealt, parts)
        t.env[name] = t.whole(name)
    p.sizes = sorted({str(s) for a in p.arrays.values() for n in a.shape for s in n.free_symbols})
    for name in p.sizes:
        if name in p.scalars:
            raise ProgramError.at(
                t.place, name, "is a length of an array and an argument; give one of them another name"
            )
    t.frame.sizes = {n: s for a in p.arrays.values() for x in a.shape for s in x.free_symbols for n in [str(s)]}
