"""What of the runtime's memory and loops grows with the number of PEs: bytes by the sizes in its sources.

`scale_page.py` writes the table of docs/scale.md from these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

PACKET = 16
VALUE = 32  # small_value
VALUE_PACKETS = 4
SIGNAL = 8
REGION = 24  # network::memory_region
QUEUE_DEPTH = 64
ENTRY = 64
COMPLETION = 64
STAGING = 4160
REPORT = 144  # block_report
BLOCKS = 132  # of a GPU
SUM_WORDS = 3
CHUNKS_OF_PE = 16
SEAT = 16448  # of a board: two receive slots of 8 KiB and the words before them


@dataclass(frozen=True)
class Table:
    """Something that grows. `size`: bytes on a PE, or where said, for so many PEs."""

    what: str
    source: str  # files, "; " between, each with names in it behind
    size: Callable[[int], int]
    grows: str
    instead: str


def queue_pairs(pes: int) -> int:
    """Of one block of a virtual device that has reached all others: each pair has a table of all PEs' memory."""
    each = QUEUE_DEPTH * (ENTRY + COMPLETION + 1) + STAGING + (pes + 2) * REGION
    return (pes - 1) * each


def region_subscribers(pes: int) -> int:
    """A bit of each PE for each chunk of all parts."""
    return CHUNKS_OF_PE * pes * ((pes + 63) // 64) * 8


TABLES = (
    Table(
        "receive slots of `sync_all`, `all_reduce`, `broadcast`",
        "src/machine/program_control.cpp",
        lambda n: 2 * n * VALUE_PACKETS * PACKET + n * VALUE,
        "PEs, for each program",
        "levels of 8: 8 slots for each level",
    ),
    Table(
        "values of PEs in a GPU's shared memory",
        "include/starling/device/target/block_memory.hpp (`reduce_slots`); "
        "include/starling/device/block.hpp (`gathered`)",
        lambda n: n * VALUE,
        "PEs, and there is room for 32",
        "levels of 8",
    ),
    Table(
        "receive slots of CG's sums",
        "apps/cg/iterate/reduction.hpp",
        lambda n: 2 * n * SUM_WORDS * PACKET,
        "PEs; a sum is 3 packets from each PE to each, so messages of the machine by their square",
        "levels of 8",
    ),
    Table(
        "CG's values of PEs in shared memory",
        "apps/cg/iterate/reduction.hpp (`sum_scratch`)",
        lambda n: n * SUM_WORDS * 8,
        "PEs, in each block",
        "levels of 8",
    ),
    Table(
        "credits of a channel",
        "include/starling/device/channel.hpp",
        lambda n: n * SIGNAL,
        "PEs, for each lane",
        "a word for each PE that sends",
    ),
    Table(
        "queue pairs of a block of a virtual device, to all PEs",
        "src/machine/host/block_queues.hpp; src/machine/network/queue_memory.hpp",
        queue_pairs,
        "PEs reached, each with a table of all PEs' memory: by the square where a block reaches all",
        "one table for each PE; pairs are made on demand as now, and shared by blocks",
    ),
    Table(
        "subscribers of a region's chunks, 16 chunks a PE",
        "include/starling/region/state.hpp",
        region_subscribers,
        "the square of the PEs; 64 is the most",
        "for its own chunks a list of who gets them",
    ),
    Table(
        "words of a region's chunks, 16 chunks a PE",
        "include/starling/region/state.hpp (`arrived`, `kept`)",
        lambda n: CHUNKS_OF_PE * n * (SIGNAL + 2 * SIGNAL),
        "chunks of all PEs",
        "words of the chunks that the PE gets",
    ),
    Table(
        "where parts of a region begin, and credits",
        "include/starling/region/state.hpp (`bounds`, `chunk_at`, `readers`, `credit`)",
        lambda n: (n + 1) * 12 + n * 16,
        "PEs",
        "enough: 28 bytes a PE",
    ),
    Table(
        "reports of blocks, on the host, after a stall",
        "include/starling/device/report.hpp",
        lambda n: n * BLOCKS * REPORT,
        "blocks of the machine, in one process",
        "each host reports the blocks that its own wait for",
    ),
    Table(
        "seats of processes that one host has",
        "src/machine/distributed/board.hpp",
        lambda n: n * SEAT,
        "processes of a host; 256 is the most",
        "8 a host; a board of hosts beside it",
    ),
    Table(
        "addresses of symmetric memory of 64 GiB",
        "src/machine/cuda/symmetric_range.cpp",
        lambda n: n << 36,
        "PEs: 47 bits are 128 TiB",
        "addresses for the PEs of the host alone",
    ),
)

LOOPS = (
    (
        "a PE's packets to all PEs, and what all have sent taken in order",
        "include/starling/device/block.hpp (`exchange`)",
    ),
    ("one block sends CG's sums to all PEs, and every block takes those of all", "apps/cg/iterate/reduction.hpp"),
    ("who gets a chunk of a region: all PEs are asked", "include/starling/region/agent_polling.hpp"),
    ("whose chunk it is: PEs from 0 on", "include/starling/region/state.hpp (`owner_of`)"),
    ("whose memory an address lies in: PEs from 0 on", "include/starling/device/own_address.hpp"),
    ("a lost program is told to all PEs, one after another", "include/starling/device/gpu_wait.hpp"),
    ("process 0 meets the others one after another", "src/machine/distributed/rendezvous.cpp"),
)
