"""The source of a function, of which some things are refused before DaCe's parser sees it."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

from starling.dace.program_error import Place

__all__ = ["place_in", "syntax_of"]


def syntax_of(function: Callable[..., Any]) -> ast.Module:
    """Its syntax tree; empty where there is no source, which the parser says."""
    try:
        lines, _ = inspect.getsourcelines(function)
    except OSError:
        return ast.Module([], [])
    return ast.parse(textwrap.dedent("".join(lines)))


def place_in(function: Callable[..., Any], node: ast.stmt) -> Place:
    """Where a statement of it stands."""
    _, first = inspect.getsourcelines(function)
    return Place(function.__code__.co_filename, first + node.lineno - 1)
