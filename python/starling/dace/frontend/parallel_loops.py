"""Maps of the schedule tree: parallel loops, whose iterations come in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy
from dace.sdfg.analysis.schedule_tree import treenodes as tn

from starling.dace.frontend.expressions import index_of
from starling.dace.frontend.subsets import element_of, ranges_of
from starling.dace.ir import Body, Cast, Compute, Expression, Param, Reduce, reads_of, same, substitute, symbol
from starling.dace.program_error import Place, ProgramError

if TYPE_CHECKING:
    from starling.dace.frontend.lower import Lowering

__all__ = ["parallel_loop"]


def parallel_loop(lowering: Lowering, node: Any, place: Place) -> Body:
    """The statements of a map, which iterations do in any order.

    Raises:
        ProgramError: Iterations depend on each other, or something cannot stand in one.
    """
    body = _body(lowering, node, place, [], {}, {})
    for s in body:
        for t in body:
            if not isinstance(s, Compute) or not isinstance(t, (Compute, Reduce)):
                continue
            for r in reads_of(t.value):
                if r.array == s.target and not all(same(a, b) for a, b in zip(r.index, s.index, strict=True)):
                    raise ProgramError.at(
                        t.place, r.array, "is written and read at other places by iterations of a parallel loop"
                    )
    return body


def _body(
    lowering: Lowering,
    node: Any,
    place: Place,
    outer: list[Param],
    renamed: dict[Any, Any],
    before: dict[str, Expression],
) -> Body:
    params = list(outer)
    changes = dict(renamed)
    for name, (begin, end, step) in zip(node.node.map.params, ranges_of(node.node.map.range), strict=True):
        begin, end, step = (index_of(x).xreplace(changes) for x in (begin, end, step))
        new = f"i{len(params)}"
        if step != 1:
            count = sympy.floor((end - begin) / step) + 1
            params.append(Param(new, sympy.Integer(0), count))
            changes[symbol(name)] = begin + step * symbol(new)
        else:
            params.append(Param(new, begin, end + 1))
            changes[symbol(name)] = symbol(new)
    inside = dict(before)
    body: Body = []
    for child in node.children:
        if isinstance(child, tn.ViewNode):
            lowering.views[child.target] = child
        elif isinstance(child, tn.MapScope):
            body.extend(_body(lowering, child, place, params, changes, inside))
        elif isinstance(child, tn.TaskletNode):
            value = substitute(lowering.tasklet_value(child, place, inside), changes)
            body.extend(_tasklet(lowering, child, value, params, changes, inside, place))
        elif isinstance(child, tn.CopyNode):
            _copy(lowering, child, changes, inside, place)
        else:
            kind = type(child).__name__.removesuffix("Node").removesuffix("Scope").lower()
            raise ProgramError.at(place, kind, "cannot stand in a parallel loop; use np.where for conditions")
    return body


def _tasklet(
    lowering: Lowering,
    node: Any,
    value: Expression,
    params: list[Param],
    changes: dict[Any, Any],
    inside: dict[str, Expression],
    place: Place,
) -> Body:
    (out,) = node.out_memlets.values()
    if out.data in lowering.program.variables and out.wcr is None:
        inside[out.data] = value
        return []
    if not lowering.note_result(node) and out.data in lowering.program.arrays and out.wcr is None:
        value = Cast(lowering.program.arrays[out.data].dtype, value)
    s = lowering.store(out, value, params, changes, place)
    return lowering.combined(s) if isinstance(s, Reduce) else [s]


def _copy(lowering: Lowering, node: Any, changes: dict[Any, Any], inside: dict[str, Expression], place: Place) -> None:
    """A scalar of the iteration gets an element."""
    index = element_of(node.memlet.subset)
    # The tree turns copies out of a map round: a scalar that has a value already would be overwritten.
    if index is None or node.target not in lowering.program.variables or node.target in inside:
        raise ProgramError.at(place, node.target, "is copied in a parallel loop; write it as an assignment")
    value = inside.get(node.memlet.data) or lowering.element(node.memlet.data, index, place)
    inside[node.target] = substitute(value, changes)
