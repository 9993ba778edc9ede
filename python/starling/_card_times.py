"""What puts to another host take by way of a network card, and by the host: what ``starling bench gio`` shows."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast

from starling import machine as machines
from starling._arguments import whole_number
from starling._native import native
from starling.errors import ArgumentError, Unsupported
from starling.machine import Machine

WAYS: tuple[str, ...] = tuple(native.card_ways())
BY_CARD = ("gio", "ikn")
NOTE = "The PEs are of one machine and the cards are models: wire time is the model's, none."
POSTS = 1000
"""Of which the quickest is taken, where cycles are counted."""


@dataclass(frozen=True)
class CardTime:
    """What one put took."""

    what: Literal["latency", "quiet", "rate"]
    """Latency: from the call to payload and signal seen at the target. Quiet: from the call to the return of quiet, of
    each of `blocks` blocks. Rate: of all puts that `blocks` blocks post one behind the other, one."""
    way: str
    bytes: int
    blocks: int
    iterations: int
    """Puts of a repetition, of each block."""
    microseconds: tuple[float, ...]
    """By repetition, after one to warm up."""

    @property
    def least(self) -> float:
        return min(self.microseconds)

    @property
    def median(self) -> float:
        return statistics.median(self.microseconds)

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "microseconds": list(self.microseconds)}


@dataclass
class CardTimes:
    """All results, and what the machine at hand could not do: by its name, why."""

    kind: str
    devices: list[str] = field(default_factory=list)
    times: list[CardTime] = field(default_factory=list)
    cycles: dict[str, dict[str, int]] = field(default_factory=dict)
    """Of a thread that posts, by how the entry is made: ``template`` or ``whole``."""
    left_out: dict[str, str] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            "machine": {"kind": self.kind, "devices": self.devices},
            "note": NOTE,
            "results": [t.as_dict() for t in self.times],
            "cycles": self.cycles,
            "left_out": self.left_out,
        }


def machine_for(way: str, kind: str) -> Machine:
    """Two PEs of one host, or of two hosts where blocks ask a card; they share a GPU, so that one is enough."""
    hosts = [0, 1] if way in BY_CARD else [0, 0]
    if kind == "cuda":
        return machines.cuda([0, 0], hosts=hosts, card="proxy" if way == "ikn" else "model")
    return machines.host(2, hosts=hosts, card="model")


def measure(
    *,
    kind: str = "auto",
    ways: Sequence[str] | None = None,
    sizes: Sequence[int] = (),
    blocks: Sequence[int] = (),
    repetitions: int = 5,
    iterations: int | None = None,
    told: Callable[[CardTime], None] | None = None,
) -> CardTimes:
    """Measures by all ways that there are on virtual devices or GPUs; the rest is `left_out`.

    Args:
        kind: ``"host"``, ``"cuda"`` or ``"auto"``.
        ways: Some of `WAYS`; None: all.
        sizes: Of puts, in bytes. None: 4 to 4096.
        blocks: That post at the same time. None: 1, 2, 4 to 64.
        repetitions: How often each time is taken, after one to warm up.
        iterations: Puts of a repetition. None: as many as suit.
        told: Called with each result as it comes.

    Raises:
        ArgumentError: A value is not allowed.
    """
    wanted = list(WAYS) if ways is None else list(ways)
    for name in wanted:
        if name not in WAYS:
            raise ArgumentError(f"ways: {name!r} is not known; must be some of {', '.join(WAYS)}")
    if not wanted:
        raise ArgumentError(f"ways is empty; name some of {', '.join(WAYS)}, or leave it out for all")
    options: dict[str, Any] = {
        "bytes": [whole_number("sizes", n) for n in sizes],
        "blocks": [whole_number("blocks", n) for n in blocks],
        "repetitions": whole_number("repetitions", repetitions, most=1000),
        "iterations": 0 if iterations is None else whole_number("iterations", iterations),
        "told": None if told is None else lambda r: told(_result(r)),
    }
    found = CardTimes(machines.named(kind).kind if kind == "auto" else kind)
    for way in wanted:
        m = machine_for(way, found.kind)
        found.devices = [d.name for d in m.devices]
        try:
            found.times += [_result(r) for r in cast(Any, native).measure_cards(m, way, **options)]
        except Unsupported as problem:
            found.left_out[way] = str(problem)
    if "gio" in wanted:
        _count_cycles(found)
    return found


def _count_cycles(found: CardTimes) -> None:
    try:
        m = machine_for("gio", found.kind)
        for entry in ("template", "whole"):
            found.cycles[entry] = native.cycles_of_posts(m, whole=entry == "whole", posts=POSTS)
    except Unsupported as problem:
        found.left_out["cycles of a post"] = str(problem)


def _result(r: Any) -> CardTime:
    return CardTime(r.what, r.way, r.bytes, r.blocks, r.iterations, tuple(r.microseconds))
