"""What a run says of itself, while it goes and at its end."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from starling import _html
from starling.machine import Traffic


@dataclass(frozen=True)
class Progress:
    """Where a run is. Made after every chunk of steps; chunks last a fraction of a second."""

    done: int
    """Steps so far."""
    steps: int
    """Steps asked for."""
    change: float | None
    """Largest change of a cell when last checked; None before the first check."""
    converged: bool
    """Whether the change was not above the tolerance: the run ends here."""
    seconds: float
    """Time of the steps so far."""
    blocks: int
    """Blocks used on each device."""


@dataclass(frozen=True, repr=False)
class Report:
    """What a run did."""

    steps: int
    """Steps done; fewer than asked for when the run converged."""
    change: float | None
    """Largest change of a cell when last checked; None if it never was."""
    converged: bool
    """Whether the change was not above the tolerance."""
    seconds: float
    """Time of the steps alone, without moving arrays to the devices and back."""
    microseconds_per_step: float
    variant: str
    """The one that ran."""
    machine: str
    """Kind of the devices: host or cuda."""
    devices: int
    blocks: int
    """Blocks used on each device."""
    depth: int = 1
    """Steps between two exchanges."""
    why: str = ""
    """Of the variant ``"auto"``: what was expected of each variant. Of ``"resident"`` and ``"temporal"``: why the steps
    of ``"cpu_free"`` ran."""
    shared: str = ""
    """Of devices that share GPUs: ``"4 PEs on 1 GPU"``."""
    traffic: tuple[Traffic, ...] = ()
    """Of several processes: what calls of this one have moved between PEs; GPUs do not count it."""

    def __repr__(self) -> str:
        change = "" if self.change is None else f", change {self.change:.3g}{' (converged)' if self.converged else ''}"
        return (
            f"<starling.stencil.Report: {self.steps} steps of {self.microseconds_per_step:.4g} us, {self.variant} on "
            f"{self.shared or f'{self.devices} {self.machine} devices'}{change}>"
        )

    def _repr_html_(self) -> str:
        fields = [
            (name, value) for name, value in self.as_dict().items() if value not in (None, "") and name != "traffic"
        ]
        return _html.table("stencil", fields)

    def as_dict(self) -> dict[str, object]:
        """The fields by name, for JSON."""
        return asdict(self)
