"""What makes a program: the choices of a seed, the names that there are, and the lines that are written so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from dace_random.draw import Draw
from dace_random.names import ARRAYS, LOOPS, SCALARS, fresh_name
from dace_random.program import Argument
from dace_random.scope import Family, Field, Scalar, Scope

__all__ = ["Callee", "Feature", "Maker", "feature", "features"]

MOST_LINES = 20  # after which no block is begun
FULL = 30  # after which nothing at all is added
MOST_DEPTH = 3
_features: list[Feature] = []


@dataclass(frozen=True)
class Feature:
    """Something that programs do. `make` writes it, or writes nothing and says False where it cannot."""

    name: str
    weight: float
    make: Callable[[Maker], bool]
    nests: bool  # it has blocks of its own
    main: bool  # it wants arguments that functions that are called do not have


def feature(weight: float, *, nests: bool = False, main: bool = False) -> Callable[..., Callable[[Maker], bool]]:
    """Adds a function to the features, of which each program draws a handful."""

    def add(make: Callable[[Maker], bool]) -> Callable[[Maker], bool]:
        _features.append(Feature(make.__name__, weight, make, nests, main))
        return make

    return add


def features() -> list[Feature]:
    """All that were added, in order."""
    return list(_features)


@dataclass(frozen=True)
class Callee:
    """A function that programs call: what stands for its parameters, and what it returns."""

    name: str
    parameters: tuple[Field | Scalar, ...]
    default: bool  # the last of them need not be given
    pure: bool  # it writes into no array, so that it may be called within an expression
    alias: bool  # it returns one of its parameters
    result: Field | Scalar | None = None


@dataclass
class _State:
    sizes: dict[str, int] = field(default_factory=dict)
    arguments: list[Argument] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    callees: list[Callee] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    outside: list[Scalar] = field(default_factory=list)  # numbers outside of functions


class Maker(Draw, _State):
    """A program under construction."""

    def __init__(self, seed: int) -> None:
        Draw.__init__(self, seed)
        _State.__init__(self)
        self.scope = Scope()
        self.number = "k"  # the argument that is no array
        self.real_type = "float64"  # of s, which holds a sum and numbers
        self.narrow = False  # some elements have 32 bits, so that Python's numbers and NumPy's differ
        self.sums_used = False  # it computes with sums, so it decides nothing by numbers with a point
        self.summed = False
        self.returns = False  # it may end early
        self.chosen: list[Feature] = []
        self.made: list[str] = []

    # ---- lines ----

    def add(self, text: str) -> None:
        self.scope.lines.append("    " * self.scope.indent + text)

    @property
    def room(self) -> bool:
        """Whether there is room for more."""
        return len(self.scope.lines) < (MOST_LINES if self.scope.main else 6)

    @contextmanager
    def block(self, header: str, *, loop: bool = False, kept: bool = False, turning: bool = False) -> Iterator[None]:
        """The lines after a header; names that they make are forgotten behind them."""
        scope = self.scope
        self.add(header)
        fields, scalars, lines = list(scope.fields), list(scope.scalars), len(scope.lines)
        before = scope.indent, scope.depth, scope.loops, scope.kept, scope.turning
        scope.indent, scope.depth, scope.loops = scope.indent + 1, scope.depth + 1, scope.loops + loop
        scope.kept, scope.turning = scope.kept + kept, scope.turning + turning
        scope.own.append(set())
        yield
        if len(scope.lines) == lines:
            self.add("pass")
        scope.indent, scope.depth, scope.loops, scope.kept, scope.turning = before
        scope.own.pop()
        loose = {f.name for f in scope.fields if f.loose}
        scope.fields = [replace(f, loose=True) if f.name in loose else f for f in fields]
        scope.scalars = scalars

    def body(self, most: int = 2) -> None:
        """From one to so many features that the program has drawn."""
        for _ in range(1 + self.pick(most)):
            self.one()

    def one(self) -> None:
        """A feature that the program has drawn, if there is room."""
        if len(self.scope.lines) >= FULL:
            return
        for _ in range(20):
            found = self.weighted([(f, f.weight) for f in self.chosen])
            fits = (self.scope.depth < MOST_DEPTH or not found.nests) and (self.scope.main or not found.main)
            if fits and (self.room or not found.nests) and found.make(self):
                self.made.append(found.name)
                return

    # ---- names ----

    def name(self, pools: tuple[tuple[str, ...], ...] = SCALARS) -> str:
        """A new name; at times that of a number outside."""
        taken = [x.name for x in self.outside if x.name not in self.scope.used]
        if taken and self.chance(0.3):
            self.scope.used.add(name := self.of(taken))
            return name
        return fresh_name(self, pools, self.scope.used)

    def array_name(self) -> str:
        return self.name(ARRAYS)

    def loop_name(self) -> str:
        return self.name(LOOPS)

    def scalar(self, kind: str, low: int = 0, high: int = 0, *, fixed: bool = False, name: str = "") -> Scalar:
        """A new number, which has been or will at once be assigned."""
        made = Scalar(name or self.name(), kind, low, high, fixed)
        self.scope.scalars = [*(x for x in self.scope.scalars if x.name != made.name), made]
        return made

    def temporary(
        self,
        like: Field,
        dtype: str = "",
        trims: tuple[tuple[int, int], ...] | None = None,
        *,
        name: str = "",
        private: bool = True,
    ) -> Field:
        """A new array, which has been or will at once be assigned. `private`: no other name has it."""
        trim = like.trim if trims is None else trims
        made = Field(name or self.array_name(), like.family, dtype or like.dtype, trim)
        self.scope.fields.append(made)
        self.scope.own[-1].add(made.name)
        if private:
            self.scope.private.add(made.name)
        else:
            self.scope.private.discard(like.name)
        return made

    def may_bind(self, x: Field) -> bool:
        """Whether a name may stand for another array from here on, so that what is written through it is known later:
        it is of this block, or it has its array alone. At times it may though neither is so."""
        return x.name in self.scope.own[-1] or x.name in self.scope.private or self.chance(0.08)

    def bound(self, x: Field) -> Field:
        """A name that stands for a new array, which no other name has, from here on."""
        made = replace(x, argument=False, loose=False)
        self.scope.fields = [made if f.name == x.name else f for f in self.scope.fields]
        self.scope.private.add(x.name)
        return made

    def loosen(self, *fields: Field) -> None:
        """From here on it depends on the path which arrays names stand for."""
        names = {x.name for x in fields}
        self.scope.fields = [replace(f, loose=True) if f.name in names else f for f in self.scope.fields]
        self.scope.private -= names

    def argument(
        self, name: str, dtype: str, family: Family, *, sums: str = "", zeros: bool = False, shown: bool = True
    ) -> Field:
        """A new array of a call. `shown`: features may read and write it."""
        name = name or self.array_name()
        self.scope.used.add(name)
        self.arguments.append(Argument(name, dtype, family.sizes, family.split, sums, zeros))
        made = Field(name, family, dtype, argument=True)
        if shown:
            self.scope.fields.append(made)
            self.scope.own[0].add(name)
        return made

    # ---- what there is ----

    def fields(self, family: Family) -> list[Field]:
        """Arrays of numbers of a family."""
        return [f for f in self.scope.fields if f.family == family and f.dtype != "bool"]

    def writable(self) -> list[Field]:
        """Arrays of numbers into which may be written."""
        return [f for f in self.scope.fields if f.dtype != "bool" and not f.loose]

    def scalars(self, wanted: Callable[[Scalar], bool]) -> list[Scalar]:
        return [x for x in self.scope.scalars if wanted(x)]

    def alike(self, a: str, b: str) -> bool:
        """Whether a number that has one type may get values of another one."""
        wide = {"int": "int64", "float": "float64"}
        return a == b or (not self.narrow and wide.get(a, a) == wide.get(b, b))
