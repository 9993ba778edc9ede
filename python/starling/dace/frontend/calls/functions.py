"""Functions that a program calls: they are translated where they are called, with names of their own."""

from __future__ import annotations

import ast
import inspect
import sys
import sysconfig
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starling.dace.frontend import statements
from starling.dace.frontend.expressions import evaluate as expressions
from starling.dace.frontend.outside import meaning_of
from starling.dace.frontend.scopes.assigned import assigned_in, parameters_of
from starling.dace.frontend.scopes.liveness import Liveness
from starling.dace.frontend.source import definition_of
from starling.dace.frontend.translation import Frame, Translation
from starling.dace.frontend.types import array_in
from starling.dace.frontend.values import Elements, Meaning, Outside, Scalar, View, shape_of

__all__ = ["frame_of", "function_of", "inline"]

MOST_CALLS = 20  # of functions in functions
LIBRARIES = tuple({sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})


def function_of(f: Any) -> Callable[..., Any] | None:
    """The function of the user behind an object; None: it is none, or one of a library."""
    inner = getattr(f, "function", f) if type(f).__name__ == "Program" else f
    if not isinstance(inner, types.FunctionType):
        return None
    file = str(Path(inner.__code__.co_filename))
    return None if file.startswith(LIBRARIES) or file.startswith(sys.base_prefix + "/lib") else inner


def frame_of(function: Callable[..., Any]) -> Frame:
    """A function before its first statement.

    Raises:
        ProgramError: There is no source, or it takes arguments by * or **.
    """
    tree, first = definition_of(function)
    local = set(parameters_of(tree)) | assigned_in(tree.body)
    made = Frame(function, tree, function.__code__.co_filename, first, local)
    made.live = Liveness(tree.body)
    return made


def inline(t: Translation, function: Callable[..., Any], node: ast.Call) -> Meaning:
    """Translates a call; its value is what the function returns."""
    if t.parallel:
        raise t.error(node.func, "is called in a parallel loop; write there what it does")
    if any(f.function is function for f in t.frames) or len(t.frames) > MOST_CALLS:
        raise t.error(node.func, "calls itself, which a program cannot")
    frame = frame_of(function)
    given = _arguments(t, function, frame, node)
    frame.sizes = {**t.frame.sizes, **_sizes(t, function, given, node)}
    frame.env.update(given)
    before, written, place, alone = set(t.program.arrays), len(t.written), t.place, node is t.whole_value
    t.frames.append(frame)
    statements.block(t, frame.tree.body)
    t.frames.pop()
    ended, t.reached, t.place = not t.reached, True, place
    if set(t.written[written:]) & before and not alone:
        raise t.error(node, "writes into arrays in the middle of an expression; call it in a statement of its own")
    if ended:
        t.reached = False
        return Outside(None)
    return frame.returned if frame.returned is not None else Outside(None)


def _arguments(t: Translation, function: Callable[..., Any], frame: Frame, node: ast.Call) -> dict[str, Meaning]:
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        raise t.error(node, "passes arguments by * or **; name each")
    given = [_passed(t, expressions.evaluate(t, a)) for a in node.args]
    named = {str(k.arg): _passed(t, expressions.evaluate(t, k.value)) for k in node.keywords}
    try:
        found = inspect.signature(function).bind(*given, **named)
    except TypeError as problem:
        raise t.error(node, f"raises TypeError: {problem}") from problem
    result: dict[str, Meaning] = dict(found.arguments)
    for name, p in inspect.signature(function).parameters.items():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise t.error(node.func, "takes arguments by * or **; name each")
        if name not in result:
            result[name] = meaning_of(t, p.default, node)
    return result


def _passed(t: Translation, value: Meaning) -> Meaning:
    """An argument as the function finds it: an array is passed itself, a number as it is then."""
    if isinstance(value, Scalar):
        return Scalar(t.kept(value.expr))
    return t.stored(value) if isinstance(value, Elements) else value


def _sizes(t: Translation, function: Callable[..., Any], given: dict[str, Meaning], node: ast.Call) -> dict[str, Any]:
    """The symbols that the types of a function's arguments name, as the lengths of what is passed."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        hint = array_in(function, name)
        if hint is None or not isinstance(value, View):
            continue
        shape = shape_of(value)
        if len(shape) != len(hint.shape):
            raise t.error(node, f"passes an array of {len(shape)} axes as {name}, which has {len(hint.shape)}")
        for s, n in zip(hint.shape, shape, strict=True):
            if getattr(s, "is_Symbol", False):
                known = found.setdefault(str(s), n)
                if known is not n:
                    t.require(node, known - n, f"passes arrays that differ in the length {s}, by {{value}}", zero=True)
    return found
