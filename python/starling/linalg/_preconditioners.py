"""Preconditioners: cheap approximations of the inverse of a matrix, which the devices make from the matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, SupportsIndex, TypeAlias

from starling._arguments import whole_number
from starling.errors import ArgumentError, ElementTypeError

BLOCK_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
USUAL_BLOCK_SIZE = 3
MOST_DEGREE = 16


def check_block_size(name: str, size: SupportsIndex) -> int:
    """`size` as an int, if blocks can have it."""
    rows = whole_number(name, size)
    if rows not in BLOCK_SIZES:
        raise ArgumentError(f"{name} = {rows} rows of a block; must be {', '.join(map(str, BLOCK_SIZES[:-1]))} or 32")
    return rows


@dataclass(frozen=True)
class Jacobi:
    """The inverse of the diagonal.

    >>> Jacobi()
    Jacobi()
    """

    def _native(self) -> dict[str, Any]:
        return {"preconditioner": "jacobi"}


@dataclass(frozen=True)
class BlockJacobi:
    """The inverses of the square blocks on the diagonal.

    They begin anew at the first row of each device. With ``reorder`` they are blocks of the reordered matrix.

    Args:
        size: Rows of a block: 1, 2, 3, 4, 6, 8, 12, 16, 24 or 32. Unknowns that belong to one node should be in one
            block: 3 for elasticity.

    >>> BlockJacobi(6).size
    6
    """

    size: int = USUAL_BLOCK_SIZE

    def __post_init__(self) -> None:
        check_block_size("size", self.size)

    def _native(self) -> dict[str, Any]:
        return {"preconditioner": "block_jacobi"}


@dataclass(frozen=True)
class Chebyshev:
    """A polynomial of the matrix: no reduction, only products.

    Args:
        degree: Products with the matrix each time, 1 to 16.

    >>> Chebyshev(4).degree
    4
    """

    degree: int = 3

    def __post_init__(self) -> None:
        whole_number("degree", self.degree, most=MOST_DEGREE)

    def _native(self) -> dict[str, Any]:
        return {"preconditioner": "chebyshev", "degree": int(self.degree)}


Preconditioner: TypeAlias = "Jacobi | BlockJacobi | Chebyshev | Literal['jacobi', 'block_jacobi', 'chebyshev']"
BY_NAME: dict[str, type[Jacobi] | type[BlockJacobi] | type[Chebyshev]] = {
    "jacobi": Jacobi,
    "block_jacobi": BlockJacobi,
    "chebyshev": Chebyshev,
}
ALLOWED = "None, 'jacobi', 'block_jacobi', 'chebyshev', Jacobi(), BlockJacobi(size) or Chebyshev(degree)"


def preconditioner(m: object) -> Jacobi | BlockJacobi | Chebyshev | None:
    """The preconditioner that the argument `M` means.

    >>> preconditioner("chebyshev")
    Chebyshev(degree=3)
    """
    if m is None or isinstance(m, (Jacobi, BlockJacobi, Chebyshev)):
        return m
    if isinstance(m, str):
        if m not in BY_NAME:
            raise ArgumentError(f"M = {m!r}; must be {ALLOWED}")
        return BY_NAME[m]()
    if isinstance(m, type) and m in BY_NAME.values():
        raise ElementTypeError(f"M is the class {m.__name__}; pass {m.__name__}()")
    raise ElementTypeError(
        f"M is a {type(m).__name__}, which runs on the host; must be {ALLOWED}. For M = the inverse of the diagonal of "
        "A pass 'jacobi'"
    )


def native_options(m: Jacobi | BlockJacobi | Chebyshev | None) -> dict[str, Any]:
    """For the native solver."""
    return {"preconditioner": "none"} if m is None else m._native()


def described(m: Jacobi | BlockJacobi | Chebyshev | None) -> str:
    """For people and reports.

    >>> described(BlockJacobi(3)), described(None)
    ('block_jacobi(3)', 'none')
    """
    match m:
        case None:
            return "none"
        case Jacobi():
            return "jacobi"
        case BlockJacobi(size):
            return f"block_jacobi({size})"
        case Chebyshev(degree):
            return f"chebyshev({degree})"
