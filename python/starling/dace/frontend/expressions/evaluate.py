"""Expressions of Python, as values."""

from __future__ import annotations

import ast
from typing import Any

from starling.dace.frontend import outside
from starling.dace.frontend.calls import call as calls
from starling.dace.frontend.calls.products import matmul
from starling.dace.frontend.expressions import attributes
from starling.dace.frontend.expressions.operators import BINARY, BOOLS, COMPARE, UNARY, apply, truth
from starling.dace.frontend.expressions.shapes import one_element
from starling.dace.frontend.expressions.subscripts import part_of, parts_between
from starling.dace.frontend.loops.written_out import write_out_for
from starling.dace.frontend.translation import Translation, Unbound
from starling.dace.frontend.values import Elements, Flags, Items, Meaning, Outside, Scalar, View
from starling.dace.ir import Apply, Expression, Number, Read

__all__ = ["element_of", "evaluate", "key_of", "one_number", "read_name", "view_of"]

REFUSED = {
    ast.Lambda: "a lambda",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a generator",
    ast.Dict: "a dictionary",
    ast.Set: "a set",
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield",
    ast.JoinedStr: "a formatted text",
    ast.NamedExpr: "an assignment in an expression",
    ast.Starred: "a starred expression",
}


def evaluate(t: Translation, node: ast.expr) -> Meaning:
    """The value of an expression; what has to be computed before it is added to the program.

    Raises:
        ProgramError: It is outside of the language.
    """
    found = EVALUATORS.get(type(node))
    if found is not None:
        return found(t, node)  # type: ignore[no-any-return]
    raise t.error(node, f"is {REFUSED.get(type(node), type(node).__name__.lower())}, which a program cannot have")


def read_name(t: Translation, name: str, node: ast.AST) -> Meaning:
    """What a name means here: of the function itself if it binds the name anywhere, as in Python."""
    found = t.env.get(name)
    if isinstance(found, Unbound):
        raise t.error(name, found.words)
    if found is not None:
        if isinstance(found, View):
            _check_stale(t, found, name)
        return found
    if name in t.frame.local:
        raise t.error(name, "has no value yet here; the function binds it further down, so it is no name from outside")
    return outside.look_up(t, name, node)


def _check_stale(t: Translation, view: View, name: str) -> None:
    why = t.stale.get(view.array)
    if why is not None:
        raise t.error(name, why)


def _constant(t: Translation, node: ast.Constant) -> Meaning:
    if isinstance(node.value, (bool, int, float)):
        return Scalar(Number(node.value))
    if node.value is None or isinstance(node.value, str) or node.value is Ellipsis:
        return Outside(node.value)
    what = "a complex number" if isinstance(node.value, complex) else f"a {type(node.value).__name__}"
    raise t.error(node, f"is {what}, which a program cannot have")


def _name(t: Translation, node: ast.Name) -> Meaning:
    return read_name(t, node.id, node)


def _items(t: Translation, node: ast.Tuple | ast.List) -> Meaning:
    return Items(tuple(evaluate(t, e) for e in node.elts))


def _binary(t: Translation, node: ast.BinOp) -> Meaning:
    a = evaluate(t, node.left)
    b = evaluate(t, node.right)
    if isinstance(node.op, ast.MatMult):
        with t.naming(node):
            return matmul(t, a, b, node)
    return apply(t, BINARY[type(node.op)], [a, b], node)


def _unary(t: Translation, node: ast.UnaryOp) -> Meaning:
    if isinstance(node.op, ast.Not):
        e = truth(t, evaluate(t, node.operand), node.operand)
        return Scalar(Number(not e.value) if isinstance(e, Number) else Apply("not", (e,)))
    return apply(t, UNARY[type(node.op)], [evaluate(t, node.operand)], node)


def _bool(t: Translation, node: ast.BoolOp) -> Meaning:
    """`and` and `or` of truth values: of others Python gives one of the operands. What comes behind an operand is
    evaluated only if that does not decide."""
    op = "and" if isinstance(node.op, ast.And) else "or"
    result: Expression | None = None
    for source in node.values:
        if result is None:
            result = _operand(t, source, op)
        elif isinstance(result, Number):
            if bool(result.value) != (op == "and"):
                break
            result = _operand(t, source, op)
        else:
            with t.assuming(result, op == "and"):
                e = _operand(t, source, op)
            result = _joined(op, result, e)
    assert result is not None
    return Scalar(result)


def _joined(op: str, a: Expression, b: Expression) -> Expression:
    if isinstance(b, Number) and bool(b.value) == (op == "and"):
        return a
    return Apply(op, (a, b))


def _operand(t: Translation, source: ast.expr, op: str) -> Expression:
    value = evaluate(t, source)
    if isinstance(value, Scalar) and t.type(value.expr) not in BOOLS and not t.conditions:
        raise t.error(source, f"is no truth value beside {op}, which gives one of its operands; write a comparison")
    return truth(t, value, source)


def _compare(t: Translation, node: ast.Compare) -> Meaning:
    """Comparisons, of which a chain ends at the first that does not hold."""
    if any(type(op) not in COMPARE for op in node.ops):
        op = next(op for op in node.ops if type(op) not in COMPARE)
        raise t.error(
            node, f"compares by {type(op).__name__.lower()}, which a program cannot; numbers are compared by value"
        )
    left, right = evaluate(t, node.left), evaluate(t, node.comparators[0])
    first = apply(t, COMPARE[type(node.ops[0])], [left, right], node)
    if len(node.ops) == 1:
        return first
    result = truth(t, first, node)
    for op, source in zip(node.ops[1:], node.comparators[1:], strict=True):
        if isinstance(result, Number) and not result.value:
            break
        with t.assuming(result):
            left, right = right, evaluate(t, source)
            e = truth(t, apply(t, COMPARE[type(op)], [left, right], node), node)
        result = e if isinstance(result, Number) else _joined("and", result, e)
    return Scalar(result)


def _choice(t: Translation, node: ast.IfExp) -> Meaning:
    condition = truth(t, evaluate(t, node.test), node.test)
    if isinstance(condition, Number):
        return evaluate(t, node.body if condition.value else node.orelse)
    with t.assuming(condition):
        a = evaluate(t, node.body)
    with t.assuming(condition, False):
        b = evaluate(t, node.orelse)
    if not isinstance(a, Scalar) or not isinstance(b, Scalar):
        raise t.error(node, "chooses between arrays; write an if, or np.where for elements")
    kinds = sorted({t.type(a.expr), t.type(b.expr)})
    if len(kinds) > 1:
        text = " or ".join(kinds).replace("weak ", "a Python ")
        strong = next((k for k in kinds if not k.startswith("weak")), "float64")
        raise t.error(node, f"is {text}; give both one type, such as np.{strong}(0) for 0")
    return Scalar(Apply("choose", (condition, a.expr, b.expr)))


def _subscript(t: Translation, node: ast.Subscript) -> Meaning:
    owner = evaluate(t, node.value)
    if isinstance(owner, Items):
        return _item(t, owner, node)
    if isinstance(owner, Flags):
        return _flag(t, owner, node)
    if isinstance(owner, Outside):
        return outside.subscript(t, owner, node)
    if isinstance(owner, Scalar):
        raise t.error(node, "takes a part of a number")
    assert isinstance(owner, (View, Elements))
    found = part_of(t, owner, node, [(e, key_of(t, e)) for e in parts_between(node)])
    return element_of(found)


def element_of(found: Scalar | View | Elements) -> Meaning:
    """A part without axes is a number."""
    return one_element(found) or found if isinstance(found, View) and not found.dims else found


def key_of(t: Translation, node: ast.expr) -> Any:
    if isinstance(node, ast.Slice):
        return slice(*(None if e is None else evaluate(t, e) for e in (node.lower, node.upper, node.step)))
    value = evaluate(t, node)
    if isinstance(value, Outside) and (value.value is None or value.value is Ellipsis):
        return value.value
    if isinstance(value, (View, Elements)) and one_element(value) is None:
        kind = (
            t.type(Elements((), value.expr).expr)
            if isinstance(value, Elements)
            else t.program.arrays[value.array].dtype
        )
        if kind == "bool":
            raise t.error(node, "chooses elements by a mask, of which there are as many as it says; use np.where")
        raise t.error(node, "chooses elements by an array of indices, which a program cannot; use slices")
    if isinstance(value, Items):
        raise t.error(node, "chooses elements by a list of indices, which a program cannot; use slices")
    return value


def _item(t: Translation, owner: Items, node: ast.Subscript) -> Meaning:
    if isinstance(node.slice, ast.Slice):
        raise t.error(node, "is a slice of a tuple or list")
    k = t.sym(evaluate(t, node.slice), node.slice)
    if not k.is_Integer:
        write_out_for(t, k)
        raise t.error(
            node, f"takes item {k} of a list of Python, which is known only when the program runs; pass an array"
        )
    if not -len(owner.items) <= k < len(owner.items):
        raise t.error(node, f"raises IndexError: item {k} of {len(owner.items)}")
    return owner.items[int(k)]


def _flag(t: Translation, owner: Flags, node: ast.Subscript) -> Meaning:
    k = t.sym(evaluate(t, node.slice), node.slice)
    if not k.is_Integer:
        raise t.error(
            "PutmemSignal" if not t.call else t.call, f"flag index {k} is not constant; name one flag, such as flags[0]"
        )
    if not 0 <= k < owner.count:
        raise t.error(t.call or node, f"flag {k} of {owner.count}; flags are numbered from 0")
    return Flags(owner.first + int(k), 1)


def _call(t: Translation, node: ast.Call) -> Meaning:
    return calls.call(t, node)


def _attribute(t: Translation, node: ast.Attribute) -> Meaning:
    return attributes.attribute(t, node)


EVALUATORS: dict[type[ast.expr], Any] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Tuple: _items,
    ast.List: _items,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _bool,
    ast.Compare: _compare,
    ast.IfExp: _choice,
    ast.Subscript: _subscript,
    ast.Call: _call,
    ast.Attribute: _attribute,
}


def one_number(t: Translation, value: Meaning, node: ast.AST) -> Scalar:
    """A value as a number."""
    one = one_element(value)
    if one is None:
        raise t.error(node, "is no number; name an element, or reduce the array")
    return one


def view_of(t: Translation, value: Meaning) -> Meaning:
    """An element that is read as the part of the array that it is."""
    if isinstance(value, Scalar) and isinstance(value.expr, Read):
        return View(value.expr.array, value.expr.index, ())
    return value
