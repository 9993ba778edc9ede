"""PROACT's microbenchmark: every device computes its part of a vector, with so much arithmetic that computing takes as
long as copying, while what is ready goes to the other devices; or one device's whole vector goes to the host.

Native functions, which ``python/bindings/overlap.cpp`` binds: ``overlap``, one setting run several times, and
``store_seconds``, stores of one size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from starling._measuring import Arrivals, Measuring, as_arguments
from starling._native import native
from starling.machine import Machine

TILE_BYTES = 4096
"""That a block writes at a time (PROACT, figure 6)."""
MOST_WORK = 2**24
ELEMENT = 4


@dataclass(frozen=True)
class Overlap:
    """Runs of one setting, in seconds."""

    seconds: tuple[float, ...]
    copy_seconds: tuple[float, ...]
    """What the same copies take alone, when all has been computed."""
    blocks: int
    """Of each device, that compute."""
    threads: int
    right: bool
    """Whether every destination has what was computed."""
    chunks: int
    line_stores: tuple[int, int]
    arrivals: tuple[Arrivals, ...]

    @property
    def best(self) -> float:
        return min(self.seconds)


@dataclass(frozen=True)
class Microbenchmark:
    """A vector of `size` bytes on a machine: of one device to the host, of several to each other."""

    machine: Machine
    size: int

    @property
    def to(self) -> str:
        """Where parts go: peers or host."""
        return "host" if self.machine.size == 1 else "peers"

    def run(
        self,
        work: int,
        runs: int = 3,
        *,
        agent: str = "polling",
        chunk: int = 0,
        agent_blocks: int = 0,
        measuring: Measuring | None = None,
        deadline: float = 0.0,
    ) -> Overlap:
        """So many runs of `work` steps for each element. Elements of 4 bytes, chunks of `chunk` bytes, 0: chosen."""
        facts = cast(Any, native).overlap(
            self.machine, self.size // ELEMENT, to=self.to, work=work, runs=runs, agent=agent, chunk_bytes=chunk,
            tile_bytes=TILE_BYTES, agent_blocks=agent_blocks, deadline=deadline, measuring=as_arguments(measuring),
        )  # fmt: skip
        return Overlap(
            tuple(facts["seconds"]),
            tuple(facts["copy_seconds"]),
            facts["blocks"],
            facts["threads"],
            facts["right"],
            facts["chunks"],
            facts["line_stores"],
            tuple(Arrivals(*times) for times in facts["times"]),
        )

    def compute_seconds(self, work: int, runs: int = 3) -> float:
        """The same arithmetic, without anything that has to do with sending."""
        return self.run(work, runs, measuring=Measuring(sending="untracked")).best

    def balanced_work(self, target: float | None = None) -> int:
        """The steps that take as long as the copies, or as `target` seconds."""
        if target is None:
            target = min(self.run(0, measuring=Measuring(sending="untracked")).copy_seconds)
        return work_for(target, self.compute_seconds)

    def store_seconds(self, store_bytes: int) -> float:
        """Of storing the vector in runs of so many bytes that lie apart."""
        return float(
            cast(Any, native).store_seconds(self.machine, self.to, self.size // ELEMENT, store_bytes // ELEMENT)
        )


def work_for(target: float, cost: Callable[[int], float]) -> int:
    """The number of steps that cost about `target`: costs grow with steps, by and large along a line.

    >>> work_for(103.0, lambda steps: 3.0 + 0.5 * steps)
    200
    """
    less, below = 0, cost(0)
    if below >= target:
        return 0
    more = 1
    while (above := cost(more)) < target and more < MOST_WORK:
        less, below, more = more, above, 2 * more
    if above <= target:
        return more
    return less + round((more - less) * (target - below) / (above - below))
