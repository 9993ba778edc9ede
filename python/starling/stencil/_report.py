"""What a run says of itself, while it goes and at its end."""

from __future__ import annotations

from dataclasses import asdict, dataclass


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


@dataclass(frozen=True)
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

    def as_dict(self) -> dict[str, object]:
        """The fields by name, for JSON."""
        return asdict(self)
