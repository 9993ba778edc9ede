"""What a step of the stencil, of CG and of PageRank takes on many GPUs: closed formulas over the parameters.

Times are in microseconds. `pes` are GPUs, in hosts of `pes_per_host`. See docs/scale.md for what each term is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scale_parameters import CG, STENCIL, Parameters, least, pagerank

FLOAT = 4
MOST_PACKET_BYTES = 262144  # of a face that travels as packets
PACKET = 16
PACKET_DATA = 8
SUM_WORDS = 3  # of a sum of CG


# ---- computing: from one GPU's measured times ----


@dataclass(frozen=True)
class StencilComputing:
    """A sweep over the cells of a GPU, float32, each read and written once a step."""

    start: float  # us before the first cell is stored
    cache_rate: float  # bytes/us while the cells stay in the L2
    memory_rate: float
    cache: float  # bytes

    def us(self, cells: float) -> float:
        moved = 2 * FLOAT * cells
        return self.start + moved / (self.cache_rate if moved <= self.cache else self.memory_rate)


def stencil_computing(p: Parameters) -> StencilComputing:
    """From one GPU's steps of three sizes."""

    def us(side: int) -> float:
        found = least(STENCIL, {"domain": f"{side}x{side}", "variant": "cpu_free", "devices": 1, "compute": True})
        return found - p.sync_pe.value

    def moved(side: int) -> float:
        return 2 * FLOAT * side * side

    cache_rate = (moved(2048) - moved(256)) / (us(2048) - us(256))
    start = us(256) - moved(256) / cache_rate
    return StencilComputing(start, cache_rate, moved(8192) / (us(8192) - start), p.cache.value)


@dataclass(frozen=True)
class CgComputing:
    """An iteration of fused CG on a GPU, float64, by the rows of a 5-point matrix: a line between measured sizes."""

    points: Sequence[tuple[float, float]]  # rows, us

    def us(self, rows: float) -> float:
        below = [k for k in range(1, len(self.points) - 1) if self.points[k][0] < rows]
        (x0, y0), (x1, y1) = self.points[len(below)], self.points[len(below) + 1]
        # No iteration is faster than a tenth of the smallest that was measured.
        return max(y0 + (rows - x0) * (y1 - y0) / (x1 - x0), 0.1 * self.points[0][1])


CG_MATRICES = {"5-point 534x533": 284622, "5-point 1000^2": 1000000, "5-point 1260x1258": 1585080}


def cg_measured(matrix: str, pes: int) -> float:
    return least(CG, {"what": "cg", "matrix": matrix, "devices": pes, "method": "fused", "control": "cpu_free"})


def cg_computing(p: Parameters) -> CgComputing:
    idle = cg_flights(p, 1, 0)
    return CgComputing([(rows, cg_measured(name, 1) - idle) for name, rows in CG_MATRICES.items()])


# ---- a step ----


def stencil_handling(p: Parameters) -> float:
    """What the exchange takes beside the flight: of the block that computes a face, and of the one that uses it."""
    return p.stencil_exchange.value - p.packet_host.value


def stencil_exchange(p: Parameters, pes: int, face_bytes: float, by_packets: bool | None = None) -> float:
    """From a face that is computed to the neighbour's face that has used it. Large faces are a put and its signal."""
    if pes == 1:
        return 0.0
    near = pes <= p.pes_per_host
    rate = (p.rate_host if near else p.rate_between).value
    if face_bytes > MOST_PACKET_BYTES if by_packets is None else not by_packets:
        flight = (p.signal_host if near else p.signal_between).value
        return stencil_handling(p) + flight + face_bytes / rate
    # A packet waits for the one that has its cells, and not for the whole face: flights and messages overlap.
    card = 0.0 if near else face_bytes / PACKET_DATA * p.message_between.value
    return max(stencil_handling(p) + p.flight(pes), card + 2 * face_bytes / rate)


def stencil_step(p: Parameters, computing: StencilComputing, cells: float, face_bytes: float, pes: int) -> float:
    """The exchange runs beside the inside and the barrier of the GPU's blocks."""
    inside = p.sync_pe.value + computing.us(cells / pes)
    return max(inside, stencil_exchange(p, pes, face_bytes))


def all_to_all_packets(p: Parameters, pes: int, packets: int) -> float:
    """Every PE to every other, `packets` each: a flight, the cards' messages, and taking them sender by sender."""
    if pes == 1:
        return p.packet_own.value
    far = max(0, pes - p.pes_per_host) * packets * p.message_between.value
    return p.flight(pes) + far + (pes - 1) * p.next_sender.value


def cg_flights(p: Parameters, pes: int, halo_packets: float) -> float:
    """Of an iteration: parts to the block that sums, sums to all, and the halo for the product."""
    ready = p.signal_own.value + 2 * p.call.value
    card = halo_packets * p.message_between.value if pes > p.pes_per_host else 0.0
    halo = ready if pes == 1 else max(ready, p.flight(pes) + card)
    return p.packet_own.value + all_to_all_packets(p, pes, SUM_WORDS) + halo


def cg_iteration(p: Parameters, computing: CgComputing, rows: float, halo: float, pes: int) -> float:
    """5-point rows in slabs: `halo` float64 from each side, a packet each."""
    return computing.us(rows / pes) + cg_flights(p, pes, halo)


def cg_iteration_by_levels(p: Parameters, computing: CgComputing, rows: float, halo: float, pes: int) -> float:
    """With sums in levels, and a halo that is one message to another host."""
    near = pes <= p.pes_per_host
    flight = p.flight(pes) if near else p.signal_between.value + 8 * halo / p.rate_between.value
    total = levels(p, pes) if pes > 1 else p.packet_own.value
    return computing.us(rows / pes) + p.packet_own.value + total + flight


def pagerank_measured(pes: int) -> float:
    return pagerank(pes, "polling" if pes > 1 else "one device")


def pagerank_traffic(p: Parameters, vertices: float, pes: int, chunk: float) -> float:
    """The ranks of a PE to all others, by its link and by its card; the card has the messages of chunks beside."""
    part = FLOAT * vertices / pes
    near = min(pes, p.pes_per_host) - 1
    far = max(0, pes - p.pes_per_host)
    messages = 2 * math.ceil(part / chunk)  # a chunk and its signal
    by_card = far * (part / p.rate_between.value + messages * p.message_between.value)
    return max(near * part / p.rate_host.value, by_card)


def all_reduce(p: Parameters, pes: int, words: int = 2) -> float:
    """Of one block on each PE, as shipped: packets to all."""
    if pes == 1:
        return p.meeting.value + p.call.value
    return p.meeting.value + p.call.value + all_to_all_packets(p, pes, words)


def levels(p: Parameters, pes: int, radix: int = 8) -> float:
    """A sum in levels: in each, groups of `radix` PEs exchange what they have; the first level is the host's."""
    total, reached = 0.0, 1
    while reached < pes:
        group = min(radix, math.ceil(pes / reached))
        inside = reached * group <= p.pes_per_host
        far = 0.0 if inside else (group - 1) * 2 * p.message_between.value  # two words
        total += (p.packet_host.value if inside else p.packet_between.value) + far + (group - 1) * p.next_sender.value
        reached *= group
    return total


def all_reduce_by_levels(p: Parameters, pes: int) -> float:
    """What all_reduce would take if it were made of them."""
    return p.meeting.value + p.call.value + (levels(p, pes) if pes > 1 else 0.0)


def pagerank_step(computing: float, traffic: float, signal: float, meeting: float) -> float:
    """Chunks travel while others are computed. The reduction does not wait for the last one: both follow computing."""
    return max(computing + meeting, max(computing, traffic) + signal)


def pagerank_iteration(p: Parameters, one_us: float, vertices: float, pes: int, chunk: float = 65536) -> float:
    """`one_us`: an iteration on one GPU."""
    if pes == 1:
        return one_us
    signal = p.signal_host.value if pes <= p.pes_per_host else p.signal_between.value
    meeting = all_reduce(p, pes) + p.meet_blocks.value
    return pagerank_step(one_us / pes * p.imbalance.value, pagerank_traffic(p, vertices, pes, chunk), signal, meeting)


def pagerank_by_hosts(p: Parameters, one_us: float, vertices: float, pes: int) -> float:
    """Each part goes once to each other host, divided among its GPUs' cards, and on by links."""
    if pes <= p.pes_per_host:
        return pagerank_iteration(p, one_us, vertices, pes)
    computing = one_us / pes * p.imbalance.value
    part = FLOAT * vertices / pes
    hosts = pes / p.pes_per_host
    by_card = (hosts - 1) * (part / p.rate_between.value + 2 * p.message_between.value)
    by_link = (p.pes_per_host - 1) * FLOAT * vertices / p.pes_per_host / p.rate_host.value
    flights = p.signal_between.value + p.signal_host.value
    return pagerank_step(computing, max(by_card, by_link), flights, all_reduce_by_levels(p, pes) + p.meet_blocks.value)


# ---- bytes of a step that cross from one half of the PEs to the other, one way ----


def halo_across(face_bytes: float) -> float:
    """Slabs: one face crosses."""
    return face_bytes


def packets_to_all_across(pes: int, packets: int) -> float:
    return (pes / 2) ** 2 * packets * PACKET


def levels_across(pes: int, packets: int, radix: int = 8) -> float:
    """Groups of the last level alone have PEs on both sides."""
    width = 1
    while width * radix < pes:
        width *= radix
    group = math.ceil(pes / width)
    return width * (group / 2) ** 2 * packets * PACKET


def ranks_across(p: Parameters, vertices: float, pes: int, once_a_host: bool) -> float:
    """Each PE of the other half, or each of its hosts, gets half of the ranks."""
    takers = pes / 2 / (p.pes_per_host if once_a_host and pes > p.pes_per_host else 1)
    return FLOAT * vertices / 2 * takers


def pagerank_one() -> float:
    return pagerank_measured(1)


PAGERANK_VERTICES = 2**22
