#!/usr/bin/env python3
"""Takes one fence, wait, signal, slot or barrier at a time out of the shipped protocols; check mode must notice.

Each mutation replaces an exact text of a source; a program of tests/mutate that relies on it is built with the changed
source alone compiled again, and run under seeded schedules. The unchanged programs must pass first. Mutations that
change nothing observable are listed with the reason. Exit status 0: every other mutation is noticed.

Usage: mutate_protocols.py [--build FOLDER] [--seeds N] [--only TEXT] [--list]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = "include/starling/device/block.hpp"
PACKETS = "include/starling/device/packet_exchange.hpp"
PUTS = "include/starling/device/communication.hpp"
KERNELS = "apps/stencil/stencil_kernels.cpp"
FIELDS = "apps/stencil/fields.hpp"
HOST = "apps/stencil/host_controlled.cpp"
PIPELINE = "examples/02_pipeline.cpp"
CG_WORKER = "apps/cg/worker.hpp"
CG_PHASES = "apps/cg/phases.hpp"
CG_SUMS = "apps/cg/reduction.hpp"
CG_PROGRAM = "apps/cg/program.hpp"


class Broken(Exception):
    """A mutation or a program cannot be judged."""


@dataclass(frozen=True)
class Program:
    """Sources that are compiled for check mode, and how the program is run."""

    sources: tuple[str, ...]
    # Sources that a change of this header, or of the source itself, compiles again.
    uses: tuple[tuple[str, tuple[str, ...]], ...]
    # Text of a source that is another in this program: a setting, no mistake.
    setting: tuple[str, str, str] | None = None
    arguments: tuple[str, ...] = ("{seeds}",)
    environment: tuple[tuple[str, str], ...] = ()

    def again(self, file: str) -> tuple[str, ...]:
        return dict(self.uses)[file]


STENCIL = tuple(f"apps/stencil/{name}.cpp" for name in
                ("host_controlled", "launch_shape", "problem", "reference", "solver", "stencil_kernels"))  # fmt: skip
STENCIL_USES = (
    (KERNELS, (KERNELS,)),
    (HOST, (HOST,)),
    (FIELDS, tuple(f"apps/stencil/{name}.cpp" for name in ("host_controlled", "solver", "stencil_kernels"))),
)
CG_PROGRAMS = tuple(f"apps/cg/{name}_kernels.cpp" for name in ("fused", "pipelined", "standard"))
CG_KERNELS = (*CG_PROGRAMS, "apps/cg/host_step_kernels.cpp", "apps/cg/product_kernels.cpp")
CG = (*CG_KERNELS, *(f"apps/cg/{name}.cpp" for name in
      ("compressed", "halo", "host_controlled", "host_steps", "matrices_grid", "matrix", "matrix_checks",
       "options", "partition", "preconditioner_values", "sliced", "solver")))  # fmt: skip
PROGRAMS = {
    "collectives": Program(("tests/mutate/collectives.cpp",), ((BLOCK, ("tests/mutate/collectives.cpp",)),)),
    "transfers": Program(
        ("tests/mutate/transfers.cpp",),
        ((PACKETS, ("tests/mutate/transfers.cpp",)), (PUTS, ("tests/mutate/transfers.cpp",))),
    ),
    "stencil, packets": Program(("tests/mutate/stencil.cpp", *STENCIL), STENCIL_USES),
    # Faces that are large in practice, and small here.
    "stencil, signals": Program(
        ("tests/mutate/stencil.cpp", *STENCIL),
        STENCIL_USES,
        setting=("apps/stencil/solver.cpp", "most_packet_bytes = 16384", "most_packet_bytes = 0"),
    ),
    "conjugate gradients": Program(
        ("tests/mutate/cg.cpp", *CG),
        ((CG_WORKER, CG_KERNELS), (CG_PHASES, CG_KERNELS), (CG_SUMS, CG_KERNELS), (CG_PROGRAM, CG_PROGRAMS)),
    ),
    "pipeline": Program(
        (PIPELINE,),
        ((PIPELINE, (PIPELINE,)),),
        arguments=(),
        environment=(("STARLING_MACHINE", "host"), ("STARLING_DEVICES", "3"), ("STARLING_CHECK", "{seeds}")),
    ),
}


@dataclass(frozen=True)
class Mutation:
    what: str
    program: str
    file: str
    old: str
    new: str
    same: str = ""  # why nothing observable changes; empty: check mode has to notice


def in_file(program: str, file: str, *changes: tuple[str, ...]) -> list[Mutation]:
    return [Mutation(change[0], program, file, *change[1:]) for change in changes]


MUTATIONS = [
    *in_file(
        "collectives",
        BLOCK,
        ("sync_pe without its arrival",
         "    begin_collective(operation::sync_pe, 0, any_pe, at);\n    arrive(at);\n",
         "    begin_collective(operation::sync_pe, 0, any_pe, at);\n    ++arrivals_;\n"),
        ("sync_pe without its wait",
         "    wait_as(operation::sync_pe, state().control.arrived, 1, compare::ge, arrivals_wanted(), pe(), at);\n",
         ""),
        ("an arrival that orders nothing",
         "port().update({arrived, signal_op::add, 1, pe(), at, true})",
         "port().update({arrived, signal_op::add, 1, pe(), at, false})"),
        ("arrivals of the block not counted", "    ++arrivals_;\n", "    arrivals_ = 1;\n"),
        ("one arrival less awaited",
         "return arrivals_ * static_cast<std::uint64_t>(state().n_blocks);",
         "return arrivals_ * static_cast<std::uint64_t>(state().n_blocks) - 1;"),
        ("barrier_all without quiet", "    quiet();\n    sync_all(at);\n", "    sync_all(at);\n"),
        ("meet without its arrival",
         "    arrive(at);\n    if (index() == 0) {\n", "    ++arrivals_;\n    if (index() == 0) {\n"),
        ("meet: block 0 does not wait for the others",
         "      wait_as(op, c.arrived, 1, compare::ge, arrivals_wanted(), pe(), at);\n", ""),
        ("meet: the others do not wait for block 0",
         "    wait_as(op, c.released, 1, compare::ge, meetings_, pe(), at);\n", ""),
        ("meet: the others are not released", "      release(at);\n", ""),
        ("meet: released before the result is there",
         "      if (member() == 0) as<T>(*c.result.on(pe())) = sum;\n      release(at);\n",
         "      release(at);\n      if (member() == 0) as<T>(*c.result.on(pe())) = sum;\n"),
        ("meet: released before the PEs have met",
         "      sum = exchange(op, sum, combine, at);\n      if (member() == 0) as<T>(*c.result.on(pe())) = sum;\n"
         "      release(at);\n",
         "      release(at);\n      sum = exchange(op, sum, combine, at);\n"
         "      if (member() == 0) as<T>(*c.result.on(pe())) = sum;\n"),
        ("meet: one slot for the values of all blocks",
         "as<T>(c.block_values.on(pe())[index()]) = value;", "as<T>(c.block_values.on(pe())[0]) = value;"),
        ("a release that orders nothing",
         "port().update({released, signal_op::set, meetings_, pe(), at, true})",
         "port().update({released, signal_op::set, meetings_, pe(), at, false})"),
        ("a release of the meeting before",
         "port().update({released, signal_op::set, meetings_, pe(), at, true})",
         "port().update({released, signal_op::set, meetings_ - 1, pe(), at, true})"),
        ("meetings not counted", "    ++meetings_;\n", "    meetings_ = 1;\n"),
        ("exchange: one slot instead of two", "static_cast<index_t>(meetings_ % 2) * n_pes()", "0 * n_pes()"),
        ("exchange: no packets to the last PE",
         "    for (int i = member(); i < n_pes() * pieces; i += members())\n      put_packet(",
         "    for (int i = member(); i < (n_pes() - 1) * pieces; i += members())\n      put_packet("),
        ("exchange: the last packet not awaited",
         "    for (int i = member(); i < n_pes() * pieces; i += members()) {\n",
         "    for (int i = member(); i < n_pes() * pieces - 1; i += members()) {\n"),
        ("exchange: all senders into one box",
         "put_packet(boxes + (pe() * small_value_packets + i % pieces)", "put_packet(boxes + i % pieces"),
        ("sync_all: packets that order nothing",
         "                 op == operation::sync_all);\n", "                 false);\n"),
    ),
    *in_file(
        "transfers",
        PACKETS,
        ("a packet taken without waiting", "      self().port().wait(request);\n", ""),
        ("a packet taken with the number before",
         "{&local->number, compare::eq, number, from, op, at}",
         "{&local->number, compare::eq, number - 1, from, op, at}"),
        ("the number of a packet sent apart from its data",
         "self().port().put_signal({&to->data, &data, 1, sizeof data, 1, 1, pe, true, at},\n"
         "                               {&to->number, signal_op::set, number, pe, at, orders});",
         "self().port().put({&to->data, &data, 1, sizeof data, 1, 1, pe, true, at});\n"
         "      self().port().update({&to->number, signal_op::set, number, pe, at, orders});"),
        ("the first packet not sent", "for (index_t k = self().member(); k < packets;",
         "for (index_t k = self().member() + 1; k < packets;"),
        ("a packet awaited with a number of at least that",
         "{&local->number, compare::eq, number, from, op, at}", "{&local->number, compare::ge, number, from, op, at}",
         "the sender may not replace a packet that has not been taken, so a later number is never there"),
    ),
    *in_file(
        "transfers",
        PUTS,
        ("put returns before its source is read",
         "put_elements(dest, 1, source, 1, n, pe, true, at);", "put_elements(dest, 1, source, 1, n, pe, false, at);"),
        ("iput returns before its source is read",
         "put_elements(dest, dest_stride, source, source_stride, n, pe, true, at);",
         "put_elements(dest, dest_stride, source, source_stride, n, pe, false, at);"),
        ("put_signal returns before its source is read",
         "contiguous(dest.on(pe), source, n, pe, true, at), {sig.on(pe)",
         "contiguous(dest.on(pe), source, n, pe, false, at), {sig.on(pe)"),
        ("p returns before its value is read",
         "put_on_host(dest, 1, &value, 1, 1, pe, true, at);", "put_on_host(dest, 1, &value, 1, 1, pe, false, at);"),
        ("computed put returns before its values are sent", "put_on_host(dest, 1, staged, 1, n, pe, true, at);",
         "put_on_host(dest, 1, staged, 1, n, pe, false, at);"),
        ("put_signal: the signal apart from its data",
         "self().port().put_signal(contiguous(dest.on(pe), source, n, pe, true, at), "
         "{sig.on(pe), op, value, pe, at, true});",
         "self().port().put(contiguous(dest.on(pe), source, n, pe, true, at));\n"
         "      self().port().update({sig.on(pe), op, value, pe, at, true});"),
        ("put_signal: the signal before its data",
         "self().port().put_signal(contiguous(dest.on(pe), source, n, pe, true, at), "
         "{sig.on(pe), op, value, pe, at, true});",
         "self().port().update({sig.on(pe), op, value, pe, at, true});\n"
         "      self().port().put(contiguous(dest.on(pe), source, n, pe, true, at));"),
        ("put_signal: a signal that orders its data alone",
         "pe, true, at), {sig.on(pe), op, value, pe, at, true});",
         "pe, true, at), {sig.on(pe), op, value, pe, at, false});"),
        ("computed put_signal: the signal apart from its data",
         "self().port().put_signal(contiguous(dest.on(pe), staged, n, pe, true, at), "
         "{sig.on(pe), op, value, pe, at});",
         "self().port().put(contiguous(dest.on(pe), staged, n, pe, true, at));\n"
         "      self().port().update({sig.on(pe), op, value, pe, at});"),
        ("computed put_signal: a signal that orders its data alone",
         "staged, n, pe, true, at), {sig.on(pe), op, value, pe, at});",
         "staged, n, pe, true, at), {sig.on(pe), op, value, pe, at, false});"),
        ("computed put_signal returns before its values are sent",
         "contiguous(dest.on(pe), staged, n, pe, true, at)", "contiguous(dest.on(pe), staged, n, pe, false, at)"),
        ("put_signal: the first element not sent",
         "self().port().put_signal(contiguous(dest.on(pe), source, n, pe, true, at)",
         "self().port().put_signal(contiguous(dest.on(pe) + 1, source + 1, n - 1, pe, true, at)"),
        ("get returns before the data is there",
         "get_elements(dest, 1, source, 1, n, pe, true, at);", "get_elements(dest, 1, source, 1, n, pe, false, at);"),
        ("iget returns before the data is there",
         "get_elements(dest, dest_stride, source, source_stride, n, pe, true, at);",
         "get_elements(dest, dest_stride, source, source_stride, n, pe, false, at);"),
        ("fence does nothing", "      self().port().fence();\n", ""),
        ("quiet does nothing", "      self().port().quiet();\n", ""),
        ("quiet that only orders", "      self().port().quiet();\n", "      self().port().fence();\n"),
        ("signal_set that orders nothing",
         "self().port().update({sig.on(pe), op, value, pe, at, true});\n    }\n  }\n",
         "self().port().update({sig.on(pe), op, value, pe, at, false});\n    }\n  }\n"),
        ("signal_add that sets",
         "update(sig, value, pe, signal_op::add, at);", "update(sig, value, pe, signal_op::set, at);"),
        ("wait does nothing",
         "for (index_t i = 0; i < n; ++i) self().port().wait(request(op, first, i, how, value, from, at));", ""),
        ("wait_all waits for the first alone",
         "for (index_t i = 0; i < n; ++i) self().port().wait(request(op, first, i, how, value, from, at));",
         "for (index_t i = 0; i < 1; ++i) self().port().wait(request(op, first, i, how, value, from, at));"),
        ("wait for one less",
         "return {(first + i).on(self().pe()), how, value, from, op, at};",
         "return {(first + i).on(self().pe()), how, value == 0 ? 0 : value - 1, from, op, at};"),
        ("test always true", "return self().port().test({local, how, value, any_pe, operation::wait, at});",
         "return self().port().test({local, how, value, any_pe, operation::wait, at}) || true;"),
    ),
    *in_file(
        "stencil, packets",
        KERNELS,
        ("no sync_pe after a step", "      b.sync_pe();\n      continue;\n", "      continue;\n"),
        ("no barrier in a step that checks",
         "checked = static_cast<double>(b.all_reduce(b.reduce(change, maximum{}), maximum{}));",
         "checked = static_cast<double>(b.reduce(change, maximum{}));"),
        ("the packets of the step before the last", "message_of(generation - 1))", "message_of(generation - 2))"),
        ("no packets before the first step", "        send(b, part, a.first, content);\n", "        (void)content;\n"),
        ("no packets in a step", "        send(b, part, generation, content);\n", "        content(0);\n"),
        ("packets of another message's slot",
         "a.f.mail_slot(message) + a.f.mail_start", "a.f.mail_slot(message + 1) + a.f.mail_start"),
        ("packets to the wrong face", "a.f.mail_start[opposite(part.face)]", "a.f.mail_start[part.face]"),
        ("chunks not told apart", "to + part.cells.begin / each, content", "to, content"),
        ("a later run counts its messages from 1",
         "return a.first_message + (generation - a.first);", "return 1 + (generation - a.first);"),
        ("no quiet after publishing", "    b.quiet();\n", "",
         "the end of a launch completes its puts, and the host waits for it"),
    ),
    *in_file(
        "stencil, packets",
        FIELDS,
        ("two slots instead of three", "inbox_slots = 3", "inbox_slots = 2"),
        ("one slot instead of three", "inbox_slots = 3", "inbox_slots = 1"),
        ("mail in two of the slots", "message % inbox_slots * mail_start", "message % 2 * mail_start"),
        ("mail in one slot", "message % inbox_slots * mail_start", "0 * message * mail_start"),
    ),
    *in_file(
        "stencil, signals",
        KERNELS,
        ("no wait for the neighbours",
         "      if (generation > a.first + 1) wait_for_inboxes(b, s.own(), part, generation - 1);\n", ""),
        ("no wait in the second step", "if (generation > a.first + 1) wait", "if (generation > a.first + 2) wait"),
        ("wait for the step before", "part, generation - 1);", "part, generation - 2);"),
        ("no wait for one's own face",
         "    b.wait(a.f.arrived + (part.face * a.chunks + part.chunk), wanted, part.neighbour);\n", ""),
        ("no wait for the faces that meet it",
         "        b.wait_all(a.f.arrived + other * a.chunks, a.chunks, wanted, own.neighbour[other]);\n",
         "        {}\n"),
        ("wait for the first chunk of the faces that meet it",
         "b.wait_all(a.f.arrived + other * a.chunks, a.chunks,", "b.wait_all(a.f.arrived + other * a.chunks, 1,"),
        ("the signal of a step to come", "static_cast<std::uint64_t>(generation), part.neighbour);",
         "static_cast<std::uint64_t>(generation + 1), part.neighbour);"),
        ("one signal for all chunks",
         "(opposite(part.face) * a.chunks + part.chunk)", "opposite(part.face) * a.chunks"),
        ("the signal of the wrong face",
         "(opposite(part.face) * a.chunks + part.chunk)", "(part.face * a.chunks + part.chunk)"),
        ("the signal apart from its data",
         "b.put_signal(inbox_of_neighbour(a.f, part.face, generation) + part.cells.begin, value, part.cells.size(),\n"
         "                     a.f.arrived",
         "b.put(inbox_of_neighbour(a.f, part.face, generation) + part.cells.begin, value, part.cells.size(),\n"
         "              part.neighbour);\n        b.signal_set(a.f.arrived"),
        ("values of another generation's slot",
         "inbox_of_neighbour(a.f, part.face, generation) +", "inbox_of_neighbour(a.f, part.face, generation + 1) +"),
        ("no sync_pe after a step", "      b.sync_pe();\n      continue;\n", "      continue;\n"),
        ("no values published", "b.put(inbox_of_neighbour(f, face, generation) + mine.begin, value, mine.size(), "
         "own.neighbour[face]);", "(void)value;"),
    ),
    *in_file(
        "stencil, signals",
        FIELDS,
        ("two slots instead of three", "inbox_slots = 3", "inbox_slots = 2"),
        ("one slot instead of three", "inbox_slots = 3", "inbox_slots = 1"),
        ("inbox in two of the slots", "generation % inbox_slots * face_start", "generation % 2 * face_start"),
        ("inbox in one slot", "generation % inbox_slots * face_start", "0 * generation * face_start"),
    ),
    *in_file(
        "stencil, packets",
        HOST,
        ("host: no wait for the neighbours' faces",
         "      s.wait(sent(from, generation - 1));\n", ""),
        ("host: wait for the faces of the step before", "s.wait(sent(from, generation - 1));",
         "s.wait(sent(from, generation - (generation > 2 ? 2 : 1)));"),
        ("host: the inside does not wait for the faces",
         "  middle.wait(sent(pe, generation - 1));  // the faces of the step before are what the inside reads now\n",
         ""),
        ("host: the faces do not wait for the inside",
         "  border.wait(inside_done_[i]);  // of the step before\n", ""),
        ("host: faces announced before they are copied",
         "  copy_faces(s, pe, generation);\n  s.record(sent(pe, generation));\n",
         "  s.record(sent(pe, generation));\n  copy_faces(s, pe, generation);\n"),
        ("host: faces announced before they are made",
         "  border.launch_kernel(face_blocks, step_kernel(a, step_part::border, 0), shape);\n"
         "  if (options_.how == variant::overlap) copy_faces(border, pe, generation);\n"
         "  border.record(sent(pe, generation));\n",
         "  border.record(sent(pe, generation));\n"
         "  border.launch_kernel(face_blocks, step_kernel(a, step_part::border, 0), shape);\n"
         "  if (options_.how == variant::overlap) copy_faces(border, pe, generation);\n"),
    ),
    *in_file(
        "conjugate gradients",
        CG_WORKER,
        ("ready not raised", "    if (d.persistent) t.signal_set(d.ready + t.index(), number, t.pe());\n", ""),
        ("ready raised for the product after", "t.signal_set(d.ready + t.index(), number, t.pe());",
         "t.signal_set(d.ready + t.index(), number + 1, t.pe());"),
        ("no wait for ready",
         "      if (plan.peers > 0) t.wait_all(d.ready + plan.first_peer, plan.peers, number, t.pe());\n", ""),
        ("wait for ready of the product before", "t.wait_all(d.ready + plan.first_peer, plan.peers, number, t.pe());",
         "t.wait_all(d.ready + plan.first_peer, plan.peers, number - 1, t.pe());"),
        ("wait for the first peer only", "t.wait_all(d.ready + plan.first_peer, plan.peers, number, t.pe());",
         "t.wait_all(d.ready + plan.first_peer, 1, number, t.pe());"),
        ("taken not raised", "team_.signal_set(desk_->taken + team_.index(), product_, team_.pe());",
         "team_.sync();"),
        ("taken raised before anything is taken",
         "    team_.for_each(index_range{plan.first_box, plan.first_box + plan.boxes}, [&](index_t box) {\n",
         "    team_.signal_set(desk_->taken + team_.index(), product_, team_.pe());\n"
         "    team_.for_each(index_range{plan.first_box, plan.first_box + plan.boxes}, [&](index_t box) {\n"),
        ("no wait for taken",
         "        t.wait_all(d.taken + plan.first_taker, plan.takers, number, t.pe());\n", ""),
        ("wait for taken of the product before",
         "t.wait_all(d.taken + plan.first_taker, plan.takers, number, t.pe());",
         "t.wait_all(d.taken + plan.first_taker, plan.takers, number - 1, t.pe());"),
        ("values of other PEs used before they are taken", "plan.takers > 0 ? which_parts::own : which_parts::all",
         "which_parts::all"),
        ("one slot for what is published", "s.published + slot * s.columns", "s.published + 0 * slot * s.columns"),
        ("one slot for what travels", "s.boxes + slot * s.halo", "s.boxes + 0 * slot * s.halo"),
        ("values sent with the number before", "k.send(d.boxes[number % 2] + e.box, value, number, e.pe);",
         "k.send(d.boxes[number % 2] + e.box, value, number - 1, e.pe);"),
        ("values sent to the other slot", "k.send(d.boxes[number % 2] + e.box,",
         "k.send(d.boxes[(number + 1) % 2] + e.box,"),
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
        ("one slot for parts", "boxes.parts + slot * boxes.blocks", "boxes.parts + 0 * slot * boxes.blocks",
         "a block posts its next part when it has the sum, for which all parts have been read"),
        ("one slot for totals", "boxes.totals + slot * b.n_pes()", "boxes.totals + 0 * slot * b.n_pes()"),
        ("parts of the sum before", "detail::take(t, parts + i, number, t.pe())",
         "detail::take(t, parts + i, number - 1, t.pe())"),
        ("the total of the first PE alone is awaited", "i < t.n_pes() * sum_words; i += t.members()",
         "i < sum_words; i += t.members()"),
        ("a sum for the first PE alone", "to < t.n_pes(); to += senders", "to < 1; to += senders"),
    ),
    *in_file(
        "conjugate gradients",
        CG_PROGRAM,
        ("the number of a sum not raised", "++sum_", "sum_ + 1"),
        ("no farewell", "    post(farewell);\n", ""),
        ("the next launch counts products from the start", "    state_->products = k_.product_number();\n", ""),
        ("the next launch counts sums from the start", "    state_->sums = sum_;\n", ""),
    ),
    *in_file(
        "pipeline",
        PIPELINE,
        ("no credit", "            if (item > 2) b.wait(empty, number - 2, b.pe() + 1);  // the credit\n", ""),
        ("a credit too many", "if (item > 2) b.wait(empty, number - 2, b.pe() + 1);",
         "if (item > 3) b.wait(empty, number - 3, b.pe() + 1);"),
        ("credits not sent", "          if (!first) b.signal_set(empty, number, b.pe() - 1);\n", ""),
        ("no wait for the item", "          if (!first) b.wait(full, number, b.pe() - 1);\n", ""),
        ("wait for the item before", "b.wait(full, number, b.pe() - 1)", "b.wait(full, number - 1, b.pe() - 1)"),
        ("the signal apart from its data",
         "b.put_signal(slot + item % 2 * width, value, width, full, number, b.pe() + 1);",
         "b.put(slot + item % 2 * width, value, width, b.pe() + 1);\n"
         "            b.signal_set(full, number, b.pe() + 1);"),
        ("one slot to send to", "b.put_signal(slot + item % 2 * width,", "b.put_signal(slot + width,"),
        ("credit before the item is read",
         "          if (!first) b.wait(full, number, b.pe() - 1);\n",
         "          if (!first) b.wait(full, number, b.pe() - 1);\n"
         "          if (!first) b.signal_set(empty, number, b.pe() - 1);\n"),
    ),
]  # fmt: skip


@dataclass
class Outcome:
    found: str  # empty: nothing
    seconds: float


class Workshop:
    """Builds and runs programs, with one mutation or none."""

    def __init__(self, build: Path, scratch: Path, seeds: int) -> None:
        self.scratch = scratch
        self.seeds = seeds
        self.libraries = [build / name for name in ("libstarling.a", "libstarling_accesses.a", "libstarling.a")]
        for library in self.libraries:
            if not library.exists():
                raise Broken(f"{library} is not there; build it first: make test, or cmake --build {build}")
        self.command = self.compile_command(build)
        self.standard = scratch / "standard.hpp"

    @staticmethod
    def compile_command(build: Path) -> list[str]:
        """How CMake compiles for check mode, without the input and the output; the code need not be fast."""
        for entry in json.loads((build / "compile_commands.json").read_text()):
            if entry["file"].endswith(KERNELS) and "starling_stencil_checked.dir" in entry["command"]:
                words = shlex.split(entry["command"])
                words = [word for word in words[: words.index("-o")] if not word.startswith("-Werror")]
                return ["-O1" if word == "-O3" else word for word in words]
        raise Broken(f"{build} has no check mode: it needs g++ and a build without CUDA")

    def precompile(self) -> None:
        """What no mutation changes, and takes most of the time."""
        headers = ("cuda/atomic", "cuda/std/mdspan", "cstdio", "functional", "memory", "numeric", "string", "vector")
        self.standard.write_text("".join(f"#include <{header}>\n" for header in headers))
        status, said = self.run([*self.command, "-x", "c++-header", self.standard, "-o", f"{self.standard}.gch"], 300)
        if status != 0:
            raise Broken(f"the standard headers do not compile: {said[-200:]}")

    def run(self, words: Iterable[str | Path], timeout: float, **environment: str) -> tuple[int | None, str]:
        try:
            done = subprocess.run(
                [str(word) for word in words],
                cwd=ROOT,
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stdout + done.stderr

    def compile(self, source: Path, output: Path, changed: Path | None) -> None:
        # What is changed hides what it replaces.
        folders = [f"-I{changed}/include", f"-I{changed}/apps"] if changed else []
        words = [self.command[0], *folders, *self.command[1:], f"-I{ROOT}/tests/mutate", "-include", str(self.standard)]
        words += ["-o", str(output), "-c", str(source)]
        status, said = self.run(words, 300)
        if status != 0:
            errors = [line for line in said.splitlines() if "error" in line] or said.splitlines()
            raise Broken(f"{source.name} does not compile: {'; '.join(errors[:2])}")

    def object_of(self, name: str, source: str) -> Path:
        """The unchanged object; programs share it unless a setting of theirs is in it."""
        setting = PROGRAMS[name].setting
        own = re.sub(r"\W+", "_", name) if setting and setting[0] == source else "shared"
        return self.scratch / own / f"{source.replace('/', '_')}.o"

    def compile_unchanged(self, name: str, source: str) -> None:
        output = self.object_of(name, source)
        output.parent.mkdir(exist_ok=True)
        self.compile(self.written(name, source, output.parent, None), output, None)

    def written(self, name: str, source: str, folder: Path, mutation: Mutation | None) -> Path:
        """The source file, in `folder` if its text is not that of the tree."""
        setting = PROGRAMS[name].setting
        text = (ROOT / source).read_text()
        if setting and setting[0] == source:
            text = replaced(text, setting[1], setting[2], source)
        if mutation and mutation.file == source:
            text = replaced(text, mutation.old, mutation.new, source)
        if text == (ROOT / source).read_text():
            return ROOT / source
        changed = folder / source
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_text(text)
        return changed

    def judge(self, name: str, mutation: Mutation | None, folder: Path) -> Outcome:
        program = PROGRAMS[name]
        folder.mkdir(exist_ok=True)
        again = program.again(mutation.file) if mutation else ()
        if mutation and mutation.file not in program.sources:
            changed = folder / mutation.file
            changed.parent.mkdir(parents=True, exist_ok=True)
            text = (ROOT / mutation.file).read_text()
            changed.write_text(replaced(text, mutation.old, mutation.new, mutation.file))
        objects = []
        for source in program.sources:
            output = self.object_of(name, source)
            if source in again:
                output = folder / output.name
                self.compile(self.written(name, source, folder, mutation), output, folder)
            objects.append(output)
        binary = folder / "program"
        status, said = self.run([self.command[0], *objects, *self.libraries, "-lpthread", "-ldl", "-o", binary], 120)
        if status != 0:
            raise Broken(f"does not link: {said[-200:]}")
        start = time.monotonic()
        words = [word.format(seeds=self.seeds) for word in program.arguments]
        environment = {key: value.format(seeds=self.seeds) for key, value in program.environment}
        status, said = self.run([binary, *words], 240, **environment)
        return Outcome(verdict(status, said), time.monotonic() - start)


def replaced(text: str, old: str, new: str, file: str) -> str:
    if text.count(old) != 1:
        raise Broken(f"{file} has this text {text.count(old)} times, not once; bring the mutation up to date: {old!r}")
    return text.replace(old, new)


def verdict(status: int | None, said: str) -> str:
    if status == 0:
        return ""
    if status is None:
        raise Broken("no end after 240 s")
    last = said.strip().splitlines()[-1] if said.strip() else ""
    if last.startswith(("found ", "wrong result")):
        return last
    if match := re.search(r"check: (.*) \(seed (\d+)\)", said):  # an example
        return f"found {match[1]}, seed {match[2]}"
    if status > 0 and not said.strip().startswith("usage"):
        return f"wrong result: {last or 'exit status ' + str(status)}"
    raise Broken(f"ended with {status}: {last}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Shows that check mode notices mistakes in the shipped protocols.")
    parser.add_argument("--build", type=Path, default=ROOT / "build/host", help="a build with check mode")
    parser.add_argument("--seeds", type=int, default=200, help="schedules for each run of a program")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 8))
    parser.add_argument("--only", default="", help="mutations whose program, file or text contains this")
    parser.add_argument("--list", action="store_true", help="name the mutations and stop")
    arguments = parser.parse_args()

    chosen = [m for m in MUTATIONS if arguments.only in f"{m.program} {m.file} {m.what}"]
    if arguments.list or not chosen:
        print("\n".join(f"{m.program}: {m.what} ({m.file})" for m in chosen) or "no such mutation")
        return 0 if chosen else 2
    names = list(dict.fromkeys(m.program for m in chosen))
    bad = 0
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(arguments.jobs) as pool:
        try:
            shop = Workshop(arguments.build.resolve(), Path(scratch), arguments.seeds)
            shop.precompile()
            needed = {
                shop.object_of(name, source): (name, source) for name in names for source in PROGRAMS[name].sources
            }
            list(pool.map(lambda pair: shop.compile_unchanged(*pair), needed.values()))
            for name in names:
                outcome = shop.judge(name, None, Path(scratch, f"unchanged {name}"))
                print(f"{name}, unchanged: {outcome.found or 'passed'} ({outcome.seconds:.1f} s)", flush=True)
                bad += bool(outcome.found)
        except Broken as reason:
            print(f"FAILED: {reason}")
            return 1
        if bad:
            return 1

        def attempt(numbered: tuple[int, Mutation]) -> tuple[Mutation, str, bool]:
            number, mutation = numbered
            try:
                found = shop.judge(mutation.program, mutation, Path(scratch, str(number))).found
            except Broken as reason:
                return mutation, f"NOT JUDGED: {reason}", False
            if mutation.same:
                return mutation, f"NOT the same: {found}" if found else f"same: {mutation.same}", not found
            return mutation, found or "SURVIVES", bool(found)

        file = ""
        noticed = equivalent = 0
        for mutation, text, good in pool.map(attempt, enumerate(chosen)):
            if (heading := f"{mutation.file} ({mutation.program})") != file:
                file = heading
                print(f"\n{file}")
            print(f"  {mutation.what:<52} {text}", flush=True)
            bad += not good
            noticed += good and not mutation.same
            equivalent += good and bool(mutation.same)
    print(f"\n{noticed} mutations noticed, {equivalent} change nothing, {bad} survive or could not be judged")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
