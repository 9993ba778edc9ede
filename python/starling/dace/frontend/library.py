"""Operations that DaCe keeps as library nodes: reductions, products, np.where, transposition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy

from starling.dace.frontend.expressions import index_of
from starling.dace.frontend.subsets import ranges_of, reduction_of, same_length
from starling.dace.ir import Apply, Body, Compute, Expression, Fold, Param, Read, Reduce, Value, symbol
from starling.dace.program_error import Place, ProgramError

if TYPE_CHECKING:
    from starling.dace.frontend.lower import Lowering

__all__ = ["library"]


def library(lowering: Lowering, node: Any, place: Place) -> Body:
    """The statements of a library node.

    Raises:
        ProgramError: It is outside of the subset.
    """
    kind = type(node.node).__name__
    if kind == "Reduce":
        return _reduce(lowering, node, place)
    if kind == "MatMul":
        return [_matmul(lowering, node, place)]
    if kind == "Transpose":
        return [_transpose(lowering, node, place)]
    if kind == "MergeLibraryNode":
        return [_merge(lowering, node, place)]
    raise ProgramError.at(place, kind, "is an operation outside of the subset; see docs/dace.md")


def _reduce(lowering: Lowering, node: Any, place: Place) -> Body:
    op = reduction_of(node.node.wcr)
    if op is None:
        raise ProgramError.at(place, "reduction", f"by {node.node.wcr}; sum, max and min are possible")
    (source,) = node.in_memlets.values() if isinstance(node.in_memlets, dict) else node.in_memlets
    (out,) = node.out_memlets.values() if isinstance(node.out_memlets, dict) else node.out_memlets
    ranges = [tuple(index_of(x) for x in r) for r in ranges_of(source.subset)]
    axes = list(range(len(ranges))) if node.node.axes is None else [int(a) for a in node.node.axes]
    params: list[Param] = []
    index, folds = [], []
    for k, (begin, end, step) in enumerate(ranges):
        if step != 1:
            raise ProgramError.at(place, source.data, "is reduced with a step")
        if k in axes and len(axes) < len(ranges):
            name = f"k{next(lowering.fresh)}"
            folds.append((name, begin, end + 1))
        else:
            name = f"i{len(params)}"
            params.append(Param(name, begin, end + 1))
        index.append(symbol(name))
    value = lowering.element(source.data, tuple(index), place)
    if len(axes) == len(ranges):
        target = lowering.element(out.data, tuple(index_of(r[0]) for r in ranges_of(out.subset)), place)
        if isinstance(target, Value):
            return [Reduce(place, target.name, op, params, value)]
        assert isinstance(target, Read)
        total = f"total_{next(lowering.fresh)}"
        lowering.program.variables[total] = lowering.program.arrays[target.array].dtype
        return [
            Reduce(place, total, op, params, value),
            Compute(place, [], target.array, target.index, Value(total)),
        ]
    for name, begin, end in reversed(folds):
        value = Fold(op, name, begin, end, value)
    lowering.program.results.add(out.data)
    starts = [index_of(r[0]) for r in ranges_of(out.subset)]
    if len(starts) != len(params):
        raise ProgramError.at(place, out.data, "gets a reduction of another shape")
    to = tuple(b + symbol(p.name) - p.begin for b, p in zip(starts, params, strict=True))
    target = lowering.element(out.data, to, place)
    assert isinstance(target, Read)
    return [Compute(place, params, target.array, target.index, value)]


def _matmul(lowering: Lowering, node: Any, place: Place) -> Compute:
    memlets = node.in_memlets
    a, b = memlets["_a"], memlets["_b"]
    (out,) = node.out_memlets.values()
    left = [tuple(index_of(x) for x in r) for r in ranges_of(a.subset)]
    right = [tuple(index_of(x) for x in r) for r in ranges_of(b.subset)]
    if len(left) > 2 or len(right) > 2 or node.node.alpha != 1 or node.node.beta != 0:
        raise ProgramError.at(place, "matmul", "of more than two axes; matrices and vectors can be multiplied")
    k = f"k{next(lowering.fresh)}"
    params: list[Param] = []

    def of(memlet: Any, ranges: list[Any], inner: int) -> Expression:
        index = []
        for axis, (begin, end, _) in enumerate(ranges):
            if axis == inner:
                index.append(begin + symbol(k))
            else:
                name = f"i{len(params)}"
                params.append(Param(name, sympy.Integer(0), end - begin + 1))
                index.append(begin + symbol(name))
        return lowering.element(memlet.data, tuple(index), place)

    first = of(a, left, len(left) - 1)
    second = of(b, right, 0)
    inner = left[-1]
    lowering.program.results.add(out.data)
    value = Fold("dot", k, sympy.Integer(0), inner[1] - inner[0] + 1, Apply("*", (first, second)))
    starts = [index_of(r[0]) for r in ranges_of(out.subset)]
    if not params:
        raise ProgramError.at(place, "dot", "of two vectors; write np.sum(a * b)")
    to = tuple(start + symbol(p.name) for start, p in zip(starts, params, strict=True))
    target = lowering.element(out.data, to, place)
    assert isinstance(target, Read)
    return Compute(place, params, target.array, target.index, value)


def _transpose(lowering: Lowering, node: Any, place: Place) -> Compute:
    (source,), (out,) = node.in_memlets.values(), node.out_memlets.values()
    read, written = ranges_of(source.subset), ranges_of(out.subset)
    params = [Param(f"i{k}", sympy.Integer(0), index_of(e) - index_of(b) + 1) for k, (b, e, _) in enumerate(written)]
    index = tuple(index_of(b) + symbol(p.name) for (b, _, _), p in zip(read, reversed(params), strict=True))
    to = tuple(index_of(b) + symbol(p.name) for (b, _, _), p in zip(written, params, strict=True))
    target = lowering.element(out.data, to, place)
    assert isinstance(target, Read)
    return Compute(place, params, target.array, target.index, lowering.element(source.data, index, place))


def _merge(lowering: Lowering, node: Any, place: Place) -> Compute:
    (out,) = node.out_memlets.values()
    ranges = [tuple(index_of(x) for x in r) for r in ranges_of(out.subset)]
    params = [Param(f"i{k}", sympy.Integer(0), e - b + 1) for k, (b, e, _) in enumerate(ranges)]

    def of(connector: str) -> Expression:
        m = node.in_memlets[connector]
        rs = [tuple(index_of(x) for x in r) for r in ranges_of(m.subset)]
        index = []
        for k, (b, e, _) in enumerate(rs):
            # A side of one element serves all.
            at = len(params) - len(rs) + k
            index.append(
                b if same_length(b, e, 1) and not same_length(b, e, params[at].end) else b + symbol(params[at].name)
            )
        return lowering.element(m.data, tuple(index), place)

    lowering.program.results.add(out.data)
    value = Apply("where", (of("_mrg_mask"), of("_mrg_t"), of("_mrg_f")))
    to = tuple(b + symbol(p.name) for (b, _, _), p in zip(ranges, params, strict=True))
    target = lowering.element(out.data, to, place)
    if isinstance(target, Value):
        raise ProgramError.at(place, "where", "of scalars; write an if")
    assert isinstance(target, Read)
    return Compute(place, params, target.array, target.index, value)
