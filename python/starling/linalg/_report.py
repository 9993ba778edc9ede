"""What a solve says of itself, while it goes and at its end."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from starling import _html
from starling._native import native
from starling.machine import Traffic


@dataclass(frozen=True)
class Progress:
    """Where a solve is, between two stretches of iterations."""

    iterations: int
    """Done so far."""
    residual: float
    """Norm of b - A x as the iterations carry it along."""
    target: float
    """The solve ends when the residual is not above this."""
    column: int = 0
    """Of the right-hand side that is being solved for."""


@dataclass(frozen=True, repr=False)
class Report:
    """What a solve did."""

    why: str
    """Why it ended: ``converged``, ``iterations`` (all that were allowed) or ``stagnated``."""
    iterations: int
    residual: float
    """Norm of b - A x, computed from the solution."""
    target: float
    """The larger of rtol times the norm of b, and atol."""
    history: tuple[float, ...]
    """Norm of the residual at the start and after every iteration, as the iterations carry it along."""
    replacements: int
    """How often the residual was computed anew from the solution on the way."""
    seconds: float
    """Time of the iterations alone, without moving arrays to the devices and back."""
    microseconds_per_iteration: float
    method: str
    control: str
    preconditioner: str
    storage: str
    """How the devices store the matrix."""
    offset_bits: int
    """Bits of a stored column."""
    reorder: str | None
    rows: int
    nonzeros: int
    first_rows: tuple[int, ...]
    """The first row of each device, and the end; rows as reordered."""
    halo: tuple[int, ...]
    """Values that each device gets from others for a product with the matrix."""
    dtype: str
    machine: str
    """Kind of the devices: host or cuda."""
    devices: int
    blocks: int
    """Blocks used on each device."""
    threads: int
    """Threads of a block."""
    kept_bytes: int
    """Of a block's data, in its shared memory between iterations."""
    shared: str = ""
    """Of devices that share GPUs: ``"4 PEs on 1 GPU"``."""
    traffic: tuple[Traffic, ...] = ()
    """Of several processes: what calls of this one have moved between PEs; GPUs do not count it."""

    @property
    def converged(self) -> bool:
        """Whether the residual came to its target."""
        return self.why == "converged" or self.residual <= self.target

    def __repr__(self) -> str:
        end = "converged" if self.converged else f"not converged ({self.why})"
        return (
            f"<starling.linalg.Report: {end}, residual {self.residual:.3g} after {self.iterations} iterations of "
            f"{self.microseconds_per_iteration:.4g} us, {self.method} on "
            f"{self.shared or f'{self.devices} {self.machine} devices'}>"
        )

    def _repr_html_(self) -> str:
        left_out = ("history", "first_rows", "halo", "traffic")
        fields = [(n, v) for n, v in self.as_dict().items() if n not in left_out and v is not None]
        return _html.table("linear system", fields) + _html.curve(self.history, self.target, "residual by iteration")

    def as_dict(self) -> dict[str, object]:
        """The fields by name, for JSON."""
        return {**asdict(self), "converged": self.converged}


@dataclass(frozen=True)
class Facts:
    """How a matrix lies on the devices. All tuples are by device."""

    rows: int
    nonzeros: int
    storage: str
    offset_bits: int
    """Bits of a stored column."""
    first_rows: tuple[int, ...]
    """The first row of each device, and the end; rows as reordered."""
    halo: tuple[int, ...]
    """Values that each device gets from others for a product."""
    bytes: tuple[int, ...]
    reorder: str | None
    machine: str
    devices: int

    def _repr_html_(self) -> str:
        rows = [
            (device, last - first, halo, native.format_bytes(size))
            for device, (first, last, halo, size) in enumerate(
                zip(self.first_rows, self.first_rows[1:], self.halo, self.bytes, strict=False)
            )
        ]
        title = f"{self.rows:,} rows, {self.nonzeros:,} entries, storage {self.storage}, on {self.machine} devices"
        return _html.table(title, rows, ("device", "rows", "values of others", "memory"))
