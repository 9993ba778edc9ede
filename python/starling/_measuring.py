"""What programs on regions do otherwise when they are measured, or when a mistake is sought."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from starling._arguments import finite_number, one_of
from starling.errors import ElementTypeError

SENDINGS = ("all", "elide_stores", "track_only", "untracked")


@dataclass(frozen=True)
class Measuring:
    """Options for measuring what finished parts cost on their way, and for checking that they arrive.

    With more than one device results are wrong unless `sending` is ``"all"``: what does not travel stays as it was at
    the start. Reports say what it was. In check mode nothing else is taken, and links are not paced.
    """

    sending: Literal["all", "elide_stores", "track_only", "untracked"] = "all"
    """``"elide_stores"``: all but the data travels. ``"track_only"``: parts are counted, no agent runs.
    ``"untracked"``: nothing is counted, as if links had no limit."""
    bytes_per_second: float = 0.0
    """What each link carries at most: simulated links, of the agent ``"polling"``. 0: as fast as links are."""
    latency: float = 0.0
    """Seconds that each part takes beyond that; simulated too."""
    verify: bool = False
    """Compare each part that arrives with a hash of what was sent; what differs raises ``RegionError``. Slow."""
    timed: bool = False
    """The report has :class:`Arrivals`."""


@dataclass(frozen=True)
class Arrivals:
    """When the parts of one device arrived at the others, in the last stretch of iterations: seconds after the kernel
    began that computes them."""

    kernel: float
    """When it ended."""
    parts: int
    """That arrived anywhere; the times are 0 where none did."""
    first: float
    last: float
    after_end: int
    """Parts that arrived, the last time, when the kernel was over."""
    waited: float
    """How long the blocks of the device waited for parts, added up."""


def as_arguments(given: object) -> dict[str, Any]:
    """The native functions' argument, checked."""
    if given is None:
        given = Measuring()
    if not isinstance(given, Measuring):
        raise ElementTypeError(f"measuring is a {type(given).__name__}; pass a Measuring")
    one_of("measuring.sending", given.sending, SENDINGS)
    return {
        **asdict(given),
        "bytes_per_second": finite_number("measuring.bytes_per_second", given.bytes_per_second, least=0),
        "latency": finite_number("measuring.latency", given.latency, least=0),
        "verify": bool(given.verify),
        "timed": bool(given.timed),
    }
