"""What blocks asked network cards for: each entry that was posted, and when its completion was seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starling.trace._format import OPERATIONS

Times = NDArray[np.int64]

# As in include/starling/device/network: opcodes of entries and statuses of completions.
OPCODES = {0x08: "write", 0x10: "read", 0x11: "compare_swap", 0x12: "fetch_add"}
STATUSES = {
    0x00: "ok",
    0x01: "local length error",
    0x02: "bad entry",
    0x04: "local protection error",
    0x05: "flushed",
    0x13: "remote access error",
    0x15: "retry count exceeded",
}
UNSEEN = -1
POST, COMPLETION = OPERATIONS.index("post"), OPERATIONS.index("completion")
_QUEUE_BITS = 24


@dataclass
class Posts:
    """One entry per entry of a queue pair, block after block, in the order in which they were posted. Times:
    nanoseconds of the host's clock."""

    pe: NDArray[np.int64]
    block: NDArray[np.int64]
    queue: NDArray[np.int64]
    number: NDArray[np.int64]  # of the entry in its queue
    peer: NDArray[np.int64]
    bytes: NDArray[np.int64]
    opcode: NDArray[np.int64]  # see OPCODES
    start: Times  # its place in the ring was asked for
    posted: Times  # the card has been told
    end: Times  # the block has seen its completion, or that of a later one; if it has not, the block's end
    status: NDArray[np.int64]  # of the completion, see STATUSES; UNSEEN: there was none

    def __len__(self) -> int:
        return len(self.number)

    @property
    def failed(self) -> NDArray[np.bool_]:
        """Those that the card answered with an error."""
        return self.status > 0


def posts_of(records: NDArray[Any], of: NDArray[np.int64], start: Times, end: Times, last: Times, blocks: int) -> Posts:
    """Matches completions with what they stand for: the entry that they name and all before it in its queue.

    `of` says whose each record is, as PE * blocks + block; a block's records are in the order of their times. `last`:
    the end of each block.
    """
    posts, answers = np.flatnonzero(records["op"] == POST), np.flatnonzero(records["op"] == COMPLETION)
    detail = (records["signal"] >> _QUEUE_BITS).astype(np.int64)
    queue = (records["signal"] & (2**_QUEUE_BITS - 1)).astype(np.int64)
    number = records["value"].astype(np.int64)
    seen_at = np.maximum(last[of[posts]], end[posts])
    status = np.full(len(posts), UNSEEN, dtype=np.int64)
    pair = (of << _QUEUE_BITS) | queue
    by_pair = np.argsort(pair[posts], kind="stable")
    answers = answers[np.argsort(pair[answers], kind="stable")]
    for which in np.unique(pair[answers]):
        asked = by_pair[slice(*np.searchsorted(pair[posts[by_pair]], [which, which + 1]))]
        told = answers[slice(*np.searchsorted(pair[answers], [which, which + 1]))]
        # The first completion whose number is not below the entry's.
        at = np.searchsorted(number[told], number[posts[asked]])
        seen = at < len(told)
        asked, answer = asked[seen], told[at[seen]]
        seen_at[asked] = start[answer]
        # What came before an entry that failed was done.
        status[asked] = np.where(number[answer] == number[posts[asked]], detail[answer], 0)
    return Posts(
        pe=of[posts] // blocks,
        block=of[posts] % blocks,
        queue=queue[posts],
        number=number[posts],
        peer=records["peer"][posts].astype(np.int64),
        bytes=records["bytes"][posts].astype(np.int64),
        opcode=detail[posts],
        start=start[posts],
        posted=end[posts],
        end=seen_at,
        status=status,
    )
