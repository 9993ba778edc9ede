"""What a function under construction has: its names and what they hold, and its lines."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["FEW", "At", "Axis", "Family", "Field", "Scalar", "Scope", "Span", "Window", "Word", "is_whole"]

FEW = 9  # layers: other axes have so many or more


@dataclass(frozen=True)
class Family:
    """Arrays of one shape, shared out alike: the size of each axis by name, its length where every call has the same
    (else 0), and the axes that PEs share."""

    sizes: tuple[str, ...]
    lengths: tuple[int, ...]
    split: tuple[int, ...] = ()

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def open(self) -> tuple[int, ...]:
        """Axes that are not shared, along which elements may be read at any distance."""
        return tuple(k for k in range(self.rank) if k not in self.split)

    @property
    def short(self) -> tuple[int, ...]:
        """Axes of a few layers, of which there are no inner ones."""
        return tuple(k for k, n in enumerate(self.lengths) if 0 < n < FEW)


@dataclass(frozen=True)
class Field:
    """A name of an array, which leaves out the first and last layers (`trims`) that its family has along each axis."""

    name: str
    family: Family
    dtype: str
    trims: tuple[tuple[int, int], ...] = ()
    argument: bool = False
    loose: bool = False  # it is one of several arrays, depending on the path, so that it is only read

    @property
    def trim(self) -> tuple[tuple[int, int], ...]:
        return self.trims or ((0, 0),) * self.family.rank

    @property
    def trimmed(self) -> bool:
        """Whether it leaves out anything."""
        return any(a or b for a, b in self.trim)

    @property
    def whole(self) -> bool:
        return is_whole(self.dtype)

    def like(self, other: Field) -> bool:
        """Whether one may stand for the other."""
        return (self.family, self.dtype, self.trim) == (other.family, other.dtype, other.trim)


@dataclass(frozen=True)
class Scalar:
    """A name of a number, whose type is Python's (int, float, bool) or one of NumPy's.

    Whole numbers stay from `low` to `high` wherever they are changed, numbers with a point from -4 to 4. One that is
    `fixed` is changed by nobody but who made it.
    """

    name: str
    kind: str
    low: int = 0
    high: int = 0
    fixed: bool = False

    @property
    def whole(self) -> bool:
        return is_whole(self.kind)

    @property
    def real(self) -> bool:
        return self.kind.startswith("float")

    @property
    def weak(self) -> bool:
        return self.kind in ("int", "float")


def is_whole(kind: str) -> bool:
    """Whether a type is one of whole numbers."""
    return kind.startswith("int")


@dataclass(frozen=True)
class Span:
    """The layers of an axis without the first and the last ones, counted in those of a family."""

    low: int
    high: int


@dataclass(frozen=True)
class At:
    """One layer of an axis, counted from its begin, or by a negative number from its end."""

    number: int


@dataclass(frozen=True)
class Word:
    """What may stand for an axis that is not shared, as text, in which {name} is the array and {axis} the axis.

    What is written takes the first of them. `keeps`: they are slices, all of one length.
    """

    texts: tuple[str, ...]
    keeps: bool = False


Axis = Span | At | Word
Window = tuple[Axis, ...]


@dataclass
class Scope:
    """A function under construction. `main`: the program itself, and not what it calls."""

    main: bool = True
    fields: list[Field] = field(default_factory=list)
    scalars: list[Scalar] = field(default_factory=list)
    used: set[str] = field(default_factory=set)  # names that have had a meaning
    lines: list[str] = field(default_factory=list)
    indent: int = 1
    loops: int = 0  # around the next line
    depth: int = 0  # blocks around the next line
    kept: int = 0  # of these loops, those that are never left or gone on with early
    turning: int = 0  # those whose passes may go on early, in which no arrays change places
    private: set[str] = field(default_factory=set)  # names of arrays that no other name has
    own: list[set[str]] = field(default_factory=lambda: [set()])  # names that each block around has made
