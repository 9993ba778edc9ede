"""What a function takes from outside: numbers, lists of these, sizes, modules, functions and types.

A number is part of the compiled program; `Translation.outside` keeps what was looked up, so that a call can see whether
it is still so.
"""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from starling.dace.frontend.translation import Outsiders, Translation
from starling.dace.frontend.values import Items, Meaning, Outside, Scalar
from starling.dace.ir import Cast, Index, Number

__all__ = ["is_as_before", "look_up", "meaning_of", "note", "subscript"]

MISSING = object()


def look_up(t: Translation, name: str, node: ast.AST) -> Meaning:
    """What a name of a function means outside of it."""
    found = _found(t.frame.function, name)
    if found is MISSING:
        raise t.error(name, "is not defined")
    note(t, t.frame.function, name, found)
    return meaning_of(t, found, node)


def note(t: Translation, owner: Any, name: str, value: Any) -> None:
    """Keeps what was looked up as it is now: a list may be changed in place later."""
    kept = copy.deepcopy(value) if isinstance(value, (list, tuple)) else value
    t.outside[id(owner), name] = (owner, name, kept)


def _found(function: Callable[..., Any], name: str) -> Any:
    code = function.__code__
    if name in code.co_freevars:
        cell = (function.__closure__ or ())[code.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            return MISSING
    if name in function.__globals__:
        return function.__globals__[name]
    return getattr(builtins, name, MISSING)


def is_as_before(outside: Outsiders) -> bool:
    """Whether everything that was looked up is what it was then."""
    for owner, name, was in outside.values():
        now = _found(owner, name) if inspect.isfunction(owner) else getattr(owner, name, MISSING)
        if now is not was and not _equal(now, was):
            return False
    return True


def _equal(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    return isinstance(a, (bool, int, float, np.generic)) and (a == b or (a != a and b != b)) and repr(a) == repr(b)


def meaning_of(t: Translation, value: Any, node: ast.AST) -> Meaning:
    """An object of Python as a value."""
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise t.error(node, f"is {value}, which does not fit in int64")
        return Scalar(Number(value))
    if isinstance(value, (np.bool_, np.number)):
        kind = str(value.dtype)
        if kind not in ("bool", "int32", "int64", "float32", "float64"):
            raise t.error(node, f"is a number of type {kind}; a program knows int32, int64, float32 and float64")
        return Scalar(Cast(kind, Number(value.item())))
    if isinstance(value, (list, tuple)):
        return Items(tuple(meaning_of(t, list(v) if isinstance(v, list) else v, node) for v in value))
    if isinstance(value, sympy.Basic) and not isinstance(value, type):
        return Scalar(Index(_size(t, value, node)))
    if isinstance(value, np.ndarray):
        raise t.error(node, "is an array from outside; pass it as an argument")
    return Outside(value)


def _size(t: Translation, value: Any, node: ast.AST) -> Any:
    changes = {}
    for s in value.free_symbols:
        known = t.frame.sizes.get(str(s))
        if known is None:
            raise t.error(node, f"takes the size {s}, which no array of the function has in its type")
        changes[s] = known
    return sympy.sympify(value).xreplace(changes)


def subscript(t: Translation, owner: Outside, node: ast.Subscript) -> Meaning:
    """A part of something from outside."""
    raise t.error(node, f"takes a part of {_text(owner.value)}, which is no array of the program")


def _text(value: Any) -> str:
    if isinstance(value, types.ModuleType):
        return f"the module {value.__name__}"
    return (
        f"the function {value.__name__}"
        if callable(value) and hasattr(value, "__name__")
        else f"a {type(value).__name__}"
    )
