"""Which puts of a call travel as packets, and where their slots lie."""

from __future__ import annotations

import numpy as np

from starling.dace.arguments import shape_of
from starling.dace.emit.communication import packet_channels
from starling.dace.emit.regions import lengths_of
from starling.dace.ir import EACH, Program, Put
from starling.dace.layout import Layout
from starling.machine import Machine

__all__ = ["most_packet_bytes", "packet_slots", "packets_on"]

# The layers of an edge are one block's, which sends more than this faster by stores of 16 bytes and a signal: between
# GPUs as measured (nvidia-h200-x4-packets.json of bench/dace/results), within one as device/protocol.hpp has it. To
# virtual devices a packet costs as much as a long message.
TO_OTHER_GPU = 16 * 1024
WITHIN_GPU = 2 * 1024
SETS = 2  # of slots, as packet_halo.hpp has them
BYTES_PER_PACKET = 8  # of elements


def most_packet_bytes(machine: Machine) -> int:
    """Up to how many bytes messages are packets, if the caller does not say."""
    if machine.kind == "host":
        return 0
    return TO_OTHER_GPU if len({d.id for d in machine.devices}) == machine.size else WITHIN_GPU


def packets_on(p: Program, layout: Layout, most_bytes: int) -> frozenset[int]:
    """The channels that use packets, if those do for which a PE sends at most so many bytes."""
    if np.prod(layout.grid) == 1:
        return frozenset()  # nobody to send to
    # A message without elements would answer nothing as packets: it is a signal alone.
    return frozenset(c for c, put in packet_channels(p).items() if 0 < _bytes_of(p, put, layout, 1) <= most_bytes)


def packet_slots(
    p: Program, layout: Layout, channels: frozenset[int], blocks: int
) -> tuple[list[tuple[int, int]], int]:
    """Where packets lie: for each of the channels, in order, the first slot, and how many a message of one of so many
    blocks has; and how many slots there are."""
    places = []
    total = 0
    for channel, put in sorted(packet_channels(p).items()):
        if channel in channels:
            senders = blocks if put.by == EACH else 1
            room = -(-_bytes_of(p, put, layout, senders) // BYTES_PER_PACKET)
            places.append((total, room))
            total += SETS * senders * room
    return places, total


def _bytes_of(p: Program, put: Put, layout: Layout, senders: int) -> int:
    """Of what one of so many blocks sends at most."""
    a = p.arrays[put.array]
    if not put.inserted:
        return int(np.prod(shape_of(tuple(lengths_of(put.box)), layout.sizes))) * np.dtype(a.dtype).itemsize
    counts = list(layout.memory_shape(a))
    for axis, (d, layers) in enumerate(zip(a.dealt, put.least, strict=True)):
        mine = -(-layout.length(d) // layout.grid[axis])
        counts[d.axis] = layers or -(-mine // (senders if axis == 0 else 1))
    return int(np.prod(counts)) * np.dtype(a.dtype).itemsize
