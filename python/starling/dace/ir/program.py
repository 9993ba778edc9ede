"""The whole of a program: its arrays, scalars and statements."""

from __future__ import annotations

from dataclasses import dataclass, field

from starling.dace.ir.expressions import Sym, same
from starling.dace.ir.names import fresh_name
from starling.dace.ir.statements import Body, Stop, statements
from starling.dace.program_error import Place

__all__ = ["Array", "Dealt", "Program", "StopReason"]


@dataclass
class Dealt:
    """An axis of an array that is shared out: element k along it belongs to who owns layer k + shift of `length`."""

    axis: int
    length: Sym
    shift: Sym = 0
    low: int = 0  # width of the halo on each side, layers
    high: int = 0


@dataclass
class Array:
    """An array of the program.

    `dealt`: axes that are shared out. Of a split array one for each axis of the grid of PEs, of which blocks share the
    first one too. Every PE has all of another array, and blocks share the one axis.
    """

    name: str
    dtype: str
    shape: tuple[Sym, ...]
    argument: bool
    split: bool = False
    dealt: list[Dealt] = field(default_factory=list)
    parts: bool = False  # the caller passes one array for each PE
    like: str = ""  # a temporary that lies as another array does
    next: str = ""  # its other generation, and the number of the one that it is now
    turn: str = ""
    symmetric: bool = False
    written: bool = False

    @property
    def scalar(self) -> bool:
        """Whether it holds one element, of which every block keeps its own."""
        return not self.parts and not self.split and all(n == 1 for n in self.shape)

    @property
    def pitched(self) -> bool:
        """Whether its rows may be longer in memory, so that each begins with a vector of a GPU."""
        return self.split and len(self.shape) > 1

    def same_rows(self, other: Array) -> bool:
        """Whether rows of a PE have as many elements as those of the other, of the same size."""
        if self.dtype[-2:] != other.dtype[-2:] or not same(self.shape[-1], other.shape[-1]):
            return False
        mine, others = ({k: d for k, d in enumerate(a.dealt) if d.axis == len(a.shape) - 1} for a in (self, other))
        return mine.keys() == others.keys() and all(
            same(d.length, others[k].length) and d.low + d.high == others[k].low + others[k].high
            for k, d in mine.items()
        )


@dataclass(frozen=True)
class StopReason:
    """Why a program ends before its end: the exception of Python that its call raises, by name."""

    exception: str
    message: str
    place: Place


@dataclass
class Program:
    """A program between passes.

    Names of the user are as they are; a later version of one has a dot and a number behind it. Names that are made
    contain a quote: no name of the user's is like them.
    """

    name: str
    file: str
    line: int
    arrays: dict[str, Array]
    scalars: dict[str, str]  # arguments that are no arrays: the types in which they are kept
    variables: dict[str, str]  # scalars of the program: their types
    sizes: list[str]  # symbols of shapes
    order: list[str]  # the arguments as the user passes them
    body: Body
    flags: int = 0
    channels: int = 0
    grid: int = 1  # axes along which the PEs lie
    per_pe: bool = False
    defined: set[str] = field(default_factory=set)
    stops: list[StopReason] = field(default_factory=list)
    weak: set[str] = field(default_factory=set)  # scalars that are Python's own numbers, whose types give way
    annotated: dict[str, str] = field(default_factory=dict)  # types of scalars as the user has written them
    checked: set[str] = field(default_factory=set)  # variables that the program compares with lengths where they index

    @property
    def raises(self) -> bool:
        """Whether it may end for one of the reasons."""
        return any(isinstance(s, Stop) and s.number for _, s in statements(self.body))

    def pitches(self) -> list[list[str]]:
        """Arrays that are pitched; those that have their pitch in common together."""
        found: list[list[str]] = []
        for a in self.arrays.values():
            if a.pitched:
                alike = next((g for g in found if self.arrays[g[0]].same_rows(a)), None)
                if alike is None:
                    found.append([a.name])
                else:
                    alike.append(a.name)
        return found

    def fresh(self, kind: str, name: str) -> str:
        """A generated name for what there is of `kind` to `name`."""
        taken = {*self.arrays, *self.scalars, *self.variables, *self.sizes, *self.defined}
        return fresh_name(kind, name, taken)
