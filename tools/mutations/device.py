"""Mistakes in what every kernel uses, and in an example."""

from __future__ import annotations

from mutations.model import Program, in_file

BLOCK = "include/starling/device/block.hpp"
PACKETS = "include/starling/device/packet_exchange.hpp"
PUTS = "include/starling/device/communication.hpp"
SIGNALS = "include/starling/device/signalling.hpp"
MESSAGES = "include/starling/device/messages.hpp"
CHANNEL = "include/starling/device/channel.hpp"
PIPELINE = "examples/02_pipeline.cpp"

SIGNALLED = (
    "self().port().put_signal(contiguous(dest.on(pe), source, n, pe, blocking, at), signal_of(sig, op, value, pe, at));"
)
LEAVE_RESULT = "      if (op != operation::sync_all && member() == 0) as<T>(*c.result.on(pe())) = sum;\n"

PROGRAMS = {
    "collectives": Program(("tests/mutate/collectives.cpp",), ((BLOCK, ("tests/mutate/collectives.cpp",)),)),
    "transfers": Program(
        ("tests/mutate/transfers.cpp",),
        tuple((header, ("tests/mutate/transfers.cpp",)) for header in (PACKETS, PUTS, SIGNALS)),
    ),
    "channels": Program(
        ("tests/mutate/channels.cpp",),
        ((MESSAGES, ("tests/mutate/channels.cpp",)), (CHANNEL, ("tests/mutate/channels.cpp",))),
    ),
    "pipeline": Program(
        (PIPELINE,),
        ((PIPELINE, (PIPELINE,)),),
        arguments=(),
        environment=(("STARLING_MACHINE", "host"), ("STARLING_DEVICES", "3"), ("STARLING_CHECK", "{seeds}")),
    ),
}

MUTATIONS = [
    *in_file(
        "collectives",
        BLOCK,
        ("sync_pe without its arrival",
         "    begin_collective({operation::sync_pe, 0, 0, any_pe, \"\", at});\n    arrive(at);\n",
         "    begin_collective({operation::sync_pe, 0, 0, any_pe, \"\", at});\n    ++arrivals_;\n"),
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
        ("meet: released before the result is there", f"{LEAVE_RESULT}      release(at);\n",
         f"      release(at);\n{LEAVE_RESULT}"),
        ("meet: released before the PEs have met",
         f"      sum = exchange(op, sum, combine, at);\n{LEAVE_RESULT}      release(at);\n",
         f"      release(at);\n      sum = exchange(op, sum, combine, at);\n{LEAVE_RESULT}"),
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
        ("a packet taken without waiting", "      self().own_port().wait(request);\n", ""),
        ("a packet taken with the number before",
         "{&local->number, compare::eq, number, from, op, at}",
         "{&local->number, compare::eq, number - 1, from, op, at}"),
        ("the number of a packet sent apart from its data",
         "      self().own_port().put_signal(\n"
         "          {&to->data, &data, 1, sizeof data, 1, 1, pe, true, at, unknown_bytes, self().context_number()},\n"
         "          {&to->number,",
         "      self().own_port().put({&to->data, &data, 1, sizeof data, 1, 1, pe, true, at});\n"
         "      self().own_port().update(\n          {&to->number,"),
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
         "signalled_elements(dest, source, n, sig, value, pe, op, true, at);",
         "signalled_elements(dest, source, n, sig, value, pe, op, false, at);"),
        ("p returns before its value is read",
         "transfer_of(dest, 1, &value, 1, 1, pe, true, at)", "transfer_of(dest, 1, &value, 1, 1, pe, false, at)"),
        ("computed put returns before its values are sent", "transfer_of(dest, 1, staged, 1, n, pe, true, at)",
         "transfer_of(dest, 1, staged, 1, n, pe, false, at)"),
        ("put_signal: the signal apart from its data", SIGNALLED,
         "self().port().put(contiguous(dest.on(pe), source, n, pe, blocking, at));\n"
         "      self().port().update(signal_of(sig, op, value, pe, at));"),
        ("put_signal: the signal before its data", SIGNALLED,
         "self().port().update(signal_of(sig, op, value, pe, at));\n"
         "      self().port().put(contiguous(dest.on(pe), source, n, pe, blocking, at));"),
        ("put_signal: a signal that orders its data alone",
         "source, n, pe, blocking, at), signal_of(sig, op, value, pe, at));",
         "source, n, pe, blocking, at), {sig.on(pe), op, value, pe, at, false});"),
        ("computed put_signal: the signal apart from its data",
         "self().port().put_signal(contiguous(dest.on(pe), staged, n, pe, true, at), "
         "signal_of(sig, op, value, pe, at));",
         "self().port().put(contiguous(dest.on(pe), staged, n, pe, true, at));\n"
         "      self().port().update(signal_of(sig, op, value, pe, at));"),
        ("computed put_signal: a signal that orders its data alone",
         "staged, n, pe, true, at), signal_of(sig, op, value, pe, at));",
         "staged, n, pe, true, at), {sig.on(pe), op, value, pe, at, false});"),
        ("computed put_signal returns before its values are sent",
         "contiguous(dest.on(pe), staged, n, pe, true, at)", "contiguous(dest.on(pe), staged, n, pe, false, at)"),
        ("put_signal: the first element not sent",
         "self().port().put_signal(contiguous(dest.on(pe), source, n, pe, blocking, at)",
         "self().port().put_signal(contiguous(dest.on(pe) + 1, source + 1, n - 1, pe, blocking, at)"),
        ("get returns before the data is there",
         "get_elements(dest, 1, source, 1, n, pe, true, at);", "get_elements(dest, 1, source, 1, n, pe, false, at);"),
        ("iget returns before the data is there",
         "get_elements(dest, dest_stride, source, source_stride, n, pe, true, at);",
         "get_elements(dest, dest_stride, source, source_stride, n, pe, false, at);"),
        ("fence does nothing", "      self().port().fence(self().context_number());\n", ""),
        ("quiet does nothing", "      self().port().quiet(self().context_number());\n", ""),
        ("quiet that only orders", "      self().port().quiet(self().context_number());\n",
         "      self().port().fence(self().context_number());\n"),
    ),
    *in_file(
        "transfers",
        SIGNALS,
        ("signal_set that orders nothing",
         "self().port().update({sig.on(pe), op, value, pe, at, true, self().context_number()});\n    }\n  }\n",
         "self().port().update({sig.on(pe), op, value, pe, at, false, self().context_number()});\n    }\n  }\n"),
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
        "channels",
        MESSAGES,
        ("no credit awaited",
         "    if (number > slots) self().wait(c.taken_by(pe), number - slots, pe, at);\n", ""),
        ("a credit too many awaited", "self().wait(c.taken_by(pe), number - slots, pe, at)",
         "self().wait(c.taken_by(pe), number - slots - 1, pe, at)"),
        ("no credit given", "    self().signal_set(c.taken_by(self().pe()), number, from, at);\n", ""),
        ("the credit of another PE", "self().signal_set(c.taken_by(self().pe()),", "self().signal_set(c.taken_by(0),"),
        ("a message of stores not awaited", "      self().wait(c.arrived_of(number), number, from, at);\n", ""),
        ("a message of stores awaited with the number before",
         "self().wait(c.arrived_of(number), number, from, at)",
         "self().wait(c.arrived_of(number), number - 1, from, at)"),
        ("send returns before its source is read",
         "sizeof(T), 1, 1, pe, true, at, unknown_bytes,", "sizeof(T), 1, 1, pe, false, at, unknown_bytes,"),
        ("the last word not taken", "first < words; first", "first < words - 1; first"),
        ("words beside their places", "memcpy(words + 8 * k, &word, 8)", "memcpy(words + 8 * (k / 2), &word, 8)"),
    ),
    *in_file(
        "channels",
        CHANNEL,
        ("one slot for all messages", "number % static_cast<std::uint64_t>(p_.slots)", "number % 1"),
        ("one lane for all senders", "const index_t first = static_cast<index_t>(i) * p_.slots;",
         "const index_t first = static_cast<index_t>(i) * 0;"),
        ("one word less than the message has", "return words > 0 ? words : 1;", "return words > 1 ? words - 1 : 1;"),
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
