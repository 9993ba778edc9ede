"""Programs from statements made by hand: through all passes, compiled, and run."""

from __future__ import annotations

from typing import Any

import sympy

from starling.dace.arguments import check_arguments
from starling.dace.compile import Compiled
from starling.dace.emit.kernel import emit
from starling.dace.explain import explain
from starling.dace.frontend.program import Translated
from starling.dace.grid import grid_of
from starling.dace.ir import Apply, Array, Compute, Dealt, Index, Number, Param, Program, Read, Value, symbol
from starling.dace.passes.all import all_passes
from starling.dace.run import Placed
from starling.machine import Machine

Shape = tuple[Any, ...]


def whole(i: Any) -> Any:
    return sympy.sympify(i)


def expression(x: Any) -> Any:
    """Numbers and index expressions as values."""
    return Number(x) if isinstance(x, (bool, int, float)) else Index(x) if isinstance(x, sympy.Basic) else x


def apply(op: str, *arguments: Any) -> Apply:
    return Apply(op, tuple(expression(a) for a in arguments))


def read(array: str, *index: Any) -> Read:
    return Read(array, tuple(map(whole, index)))


def compute(target: str, index: Any, value: Any, **ranges: tuple[Any, Any]) -> Compute:
    """`ranges`: i0=(begin, end) is parameter i0'."""
    at = index if isinstance(index, tuple) else (index,)
    params = [Param(f"{n}'", whole(b), whole(e)) for n, (b, e) in ranges.items()]
    return Compute(params=params, target=target, index=tuple(map(whole, at)), value=expression(value))


def param(name: str) -> Any:
    return symbol(f"{name}'")


def value(name: str) -> Value:
    return Value(name)


def program(
    body: list[Any],
    arrays: dict[str, Shape],
    *,
    split: dict[str, tuple[int, ...]] | None = None,
    types: dict[str, str] | None = None,
    temporaries: tuple[str, ...] = (),
    scalars: dict[str, str] | None = None,
    variables: dict[str, str] | None = None,
    **more: Any,
) -> Program:
    """`split`: by array the axes that PEs share; without it PEs have parts."""
    made = {}
    for n, shape in arrays.items():
        dims = tuple(map(whole, shape))
        argument = n not in temporaries
        axes = (split or {}).get(n, (0,) if argument else ())
        made[n] = Array(n, (types or {}).get(n, "float64"), dims, argument, n in (split or {}))
        made[n].dealt = [Dealt(k, dims[k]) for k in axes]
        made[n].parts = argument and split is None
    given = [n for n in arrays if n not in temporaries]
    sizes = sorted({str(s) for n in given for d in made[n].shape for s in d.free_symbols})
    scalars = dict(scalars or {})
    return Program("made", "made.py", 1, made, scalars, dict(variables or {}), sizes, [*given, *scalars], body,
                   per_pe=split is None, weak=set(scalars), **more)  # fmt: skip


def compiled(p: Program) -> Compiled:
    done = all_passes(p)
    return Compiled(done, emit(done), explain(done, ""), Translated(done, {}))


def placed(c: Compiled, m: Machine, arguments: dict[str, Any], *, blocks: int = 1, control: str = "device",
           grid: Any = None, packet_bytes: int | None = None) -> Placed:  # fmt: skip
    checked = check_arguments(c.program, arguments, m.size)
    return Placed(c, m, checked, grid_of(c.program, grid, m.size), blocks=blocks, threads=None, control=control,
                  packet_bytes=packet_bytes)  # fmt: skip


def run(c: Compiled, m: Machine, arguments: dict[str, Any], **how: Any) -> Placed:
    """Runs it once; the arrays hold what it has written then."""
    made = placed(c, m, arguments, **how)
    made.run(made.arguments.scalars)
    made.store()
    return made
