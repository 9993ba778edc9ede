"""What a program is between DaCe and C++: expressions, statements, arrays.

Statements stand in program order in nested lists, and passes insert into those lists. Indices are SymPy expressions of
integer symbols: parameters of a statement, loop variables, sizes and scalars of the program, all by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Union

import sympy

from starling.dace.program_error import NOWHERE, Place

__all__ = [
    "Apply",
    "Array",
    "Assign",
    "Barrier",
    "BlockSync",
    "Body",
    "Box",
    "Cast",
    "Collective",
    "Compute",
    "Expression",
    "Fold",
    "For",
    "If",
    "Index",
    "Number",
    "Param",
    "Program",
    "Put",
    "Read",
    "Ready",
    "Reduce",
    "Statement",
    "Value",
    "Wait",
    "While",
    "map_expression",
    "parts_of",
    "reads_of",
    "same",
    "statements",
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


# ---- expressions ----


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

    op: str  # "sum", "max", "min"
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


# ---- statements ----


@dataclass(frozen=True)
class Param:
    """A parameter of a statement and its values: begin to end - 1."""

    name: str
    begin: Sym
    end: Sym


@dataclass(eq=False)
class Statement:
    """What all statements have."""

    place: Place = NOWHERE


@dataclass(eq=False)
class Compute(Statement):
    """Writes one element for each value of the parameters; dealt to blocks by where the element lies."""

    params: list[Param] = field(default_factory=list)
    target: str = ""
    index: tuple[Sym, ...] = ()
    value: Expression = field(default_factory=lambda: Number(0))


@dataclass(eq=False)
class Assign(Statement):
    """Gives a scalar a value; every block does."""

    name: str = ""
    value: Expression = field(default_factory=lambda: Number(0))


@dataclass(eq=False)
class Reduce(Statement):
    """Combines a value over all parameters into a scalar, which every block gets."""

    name: str = ""
    op: str = "sum"
    params: list[Param] = field(default_factory=list)
    value: Expression = field(default_factory=lambda: Number(0))


@dataclass(eq=False)
class For(Statement):
    """A loop whose variable goes from begin by step while it is below end (above, for a negative step)."""

    variable: str = ""
    begin: Sym = 0
    end: Sym = 0
    step: Sym = 1
    body: Body = field(default_factory=list)


@dataclass(eq=False)
class While(Statement):
    """A loop while a condition holds."""

    condition: Expression = field(default_factory=lambda: Number(False))
    body: Body = field(default_factory=list)


@dataclass(eq=False)
class If(Statement):
    """Branches: the first whose condition holds; None: always."""

    branches: list[tuple[Expression | None, Body]] = field(default_factory=list)


Box = tuple[tuple[Sym, Sym, Sym], ...]  # begin, end and step for each axis


@dataclass(eq=False)
class Put(Statement):
    """Elements of the own copy of an array to a place of an array at a PE, and a signal there.

    `by` and `to` say which block makes it and which one reads what it brings: "first" or "last", that with the first
    or last layers of the PE; "": block 0, and all of them.
    """

    verb: str = "PutmemSignal"
    array: str = ""  # what is written at the peer
    box: Box = ()
    source: str = ""
    source_box: Box = ()
    value: Expression | None = None  # of the signal; of P: what is sent
    flag: int = -1
    peer: Expression = field(default_factory=lambda: Number(-1))
    op: str = "set"
    inserted: bool = False  # `width` layers at the end of a split array, to the halo of the next PE
    width: int = 0  # layers that a block must have
    least: int = 0  # layers that an array must have, so that its ends lie apart
    step: int = 0  # the peer is that many PEs further along
    ring: bool = False
    by: str = ""
    to: str = ""
    channel: int = -1  # numbers the signals and the counts of what was put
    credit: bool = False
    why: str = ""


@dataclass(eq=False)
class Wait(Statement):
    """Waits for what a put brings: for as many as this program has made of it."""

    flag: int = -1
    value: Expression | None = None
    peer: Expression = field(default_factory=lambda: Number(-2))
    array: str = ""
    box: Box = ()
    put: Put | None = None


@dataclass(eq=False)
class Ready(Statement):
    """Tells who makes a put to this PE that what the last one brought was read."""

    put: Put = field(default_factory=Put)


@dataclass(eq=False)
class Collective(Statement):
    """Quiet, Fence, Barrier, Broadcast, Getmem and the reductions of PEs."""

    verb: str = ""
    array: str = ""  # written
    box: Box = ()
    source: str = ""
    source_box: Box = ()
    peer: Expression = field(default_factory=lambda: Number(-1))


@dataclass(eq=False)
class Barrier(Statement):
    """All blocks of the PE meet."""

    why: str = ""


@dataclass(eq=False)
class BlockSync(Statement):
    """The threads of a block meet."""


Body = list[Statement]


def statements(body: Body) -> Iterator[tuple[Body, Statement]]:
    """All statements in program order, each with the list that it stands in; loops before what is in them."""
    for s in list(body):
        yield body, s
        if isinstance(s, (For, While)):
            yield from statements(s.body)
        elif isinstance(s, If):
            for _, inner in s.branches:
                yield from statements(inner)


# ---- the whole ----


@dataclass
class Array:
    """An array of the program.

    `split`: the axis along which PEs share it; None: every PE has all of it. `length` and `shift`: element k along
    axis `dealt` belongs to who owns k + shift of `length`.
    """

    name: str
    dtype: str
    shape: tuple[Sym, ...]
    argument: bool
    split: int | None = None
    parts: bool = False  # the caller passes one array for each PE
    dealt: int = 0
    length: Sym = 0
    shift: Sym = 0
    low: int = 0  # width of the halo on each side, rows
    high: int = 0
    symmetric: bool = False
    written: bool = False
    read: bool = False

    @property
    def scalar(self) -> bool:
        """Whether it holds one element, of which every block keeps its own."""
        return not self.parts and self.split is None and all(n == 1 for n in self.shape)


@dataclass
class Program:
    """A program between passes."""

    name: str
    file: str
    line: int
    arrays: dict[str, Array]
    scalars: dict[str, str]  # arguments that are no arrays: their types
    variables: dict[str, str]  # scalars of the program: their types
    sizes: list[str]  # symbols of shapes
    order: list[str]  # the arguments as the user passes them
    body: Body
    flags: int = 0
    channels: int = 0
    per_pe: bool = False
    defined: set[str] = field(default_factory=set)
