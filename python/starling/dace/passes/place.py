"""Which array elements lie together: temporaries are shared out as the arrays that they are computed from.

Element k of an array, along one axis, belongs to the owner of layer k + shift of a length; PEs share the length of
split arrays, blocks share what a PE has. What is written is computed by its owner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy

from starling.dace.ir import Array, Compute, Program, Read, Reduce, Statement, reads_of, same, statements, symbol
from starling.dace.program_error import ProgramError

__all__ = ["Owner", "offset_of", "owner_of", "place"]


@dataclass(frozen=True)
class Owner:
    """Who does a statement: layer scale * parameter + shift of a length; without a parameter, layer `shift`."""

    split: bool
    length: Any
    parameter: str
    scale: int
    shift: Any

    @property
    def layer(self) -> Any:
        return self.scale * symbol(self.parameter) + self.shift if self.parameter else self.shift

    def alike(self, a: Array) -> bool:
        """Whether an array is shared out over the same length."""
        return self.split == (a.split is not None) and same(self.length, a.length)


def owner_of(s: Statement, p: Program) -> Owner | None:
    """Who does a computation or a reduction; None: its array has no axis to share."""
    if isinstance(s, Compute):
        return _owner(p.arrays[s.target], s.index, {q.name for q in s.params})
    if isinstance(s, Reduce):
        found = [_owner(p.arrays[r.array], r.index, {q.name for q in s.params}) for r in reads_of(s.value)]
        dealt = [o for o in found if o is not None and o.parameter]
        return next((o for o in dealt if o.split), dealt[0] if dealt else None)
    return None


def _owner(a: Array, index: tuple[Any, ...], params: set[str]) -> Owner | None:
    if a.scalar:
        return None
    at = sympy.expand(sympy.sympify(index[a.dealt]))
    split = a.split is not None
    names = {str(n) for n in at.free_symbols} & params
    if not names:
        return Owner(split, a.length, "", 1, sympy.expand(at + a.shift))
    if len(names) != 1:
        return None
    (name,) = names
    scale = at.coeff(symbol(name))
    rest = sympy.expand(at - scale * symbol(name))
    if not scale.is_Integer or scale < 1 or name in {str(n) for n in rest.free_symbols}:
        return None
    return Owner(split, a.length, name, int(scale), sympy.expand(rest + a.shift))


def offset_of(r: Read, owner: Owner, p: Program) -> int | None:
    """How many layers what is read lies beyond the layer of who reads it; None: that is not one number."""
    a = p.arrays[r.array]
    if a.scalar or not owner.alike(a):
        return None
    distance = sympy.expand(sympy.sympify(r.index[a.dealt]) + a.shift - owner.layer)
    return int(distance) if distance.is_Integer else None


def place(p: Program) -> None:
    """Decides for all arrays.

    Raises:
        ProgramError: Split arrays differ in the length of the axis.
    """
    placed: set[str] = set()
    for a in p.arrays.values():
        if a.argument:
            a.dealt = a.split or 0
            a.length = a.shape[a.dealt]
            placed.add(a.name)
    split = [a for a in p.arrays.values() if a.split is not None]
    for a in split[1:]:
        if not same(a.length, split[0].length):
            raise ProgramError(
                f"{p.file}:{p.line}: {a.name}: its split axis has length {a.length}, that of {split[0].name} "
                f"{split[0].length}; split arrays of one program must have the same length",
                p.file,
                p.line,
                a.name,
            )
    while _place_some(p, placed):
        pass
    for a in p.arrays.values():
        if a.name not in placed:
            a.length = a.shape[0]


def _place_some(p: Program, placed: set[str]) -> bool:
    """Places one temporary: by who reads it, else by what it is made of."""
    for _, s in statements(p.body):
        if isinstance(s, Compute) and s.target in placed:
            owner = owner_of(s, p)
            for r in reads_of(s.value):
                if r.array not in placed and owner and _put_with(p, r.array, r.index, owner):
                    placed.add(r.array)
                    return True
    for _, s in statements(p.body):
        if isinstance(s, Compute) and s.target not in placed:
            owners = [
                _owner(p.arrays[r.array], r.index, {q.name for q in s.params})
                for r in reads_of(s.value)
                if r.array in placed
            ]
            dealt = [o for o in owners if o is not None and o.parameter and o.scale == 1]
            dealt = [o for o in dealt if o.split] or dealt
            if dealt:
                middle = sorted(dealt, key=lambda o: (str(o.parameter), sympy.default_sort_key(o.shift)))[
                    len(dealt) // 2
                ]
                if _put_with(p, s.target, s.index, middle):
                    placed.add(s.target)
                    return True
    return False


def _put_with(p: Program, name: str, index: tuple[Any, ...], owner: Owner) -> bool:
    """Lets elements of a temporary belong to an owner; False: its index does not follow the parameter."""
    a = p.arrays[name]
    if not owner.parameter or owner.scale != 1:
        return False
    for axis, i in enumerate(index):
        rest = sympy.expand(sympy.sympify(i) - symbol(owner.parameter))
        if symbol(owner.parameter) not in rest.free_symbols:
            spare = sympy.expand(owner.length - a.shape[axis])
            shift = sympy.expand(owner.shift - rest)
            if not spare.is_Integer or spare < 0 or not shift.is_Integer:
                continue
            a.dealt = axis
            a.split = axis if owner.split else None
            a.length = owner.length
            a.shift = min(max(shift, sympy.Integer(0)), spare)  # every element has an owner
            return True
    return False
