"""What an expression of Python is while a program is made: a number, part of an array, elements that are computed, or
something of Python's own that stands for none of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Union

import sympy

from starling.dace.ir import Expression, Read, Sym, substitute, symbol

__all__ = [
    "ArrayValue",
    "Dim",
    "Elements",
    "Flags",
    "Items",
    "Meaning",
    "Method",
    "Outside",
    "Scalar",
    "View",
    "elements_of",
    "parameter",
    "placed",
    "shape_of",
]

ZERO, ONE = sympy.Integer(0), sympy.Integer(1)


def parameter(k: int) -> Sym:
    """The symbol of an element's index along axis k."""
    return symbol(f"i{k}'")


@dataclass(frozen=True)
class Scalar:
    """A number."""

    expr: Expression


@dataclass(frozen=True)
class Dim:
    """An axis of a view: element k along it is `step * k` further along `axis` of the array; None: there is none."""

    length: Sym
    axis: int | None
    step: Sym = ONE


@dataclass(frozen=True)
class View:
    """Part of an array: its elements are those of the array, as in NumPy."""

    array: str
    base: tuple[Sym, ...]
    dims: tuple[Dim, ...]

    def index(self, at: tuple[Sym, ...]) -> tuple[Sym, ...]:
        """Where in the array the element with an index of the view is."""
        found = list(self.base)
        for d, i in zip(self.dims, at, strict=True):
            if d.axis is not None:
                found[d.axis] = sympy.expand(found[d.axis] + d.step * i)
        return tuple(found)


@dataclass(frozen=True)
class Elements:
    """Elements that are computed: `expr` is that with the index (i0', i1', ...)."""

    shape: tuple[Sym, ...]
    expr: Expression


@dataclass(frozen=True)
class Items:
    """A tuple or a list."""

    items: tuple[Meaning, ...]


@dataclass(frozen=True)
class Flags:
    """What nvshmem.flags has made: the number of the first, and how many there are."""

    first: int
    count: int


@dataclass(frozen=True)
class Outside:
    """An object of Python that is no value of a program: a module, a function, a type."""

    value: Any


@dataclass(frozen=True)
class Method:
    """A method of an array."""

    owner: ArrayValue
    name: str


ArrayValue = Union[View, Elements]  # noqa: UP007 -- the classes name each other
Meaning = Union[Scalar, View, Elements, Items, Flags, Outside, Method]  # noqa: UP007


def shape_of(value: Scalar | ArrayValue) -> tuple[Sym, ...]:
    """The lengths of a value's axes; a number has none."""
    if isinstance(value, View):
        return tuple(d.length for d in value.dims)
    return value.shape if isinstance(value, Elements) else ()


def placed(value: Scalar | ArrayValue, at: tuple[Sym, ...]) -> Expression:
    """The element with an index."""
    if isinstance(value, Scalar):
        return value.expr
    if isinstance(value, View):
        return Read(value.array, value.index(at))
    return substitute(value.expr, {parameter(k): i for k, i in enumerate(at)})


def elements_of(value: ArrayValue) -> Elements:
    """The elements of an array."""
    if isinstance(value, Elements):
        return value
    shape = shape_of(value)
    return Elements(shape, placed(value, tuple(parameter(k) for k in range(len(shape)))))
