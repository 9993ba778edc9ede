"""Statements of a program: in program order, in nested lists, into which passes insert."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from starling.dace.ir.expressions import Expression, Number, Sym
from starling.dace.program_error import NOWHERE, Place

__all__ = [
    "EACH",
    "Assign",
    "Barrier",
    "BlockSync",
    "Body",
    "Box",
    "Break",
    "Collective",
    "Compute",
    "Continue",
    "For",
    "If",
    "Param",
    "Put",
    "Ready",
    "Reduce",
    "Require",
    "Statement",
    "Stop",
    "Trade",
    "Wait",
    "While",
    "statements",
]


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
    into: Expression | None = None  # the element that the program adds the values to, one by one


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


@dataclass(eq=False)
class Break(Statement):
    """Leaves the innermost For or While."""


@dataclass(eq=False)
class Continue(Statement):
    """Goes on with the next pass of the innermost For or While."""


@dataclass(eq=False)
class Stop(Statement):
    """The program ends here. `number`: of the reason in Program.stops, from 1; 0: it returns."""

    number: int = 0


@dataclass(eq=False)
class Require(Statement):
    """What must hold in each call, and has no code: `low` is not negative, or with `zero` is 0.

    `name` and `words` make the error; "{value}" in the words stands for the value of `low`, or the range of its values.
    """

    name: str = ""
    words: str = ""
    low: Sym = 0
    zero: bool = False


Box = tuple[tuple[Sym, Sym, Sym], ...]  # begin, end and step for each axis


EACH = "each"


@dataclass(eq=False)
class Put(Statement):
    """Elements of the own copy of an array to a place of an array at a PE, and a signal there.

    `by` and `to` say which block makes it and which one reads what it brings: "first" or "last", that with the first
    or last layers of the PE; "": block 0, and all of them. EACH: every block its own part, with a signal of its own.
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
    inserted: bool = False  # layers at an edge of a PE's part of a split array, to the halo of the PE beyond it
    width: int = 0  # layers that a block must have
    least: tuple[int, ...] = (0,)  # layers that a PE must have along each axis that PEs share
    step: tuple[int, ...] = (0,)  # the peer is that many PEs further along each axis of the grid; one: by number
    ring: bool = False
    by: str = ""
    to: str = ""
    reach: int = 0  # of EACH: how many blocks further blocks read what it brings
    channel: int = -1  # numbers the signals and the counts of what was put
    credit: bool = False
    packets: bool = False  # whether it may travel so, and whether it needs a credit then
    packet_credit: bool = False
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
class Trade(Statement):
    """Two arrays change places: what was the one is the other."""

    array: str = ""
    other: str = ""


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
