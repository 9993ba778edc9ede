"""Mistakes in the protocols of stencils."""

from __future__ import annotations

from mutations.model import Program, in_file, sources_in

STEP = "apps/stencil/step/step_kernels.cpp"
CPU_FREE = "apps/stencil/step/cpu_free_kernels.cpp"
FLAGGED = "apps/stencil/baselines/flagged_kernels.cpp"
FACES = "apps/stencil/halo/halo_exchange.hpp"
FIELDS = "apps/stencil/core/fields.hpp"
TILES = "apps/stencil/tiles/tiles.hpp"
EDGES = "apps/stencil/tiles/tile_edges.hpp"
TILE_PROGRAM = "apps/stencil/tiles/tile_program.hpp"
TEMPORAL = "apps/stencil/temporal/temporal_kernels.cpp"
GHOST_PEERS = "apps/stencil/temporal/ghost_peers.hpp"
GRAPH = "apps/stencil/baselines/flagged_graph.cpp"
HOST = "apps/stencil/baselines/host_controlled.cpp"
STENCIL = sources_in("apps/stencil")
TILE_KERNELS = ("apps/stencil/tiles/resident_kernels.cpp",)
FIELD_USERS = tuple(
    f"apps/stencil/{name}.cpp"
    for name in (
        "solver",
        *(f"core/{name}" for name in ("domain", "persistent")),
        *(f"baselines/{name}" for name in ("flagged_graph", "flagged_kernels", "host_controlled")),
        *(f"step/{name}" for name in ("step_engine", "step_kernels", "cpu_free_kernels")),
        *(f"tiles/{name}" for name in ("tile_engine", "resident_kernels")),
        "temporal/temporal_engine",
    )
)
STENCIL_USES = (
    (STEP, (STEP,)),
    (CPU_FREE, (CPU_FREE,)),
    (HOST, (HOST,)),
    (FACES, (STEP, CPU_FREE, FLAGGED)),
    (FIELDS, FIELD_USERS),
    (TILES, ("apps/stencil/tiles/tile_engine.cpp", "apps/stencil/plan/tile_choice.cpp", *TILE_KERNELS)),
    (EDGES, TILE_KERNELS),
    (TILE_PROGRAM, TILE_KERNELS),
    (TEMPORAL, (TEMPORAL,)),
    (GHOST_PEERS, (TEMPORAL,)),
    (GRAPH, (GRAPH,)),
)

PROGRAMS = {
    "stencil, packets": Program(("tests/mutate/stencil.cpp", *STENCIL), STENCIL_USES),
    # Faces that are large in practice, and small here.
    "stencil, signals": Program(
        ("tests/mutate/stencil.cpp", *STENCIL),
        STENCIL_USES,
        setting=("tests/mutate/stencil.cpp", "packet_bytes = 262144", "packet_bytes = 0"),
    ),
}

MUTATIONS = [
    *in_file(
        "stencil, packets",
        CPU_FREE,
        ("no sync_pe after a step", "      b.sync_pe();\n      continue;\n", "      continue;\n"),
        ("no barrier in a step that checks",
         "checked = static_cast<double>(b.all_reduce(b.reduce(change, maximum{}), maximum{}));",
         "checked = static_cast<double>(b.reduce(change, maximum{}));"),
    ),
    *in_file(
        "stencil, packets",
        FACES,
        ("the packets of the step before the last", "message_of(time_level - 1))", "message_of(time_level - 2))"),
        ("no packets before the first step", "        send(b, part, a.first, content);\n", "        (void)content;\n"),
        ("no packets in a step", "        send(b, part, time_level, content);\n", "        content(0);\n"),
        ("packets of another message's slot",
         "a.f.packet_slot(message) + a.f.packet_start", "a.f.packet_slot(message + 1) + a.f.packet_start"),
        ("packets to the wrong face", "a.f.packet_start[opposite(part.face)]", "a.f.packet_start[part.face]"),
        ("chunks not told apart", "to + part.cells.begin / each, content", "to, content"),
        ("a later run counts its messages from 1",
         "return a.first_message + (time_level - a.first);", "return 1 + (time_level - a.first);"),
    ),
    *in_file(
        "stencil, packets",
        STEP,
        ("no quiet after publishing", "    b.quiet();\n", "",
         "the end of a launch completes its puts, and the host waits for it"),
    ),
    *in_file(
        "stencil, packets",
        FIELDS,
        ("two slots instead of three", "receive_slots = 3", "receive_slots = 2"),
        ("one slot instead of three", "receive_slots = 3", "receive_slots = 1"),
        ("packets in two of the slots", "message % receive_slots * packet_start", "message % 2 * packet_start"),
        ("packets in one slot", "message % receive_slots * packet_start", "0 * message * packet_start"),
    ),
    *in_file(
        "stencil, signals",
        FACES,
        ("no wait for the neighbours",
         "      if (time_level > a.first + 1) wait_for_neighbours_cells(b, s.own(), part, time_level - 1);\n", ""),
        ("no wait in the second step", "if (time_level > a.first + 1) wait", "if (time_level > a.first + 2) wait"),
        ("wait for the step before", "part, time_level - 1);", "part, time_level - 2);"),
        ("no wait for one's own face",
         "    b.wait(a.f.arrived + (part.face * a.chunks + part.chunk), wanted, part.neighbour);\n", ""),
        ("no wait for the faces that meet it",
         "        b.wait_all(a.f.arrived + other * a.chunks, a.chunks, wanted, own.neighbour[other]);\n",
         "        {}\n"),
        ("wait for the first chunk of the faces that meet it",
         "b.wait_all(a.f.arrived + other * a.chunks, a.chunks,", "b.wait_all(a.f.arrived + other * a.chunks, 1,"),
        ("the signal of a step to come", "static_cast<std::uint64_t>(time_level), part.neighbour);",
         "static_cast<std::uint64_t>(time_level + 1), part.neighbour);"),
        ("one signal for all chunks",
         "(opposite(part.face) * a.chunks + part.chunk)", "opposite(part.face) * a.chunks"),
        ("the signal of the wrong face",
         "(opposite(part.face) * a.chunks + part.chunk)", "(part.face * a.chunks + part.chunk)"),
        ("the signal apart from its data",
         "b.put_signal(strips, value, part.cells.size() / strip::width,\n"
         "                     a.f.arrived",
         "b.put(strips, value, part.cells.size() / strip::width, part.neighbour);\n"
         "        b.signal_set(a.f.arrived"),
        ("values of another time level's slot",
         "receive_buffer_of_neighbour(a.f, part.face, time_level) +",
         "receive_buffer_of_neighbour(a.f, part.face, time_level + 1) +"),
    ),
    *in_file(
        "stencil, signals",
        CPU_FREE,
        ("no sync_pe after a step", "      b.sync_pe();\n      continue;\n", "      continue;\n"),
    ),
    *in_file(
        "stencil, signals",
        STEP,
        ("no values published",
         "b.put(receive_buffer_of_neighbour(f, face, time_level) + mine.begin, value, mine.size(), "
         "own.neighbour[face]);", "(void)value;"),
    ),
    *in_file(
        "stencil, signals",
        FIELDS,
        ("two slots instead of three", "receive_slots = 3", "receive_slots = 2"),
        ("one slot instead of three", "receive_slots = 3", "receive_slots = 1"),
        ("receive buffer in two of the slots",
         "time_level % receive_slots * face_start", "time_level % 2 * face_start"),
        ("receive buffer in one slot", "time_level % receive_slots * face_start", "0 * time_level * face_start"),
    ),
    *in_file(
        "stencil, packets",
        HOST,
        ("host: no wait for the neighbours' faces",
         "      s.wait(sent(from, time_level - 1));\n", ""),
        ("host: wait for the faces of the step before", "s.wait(sent(from, time_level - 1));",
         "s.wait(sent(from, time_level - (time_level > 2 ? 2 : 1)));"),
        ("host: the interior does not wait for the faces",
         "  interior.wait(sent(pe, time_level - 1));  "
         "// the faces of the step before are what the interior reads now\n",
         ""),
        ("host: the faces do not wait for the interior",
         "  boundary.wait(interior_done_[i]);  // of the step before\n", ""),
        ("host: faces announced before they are copied",
         "  copy_faces(s, pe, time_level);\n  s.record(sent(pe, time_level));\n",
         "  s.record(sent(pe, time_level));\n  copy_faces(s, pe, time_level);\n"),
        ("host: faces announced before they are made",
         "  boundary.launch_kernel(boundary_blocks, step_kernel(a, step_part::boundary, 0), shape);\n"
         "  if (options_.how == variant::overlap) copy_faces(boundary, pe, time_level);\n"
         "  boundary.record(sent(pe, time_level));\n",
         "  boundary.record(sent(pe, time_level));\n"
         "  boundary.launch_kernel(boundary_blocks, step_kernel(a, step_part::boundary, 0), shape);\n"
         "  if (options_.how == variant::overlap) copy_faces(boundary, pe, time_level);\n"),
    ),
    *in_file(
        "stencil, packets",
        TILES,
        ("tiles: packets in one slot", "packet_slots = 2", "packet_slots = 1"),
    ),
    *in_file(
        "stencil, packets",
        EDGES,
        ("tiles: the packets of the exchange before", "const auto number = static_cast<std::uint64_t>(message);",
         "const auto number = static_cast<std::uint64_t>(message - 1);"),
        ("tiles: taken from the other slot",
         "(t_.packet_slot(message) + index_t", "(t_.packet_slot(message + 1) + index_t"),
        ("tiles: sent to the other slot",
         "packet_buffer_ + t_.packet_slot(message);", "packet_buffer_ + t_.packet_slot(message + 1);"),
        ("tiles: packets for the wrong side", "t_.start[opposite_direction(d)]", "t_.start[d]"),
    ),
    *in_file(
        "stencil, packets",
        TILE_PROGRAM,
        ("tiles: no packets before the first step", "    edges_.send(message, array(0));\n", ""),
        ("tiles: no packets in a step",
         "if (send) edges_.send_next(++message, in, a_.f.weight);", "if (send) ++message;"),
        ("tiles: no exchange after the first", "take = until_exchange == 0;", "take = left == a_.steps;"),
    ),
    *in_file(
        "stencil, packets",
        TEMPORAL,
        ("passes: no meeting after one", "      b_.barrier_all();\n      left", "      left"),
        ("passes: a meeting that edges may be late for", "      b_.barrier_all();\n      left",
         "      b_.sync_all();\n      left"),
        ("passes: edges sent before they are there", "    b_.sync_pe();\n    for (int array", "    for (int array"),
        ("passes: no edges before the first", "array < 2; ++array) send_edges(array);", "array < 0; ++array) {}"),
        ("passes: edges into the array that is read",
         "place_, a_.cells[1 - now], layout", "place_, a_.cells[now], layout"),
    ),
    *in_file(
        "stencil, packets",
        GHOST_PEERS,
        ("passes: a layer too few", "cells[1] = d < 0 ? layout.depth : extent;",
         "cells[1] = d < 0 ? layout.depth - 1 : extent;"),
    ),
    *in_file(
        "stencil, packets",
        GRAPH,
        ("graph: no waits for the neighbours", "arguments_.a.first = -1;", "arguments_.a.first = 1 << 30;"),
        ("graph: steps are not counted",
         "  s.launch_kernel(1, count_kernel(arguments_.reached, n),"
         " {.threads = 32, .deadline = options_.deadline});\n", ""),
    ),
]  # fmt: skip
