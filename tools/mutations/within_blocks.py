"""Barriers and choices of one thread within a block, each taken out of a shipped kernel in turn.

They are found in the text of the sources, so that a new one is tried without being listed. Those whose loss shows
nothing on a virtual device are listed with the reason; an entry that matches nothing is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mutations import cg, region, stencil
from mutations.model import ROOT, Broken, Mutation, Program

# b.sync(), t.any(false), k.all().sync(), w.sync(); not votes of warps, which order nothing.
BARRIER = re.compile(r"\b(?!w\.any|g\.)[a-z_]+(?:\(\))?(?:\.[a-z_]+\(\))*?(?:\.|->)(?:sync\(\)|any\(false\));")
# The condition by which one thread does what follows.
ONE_THREAD = re.compile(r"[a-z_]+(?:\(\))?(?:\.[a-z_]+\(\))*?\.member\(\) (==|!=) 0")


def changes_of(text: str) -> Iterator[tuple[str, str, str]]:
    """What each change is called, the text that it replaces, which is there once, and what comes in its place."""
    lines = text.splitlines(keepends=True)
    names: dict[str, int] = {}
    for i, line in enumerate(lines):
        if line.lstrip().startswith("//"):
            continue
        following = next((later.strip() for later in lines[i + 1 :] if later.strip() not in ("", "}")), "")
        for pattern in (BARRIER, ONE_THREAD):
            for match in pattern.finditer(line.split("//")[0]):
                if pattern is BARRIER:
                    what = f"no {match[0]} before: {following[:60]}"
                    changed = f"{line[: match.start()]}{{}}{line[match.end() :]}"
                else:
                    rest = line[match.end() :].strip(" ){\n")
                    what = f"all threads: {(rest or following)[:60]}"
                    always = "true" if match[1] == "==" else "false"
                    changed = f"{line[: match.start()]}{always}{line[match.end() :]}"
                names[what] = names.get(what, 0) + 1
                if names[what] > 1:
                    what = f"{what} ({names[what]})"
                begin, end = unique(text, lines, i)
                yield what, "".join(lines[begin:end]), "".join([*lines[begin:i], changed, *lines[i + 1 : end]])


def unique(text: str, lines: list[str], i: int) -> tuple[int, int]:
    """The fewest lines around line i that the text has once."""
    begin, end = i, i + 1
    while text.count("".join(lines[begin:end])) > 1:
        begin, end = max(begin - 1, 0), min(end + 1, len(lines))
    return begin, end


def each_in(program: str, file: str, same: dict[str, str]) -> list[Mutation]:
    """All of a file; `same`: why nothing changes, by the name of the change or its beginning."""
    found = []
    matched = set()
    for what, old, new in changes_of((ROOT / file).read_text()):
        key = max((key for key in same if what.startswith(key)), key=len, default="")
        matched.add(key)
        found.append(Mutation(what, program, file, old, new, same.get(key, "")))
    if left := set(same) - matched:
        raise Broken(f"{file}: there is no change {sorted(left)}; bring the list in {__name__} up to date")
    return found


# Schedules, which are few since what is wrong within a block is so in nearly all, and threads of a block.
ARGUMENTS = ("12", "3")

STENCIL_KERNELS = tuple(
    f"apps/stencil/{name}_kernels.cpp"
    for name in ("step/step", "step/cpu_free", "baselines/flagged", "tiles/resident", "temporal/temporal")
)
ON_GPUS = "GPUs alone run it"
ALIKE = "all write the same"
UNINTERRUPTED = f"{ALIKE}, and no thread is interrupted in it"
CG: dict[str, dict[str, str]] = {
    "apps/cg/iterate/block_context.hpp": {
        "all threads: lay_out(": UNINTERRUPTED,
        "all threads: shared_->vectors[v] = part_of(place);": ALIKE,
        "all threads: shared_->sends = near;": ALIKE,
        "all threads: rows.kept_value = value;": ALIKE,
    },
    "apps/cg/iterate/phases.hpp": {},
    "apps/cg/iterate/reduction.hpp": {
        "all threads: *d = {};": UNINTERRUPTED,
        "no t.any(false); before: const double part": ON_GPUS,
        "no t.sync(); before: if (w.rank() > 0) return;": ON_GPUS,
    },
    "apps/cg/host/host_sums.hpp": {"no t.sync(); before: const warp w": ON_GPUS},
    "apps/cg/iterate/program.hpp": {
        "all threads: *state_ = *a.s.state.on(b.pe())": UNINTERRUPTED,
        "all threads: *goal_ = ": UNINTERRUPTED,
        "all threads: return;": ALIKE,
    },
    "apps/cg/host/host_step_kernels.cpp": {
        "all threads: hand_on_state();": ALIKE,
        "all threads: *state = a.state.on(b.pe())": ALIKE,
    },
}
STENCIL: dict[str, dict[str, str]] = {
    "apps/stencil/halo/halo_exchange.hpp": {
        "all threads: *own = ": ALIKE,
        "all threads: list[count] = ": ALIKE,
    },
    "apps/stencil/tiles/tile_edges.hpp": {},
    "apps/stencil/tiles/tile_program.hpp": {
        "all threads: mine_ = tile_of(": UNINTERRUPTED,
        "no b_.sync(); before: share_registers": ON_GPUS,
        "no b_.sync(); before: if (send) edges_.send(++message, out);": ON_GPUS,
        "all threads: *a_.status.on(0) = ": ALIKE,
    },
    stencil.STEP: {"all threads: a.f.changes.on(b.pe())[first_change + b.index()] = change;": ALIKE},
    stencil.CPU_FREE: {"all threads: ;": ALIKE},
    stencil.FLAGGED: {
        "all threads: s.a.f.changes.on(b.pe())[b.index()] = change;": ALIKE,
        "all threads: *s.reached.on(b.pe()) = time_level;": ALIKE,
    },
    "apps/stencil/temporal/temporal_kernels.cpp": {
        "all threads: place_.own = box_of(": UNINTERRUPTED,
        "all threads: *a_.status.on(0) = ": ALIKE,
    },
}
# In blocks of whole warps.
REGISTER_TILES: dict[str, dict[str, str]] = {
    "apps/stencil/tiles/tile_program.hpp": {
        "all threads: mine_ = tile_of(": UNINTERRUPTED,
        "all threads: *a_.status.on(0) = ": ALIKE,
    },
    "apps/stencil/tiles/tile_edges.hpp": {},
}
REGION: dict[str, dict[str, str]] = {
    region.HANDLE: {
        "all threads: *s_.reached.on(b.pe()) = epoch;": ALIKE,
        "no b.sync(); before: if (!counts) continue;": "check mode has a barrier before it, which looks at the tile",
    },
    region.COMMIT: {
        "all threads: *s.newest.on(pe) = ": ALIKE,
        "no b.sync(); before: no_more(b, s, at);": "what it orders is read when the kernel is over",
    },
}


def uses(files: dict[str, dict[str, str]], kernels: tuple[str, ...]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((file, (file,) if file.endswith(".cpp") else kernels) for file in files)


PROGRAMS = {
    "conjugate gradients, threads": Program(
        ("tests/mutate/cg.cpp", *cg.CG), uses(CG, cg.CG_KERNELS), arguments=ARGUMENTS
    ),
    "stencil, threads": Program(
        ("tests/mutate/stencil.cpp", *stencil.STENCIL), uses(STENCIL, STENCIL_KERNELS), arguments=ARGUMENTS
    ),
    "register tiles, threads": Program(
        ("tests/mutate/register_tiles.cpp", *stencil.STENCIL),
        uses(REGISTER_TILES, ("tests/mutate/register_tiles.cpp",)),
        arguments=ARGUMENTS,
    ),
    "region, threads": Program((region.TEST,), uses(REGION, (region.TEST,)), arguments=ARGUMENTS),
}

MUTATIONS = [
    *(m for file, same in CG.items() for m in each_in("conjugate gradients, threads", file, same)),
    *(m for file, same in STENCIL.items() for m in each_in("stencil, threads", file, same)),
    *(m for file, same in REGISTER_TILES.items() for m in each_in("register tiles, threads", file, same)),
    *(m for file, same in REGION.items() for m in each_in("region, threads", file, same)),
]
