"""What is to be computed: coefficients, boundaries, how the domain is partitioned among devices. The native library
checks the values; here they get the form that it takes, and names that a user of Python knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, SupportsFloat, TypeAlias, get_args

from starling._arguments import finite_number, members, whole_number
from starling._native import native
from starling.errors import ArgumentError, ElementTypeError

Variant: TypeAlias = Literal["resident", "temporal", "cpu_free", "graph", "p2p", "overlap", "copy", "auto"]
Edge: TypeAlias = Literal["fixed", "periodic"]
Boundary: TypeAlias = Edge | Sequence[Edge]

VARIANTS: tuple[Variant, ...] = get_args(Variant)
"""The names of the variants, the most autonomous first; at last the one that chooses."""

EDGES: tuple[str, ...] = get_args(Edge)
MOST_CELLS = 2**48


def jacobi_coefficients(dimensions: int) -> list[float]:
    """The mean of the neighbours: a step of Jacobi's method for Laplace's equation.

    >>> jacobi_coefficients(2)
    [0.0, 0.25, 0.25, 0.25, 0.25]
    """
    return native.jacobi_coefficients(_dimensions(dimensions))


def heat_coefficients(dimensions: int, ratio: float) -> list[float]:
    """An explicit step of the heat equation.

    Args:
        dimensions: 2 or 3.
        ratio: diffusivity * time step / spacing squared, without a unit; above 0 and at most 1 / (2 * dimensions),
            beyond which the step is not stable.

    >>> heat_coefficients(2, 0.125)
    [0.5, 0.125, 0.125, 0.125, 0.125]
    """
    return native.heat_coefficients(_dimensions(dimensions), finite_number("ratio", ratio))


def _dimensions(dimensions: int) -> int:
    return whole_number("dimensions", dimensions, least=2, most=3)


def shape_of(shape: Sequence[int]) -> list[int]:
    """The extents of a domain; that there are cells, and not too many, is checked here or by the native library."""
    if isinstance(shape, (str, bytes)) or not hasattr(shape, "__len__"):
        raise ElementTypeError(f"shape = {shape!r}; pass 2 or 3 extents, such as (512, 512)")
    extents = [whole_number("shape", n, least=0) for n in shape]
    if len(extents) not in (2, 3):
        raise ArgumentError(f"shape = {tuple(extents)} has {len(extents)} dimensions; must have 2 or 3")
    if 0 in extents:
        raise ArgumentError(f"shape = {tuple(extents)} has no cells; every extent must be at least 1")
    cells = 1
    for n in extents:
        cells *= n
    if cells > MOST_CELLS:
        raise ArgumentError(f"shape = {tuple(extents)} has {cells} cells; must have at most 2^48")
    return extents


def coefficients_of(coefficients: Sequence[SupportsFloat], dimensions: int) -> list[float]:
    """2 * dimensions + 1 finite numbers."""
    if isinstance(coefficients, (str, bytes)) or not hasattr(coefficients, "__len__"):
        raise ElementTypeError(f"coefficients = {coefficients!r}; pass {2 * dimensions + 1} numbers")
    return [finite_number(f"coefficients[{i}]", c) for i, c in enumerate(coefficients)]


def periodic_axes(boundary: Boundary, dimensions: int) -> list[bool]:
    """For each axis, whether it is periodic.

    >>> periodic_axes(("fixed", "periodic"), 2)
    [False, True]
    """
    allowed = "'fixed' or 'periodic', or a list of one of them per axis"
    edges = [boundary] * dimensions if isinstance(boundary, str) else members("boundary", boundary, allowed)
    for edge in edges:
        if edge not in EDGES:
            raise ArgumentError(f"boundary = {boundary!r}; must be 'fixed' or 'periodic', or one of them per axis")
    if len(edges) != dimensions:
        raise ArgumentError(
            f"boundary = {boundary!r} for {dimensions} dimensions; give one for all axes, or one per axis"
        )
    return [edge == "periodic" for edge in edges]


def split_of(split: Sequence[int] | None, dimensions: int) -> list[int]:
    """PEs per axis; empty: all along the first."""
    if split is None:
        return []
    if isinstance(split, (str, bytes)) or not hasattr(split, "__len__"):
        raise ElementTypeError(f"split = {split!r}; pass one number of devices per axis, such as (2, 2), or None")
    if len(split) != dimensions:
        raise ArgumentError(f"split = {tuple(split)} for {dimensions} dimensions; give one number of devices per axis")
    return [whole_number("split", n) for n in split]


def check_variant(variant: Variant) -> Variant:
    """`variant` itself, if there is one of that name."""
    if variant not in VARIANTS:
        raise ArgumentError(f"variant = {variant!r}; must be {', '.join(VARIANTS[:-1])} or {VARIANTS[-1]}")
    return variant


MOST_DEPTH = 16


def depth_of(depth: int | None) -> int:
    """Steps between two exchanges; 0: chosen."""
    return 0 if depth is None else whole_number("depth", depth, most=MOST_DEPTH)
