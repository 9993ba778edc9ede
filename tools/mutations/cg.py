"""Mistakes in the protocols of conjugate gradients."""

from __future__ import annotations

from mutations.model import Program, in_file, sources_in

CG_WORKER = "apps/cg/iterate/block_context.hpp"
CG_PHASES = "apps/cg/iterate/phases.hpp"
CG_SUMS = "apps/cg/iterate/reduction.hpp"
CG_PROGRAM = "apps/cg/iterate/program.hpp"
CG_PROGRAMS = tuple(f"apps/cg/iterate/{name}_kernels.cpp" for name in ("fused", "pipelined", "standard"))
CG_KERNELS = (*CG_PROGRAMS, "apps/cg/host/host_step_kernels.cpp", "apps/cg/host/product_kernels.cpp")
CG = (*sources_in("apps/sparse"), *sources_in("apps/cg"))

PROGRAMS = {
    "conjugate gradients": Program(
        ("tests/mutate/cg.cpp", *CG),
        ((CG_WORKER, CG_KERNELS), (CG_PHASES, CG_KERNELS), (CG_SUMS, CG_KERNELS), (CG_PROGRAM, CG_PROGRAMS)),
    ),
}

MUTATIONS = [
    *in_file(
        "conjugate gradients",
        CG_WORKER,
        ("ready not raised",
         "    if (d.persistent && w.rank() == w.count() - 1) w.signal_set(d.ready + t.index(), number, t.pe());\n", ""),
        ("ready raised for the product after", "w.signal_set(d.ready + t.index(), number, t.pe());",
         "w.signal_set(d.ready + t.index(), number + 1, t.pe());"),
        ("no wait for ready",
         "      if (plan.peers > 0) t.wait_all(d.ready + plan.first_peer, plan.peers, number, t.pe());\n", ""),
        ("wait for ready of the product before", "t.wait_all(d.ready + plan.first_peer, plan.peers, number, t.pe());",
         "t.wait_all(d.ready + plan.first_peer, plan.peers, number - 1, t.pe());"),
        ("wait for the first peer only", "t.wait_all(d.ready + plan.first_peer, plan.peers, number, t.pe());",
         "t.wait_all(d.ready + plan.first_peer, 1, number, t.pe());"),
        ("taken not raised", "threads_.signal_set(d.taken + threads_.index(), product_, threads_.pe());",
         "threads_.sync();"),
        ("taken raised before anything is taken",
         "    for (int first = threads_.member(); first < n; first += at_once * members)\n",
         "    threads_.signal_set(d.taken + threads_.index(), product_, threads_.pe());\n"
         "    for (int first = threads_.member(); first < n; first += at_once * members)\n"),
        ("values of other PEs of the number before", "          product_, [&](int) { return plan.sender; },",
         "          product_ - 1, [&](int) { return plan.sender; },"),
        ("no wait for taken",
         "        t.wait_all(d.taken + plan.first_unpacking, plan.unpacking, number, t.pe());\n", ""),
        ("wait for taken of the product before",
         "t.wait_all(d.taken + plan.first_unpacking, plan.unpacking, number, t.pe());",
         "t.wait_all(d.taken + plan.first_unpacking, plan.unpacking, number - 1, t.pe());"),
        ("values of other PEs used before they are taken", "plan.unpacking > 0 ? which_parts::own : which_parts::all",
         "which_parts::all"),
        ("one slot for what is published", "s.published + slot * s.columns", "s.published + 0 * slot * s.columns"),
        ("one slot for what travels", "s.receive_slots + slot * s.halo", "s.receive_slots + 0 * slot * s.halo"),
        ("values sent with the number before",
         "k.send(d.receive_slots[number % 2] + e.receive_slot, value, number, e.pe);",
         "k.send(d.receive_slots[number % 2] + e.receive_slot, value, number - 1, e.pe);"),
        ("values sent to the other slot", "k.send(d.receive_slots[number % 2] + e.receive_slot,",
         "k.send(d.receive_slots[(number + 1) % 2] + e.receive_slot,"),
        ("products not counted", "{ ++product_; }", "{}"),
    ),
    *in_file(
        "conjugate gradients",
        CG_PHASES,
        ("announced before it is written",
         "  k.each_pack([&](const row_place& at) { at.store(next, at.load(from)); });\n  k.announce(v);\n",
         "  k.announce(v);\n  k.each_pack([&](const row_place& at) { at.store(next, at.load(from)); });\n"),
    ),
    *in_file(
        "conjugate gradients",
        CG_SUMS,
        ("one slot for parts",
         "receive_slots.parts + slot * receive_slots.blocks", "receive_slots.parts + 0 * slot * receive_slots.blocks",
         "a block posts its next part when it has the sum, for which all parts have been read"),
        ("one slot for totals",
         "receive_slots.totals + slot * b.n_pes()", "receive_slots.totals + 0 * slot * b.n_pes()"),
        ("parts of the sum before", "detail::take(t, parts + i, number, t.pe())",
         "detail::take(t, parts + i, number - 1, t.pe())"),
        ("the total of the first PE alone is awaited", "i < t.n_pes() * sum_words; i += w.members()",
         "i < sum_words; i += w.members()"),
        ("the number of a sum not raised", "      d->number = number;\n", ""),
        ("a sum for the first PE alone", "to < t.n_pes(); to += senders", "to < 1; to += senders"),
    ),
    *in_file(
        "conjugate gradients",
        CG_PROGRAM,
        ("no shutdown", "    post(shutdown);\n", ""),
        ("the next launch counts products from the start", "    state_->products = k_.product_number();\n", ""),
        ("the next launch counts sums from the start", "    state_->sums = sums_->number + 1;", ""),
    ),
]  # fmt: skip
