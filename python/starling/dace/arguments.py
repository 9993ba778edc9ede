"""The arguments of a call: checked, and sizes found from shapes."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import sympy

from starling.dace.ir import Array, Program, symbol
from starling.dace.program_error import Place, ProgramError

__all__ = ["Arguments", "check_arguments"]


class Arguments:
    """What a call was given: for each array one NumPy array, or one for each PE; sizes and scalars by name."""

    def __init__(self) -> None:
        self.arrays: dict[str, list[np.ndarray[Any, Any]]] = {}
        self.sizes: dict[str, int] = {}
        self.scalars: dict[str, int | float] = {}


def check_arguments(p: Program, given: dict[str, Any], pes: int) -> Arguments:
    """The arguments of a call on so many PEs.

    Raises:
        ProgramError: One has another type, rank, shape, order or number of parts than the program wants, is read-only
            or overlaps another one.
    """
    place = Place(p.file, p.line)
    found = Arguments()
    for name in p.order:
        if name in p.arrays:
            found.arrays[name] = _parts_of(p, p.arrays[name], given[name], pes, place)
        elif name in p.scalars and name in given:
            found.scalars[name] = scalar_value(name, given[name], p, place)
    _find_sizes(p, found, place)
    _check_aliases(found, place)
    return found


def _parts_of(p: Program, a: Array, value: Any, pes: int, place: Place) -> list[np.ndarray[Any, Any]]:
    parts = value if isinstance(value, (list, tuple)) else [value]
    if isinstance(value, (list, tuple)):
        if not a.parts:
            raise ProgramError.at(place, a.name, f"is a {type(value).__name__}; pass the whole array")
        if len(parts) != pes:
            raise ProgramError.at(place, a.name, f"has {len(parts)} parts for {pes} PEs; pass one array for each PE")
    elif a.parts and pes > 1 and _tells_pes_apart(p):
        raise ProgramError.at(place, a.name, f"is one array for {pes} PEs; pass a list with one array for each PE")
    for part in parts:
        _check_array(a, part, place)
    return list(parts)


def _tells_pes_apart(p: Program) -> bool:
    from starling.dace.ir import Collective, Put, Wait, statements, values_of
    from starling.dace.ir.pes import PE
    from starling.dace.passes.resolve import expressions_of

    return any(
        isinstance(s, (Put, Wait, Collective)) or any(PE in values_of(e) for e in expressions_of(s))
        for _, s in statements(p.body)
    )


def _check_array(a: Array, value: Any, place: Place) -> None:
    if not isinstance(value, np.ndarray):
        raise ProgramError.at(place, a.name, f"is a {type(value).__name__}; pass an array of NumPy")
    if type(value) is not np.ndarray:
        raise ProgramError.at(
            place, a.name, f"is a numpy.{type(value).__name__}, whose operators differ; pass numpy.array({a.name})"
        )
    if value.dtype != np.dtype(a.dtype):
        raise ProgramError.at(
            place, a.name, f'holds {value.dtype}, not {a.dtype}; convert it with .astype("{a.dtype}")'
        )
    if value.ndim != len(a.shape):
        raise ProgramError.at(place, a.name, f"has {value.ndim} axes, not {len(a.shape)}")
    if not value.flags.c_contiguous:
        raise ProgramError.at(place, a.name, f"is not C-contiguous; pass numpy.ascontiguousarray({a.name})")
    if a.written and not value.flags.writeable:
        raise ProgramError.at(place, a.name, "is read-only and the program writes it")


def scalar_value(name: str, value: Any, p: Program, place: Place) -> int | float:
    """The number that is passed as a scalar.

    Raises:
        ProgramError: It is no number of the kind that the annotation says, or one of NumPy's of another type than the
            program was compiled for.
    """
    dtype = p.annotated.get(name, p.scalars[name])
    have = str(value.dtype) if isinstance(value, np.generic) else ""
    want = "" if name in p.weak else p.scalars[name]
    if have and have != want:
        python = "int" if dtype.startswith("int") else "float"
        raise ProgramError.at(
            place, name, f"is a number of NumPy ({have}), and a run takes numbers of Python; pass {python}({name})"
        )
    try:
        number = operator.index(value) if dtype.startswith("int") else float(value)
    except (TypeError, ValueError):
        raise ProgramError.at(place, name, f"is a {type(value).__name__}; pass a number for {dtype}") from None
    if isinstance(number, int):
        limits = np.iinfo(dtype)
        if not int(limits.min) <= number <= int(limits.max):
            raise ProgramError.at(place, name, f"= {number} does not fit in {dtype}")
    return number


def _find_sizes(p: Program, found: Arguments, place: Place) -> None:
    arguments = [p.arrays[n] for n in p.order if n in p.arrays]
    for a in arguments:
        for part in found.arrays[a.name]:
            for axis, n in enumerate(a.shape):
                if n.is_Symbol:
                    have = found.sizes.setdefault(str(n), part.shape[axis])
                    if have != part.shape[axis]:
                        raise ProgramError.at(
                            place, a.name, f"has length {part.shape[axis]} along axis {axis}, where {n} is {have}"
                        )
    missing = [n for n in p.sizes if n not in found.sizes]
    if missing:
        raise ProgramError.at(place, missing[0], "is no length of an argument by itself; let one argument have it")
    for a in arguments:
        want = shape_of(a.shape, found.sizes)
        for part in found.arrays[a.name]:
            if part.shape != want:
                raise ProgramError.at(place, a.name, f"has the shape {part.shape}, not {want}")
            if part.size == 0:
                raise ProgramError.at(place, a.name, f"has the shape {part.shape}; pass arrays with elements")


def shape_of(shape: tuple[Any, ...], sizes: dict[str, int]) -> tuple[int, ...]:
    """A shape as numbers."""
    values = {symbol(n): v for n, v in sizes.items()}
    return tuple(int(sympy.sympify(n).xreplace(values)) for n in shape)


def _check_aliases(found: Arguments, place: Place) -> None:
    every = [(n, part) for n, parts in found.arrays.items() for part in parts]
    for k, (name, part) in enumerate(every):
        for other, second in every[:k]:
            if np.may_share_memory(part, second):
                raise ProgramError.at(place, name, f"overlaps {other}; pass arrays that share no memory")
