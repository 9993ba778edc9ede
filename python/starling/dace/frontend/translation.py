"""The state of a translation: the program so far, the list that statements go to, and what names mean there."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import sympy

from starling.dace.frontend.loops.written_out import check_distances
from starling.dace.frontend.values import ZERO, ArrayValue, Dim, Meaning, Scalar, View, parameter, placed, shape_of
from starling.dace.ir import (
    Apply,
    Array,
    Assign,
    Body,
    Compute,
    Expression,
    If,
    Index,
    Number,
    Param,
    Program,
    Read,
    Require,
    Statement,
    Stop,
    StopReason,
    Sym,
    Value,
    parts_of,
    symbol,
)
from starling.dace.passes.resolve import as_index
from starling.dace.passes.types import WEAK, type_of
from starling.dace.program_error import Place, ProgramError

__all__ = ["Frame", "Outsiders", "Translation", "Unbound"]


# What functions have taken from outside: where it was looked up, by which name, and what it was.
Outsiders = dict[tuple[int, str], tuple[Any, str, Any]]


@dataclass(frozen=True)
class Unbound:
    """A name that may have no value: what is to be said of it when it is read."""

    words: str


@dataclass
class Frame:
    """A function that is being translated: its names, where it stands, and what it takes from outside."""

    function: Any
    tree: ast.FunctionDef
    file: str
    first: int  # the line of the file before that of the tree
    local: set[str]
    env: dict[str, Meaning | Unbound] = field(default_factory=dict)
    sizes: dict[str, Sym] = field(default_factory=dict)  # symbols of its annotations
    live: Any = None
    loops: list[Any] = field(default_factory=list)  # around what is translated; None: one that is written out
    returned: Meaning | None = None


class Translation:
    """What the parts of the front end share.

    `body`: where statements go. `reached`: whether what comes next can be reached.
    """

    def __init__(self, program: Program, unroll: frozenset[tuple[str, int]]) -> None:
        self.program = program
        self.unroll = unroll
        self.body: Body = program.body
        self.place = Place(program.file, program.line)
        self.frames: list[Frame] = []
        self.types: dict[str, frozenset[str]] = {}  # variables whose values have one of several types
        self.outside: Outsiders = {}
        self.joined: dict[str, Any] = {}  # arrays that stand for one of several, by name: joins.Joined
        self.stale: dict[str, str] = {}  # of these, which no longer hold what they stand for, and why
        self.written: list[str] = []  # arrays that statements have written parts of, in order
        self.conditions = 0  # how many conditions are being evaluated, in which numbers stand for truth values
        self.parallel: list[Param] = []  # parameters of the parallel loops around what is translated
        self.ranges: dict[str, Any] = {}  # of loops, by their variables in the program
        self.reached = True
        self.assumed: list[Expression] = []  # what holds wherever Python evaluates what is being evaluated
        self.whole_value: ast.expr | None = None  # the expression that is all of a statement's value
        self.value_name = ""  # the name that gets it
        self._result = ""
        self.call = ""  # the call of communication whose arguments are evaluated
        self._numbers: dict[str, Iterator[int]] = {}

    # ---- names ----

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def env(self) -> dict[str, Meaning | Unbound]:
        """What names mean, in the innermost function."""
        return self.frames[-1].env

    def generated(self, kind: str) -> str:
        """A name that no other one equals, and none of the user's can."""
        return f"{kind}{next(self._numbers.setdefault(kind, itertools.count()))}'"

    def named(self, name: str) -> str:
        """A name for a value that the user calls so."""
        p = self.program
        taken = {*p.arrays, *p.scalars, *p.variables, *p.sizes, *p.defined}
        found = (name if k == 1 else f"{name}.{k}" for k in itertools.count(1))
        chosen = next(n for n in found if n not in taken)
        p.defined.add(chosen)
        return chosen

    # ---- errors ----

    def error(self, node: ast.AST | str, words: str) -> ProgramError:
        """The error for a part of the source."""
        return ProgramError.at(self.place, node if isinstance(node, str) else ast.unparse(node), words)

    # ---- statements ----

    def add(self, s: Statement) -> None:
        """Appends a statement."""
        s.place = self.place
        self.body.append(s)

    @contextmanager
    def naming(self, node: ast.AST) -> Iterator[None]:
        """The first array that is made meanwhile has the name that the statement gives its value, if a call is that."""
        before, self._result = self._result, self.value_name if node is self.whole_value else ""
        try:
            yield
        finally:
            self._result = before

    @contextmanager
    def into(self, body: Body) -> Iterator[Body]:
        """Statements go to another list meanwhile."""
        before, self.body = self.body, body
        try:
            yield body
        finally:
            self.body = before

    def stop(self, exception: str, message: str) -> Stop:
        """The statement that ends the program by an exception."""
        self.program.stops.append(StopReason(exception, message, self.place))
        return Stop(self.place, number=len(self.program.stops))

    def guard(self, bad: Expression, exception: str, message: str) -> None:
        """Ends the program where a condition holds when it runs."""
        if self.parallel:
            raise self.error(exception, f"could be raised in a parallel loop ({message}), where nothing can be checked")
        condition = bad
        for e in reversed(self.assumed):
            condition = Apply("and", (e, condition))
        self.add(If(branches=[(condition, [self.stop(exception, message)])]))

    def require(self, name: ast.AST | str, low: Sym, words: str, *, zero: bool = False) -> None:
        """Demands that a whole number is not negative, or is 0: at the call if sizes, arguments and loops decide it,
        else when the program runs. `words`: what is wrong otherwise; {value} is the number."""
        low = sympy.expand(low)
        text = name if isinstance(name, str) else ast.unparse(name)
        if low.is_Integer:
            if low < 0 or (zero and low != 0):
                raise self.error(text, words.replace("{value}", str(low)))
            return
        if {str(s) for s in low.free_symbols} & set(self.program.variables):
            bad = Apply("!=" if zero else "<", (Index(low), Number(0)))
            self.guard(bad, "ProgramError", f"{text}: {words.replace('{value}', 'a number that the program computed')}")
            return
        made = Require(self.place, text, words, low, zero)
        condition: Expression | None = None
        for e in reversed(self.assumed):
            condition = e if condition is None else Apply("and", (e, condition))
        self.add(made if condition is None else If(branches=[(condition, [made])]))

    @contextmanager
    def assuming(self, e: Expression, holds: bool = True) -> Iterator[None]:
        """What is evaluated meanwhile, Python evaluates only where a condition holds, or does not."""
        self.assumed.append(e if holds else Apply("not", (e,)))
        try:
            yield
        finally:
            self.assumed.pop()

    # ---- numbers ----

    def type(self, e: Expression) -> str:
        """An element type, or one of types.WEAK."""
        return type_of(e, self.program)

    def types_of(self, e: Expression) -> frozenset[str]:
        """The types that a value may have: several where a variable has values of several."""
        several = [n for n in sorted({x.name for x in parts_of(e) if isinstance(x, Value)}) if n in self.types]
        if not several:
            return frozenset([self.type(e)])
        found = set()
        for combination in itertools.product(*(sorted(self.types[n]) for n in several)):
            declared = {**self.program.variables, **dict(zip(several, combination, strict=True))}
            found.add(type_of(e, replace(self.program, variables=declared)))
        return frozenset(found)

    def whole_names(self) -> set[str]:
        """Scalars that are whole numbers."""
        p = self.program
        return {n for n, t in {**p.scalars, **p.variables}.items() if t in ("int32", "int64", "weak int")}

    def as_sym(self, e: Expression) -> Sym | None:
        """The index expression that equals a whole number; None: there is none."""
        return as_index(e, self.whole_names())

    def variable(self, e: Expression, name: str = "", declared: str = "") -> Value | Read:
        """A new variable with this value; in a parallel loop an array of one for each iteration. `declared`: its type,
        where that is not the value's."""
        p = self.program
        if self.parallel:
            made_for_all = self.array(tuple(q.end for q in self.parallel), self.type(e), name)
            at = tuple(symbol(q.name) for q in self.parallel)
            self.add(Compute(params=list(self.parallel), target=made_for_all.array, index=at, value=e))
            return Read(made_for_all.array, at)
        made = self.named(name) if name else self.generated("x")
        found = self.types_of(e)
        p.variables[made] = declared or self.type(e)
        if len(found) > 1 and not declared:
            self.types[made] = found
        self.add(Assign(name=made, value=e))
        return Value(made)

    def kept(self, e: Expression, name: str = "") -> Expression:
        """A value that stays as it is, whatever is written later."""
        if isinstance(e, (Number, Index, Value)):
            return e
        found = self.as_sym(e)
        if found is not None and not {str(s) for s in found.free_symbols} & set(self.program.variables):
            return e
        return self.variable(e, name)

    def sym(self, value: Meaning, node: ast.AST) -> Sym:
        """A whole number as an index expression."""
        if isinstance(value, (View,)) and all(d.length == 1 for d in value.dims):
            value = Scalar(placed(value, tuple(ZERO for _ in value.dims)))
        if not isinstance(value, Scalar):
            raise self.error(node, "is no whole number")
        kind = self.type(value.expr)
        if kind not in ("int32", "int64", "weak int"):
            raise self.error(node, f"is {WEAK.get(kind, kind)}, where a whole number must stand; int(...) makes one")
        found = self.as_sym(value.expr)
        if found is None:
            made = self.variable(value.expr)
            if isinstance(made, Read):
                raise self.error(node, "is an index that each iteration of a parallel loop computes")
            found = symbol(made.name)
        return sympy.expand(found)

    def computed(self, *syms: Sym) -> bool:
        """Whether variables of the program stand in index expressions."""
        return bool({str(s) for i in syms for s in sympy.sympify(i).free_symbols} & set(self.program.variables))

    # ---- arrays ----

    def array(self, shape: tuple[Sym, ...], dtype: str, name: str = "") -> View:
        """A new array."""
        if self.computed(*shape):
            raise self.error(
                name or "array", "has a length that the program computes; lengths are of sizes and arguments"
            )
        moving = {str(s) for n in shape for s in n.free_symbols} - set(self.program.sizes)
        if moving:
            raise self.error(
                name or "an intermediate array",
                f"would have a length that depends on {', '.join(sorted(moving))}; lengths of arrays are made of sizes",
            )
        name, self._result = name or self._result, ""
        made = self.named(name) if name else self.generated("t")
        self.program.arrays[made] = Array(made, WEAK.get(dtype, dtype), shape, False)
        return self.whole(made)

    def whole(self, name: str) -> View:
        """All of an array."""
        shape = self.program.arrays[name].shape
        return View(name, tuple(ZERO for _ in shape), tuple(Dim(n, k) for k, n in enumerate(shape)))

    def compute(self, target: View, value: Scalar | ArrayValue) -> None:
        """Writes a value, which has the target's shape or is a number, into part of an array."""
        shape = shape_of(target)
        params = [*self.parallel, *(Param(f"i{k}'", ZERO, n) for k, n in enumerate(shape))]
        at = tuple(parameter(k) for k in range(len(shape)))
        made = Compute(params=params, target=target.array, index=target.index(at), value=placed_like(value, at, shape))
        check_distances(self, made)
        self.add(made)

    def stored(self, value: ArrayValue, name: str = "") -> View:
        """A new array with these elements."""
        shape = shape_of(value)
        e = placed(value, tuple(parameter(k) for k in range(len(shape))))
        kinds = {WEAK.get(t, t) for t in self.types_of(e)}
        if len(kinds) > 1:
            raise self.error(name or "value", f"may have the types {', '.join(sorted(kinds))}; give it one")
        if self.parallel:
            raise self.error(
                name or "an array", "is computed as a whole by each iteration of a parallel loop; name its elements"
            )
        made = self.array(shape, self.type(e), name)
        self.compute(made, value)
        return made

    # ---- going back ----

    def snapshot(self) -> Any:
        """All that a part of the translation may change, but for `body`."""
        p = self.program
        kept = {n: copy.copy(getattr(p, n)) for n in ("arrays", "variables", "stops", "defined", "checked")}
        own = {n: copy.copy(getattr(self, n)) for n in ("types", "joined", "stale", "written", "place")}
        return kept, own, p.flags, [dict(f.env) for f in self.frames], len(self.body)

    def restore(self, before: Any) -> None:
        """Makes it as it was then."""
        kept, own, self.program.flags, envs, length = before
        for n, v in kept.items():
            setattr(self.program, n, copy.copy(v))
        for n, v in own.items():
            setattr(self, n, copy.copy(v))
        for f, env in zip(self.frames, envs, strict=True):
            f.env = dict(env)
        del self.body[length:]


def placed_like(value: Scalar | ArrayValue, at: tuple[Sym, ...], lengths: tuple[Sym, ...]) -> Expression:
    """The element of a value that is as long as a target along each of its axes, or has length 1 there."""
    shape = shape_of(value)
    behind = list(zip(at, lengths, strict=True))[len(at) - len(shape) :]
    return placed(value, tuple(ZERO if n == 1 and m != 1 else i for n, (i, m) in zip(shape, behind, strict=True)))
