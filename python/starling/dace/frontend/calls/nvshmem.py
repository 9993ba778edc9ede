"""Calls of starling.dace.nvshmem, and of the functions that name PEs, as statements and numbers."""

from __future__ import annotations

import ast
from typing import Any

import sympy

from starling.dace.frontend.calls.arguments import bound
from starling.dace.frontend.expressions import evaluate as expressions
from starling.dace.frontend.expressions.operators import number_of
from starling.dace.frontend.expressions.shapes import one_element
from starling.dace.frontend.scopes.joins import note_write
from starling.dace.frontend.translation import Translation
from starling.dace.frontend.types import MOST_AXES
from starling.dace.frontend.values import Flags, Meaning, Outside, Scalar, View
from starling.dace.ir import Box, Collective, Expression, Index, Number, Put, Wait, symbol
from starling.dace.ir.pes import N_PES, PE, neighbour_name

__all__ = ["call", "is_call"]

MODULE = "starling.dace.nvshmem"
OPS = ("set", "add")
# The arguments of each call, and how many of them there must be.
ARGUMENTS = {
    "PutmemSignal": ("dest source flag value peer op", 5),
    "SignalWait": ("flag value peer", 2),
    "SignalOp": ("flag value peer op", 3),
    "Putmem": ("dest source peer", 3),
    "Iput": ("dest source peer", 3),
    "P": ("dest value peer", 3),
    "Getmem": ("dest source peer", 3),
    "Broadcast": ("dest source root", 3),
    "SumReduce": ("dest source", 2),
    "MaxReduce": ("dest source", 2),
    "MinReduce": ("dest source", 2),
    "Quiet": ("", 0),
    "Fence": ("", 0),
    "Barrier": ("", 0),
}
PUTS = ("PutmemSignal", "Putmem", "Iput", "P", "SignalOp")
NUMBERS = ("my_pe", "n_pes", "neighbour")


def is_call(f: Any) -> bool:
    """Whether it is one of these functions."""
    module, name = getattr(f, "__module__", ""), getattr(f, "__name__", "")
    if module == MODULE:
        return name in ARGUMENTS or name == "flags"
    return module == "starling.dace" and name in NUMBERS


def call(t: Translation, name: str, node: ast.Call) -> Meaning:
    """What a call gives; what it does goes into the program."""
    if name == "flags":
        return _flags(t, node)
    if name == "my_pe":
        bound(t, node, "", 0)
        return Scalar(Index(symbol(PE)))
    if name == "n_pes":
        bound(t, node, "", 0)
        return Scalar(Index(symbol(N_PES)))
    if name == "neighbour":
        return _neighbour(t, node)
    if t.parallel:
        raise t.error(name, "stands in a parallel loop; communicate before or behind it")
    t.call = name
    names, least = ARGUMENTS[name]
    t.add(_statement(t, name, bound(t, node, names, least), node))
    t.call = ""
    return Outside(None)


def _flags(t: Translation, node: ast.Call) -> Flags:
    given = bound(t, node, "n")["n"]
    n = given.expr.value if isinstance(given, Scalar) and isinstance(given.expr, Number) else None
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise t.error("flags", f"({ast.unparse(node.args[0])}): the number of flags must be a constant of at least 1")
    made = Flags(t.program.flags, n)
    t.program.flags += n
    return made


def _neighbour(t: Translation, node: ast.Call) -> Scalar:
    given = bound(t, node, "step axis ring")
    values: dict[str, Any] = {"axis": 0, "ring": False}
    for name, value in given.items():
        values[name] = value.expr.value if isinstance(value, Scalar) and isinstance(value.expr, Number) else None
    if not isinstance(values["step"], int):
        raise t.error("neighbour", "the step must be a constant")
    if not isinstance(values["axis"], int) or not 0 <= values["axis"] < MOST_AXES:
        raise t.error("neighbour", "the axis must be 0 or 1, the rows or the columns of the grid")
    if values["ring"] is None:
        raise t.error("neighbour", "ring must be True or False")
    return Scalar(Index(symbol(neighbour_name(int(values["step"]), int(values["axis"]), bool(values["ring"])))))


def _statement(t: Translation, verb: str, given: dict[str, Meaning], node: ast.AST) -> Put | Wait | Collective:
    if verb == "SignalWait":
        wait = Wait(flag=_flag(t, given["flag"], verb), value=_number(t, given["value"], verb))
        wait.peer = _number(t, given["peer"], verb) if _is_given(given, "peer") else Number(-2)
        return wait
    if verb in PUTS:
        return _put(t, verb, given)
    made = Collective(verb=verb)
    if "dest" in given:
        made.array, made.box = _region(t, given["dest"], verb, "dest", one=verb != "Getmem")
        made.source, made.source_box = _region(t, given["source"], verb, "source", one=verb != "Getmem")
        note_write(t, made.array, verb)
    place = given.get("root" if verb == "Broadcast" else "peer")
    if place is not None:
        made.peer = _number(t, place, verb)
    return made


def _put(t: Translation, verb: str, given: dict[str, Meaning]) -> Put:
    put = Put(verb=verb, peer=_number(t, given["peer"], verb))
    if "dest" in given:
        put.array, put.box = _region(t, given["dest"], verb, "dest", one=verb == "P")
        note_write(t, put.array, verb)
    if "source" in given:
        put.source, put.source_box = _region(t, given["source"], verb, "source")
        _same_shape(t, put)
    if "flag" in given:
        put.flag = _flag(t, given["flag"], verb)
    if "op" in given:
        op = given["op"].value if isinstance(given["op"], Outside) else None
        if op not in OPS:
            raise t.error(verb, f"op = {op!r}; must be 'set' or 'add'")
        put.op = op
    if "value" in given:
        put.value = _number(t, given["value"], verb)
    return put


def _is_given(given: dict[str, Meaning], name: str) -> bool:
    value = given.get(name)
    return value is not None and not (isinstance(value, Outside) and value.value is None)


def _number(t: Translation, value: Meaning, verb: str) -> Expression:
    one = one_element(value)
    if one is None:
        raise t.error(verb, "takes a number there")
    found = t.as_sym(one.expr)
    return one.expr if found is None or isinstance(one.expr, Number) else Index(found)


def _flag(t: Translation, value: Meaning, verb: str) -> int:
    if not isinstance(value, Flags):
        raise t.error(verb, "takes one of nvshmem.flags(n), such as flags[0]")
    if value.count != 1:
        raise t.error(verb, "takes one of its flags, such as flags[0]")
    return value.first


def _region(t: Translation, value: Meaning, verb: str, name: str, *, one: bool = False) -> tuple[str, Box]:
    """A part of an array, as begin, end and step along each axis."""
    given = expressions.view_of(t, number_of(t, value, ast.Name(verb)))
    if not isinstance(given, View):
        raise t.error(verb, f"takes a part of an argument as {name}, such as A[1]")
    if any(d.axis is None for d in given.dims) or [d.axis for d in given.dims] != sorted(
        d.axis for d in given.dims if d.axis is not None
    ):
        raise t.error(verb, f"takes a part of an argument as {name}, with its axes as they are")
    box = [(b, sympy.expand(b + 1), sympy.Integer(1)) for b in given.base]
    for d in given.dims:
        assert d.axis is not None
        if d.step < 0:
            raise t.error(verb, f"takes a part of an argument as {name} that goes forwards")
        begin = given.base[d.axis]
        length = _plain(t, d.length, verb)
        box[d.axis] = (begin, sympy.expand(begin + (length - 1) * d.step + 1), d.step)
    if one and any(d.length != 1 for d in given.dims):
        raise t.error(verb, f"takes one element as {name}, such as A[1]")
    return given.array, tuple(box)


def _plain(t: Translation, length: Any, verb: str) -> Any:
    """A length without the cut at the end of the axis: a region of a put that does not fit is refused."""
    if not length.has(sympy.Min):
        return length
    for cut in length.atoms(sympy.Min):
        (end,) = (a for a in cut.args if a.is_Integer)
        (whole,) = (a for a in cut.args if not a.is_Integer)
        t.require(verb, sympy.expand(whole - end), "names a region that ends beyond its array, by {value} elements")
        length = length.xreplace({cut: end})
    return length


def _same_shape(t: Translation, put: Put) -> None:
    """Both regions have as many elements along the same number of axes, and the same type."""

    def lengths(box: Box) -> list[Any]:
        found = [(e - b) if s == 1 else sympy.floor((e - b + s - 1) / s) for b, e, s in box]
        return [n for n in (sympy.expand(n) for n in found) if n != 1]

    to, source = lengths(put.box), lengths(put.source_box)
    if to != source:
        raise t.error(put.verb, f"dest has the shape {tuple(to)}, source {tuple(source)}")
    arrays = t.program.arrays
    if arrays[put.array].dtype != arrays[put.source].dtype:
        raise t.error(
            put.verb, f"dest holds {arrays[put.array].dtype}, source {arrays[put.source].dtype}; they must be equal"
        )
