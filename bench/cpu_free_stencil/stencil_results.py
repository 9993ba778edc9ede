"""A result file of the stencil benchmark, and what can be asked of it: what a file does not hold is None here."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

import plot
import results_page
import stencil_domains as domains

HOST_CONTROLLED = ("copy", "overlap", "p2p", "graph")
CPU_FREE = ("cpu_free", "resident")  # one exchange a step
VARIANTS = (*HOST_CONTROLLED, *CPU_FREE, "temporal")
BASELINE = "overlap"  # the publication's, all of it under the host's control

# On one device these two still hide their launches behind the computation; `copy`, which computes with the same kernel,
# does not. So its computation is theirs.
COMPUTATION_OF = {"overlap": "copy", "p2p": "copy"}
COMPUTING_ALONE = tuple(v for v in VARIANTS if v not in COMPUTATION_OF)


@dataclasses.dataclass(frozen=True)
class StepBar:
    """Set before measuring: a step of the best of some variants is to take less than so many microseconds."""

    domain: str
    limit: float
    variants: tuple[str, ...] = CPU_FREE


BAR_DEVICES = 4
BARS = (
    StepBar("256x256", 2.5, ("cpu_free",)),
    StepBar("256x256", 1.2),
    StepBar("2048x2048", 1.6),
    StepBar("8192x8192", 14),
    StepBar("16384x16384", 130),
    StepBar("256x256x256", 5),
    StepBar("512x512x512", 45),
    StepBar("256x256", 0.5, ("temporal",)),
    StepBar("2048x2048", 0.8, ("temporal",)),
    StepBar("8192x8192", 10, ("temporal",)),
    StepBar("16384x16384", 40, ("temporal",)),
)


class StencilResults(results_page.Results):
    """One result file."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.sizes: domains.Sizes = self.data.get("sizes") or (
            domains.OF_GPUS if self.gpus else domains.OF_VIRTUAL_DEVICES
        )
        self.lines = [line for line in self.lines if {"domain", "variant", "compute"} <= line.keys()]
        self.times: dict[tuple[str, int, str, bool], float] = {}
        for line in self.lines:
            key = (line["domain"], line["devices"], line["variant"], line["compute"])
            self.times[key] = min(plot.best(line), self.times.get(key, float("inf")))

    @property
    def variants(self) -> list[str]:
        return [v for v in VARIANTS if any(line["variant"] == v for line in self.lines)]

    def strong(self) -> list[tuple[str, int]]:
        """Squares and cubes and the numbers of devices they were computed on, of those that the fewest computed too."""
        fewest = min(self.devices, default=0)
        squares = [d for d in self.domains_on(fewest) if len(set(domains.extents(d))) == 1]
        return [(d, n) for d in squares for n in self.devices if d in self.domains_on(n)]

    def weak(self) -> list[tuple[str, int, str]]:
        """The domain of one device, the number of devices, and the domain they computed."""
        series = [(base, n, domains.grown(base, n)) for base in domains.all_of(self.sizes) for n in self.devices]
        return [(base, n, domain) for base, n, domain in series if domain and domain in self.domains_on(n)]

    def domains_on(self, devices: int) -> list[str]:
        return list(dict.fromkeys(line["domain"] for line in self.lines if line["devices"] == devices))

    def step(self, domain: str, devices: int, variant: str, compute: bool = True) -> float | None:
        """Least microseconds of a step."""
        return self.times.get((domain, devices, variant, compute))

    def best_of(
        self, variants: Iterable[str], domain: str, devices: int, compute: bool = True
    ) -> tuple[str, float] | None:
        """The best of some variants and its time."""
        times = {v: self.step(domain, devices, v, compute) for v in variants}
        known = {v: t for v, t in times.items() if t is not None}
        return min(known.items(), key=lambda item: item[1]) if known else None

    def share(self, domain: str, devices: int, variant: str) -> float | None:
        """Of a step, the part that a step without computation takes: communication and control."""
        whole, bare = (self.step(domain, devices, variant, compute) for compute in (True, False))
        return bare / whole if whole and bare else None

    def computation(self, domain: str, devices: int, variant: str) -> float | None:
        """What computing adds to a step of one device that has as many cells as each of these."""
        chosen = COMPUTATION_OF.get(variant, variant)
        own = domains.part(domain, devices)
        alike = [d for d in self.domains_on(1) if len(domains.extents(d)) == len(domains.extents(own))]
        for one in sorted(alike, key=lambda d: d != own):
            whole, bare = (self.step(one, 1, chosen, compute) for compute in (True, False))
            if domains.cells(one) == domains.cells(own) and whole and bare:
                return max(whole - bare, 0.0)
        return None

    def overlap(self, domain: str, devices: int, variant: str) -> float | None:
        """Of communication and control, the part that went on while cells were computed."""
        whole, bare = (self.step(domain, devices, variant, compute) for compute in (True, False))
        computing = self.computation(domain, devices, variant)
        if devices == 1 or computing is None or not whole or not bare:
            return None
        return min(max((bare + computing - whole) / bare, 0.0), 1.0)

    def efficiency(self, base: str, devices: int, domain: str, variant: str) -> float | None:
        """Of weak scaling: the time of one device over that of several with as many cells each."""
        one, several = self.step(base, 1, variant), self.step(domain, devices, variant)
        return one / several if one and several else None
