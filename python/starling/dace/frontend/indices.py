"""DaCe's symbolic expressions, which types of arrays are made of, as index expressions."""

from __future__ import annotations

from typing import Any

import sympy

from dace import symbolic
from starling.dace.ir import symbol

__all__ = ["index_of"]


def index_of(e: Any) -> Any:
    """The expression with symbols by name alone, so that equal names are equal symbols."""
    e = sympy.sympify(e)
    e = e.replace(symbolic.int_floor, lambda a, b: sympy.floor(a / b))
    e = e.replace(symbolic.int_ceil, lambda a, b: sympy.ceiling(a / b))
    return e.xreplace({s: symbol(str(s)) for s in e.free_symbols})
