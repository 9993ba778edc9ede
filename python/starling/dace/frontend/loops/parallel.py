"""dace.map: loops whose iterations come in any order.

Each statement becomes a loop over all iterations by itself. That is what one iteration after the other would do only if
no iteration touches what another one writes, which is checked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import sympy

import dace
from starling.dace.frontend import statements
from starling.dace.frontend.expressions import evaluate as expressions
from starling.dace.frontend.expressions.operators import apply, number_of
from starling.dace.frontend.expressions.shapes import one_element
from starling.dace.frontend.loops.written_out import check_distances
from starling.dace.frontend.scopes.assigned import assigned_in
from starling.dace.frontend.scopes.joins import note_write
from starling.dace.frontend.translation import Translation, Unbound
from starling.dace.frontend.values import ZERO, Outside, Scalar, View
from starling.dace.ir import (
    Apply,
    Assign,
    Body,
    Compute,
    Expression,
    Index,
    Param,
    Read,
    Reduce,
    Require,
    Sym,
    Value,
    reads_of,
    same,
    symbol,
)

__all__ = ["is_parallel", "parallel_loop", "pinned"]


def is_parallel(t: Translation, s: ast.For) -> bool:
    """Whether a for goes over dace.map[...]."""
    if not isinstance(s.iter, ast.Subscript):
        return False
    owner = expressions.evaluate(t, s.iter.value)
    return isinstance(owner, Outside) and owner.value is dace.map


def parallel_loop(t: Translation, s: ast.For) -> None:
    """Translates one.

    Raises:
        ProgramError: Iterations depend on each other, or something cannot stand in one.
    """
    assert isinstance(s.iter, ast.Subscript)
    names = [n for n in getattr(s.target, "elts", [s.target]) if isinstance(n, ast.Name)]
    keys = list(s.iter.slice.elts) if isinstance(s.iter.slice, ast.Tuple) else [s.iter.slice]
    if len(names) != len(keys):
        raise t.error(s.target, f"takes {len(names)} numbers of {len(keys)} ranges")
    outer, before = list(t.parallel), dict(t.env)
    made: Body = []
    for target, key in zip(names, keys, strict=True):
        param, value = _parameter(t, key)
        t.parallel.append(param)
        t.env[target.id] = Scalar(Index(value))
    _check_body(t, s.body)
    with t.into(made):
        for inner in s.body:
            _statement(t, inner, before)
    mine = [q.name for q in t.parallel]
    t.parallel = outer
    for name in assigned_in([s]):
        if name not in before or name in {n.id for n in names}:
            t.env[name] = Unbound("belongs to an iteration of a parallel loop; use it there")
    _check(t, made, mine)
    t.body.extend(made)


def _parameter(t: Translation, key: ast.expr) -> tuple[Param, Sym]:
    """The parameter of a range, from 0 on, and the number that it stands for."""
    if not isinstance(key, ast.Slice) or key.upper is None:
        raise t.error(key, "is no range begin:end of a parallel loop")
    begin = ZERO if key.lower is None else t.sym(expressions.evaluate(t, key.lower), key)
    end = t.sym(expressions.evaluate(t, key.upper), key)
    step = sympy.Integer(1) if key.step is None else t.sym(expressions.evaluate(t, key.step), key)
    if not step.is_Integer or step < 1:
        raise t.error(key, f"has the step {step}; a step is a literal number of at least 1")
    made = t.generated("m")
    inside = {str(x) for x in (begin.free_symbols | end.free_symbols)} & {q.name for q in t.parallel}
    if inside:
        raise t.error(key, "depends on another loop; use rectangles")
    length = sympy.expand(end - begin)
    count = length if step == 1 else sympy.floor((length - 1) / step) + 1
    return Param(made, ZERO, count), sympy.expand(begin + step * symbol(made))


def _check_body(t: Translation, body: Iterable[ast.stmt]) -> None:
    for s in body:
        if not isinstance(s, (ast.Assign, ast.AugAssign, ast.For, ast.Pass)):
            word = type(s).__name__.lower()
            raise t.error(word, "cannot stand in a parallel loop; use np.where for conditions")


def _statement(t: Translation, s: ast.stmt, outside: dict[str, Any]) -> None:
    if isinstance(s, ast.For) and not is_parallel(t, s):
        raise t.error("for", "cannot stand in a parallel loop; use dace.map")
    if isinstance(s, ast.AugAssign) and isinstance(s.op, ast.Add) and _accumulates(t, s, outside):
        return
    if isinstance(s, (ast.Assign, ast.AugAssign)):
        for name in assigned_in([s]):
            if name in outside and isinstance(outside[name], (Scalar, View)) and t.env.get(name) == outside[name]:
                raise t.error(name, "has a value before the parallel loop that its iterations change; use another name")
    statements.block(t, [s])


def _accumulates(t: Translation, s: ast.AugAssign, outside: dict[str, Any]) -> bool:
    """Translates an update that all iterations make of one number, or of one element; False: it is another update."""
    t.place = type(t.place)(t.frame.file, t.frame.first + s.lineno)
    mine = {q.name for q in t.parallel}
    if isinstance(s.target, ast.Name):
        name = s.target.id
        have = t.env.get(name)
        if not isinstance(have, Scalar) or have != outside.get(name):
            return False
        one = one_element(number_of(t, expressions.evaluate(t, s.value), s.value))
        if one is None:
            raise t.error(s.value, "is an array; a parallel loop adds numbers")
        total = _sum(t, one.expr, t.type(Apply("+", (have.expr, one.expr))), have.expr)
        params, t.parallel = t.parallel, []
        made = apply(t, "+", [have, Scalar(total)], s)
        assert isinstance(made, Scalar)
        t.env[name] = Scalar(t.kept(made.expr, name))
        t.parallel = params
        return True
    if not isinstance(s.target, ast.Subscript):
        return False
    found = expressions.view_of(t, expressions.evaluate(t, s.target))
    if not isinstance(found, View) or found.dims:
        return False
    named = {str(x) for i in found.base for x in i.free_symbols} & mine
    if named == mine:
        return False
    if named:
        raise t.error(
            found.array, "is summed into at several places by a parallel loop; sum into one element, or use np.sum"
        )
    one = one_element(number_of(t, expressions.evaluate(t, s.value), s.value))
    if one is None:
        raise t.error(s.value, "is an array; a parallel loop adds numbers")
    element = Read(found.array, found.base)
    total = _sum(t, one.expr, t.program.arrays[found.array].dtype, element)
    note_write(t, found.array, s)
    t.add(Compute(target=found.array, index=found.base, value=Apply("+", (element, total))))
    return True


def _sum(t: Translation, e: Expression, kind: str, into: Expression) -> Value:
    name = t.generated("total")
    t.program.variables[name] = kind
    made = Reduce(name=name, op="sum", params=list(t.parallel), value=e, into=into)
    check_distances(t, made)
    t.add(made)
    return Value(name)


def pinned(a: tuple[Sym, ...], b: tuple[Sym, ...], params: Iterable[str]) -> bool:
    """Whether two indices can name one element only for the same values of all parameters: each stands alone, in the
    same expression, at some axis of both."""
    found = set()
    for x, y in zip(a, b, strict=True):
        names = {str(n) for n in sympy.sympify(x).free_symbols} & set(params)
        if len(names) == 1 and same(x, y):
            (name,) = names
            if (
                sympy.expand(x).coeff(symbol(name)).is_Integer
                and not sympy.expand(x - sympy.expand(x).coeff(symbol(name)) * symbol(name)).has(symbol(name))
                and sympy.expand(x).coeff(symbol(name)) != 0
            ):
                found.add(name)
    return found == set(params)


def _check(t: Translation, body: Body, params: list[str]) -> None:
    writes = [s for s in body if isinstance(s, Compute) and s.params]
    sums = {id(s.into): s for s in body if isinstance(s, Reduce)}
    for w in writes:
        if not pinned(w.index, w.index, params):
            t.place = w.place
            raise t.error(
                w.target,
                "is written by several iterations of a parallel loop at one place, in an order that Python has",
            )
        for s in body:
            if isinstance(s, (Assign, Require)) or (isinstance(s, Compute) and not s.params):
                continue
            assert isinstance(s, (Compute, Reduce)), s
            other = [s.index] if isinstance(s, Compute) and s.target == w.target and s is not w else []
            other += [r.index for r in reads_of(s.value) if r.array == w.target]
            for index in other:
                if not pinned(w.index, index, params):
                    t.place = s.place
                    raise t.error(w.target, "is written and read at other places by iterations of a parallel loop")
    updated = {s.target for s in body if isinstance(s, Compute) and not s.params}
    for s in body:
        if isinstance(s, (Compute, Reduce)) and s.params and id(getattr(s, "into", None)) not in sums:
            for r in reads_of(s.value):
                if r.array in updated:
                    t.place = s.place
                    raise t.error(r.array, "is summed into and read by iterations of a parallel loop")
        elif isinstance(s, Reduce) and any(r.array in updated for r in reads_of(s.value)):
            raise t.error(s.name, "is summed into and read by iterations of a parallel loop")
