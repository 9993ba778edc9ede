"""Mistakes in contexts, batches and counted puts."""

from __future__ import annotations

from mutations.model import Program, in_file

PUTS = "include/starling/device/communication.hpp"
CONTEXT = "include/starling/shmem/context.hpp"
BATCH = "include/starling/shmem/batch.hpp"
SIGNALS = "include/starling/shmem/signals.hpp"

PROGRAM = "tests/mutate/contexts.cpp"
PROGRAMS = {"contexts": Program((PROGRAM,), tuple((header, (PROGRAM,)) for header in (PUTS, CONTEXT, BATCH, SIGNALS)))}

MUTATIONS = [
    *in_file(
        "contexts",
        PUTS,
        ("quiet of the default context alone",
         "self().port().quiet(self().context_number());", "self().port().quiet(0);"),
        ("fence of the default context alone",
         "self().port().fence(self().context_number());", "self().port().fence(0);"),
        ("a counted put that counts elements", "static_cast<std::uint64_t>(bytes<T>(n)) : 0, pe,",
         "static_cast<std::uint64_t>(n) : 0, pe,"),
        ("a counted put that sets", "signal_op::add, true, at);", "signal_op::set, true, at);"),
        ("a nonblocking put with a signal on the default context",
         "bytes_behind(source), self().context_number()};", "bytes_behind(source), 0};"),
    ),
    *in_file(
        "contexts",
        CONTEXT,
        ("a context that ends without completing", "    this->quiet();\n", ""),
    ),
    *in_file(
        "contexts",
        BATCH,
        ("a batch's signal without its fence", "    if constexpr (!target::on_gpu) puts_.fence();\n", ""),
        ("a batch's quiet that does nothing", "void quiet() const { puts_.quiet(); }", "void quiet() const {}"),
    ),
    *in_file(
        "contexts",
        SIGNALS,
        ("a signal fetched without learning of what came with it", "cuda::memory_order_acquire, at);",
         "cuda::memory_order_relaxed, at);"),
    ),
]  # fmt: skip
