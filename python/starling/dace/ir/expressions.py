"""Expressions of a program.

Indices are SymPy expressions of integer symbols: parameters of a statement, loop variables, sizes and scalars of the
program, all by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Union

import sympy

__all__ = [
    "Apply",
    "Cast",
    "Expression",
    "Fold",
    "Index",
    "Number",
    "Read",
    "Sym",
    "Value",
    "map_expression",
    "parts_of",
    "reads_of",
    "same",
    "substitute",
    "symbol",
    "values_of",
]

Sym = Any  # a SymPy expression


def symbol(name: str) -> Sym:
    """The integer symbol of that name."""
    return sympy.Symbol(name, integer=True)


def same(a: Sym, b: Sym) -> bool:
    """Whether two index expressions are equal for all values of their symbols."""
    return bool(sympy.expand(a - b) == 0)


@dataclass(frozen=True)
class Read:
    """One element of an array."""

    array: str
    index: tuple[Sym, ...]


@dataclass(frozen=True)
class Value:
    """A scalar: an argument, or a variable of the program."""

    name: str


@dataclass(frozen=True)
class Number:
    """A literal of Python, whose type gives way to that of what it meets."""

    value: bool | int | float


@dataclass(frozen=True)
class Index:
    """An index expression as a number, as Python's int."""

    value: Sym


@dataclass(frozen=True)
class Apply:
    """An operation, by the name that emit/expression.py knows."""

    op: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True)
class Cast:
    """A value as another element type."""

    dtype: str
    value: Expression


@dataclass(frozen=True)
class Fold:
    """The reduction of a value over the numbers from begin to end - 1 of a variable, one after the other."""

    op: str  # "sum", "max", "min"; "dot": a sum of products, of their type
    variable: str
    begin: Sym
    end: Sym
    value: Expression


Expression = Union[Read, Value, Number, Index, Apply, Cast, Fold]  # noqa: UP007 -- the classes name each other


def map_expression(e: Expression, leaf: Callable[[Expression], Expression], index: Callable[[Sym], Sym]) -> Expression:
    """The expression with `leaf` applied to its reads, scalars and numbers, and `index` to its index expressions."""
    if isinstance(e, Read):
        return leaf(Read(e.array, tuple(index(i) for i in e.index)))
    if isinstance(e, Index):
        return leaf(Index(index(e.value)))
    if isinstance(e, Apply):
        return Apply(e.op, tuple(map_expression(a, leaf, index) for a in e.arguments))
    if isinstance(e, Cast):
        return Cast(e.dtype, map_expression(e.value, leaf, index))
    if isinstance(e, Fold):
        return Fold(e.op, e.variable, index(e.begin), index(e.end), map_expression(e.value, leaf, index))
    return leaf(e)


def substitute(e: Expression, changes: dict[Sym, Sym]) -> Expression:
    """The expression with symbols replaced in all of its indices."""
    return map_expression(e, lambda x: x, lambda i: sympy.sympify(i).xreplace(changes))


def _leaves(e: Expression) -> Iterator[Expression]:
    if isinstance(e, Apply):
        for a in e.arguments:
            yield from _leaves(a)
    elif isinstance(e, (Cast, Fold)):
        yield from _leaves(e.value)
    else:
        yield e


def parts_of(e: Expression) -> list[Expression]:
    """The expression and all that are in it."""
    if isinstance(e, Apply):
        return [e, *(x for a in e.arguments for x in parts_of(a))]
    if isinstance(e, (Cast, Fold)):
        return [e, *parts_of(e.value)]
    return [e]


def reads_of(e: Expression) -> list[Read]:
    """All reads of arrays in it."""
    return [leaf for leaf in _leaves(e) if isinstance(leaf, Read)]


def values_of(e: Expression) -> set[str]:
    """The names of all scalars and symbols in it."""
    names = {leaf.name for leaf in _leaves(e) if isinstance(leaf, Value)}

    def collect(i: Sym) -> Sym:
        names.update(str(s) for s in sympy.sympify(i).free_symbols)
        return i

    map_expression(e, lambda x: x, collect)
    return names
