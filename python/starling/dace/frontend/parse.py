"""DaCe's part: the schedule tree of a Python function.

The tree is made of the graph as it was parsed. It keeps the order of the source, of communication too, and a node for
each operation of NumPy, which passes/fuse.py joins.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import linecache
import re
import sys
import types
import typing
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from dace.frontend.python.common import DaceSyntaxError
from dace.sdfg.analysis.schedule_tree.sdfg_to_tree import as_schedule_tree

import dace
from dace import data, dtypes
from starling.dace.frontend.names import CALLS, PREFIX, register
from starling.dace.frontend.returns import refuse_returned_values
from starling.dace.frontend.types import Split
from starling.dace.frontend.updates import refuse_strided_updates
from starling.dace.program_error import Place, ProgramError

__all__ = ["Parsed", "called_back", "parse", "place_of", "type_hints"]


class Parsed(typing.NamedTuple):
    """What the parser found."""

    tree: Any
    splits: dict[str, tuple[int, ...]]  # arguments that PEs share, and along which axes
    arguments: list[str]
    place: Place
    typed_numbers: bool  # whether it takes numbers from outside that have types of NumPy


def place_of(function: Callable[..., Any]) -> Place:
    """Where a function stands."""
    code = function.__code__
    return Place(code.co_filename, code.co_firstlineno)


def type_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of the arguments, in order.

    Raises:
        ProgramError: An argument has none, or one that is no type of an argument.
    """
    place = place_of(function)
    found: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        hint = parameter.annotation
        if isinstance(hint, str):
            closure = inspect.getclosurevars(function)
            try:
                hint = eval(hint, {**function.__globals__, **closure.nonlocals})
            except Exception as problem:
                raise ProgramError.at(place, name, f"its type {hint!r} cannot be evaluated: {problem}") from problem
        if not isinstance(hint, (Split, data.Array, dtypes.typeclass)):
            shown = "no type" if hint is inspect.Parameter.empty else f"the type {hint!r}"
            raise ProgramError.at(place, name, f"has {shown}; give one such as float64[N], split(float64[N], 0), int64")
        base = hint.array if isinstance(hint, Split) else hint
        dtype = base if isinstance(base, dtypes.typeclass) else base.dtype
        if dtype not in (dace.float32, dace.float64, dace.int32, dace.int64):
            raise ProgramError.at(place, name, f"holds {dtype.to_string()}; must be float32, float64, int32 or int64")
        found[name] = hint
    return found


def parse(function: Callable[..., Any], inner: Callable[[Any], Callable[..., Any] | None]) -> Parsed:
    """Parses a function.

    Args:
        function: What the user wrote.
        inner: The function behind a global that is a program itself; None: it is none.

    Raises:
        ProgramError: DaCe cannot parse it; the message is DaCe's.
    """
    register()
    place = place_of(function)
    hints = type_hints(function)
    refuse_strided_updates(function)
    refuse_returned_values(function)
    plain = {name: h.array if isinstance(h, Split) else h for name, h in hints.items()}
    try:
        # The parser prints what it raises.
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            graph = dace.program(_for_dace(function, plain, inner, set())).to_sdfg(simplify=False, validate=False)
            _lines_of_copies(graph)
            tree = as_schedule_tree(graph)
    except ProgramError as problem:
        raise ProgramError.at(place, problem.node, str(problem)) from problem
    except DaceSyntaxError as problem:
        line = getattr(problem.node, "lineno", 0) or place.line
        if "pyobject" in str(problem.message):
            raise called_back(Place(place.file, line)) from problem
        raise ProgramError.at(Place(place.file, line), function.__name__, str(problem.message)) from problem
    except Exception as problem:
        message = f"DaCe cannot parse it: {type(problem).__name__}: {problem}"
        raise ProgramError.at(place, function.__name__, message) from problem
    splits = {name: h.axes for name, h in hints.items() if isinstance(h, Split)}
    return Parsed(tree, splits, list(hints), place, _has_typed_numbers(function, inner))


def _has_typed_numbers(function: Callable[..., Any], inner: Callable[[Any], Callable[..., Any] | None]) -> bool:
    """Whether a function, or a program that it calls, takes numbers of NumPy from outside."""
    found, waiting = set[Any](), [function]
    while waiting:
        f = waiting.pop()
        found.add(f)
        closure = inspect.getclosurevars(f)
        for value in {**closure.globals, **closure.nonlocals}.values():
            if isinstance(value, np.number):
                return True
            called = inner(value)
            if called is not None and called not in found:
                waiting.append(called)
    return False


def called_back(place: Place) -> ProgramError:
    """The error for a line that calls what is no part of a program: DaCe would call Python back."""
    text = linecache.getline(place.file, place.line)
    calls = re.findall(r"([\w.]+)\(", text)
    return ProgramError.at(
        place, calls[0] if calls else text.strip(), "is a call of Python, which a program cannot make; see docs/dace.md"
    )


def _lines_of_copies(graph: Any) -> None:
    """The tree knows of a copy only its memlet, so that gets the line."""
    for node, _ in graph.all_nodes_recursive():
        if isinstance(node, dace.SDFGState):
            for edge in node.edges():
                ends = [n.debuginfo for n in (edge.dst, edge.src) if isinstance(n, dace.nodes.AccessNode)]
                lines = [d for d in ends if d is not None and d.start_line]
                if len(ends) == 2 and lines:
                    edge.data.debuginfo = lines[0]


def _for_dace(
    function: Callable[..., Any],
    plain: dict[str, Any],
    inner: Callable[[Any], Callable[..., Any] | None],
    seen: set[str],
) -> Any:
    """The function with DaCe's own types, and programs that it calls as DaCe's."""
    names = dict(function.__globals__)
    nonlocals = inspect.getclosurevars(function).nonlocals
    for name, value in function.__globals__.items():
        if isinstance(value, types.ModuleType) and value.__name__ == CALLS:
            names[name] = sys.modules[PREFIX.rstrip(".")]
    for name, value in {**names, **nonlocals}.items():
        called = inner(value)
        if called is None or called is function or called.__qualname__ in seen:
            continue
        if name in function.__code__.co_names + function.__code__.co_freevars:
            refuse_strided_updates(called)
            hints = {n: h.array if isinstance(h, Split) else h for n, h in type_hints(called).items()}
            as_program = dace.program(_for_dace(called, hints, inner, seen | {function.__qualname__}))
            names[name] = as_program
            if name in nonlocals:
                nonlocals = {**nonlocals, name: as_program}
    closure = tuple(types.CellType(nonlocals[name]) for name in function.__code__.co_freevars)
    copy = types.FunctionType(function.__code__, names, function.__name__, function.__defaults__, closure or None)
    copy.__annotations__ = dict(plain)
    copy.__qualname__ = function.__qualname__
    copy.__module__ = function.__module__
    copy.__doc__ = function.__doc__
    return copy
