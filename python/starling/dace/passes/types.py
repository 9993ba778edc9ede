"""Element types of expressions: NumPy's rules, in which Python's own numbers take the type of what they meet."""

from __future__ import annotations

import numpy as np

from starling.dace.ir import (
    Apply,
    Assign,
    Cast,
    Compute,
    Expression,
    Fold,
    Index,
    Number,
    Program,
    Read,
    Reduce,
    Statement,
    Value,
    parts_of,
    reads_of,
    statements,
)
from starling.dace.passes.resolve import expressions_of
from starling.dace.program_error import Place, ProgramError

__all__ = ["WEAK", "check_types", "common_type", "type_of"]

WEAK = {"weak bool": "bool", "weak int": "int64", "weak float": "float64"}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "and", "or", "not")
FLOATING = ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "asin", "acos", "atan", "atan2", "sinh", "cosh")


def common_type(a: str, b: str) -> str:
    """The type of what two types make together.

    >>> common_type("float32", "weak float"), common_type("int32", "float32"), common_type("int64", "weak float")
    ('float32', 'float64', 'float64')
    """
    if a in WEAK and b in WEAK:
        return max(a, b, key=list(WEAK).index)
    if a in WEAK:
        a, b = b, a
    if b in WEAK:
        if b == "weak bool" or (b == "weak int" and a != "bool") or a.startswith("float"):
            return a
        return WEAK[b]
    return str(np.result_type(a, b))


def type_of(e: Expression, p: Program) -> str:
    """The type of an expression's value: an element type, or one of WEAK."""
    if isinstance(e, Read):
        return p.arrays[e.array].dtype
    if isinstance(e, Value):
        return p.scalars.get(e.name) or p.variables.get(e.name) or "weak int"
    if isinstance(e, Number):
        return "weak bool" if isinstance(e.value, bool) else "weak int" if isinstance(e.value, int) else "weak float"
    if isinstance(e, Index):
        return "weak int"
    if isinstance(e, Cast):
        return e.dtype
    if isinstance(e, Fold):
        return _sum_type(type_of(e.value, p)) if e.op == "sum" else _strong(type_of(e.value, p))
    assert isinstance(e, Apply)
    if e.op in COMPARISONS:
        return "bool"
    types = [type_of(a, p) for a in (e.arguments[1:] if e.op == "where" else e.arguments)]
    joined = types[0] if len(types) == 1 else common_type(types[0], types[1])
    if (e.op == "/" or e.op in FLOATING) and not joined.endswith(("float", "float32", "float64")):
        return "weak float" if joined in WEAK else "float64"
    return joined


def _strong(t: str) -> str:
    return WEAK.get(t, t)


def _sum_type(t: str) -> str:
    """What NumPy adds values of a type in: whole numbers in int64.

    >>> _sum_type("int32"), _sum_type("bool"), _sum_type("float32")
    ('int64', 'int64', 'float32')
    """
    return "int64" if _strong(t) in ("bool", "int32") else _strong(t)


Writer = Assign | Compute | Reduce


def _given(s: Writer, p: Program) -> str:
    """The type of what a statement writes, before it is stored."""
    t = type_of(s.value, p)
    if isinstance(s, Reduce):
        return _sum_type(t) if s.op == "sum" else _strong(t)
    return t


def check_types(p: Program) -> None:
    """Gives temporaries and scalars the types that NumPy would give them, those of Python's numbers weak ones.

    Raises:
        ProgramError: There is no such type: the values that one gets have several, or a number does not fit.
    """
    writers: dict[str, list[Writer]] = {}
    for _, s in statements(p.body):
        if isinstance(s, (Assign, Reduce)):
            writers.setdefault(s.name, []).append(s)
        elif isinstance(s, Compute):
            writers.setdefault(s.target, []).append(s)
    made = {name: _makers(p, name, found) for name, found in writers.items()}
    _find_types(p, {name: found for name, found in made.items() if found})
    for _, s in statements(p.body):
        for e in expressions_of(s):
            _check_numbers(p, e, s.place)
        _check_stored(p, s)


def _makers(p: Program, name: str, writers: list[Writer]) -> list[Writer]:
    """Those whose values make the type, as an assignment to a name does in Python: not those that write into an array
    that is there already, nor what a loop adds to."""
    if name in p.variables:
        return [] if any(isinstance(s, Reduce) and s.into is not None for s in writers) else writers
    if p.arrays[name].argument or name not in p.results:
        return []
    if len(writers) == 1 and isinstance(writers[0].value, Read):
        return writers  # a copy
    return [s for s in writers if not isinstance(s.value, Read) and name not in {r.array for r in reads_of(s.value)}]


def _find_types(p: Program, writers: dict[str, list[Writer]]) -> None:
    """Gives these the types of their values. One that gets values of several types keeps that which DaCe found."""
    declared = {name: _declared(p, name) for name in writers}
    while True:
        for name in writers:
            _declare(p, name, "weak bool")  # gives way to all others
        changed = True
        while changed:
            changed = False
            for name, found in writers.items():
                have = want = _declared(p, name)
                for s in found:
                    want = common_type(want, _given(s, p))
                if want != have:
                    _declare(p, name, want)
                    changed = True
        several = [n for n, found in writers.items() if _has_several_types(p, n, found)]
        if not several:
            return
        for name in writers:
            _declare(p, name, declared[name])
        for name in several:
            del writers[name]


def _has_several_types(p: Program, name: str, writers: list[Writer]) -> bool:
    """Whether one type cannot stand for those of all that is written; of an array it must be one of elements."""
    have = _declared(p, name)
    if have in WEAK:
        return name in p.arrays
    return have not in {_given(s, p) for s in writers} or any(
        t not in WEAK and t != have for t in (_given(s, p) for s in writers)
    )


def _declared(p: Program, name: str) -> str:
    return p.variables[name] if name in p.variables else p.arrays[name].dtype


def _declare(p: Program, name: str, dtype: str) -> None:
    if name in p.variables:
        p.variables[name] = dtype
    else:
        p.arrays[name].dtype = dtype


def _check_stored(p: Program, s: Statement) -> None:
    """Refuses a temporary of another type than NumPy would give it."""
    if isinstance(s, Compute) and not p.arrays[s.target].argument:
        have, name = p.arrays[s.target].dtype, s.target
    elif isinstance(s, Assign):
        have, name = p.variables[s.name], s.name
    else:
        return
    want = type_of(s.value, p)
    if not isinstance(s.value, Read) and want not in WEAK and want != have and have not in WEAK:
        raise ProgramError.at(
            s.place, name, f"is {have} here and {want} in NumPy; give all operands of the expression one type"
        )


def _check_numbers(p: Program, e: Expression, place: Place) -> None:
    """Refuses Python's numbers that do not fit in the whole type of what they meet, and negative exponents of whole
    numbers."""
    for part in parts_of(e):
        if not isinstance(part, Apply) or part.op in ("and", "or", "not"):
            continue
        joined = [type_of(a, p) for a in part.arguments]
        t = _strong(common_type(joined[0], joined[1]) if part.op in COMPARISONS else type_of(part, p))
        for number in part.arguments:
            if isinstance(number, Number) and t in ("int32", "int64") and not _fits(number, t):
                raise ProgramError.at(place, str(number.value), f"does not fit in {t}, the type of what it meets")
        exponent = part.arguments[-1]
        if part.op == "**" and t in ("int32", "int64") and isinstance(exponent, Number) and exponent.value < 0:
            raise ProgramError.at(
                place, str(exponent.value), "is a negative exponent of whole numbers; make the base float64"
            )


def _fits(number: Number, t: str) -> bool:
    limits = np.iinfo(t)
    return int(limits.min) <= number.value <= int(limits.max)
