"""Parts of arrays: whole numbers, slices, None and ... between brackets, as NumPy reads them.

A slice is cut off at the end of its axis where both its ends are literal numbers. Of an end that is computed from
sizes, arguments and loop variables each call is checked: it must lie within the axis, for which Python would count from
the end or cut off otherwise.
"""

from __future__ import annotations

import ast

import sympy

from starling.dace.frontend.translation import Translation
from starling.dace.frontend.values import ZERO, ArrayValue, Dim, Elements, Meaning, Scalar, View, parameter, shape_of
from starling.dace.ir import Apply, Index, Number, Sym, substitute

__all__ = ["Part", "part_of", "parts_between"]

ONE = sympy.Integer(1)
Part = tuple[Sym, Sym | None, Sym]  # where it begins, its length (None: a single element), its step


def part_of(
    t: Translation, value: ArrayValue, node: ast.Subscript, keys: list[tuple[ast.expr, object]]
) -> Scalar | ArrayValue:
    """The part of an array that these keys name: of each its source, and a number, a Slice, None or Ellipsis."""
    shape = shape_of(value)
    used = sum(1 for _, k in keys if k is not None and k is not Ellipsis)
    if used > len(shape):
        raise t.error(node, f"has {used} indices for {len(shape)} axes")
    if sum(1 for _, k in keys if k is Ellipsis) > 1:
        raise t.error(node, "has more than one ...")
    spread = list(keys)
    if not any(k is Ellipsis for _, k in keys):
        spread.append((node, Ellipsis))
    axis = 0
    begins: list[Sym] = []
    dims: list[tuple[Sym, int | None, Sym]] = []
    for source, key in spread:
        if key is Ellipsis:
            for _ in range(len(shape) - used):
                begins.append(ZERO)
                dims.append((shape[axis], axis, ONE))
                axis += 1
        elif key is None:
            dims.append((ONE, None, ONE))
        else:
            begin, length, step = _part(t, source, key, shape[axis], node, axis)
            begins.append(begin)
            if length is not None:
                dims.append((length, axis, step))
            axis += 1
    return _taken(value, begins, dims)


def _taken(value: ArrayValue, begins: list[Sym], dims: list[tuple[Sym, int | None, Sym]]) -> Scalar | ArrayValue:
    if isinstance(value, View):
        base = value.index(tuple(begins))
        made = tuple(
            Dim(
                n,
                None if axis is None else value.dims[axis].axis,
                ONE if axis is None else value.dims[axis].step * step,
            )
            for n, axis, step in dims
        )
        return View(value.array, base, made)
    at = list(begins)
    for k, (_, axis, step) in enumerate(dims):
        if axis is not None:
            at[axis] = sympy.expand(begins[axis] + step * parameter(k))
    e = substitute(value.expr, {parameter(k): i for k, i in enumerate(at)})
    return Elements(tuple(n for n, _, _ in dims), e) if dims else Scalar(e)


def _part(t: Translation, source: ast.expr, key: object, length: Sym, node: ast.Subscript, axis: int) -> Part:
    if isinstance(key, slice):
        return _slice(t, source, key, length)
    index = t.sym(key, source)  # type: ignore[arg-type]
    if index.is_Integer and index < 0:
        index = sympy.expand(length + index)
    if index.is_Integer and length.is_Integer and not 0 <= index < length:
        raise t.error(node, f"raises IndexError: index {index} is out of bounds for axis {axis} with size {length}")
    if t.computed(index):
        _check_index(t, node, index, length, axis)
    return index, None, ONE


def _check_index(t: Translation, node: ast.Subscript, index: Sym, length: Sym, axis: int) -> None:
    """What a program computes is looked at when it runs."""
    text = ast.unparse(node)
    t.guard(
        Apply("<", (Index(index), Number(0))),
        "ProgramError",
        f"{text}: the computed index of axis {axis} is negative, for which Python counts from the end; add the length",
    )
    t.guard(
        Apply(">=", (Index(index), Index(length))), "IndexError", f"{text}: the index is out of bounds for axis {axis}"
    )
    t.program.checked |= {str(s) for s in index.free_symbols} & set(t.program.variables)


def _slice(t: Translation, source: ast.expr, key: slice, length: Sym) -> Part:
    step = ONE if key.step is None else t.sym(key.step, source)
    if not step.is_Integer or step == 0:
        raise t.error(source, f"has the step {step}; a step is a literal number other than 0")
    if step < 0:
        if key.start is not None or key.stop is not None:
            raise t.error(
                source, "goes backwards between ends; reverse the whole part with [::-1] first, or name it forwards"
            )
        last = sympy.expand(length - 1)
        return last, _count(length, -step), step
    begin, end = _begin(t, source, key.start, length), _end(t, source, key.stop, length)
    if end.has(sympy.Min) and begin.is_Integer and begin + 1 in end.args:  # a single layer, which stretches in NumPy
        t.require(source, sympy.expand(length - begin - 1), "is of no layer in this call, since its axis ends before")
        end = begin + 1
    return begin, _count(sympy.expand(end - begin), step), step


def _count(length: Sym, step: Sym) -> Sym:
    """How many elements there are from the first on, so far from each other."""
    if length.is_Integer:
        return sympy.Integer(max(0, -(-int(length) // int(step))))
    return length if step == 1 else sympy.floor((length - 1) / step) + 1


def _begin(t: Translation, source: ast.expr, given: Meaning | None, length: Sym) -> Sym:
    if given is None:
        return ZERO
    begin = t.sym(given, source)
    if begin.is_Integer and begin < 0:
        begin = sympy.expand(length + begin)
        if begin.is_Integer:
            return max(begin, ZERO)
        t.require(source, begin, "begins {value} elements from the start of its axis; let the axis be longer")
        return begin
    if begin.is_Integer and length.is_Integer:
        return min(begin, length)
    if not begin.is_Integer and not _counts_from_end(begin, length):
        t.require(source, begin, "begins at {value}, where Python counts from the end; add the length")
        _note_checked(t, begin)
    return begin


def _end(t: Translation, source: ast.expr, given: Meaning | None, length: Sym) -> Sym:
    if given is None:
        return length
    end = t.sym(given, source)
    if end.is_Integer and length.is_Integer:
        return max(ZERO, min(end, length)) if end >= 0 else max(ZERO, length + end)
    if end.is_Integer:
        if end < 0:
            return sympy.expand(length + end)
        return end if end <= 1 else sympy.Min(end, length)  # arrays have elements
    if _counts_from_end(end, length):
        return end
    t.require(source, end, "ends at {value}, where Python counts from the end; add the length")
    t.require(source, sympy.expand(length - end), "ends beyond its axis, by {value} elements; NumPy cuts it off there")
    _note_checked(t, end)
    return end


def _counts_from_end(e: Sym, length: Sym) -> bool:
    """Whether it is the length, or less by a constant."""
    rest = sympy.expand(length - e)
    return bool(rest.is_Integer and rest >= 0)


def _note_checked(t: Translation, e: Sym) -> None:
    t.program.checked |= {str(s) for s in e.free_symbols} & set(t.program.variables)


def parts_between(node: ast.Subscript) -> list[ast.expr]:
    """The expressions between the brackets."""
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
