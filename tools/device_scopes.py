"""Where the sources order memory for one GPU or one block alone, and why that is enough there.

A store that is only ordered for its own GPU works where PEs share one, and fails between GPUs. So every such place is a
function of this list; `check_includes.py` refuses it elsewhere.
"""

from __future__ import annotations

import re

OWN_PE = "blocks of one PE alone touch the word, and they are on one GPU"

# By source, then function.
ON_PURPOSE: dict[str, dict[str, str]] = {
    "include/starling/device/gpu_wait.hpp": {"device_atomic": "what the others of this list call"},
    "include/starling/device/block.hpp": {
        "arrive": OWN_PE + ": sync_pe and the first half of a machine-wide barrier count there",
        "release": OWN_PE + ": block 0 tells the other blocks of its PE",
    },
    "include/starling/device/signalling.hpp": {
        "raise_by_thread": "for the caller's own PE, whose blocks alone wait for its copy; others get system scope"
    },
    "include/starling/device/network/bus.hpp": dict.fromkeys(
        ("take", "look", "set", "exchange"),
        "a queue's state is its block's own; what the card hears goes by store, release and tell",
    ),
    "include/starling/device/network/card_trace.hpp": {
        "answered": "a queue's state is its block's own: other threads of the block may have counted there"
    },
    "include/starling/device/network/block_network.hpp": {
        "block_atomic": "what a block counts of its queues is in its shared memory; the card hears by gpu_bus::tell"
    },
    "include/starling/region/state.hpp": {
        "count": OWN_PE + ": its own tiles count there, and what others hear goes by signals",
        "note": OWN_PE + ": read by the last of those that count after it",
        "noted": OWN_PE + ": a word of note, or one that count adds to",
        "swap_if": OWN_PE + ": as count",
        "is_last": OWN_PE + ": the next to count comes after a signal",
    },
    "include/starling/region/agent_own_warp.hpp": {"await": OWN_PE + ": a block and the warp beside it"},
    "include/starling/stf/detail/reduce_kernel.hpp": {"last_to_finish": "counts the blocks of one launch"},
    "include/starling/device/target/memory.hpp": {
        "ask_first": "orders loads of one thread; nobody else is told anything",
    },
    "include/starling/device/target/bulk_copies.hpp": {
        "bulk_begin": "the barrier word is the block's own, for its copy engine",
    },
    "apps/sssp/inner_edges.hpp": {"block_word": "distances in a block's shared memory, which no other block sees"},
    "examples/09_hash_table.cpp": {"insert": "the table belongs to the PE whose blocks fill it"},
}

NARROW = re.compile(
    r"\b(device_atomic|thread_scope_(?:device|block|thread)|__threadfence(?:_block)?\b(?=\s*\())"
    r"|\b(?:fence|ld|st|atom|red|membar)\b[\w.:]*\.(?:gpu|gl|cta|cluster)\b"
)
HEAD = re.compile(
    r"\b(\w+)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*(?:const|noexcept|override|final|mutable|\s)*$"
)
NOT_FUNCTIONS = {"if", "for", "while", "switch", "catch", "requires", "constexpr", "decltype", "alignas", "sizeof"}


def function_around(text: str, at: int) -> str:
    """The name of the innermost function whose body holds this place; empty: none. Comments have been blanked."""
    open_braces: list[str] = []
    begin = 0  # of what may be the head of a block
    for i in range(at):
        c = text[i]
        if c == "{":
            found = HEAD.search(text[begin:i])
            name = found.group(1) if found else ""
            open_braces.append("" if name in NOT_FUNCTIONS else name)
            begin = i + 1
        elif c == "}":
            if open_braces:
                open_braces.pop()
            begin = i + 1
        elif c == ";":
            begin = i + 1
    return next((name for name in reversed(open_braces) if name), "")


def violations(path: str, text: str) -> list[tuple[int, str]]:
    """Line and text of each narrow scope that the list does not have. `text` has no comments."""
    if not path.startswith(("include/", "src/", "apps/", "examples/")):
        return []
    allowed = ON_PURPOSE.get(path, {})
    found = []
    for match in NARROW.finditer(text):
        name = function_around(text, match.start()) or defined_at(text, match.start())
        if name in allowed:
            continue
        line = text.count("\n", 0, match.start()) + 1
        where = f"in {name}" if name else "outside of functions"
        found.append(
            (
                line,
                f"{match.group()} {where} orders memory for one GPU alone; use system scope, or give the reason in "
                "tools/device_scopes.py",
            )
        )
    return found


def defined_at(text: str, at: int) -> str:
    """The function whose head this place is in: a return type may name a scope, and so does a function's own name."""
    rest = re.match(r"[^;{}]*?\b(\w+)\s*\([^;{}]*\{", text[at:], re.DOTALL)
    return rest.group(1) if rest else ""
