"""``starling explain``: what a program of starling.dace becomes."""

from __future__ import annotations

import importlib.util
import math
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from starling.cli._messages import told
from starling.cli._options import Debug
from starling.errors import ArgumentError, Unsupported


def command(
    what: Annotated[str, typer.Argument(metavar="FILE.py:NAME", help="A program, decorated with @program.")],
    shape: Annotated[
        list[str] | None, typer.Option(metavar="A=512x512", help="The shape of an array: puts are told in bytes then.")
    ] = None,
    devices: Annotated[
        int | None, typer.Option(metavar="4", help="How many PEs share arrays along two axes, for puts in bytes.")
    ] = None,
    grid: Annotated[
        str | None, typer.Option(metavar="2x2", help="Rows and columns of these PEs; else nearly as many of each.")
    ] = None,
    control: Annotated[
        str, typer.Option(metavar="stream", help="Who runs the time loop: device, stream or call.")
    ] = "device",
    source: Annotated[bool, typer.Option("--source", help="Print the C++ source instead.")] = False,
    debug: Debug = False,
) -> None:
    """Say what a Python program becomes: its phases, barriers, puts, waits, credits and exchanges.

    The file is executed, as an import would. Nothing is compiled to machine code.
    """
    with told(debug):
        program = load(what)
        explanation = program.explain(control=control)
        text = explanation.source if source else str(explanation)
        sizes = sizes_of(program, shape or []) | grid_sizes(program, devices, grid)
    typer.echo(text.rstrip("\n"))
    if sizes and not source:
        for put in explanation.puts:
            typer.echo(f"  line {put.line}: {put.array} to {put.to}: {evaluated(put.bytes, sizes)} bytes")


def load(what: str) -> Any:
    """The program that FILE.py:NAME names.

    Raises:
        ArgumentError: There is no such file, name or program.
        Unsupported: DaCe is missing.
    """
    file, _, name = what.rpartition(":")
    path = Path(file)
    if not file:
        raise ArgumentError(f"{what}: names no file; give FILE.py:NAME")
    if not path.is_file():
        raise ArgumentError(f"{file}: there is no such file; give FILE.py:NAME")
    try:
        from starling.dace import Program
    except ImportError as problem:
        raise Unsupported(str(problem)) from problem
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ArgumentError(f"{file}: is no Python file; give FILE.py:NAME")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules.setdefault(path.stem, module)  # as an import would: dataclasses look for their module there
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    programs = [n for n, v in vars(module).items() if isinstance(v, Program)]
    if name not in programs:
        raise ArgumentError(f"{file} has no program {name!r}; it has: {', '.join(programs) or 'none'}")
    return getattr(module, name)


def sizes_of(program: Any, shapes: list[str]) -> dict[str, int]:
    """The sizes that shapes such as A=512x512 give.

    Raises:
        ArgumentError: A text is no shape, or names no array.
    """
    arrays = program.compiled().program.arrays
    sizes: dict[str, int] = {}
    for text in shapes:
        name, _, extents = text.partition("=")
        parts = extents.split("x")
        if name not in arrays or not all(n.isdecimal() for n in parts):
            raise ArgumentError(f"--shape {text}; give one such as A=512x512, for an array of the program")
        if len(parts) != len(arrays[name].shape):
            raise ArgumentError(f"--shape {text}; {name} has {len(arrays[name].shape)} axes")
        sizes.update({str(s): int(n) for s, n in zip(arrays[name].shape, parts, strict=True) if s.is_Symbol})
    return sizes


def grid_sizes(program: Any, devices: int | None, grid: str | None) -> dict[str, int]:
    """Rows and columns of PEs by the names that puts tell them by.

    Raises:
        ArgumentError: The grid is no such text, or not of so many PEs.
    """
    from starling.dace.grid import grid_of

    if devices is None and grid is None:
        return {}
    given = None
    if grid is not None:
        parts = grid.split("x")
        if not all(n.isdecimal() for n in parts):
            raise ArgumentError(f"--grid {grid}; give one such as 2x2")
        given = tuple(int(n) for n in parts)
    pes = devices if devices is not None else math.prod(given or ())
    if pes < 1:
        raise ArgumentError(f"--devices {pes}; must be at least 1")
    chosen = grid_of(program.compiled().program, given, pes)
    return {f"grid_{axis}": n for axis, n in enumerate(chosen)}


def evaluated(expression: str, sizes: dict[str, int]) -> str:
    """An expression of sizes with those that are known."""
    import sympy

    return str(sympy.sympify(expression, locals={n: sympy.Integer(v) for n, v in sizes.items()}))
