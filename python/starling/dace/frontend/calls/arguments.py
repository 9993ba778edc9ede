"""Arguments of a call in a program, by the names that the function called has for them."""

from __future__ import annotations

import ast

from starling.dace.frontend.expressions import evaluate as expressions
from starling.dace.frontend.translation import Translation
from starling.dace.frontend.values import Items, Meaning, Outside, Scalar
from starling.dace.ir import Number

__all__ = ["bound", "literal", "whole_literals"]


def bound(t: Translation, node: ast.Call, names: str, least: int = 1) -> dict[str, Meaning]:
    """The values of the arguments that are given. `names`: of all that there may be, in order.

    Raises:
        ProgramError: One is given that is not among them, twice, or fewer than `least`.
    """
    known = names.split()
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        raise t.error(node, "passes arguments by * or **; name each")
    if len(node.args) > len(known):
        raise t.error(node, f"has {len(node.args)} arguments; a program takes {', '.join(known)} alone")
    found = {name: expressions.evaluate(t, a) for name, a in zip(known, node.args, strict=False)}
    for k in node.keywords:
        if k.arg not in known:
            raise t.error(node, f"has the argument {k.arg}=; a program takes {', '.join(known)} alone")
        if k.arg in found:
            raise t.error(node, f"has the argument {k.arg} twice")
        found[str(k.arg)] = expressions.evaluate(t, k.value)
    missing = [n for n in known[:least] if n not in found]
    if missing:
        raise t.error(node, f"lacks the argument {missing[0]}")
    return found


def literal(t: Translation, value: Meaning | None, node: ast.AST, name: str, default: bool) -> bool:
    """An argument that is True or False as it stands."""
    if value is None:
        return default
    if isinstance(value, Scalar) and isinstance(value.expr, Number):
        return bool(value.expr.value)
    raise t.error(node, f"has {name}= that is no literal True or False")


def whole_literals(t: Translation, value: Meaning, node: ast.AST, name: str) -> list[int]:
    """An argument that is a whole number as it stands, or some of them."""
    if isinstance(value, Items):
        return [k for v in value.items for k in whole_literals(t, v, node, name)]
    if isinstance(value, Scalar) and isinstance(value.expr, Number) and isinstance(value.expr.value, int):
        return [value.expr.value]
    if isinstance(value, Outside) and value.value is None:
        return []
    raise t.error(node, f"has {name}= that is no literal whole number")
