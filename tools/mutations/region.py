"""Mistakes in regions: commit, arrival, credit, and the queue of the polling agent."""

from __future__ import annotations

from mutations.model import Program, in_file

COMMIT = "include/starling/region/commit.hpp"
TILE = "include/starling/region/tile.hpp"
STATE = "include/starling/region/state.hpp"
HANDLE = "include/starling/region/handle.hpp"
HOST_COPY = "include/starling/region/host_copy.hpp"
VERIFY = "include/starling/region/verify.hpp"
INLINE = "include/starling/region/agent_inline.hpp"
POLLING = "include/starling/region/agent_polling.hpp"
SENDER = "include/starling/region/chunk_sender.hpp"
LAUNCHED_COPY = "include/starling/region/agent_launched.hpp"
OWN_WARP = "include/starling/region/agent_own_warp.hpp"
COPY_ENGINE = "include/starling/region/agent_copy_engine.hpp"
COPY_PLAN = "src/region/copy_plan.cpp"
COPY_QUEUE = "src/machine/host/copy_queue.cpp"
FLUSH = "include/starling/region/flush.hpp"
PIECES = "include/starling/region/pieces.hpp"
LAYOUT = "src/region/layout.cpp"
MEMORY = "src/region/region_memory.cpp"
TASK_VIEWS = "include/starling/region/tasks/views.hpp"
TASK_DEPENDENCIES = "include/starling/region/tasks/dependencies.hpp"
TASK_BLOCKS = "include/starling/region/tasks/update_blocks.hpp"
TASK_LAUNCH = "include/starling/region/tasks/launch.hpp"
LAUNCHED = "include/starling/region/launched_kernel.hpp"
ORDER = "src/stf/persistent/program_order.cpp"
STREAM = "src/machine/host/host_stream.cpp"
TEST = "tests/mutate/region.cpp"
TASKS_TEST = "tests/mutate/region_tasks.cpp"

PROGRAMS = {
    "region": Program(
        (TEST, LAYOUT, MEMORY, COPY_PLAN, COPY_QUEUE),
        (
            *(
                (header, (TEST,))
                for header in (
                    COMMIT,
                    STATE,
                    TILE,
                    HANDLE,
                    INLINE,
                    POLLING,
                    SENDER,
                    LAUNCHED_COPY,
                    OWN_WARP,
                    COPY_ENGINE,
                    HOST_COPY,
                    VERIFY,
                    FLUSH,
                    PIECES,
                )
            ),
            *((source, (source,)) for source in (LAYOUT, MEMORY, COPY_PLAN, COPY_QUEUE)),
        ),
    ),
    "region_tasks": Program(
        (TASKS_TEST, ORDER, COPY_PLAN, STREAM),
        (
            *(
                (header, (TASKS_TEST,))
                for header in (COMMIT, TASK_VIEWS, TASK_DEPENDENCIES, TASK_BLOCKS, TASK_LAUNCH, LAUNCHED, COPY_ENGINE)
            ),
            *((source, (source,)) for source in (ORDER, COPY_PLAN, STREAM)),
        ),
    ),
}

KEPT = "const bool kept = s.stored.on(pe)[s.word_of(c, epoch)] != epoch;"
MADE = "  made.on(one.pe())[s.word_of(c, epoch)] = epoch;\n"
PULLED = "  one.atomic_set(triggers + c, epoch, one.pe(), cuda::memory_order_release, at);\n"
READY = "    if (all == wanted) ready(one, s, values, pitch, c, epoch, at);"

MUTATIONS = [
    *in_file(
        "region",
        COMMIT,
        ("one writer less awaited", READY,
         READY.replace("all == wanted", "all + 1 == wanted || (writers == 1 && all == wanted)")),
        ("a chunk that is never ready", READY, ""),
        ("a chunk handed on while it is held", READY, READY.replace("all == wanted", "now == wanted")),
        ("a chunk always unchanged", KEPT, "const bool kept = true;"),
        ("a chunk never unchanged", KEPT, "const bool kept = false;"),
        ("the agent not told that some was flushed", "how = region_item::pieces;", "how = region_item::whole;"),
        ("stores not noted", "    if (stored) note(one, s.stored + word, epoch, at);", "    (void)stored;"),
        ("one word for the stores of all chunks", "    if (stored) note(one, s.stored + word, epoch, at);",
         "    if (stored) note(one, s.stored + s.buffer_of(epoch), epoch, at);"),
        ("the own PE not told that a chunk is unchanged", "    *s.kept_in(epoch, chunk).on(pe) = epoch;\n", ""),
        ("the own PE not told of a chunk", "  one.signal_set(s.arrived + chunk, epoch, pe, at);\n}", "}"),
    ),
    *in_file(
        "region",
        STATE,
        ("commits that order nothing",
         "return one.atomic_fetch_add(word, more, one.pe(), cuda::memory_order_acq_rel, at);",
         "return one.atomic_fetch_add(word, more, one.pe(), cuda::memory_order_relaxed, at);"),
        ("commits that release only",
         "return one.atomic_fetch_add(word, more, one.pe(), cuda::memory_order_acq_rel, at);",
         "return one.atomic_fetch_add(word, more, one.pe(), cuda::memory_order_release, at);"),
        ("commits that acquire only",
         "return one.atomic_fetch_add(word, more, one.pe(), cuda::memory_order_acq_rel, at);",
         "return one.atomic_fetch_add(word, more, one.pe(), cuda::memory_order_acquire, at);"),
        ("all epochs in one buffer",
         "return static_cast<int>(epoch % static_cast<std::uint64_t>(buffers));",
         "return 0;"),
        ("blocks that gave credit not counted from 0 again",
         "    one.atomic_set(word, 0, one.pe(), cuda::memory_order_relaxed, at);", "    (void)at;"),
    ),
    *in_file(
        "region",
        HANDLE,
        ("await without its wait", "    b.wait_each(end - first, what, epoch, at);", "    (void)what, (void)end;"),
        ("await of the epoch before", "    b.wait_each(end - first, what, epoch, at);",
         "    b.wait_each(end - first, what, epoch - 1, at);"),
        ("await of all chunks but the last", "    b.wait_each(end - first, what, epoch, at);",
         "    b.wait_each(end - first - 1, what, epoch, at);"),
        ("every mapping writes the tiles of the first", "write_tiles(b, epoch, s_.tile_at.on(b.pe())[mapping],",
         "write_tiles(b, epoch, 0,"),
        ("tiles written without credits", "    if (tracks && s_.credits) await_credits(b, epoch, at);\n", ""),
        ("the credit of one PE not awaited", "    b.wait_each(b.n_pes(), what, epoch - buffers + 1, at);",
         "    b.wait_each(b.n_pes() - 1, what, epoch - buffers + 1, at);"),
        ("a credit less awaited", "    b.wait_each(b.n_pes(), what, epoch - buffers + 1, at);",
         "    b.wait_each(b.n_pes(), what, epoch - buffers, at);"),
        ("tiles written before the last use was sent",
         "      if (tracks && s_.awaits_sent()) await_sent(b, k, epoch, at);\n", ""),
        ("credit without the others of the PE",
         "    if (!region_words::is_last(one, s_.given + s_.buffer_of(epoch), b.count(), at)) return;\n", ""),
        ("credit for the next epoch", "one.signal_set(s_.credit + b.pe(), epoch + 1, to, at);",
         "one.signal_set(s_.credit + b.pe(), epoch + 2, to, at);"),
        ("inline: no puts", "          if (s_.gets(pe, c, to)) b.put(", "          if (c < 0) b.put("),
        ("inline: puts to some", "for (int k = 1; k < b.n_pes(); ++k) {\n          const int to",
         "for (int k = 2; k < b.n_pes(); ++k) {\n          const int to"),
        ("inline: tiles put short", "end - begin, to, at);", "end - begin - 1, to, at);"),
    ),
    *in_file(
        "region",
        TILE,
        ("unchanged tiles not told from others", "{ *kept = true; }", "{ *kept = false; }"),
        ("an epoch that says what another left", "*state_->kept_in(epoch_, chunk).on(block_->pe()) != epoch_",
         "*state_->kept_in(epoch_ + 1, chunk).on(block_->pe()) != epoch_"),
    ),
    *in_file(
        "region",
        INLINE,
        ("inline: other PEs not told of a chunk",
         "    else\n      one.signal_set(s.arrived + chunk, epoch, to, at);\n", ""),
        ("inline: other PEs not told that a chunk is unchanged",
         "      one.put_signal(kept, kept.on(pe), 1, s.arrived + chunk, epoch, to, signal_op::set, at);",
         "      one.signal_set(s.arrived + chunk, epoch, to, at);"),
    ),
    *in_file(
        "region",
        POLLING,
        ("the agent not told of a chunk", "  push(one, s, c % s.agent_blocks, {epoch, c, how}, at);",
         "  (void)one, (void)s, (void)c, (void)epoch, (void)how, (void)at;"),
        ("the agent not told of the end",
         "push(b.thread(), s, j, {0, region_item::end, region_item::whole}, at);", "(void)j, (void)at;"),
        ("the ticket raised before its item",
         "  s.items.on(one.pe())[slot] = item;\n  one.signal_set(s.filled + slot, ticket + 1, one.pe(), at);",
         "  one.signal_set(s.filled + slot, ticket + 1, one.pe(), at);\n  s.items.on(one.pe())[slot] = item;"),
        ("an item for the agent block beside it", "c % s.agent_blocks, {epoch", "(c + 1) % s.agent_blocks, {epoch",
         "any agent block can send any chunk without credits; with them one chunk stays with one block all the same"),
        ("the agent does not wait for items", "      b.wait_idle(filled, ticket + 1, pe);\n", ""),
        ("the agent waits for the ticket before", "b.wait_idle(filled, ticket + 1, pe);",
         "b.wait_idle(filled, ticket, pe);"),
        ("what was served not kept", "      b.signal_set(served, ++ticket, pe);", "      ++ticket;"),
    ),
    *in_file(
        "region",
        SENDER,
        ("the agent sends to all but one", "for (int k = 1; k < b.n_pes(); ++k) {",
         "for (int k = 2; k < b.n_pes(); ++k) {"),
        ("the agent sends chunks short", "    b.put(start, start.on(b.pe()), e.size(), to);",
         "    b.put(start, start.on(b.pe()), e.size() - 1, to);"),
        ("arrival not ordered behind the chunk", "    if (puts) b.fence();\n", ""),
        ("sent before it is", "    if (s.awaits_sent()) b.signal_set(s.sent + of_part, item.epoch, b.pe());",
         "    if (s.awaits_sent()) b.signal_set(s.sent + of_part, item.epoch + 1, b.pe());"),
        ("never sent",
         "    if (s.awaits_sent()) b.signal_set(s.sent + of_part, item.epoch, b.pe());",
         ""),
        ("other PEs not told that a chunk is unchanged", "word.on(b.pe()), 1, to", "word.on(b.pe()), 0, to"),
        ("unchanged chunks sent all the same", "    if (item.how == region_item::kept) {\n",
         "    if (item.how > region_item::pieces) {\n"),
        ("flushed tiles sent again", "[s.word_of(i, epoch)] != epoch)", "[s.word_of(i, epoch)] <= epoch)"),
        ("the rest of a chunk not sent", "      if (s.flushed.on(pe)", "      if (b.n_pes() < 1 && s.flushed.on(pe)"),
        ("arrival before the rest", "    b.fence();\n  }\n};", "  }\n};"),
        ("sent before it has arrived",
         "    if (s.flushes) b.quiet();  // whom a flush tells of the chunk may be on any PE\n", ""),
    ),
    *in_file(
        "region",
        LAUNCHED_COPY,
        ("launched: nothing launched", "  if (!one.launch(", "  if (at.line < 0 && !one.launch("),
        ("launched: launched for each epoch, whatever is under way", "!= 0) return;",
         "> (std::uint64_t{1} << 40)) return;"),
        ("launched: what is left to a copy is not sent", "where::current()) > 1;", "where::current()) > 5;"),
        ("launched: not counted as sent", "      if (b.member() == 0) more = ",
         "      if (b.member() == 0 && next.epoch > 100) more = "),
        ("launched: nothing sent where no launch has room", " copy.run(one);", " return;"),
        ("launched: the same epoch again", "more; ++next.epoch)", "more;)"),
        ("launched: a chunk left to a copy always unchanged", "s.word_of(c, next.epoch)] != next.epoch;",
         "s.word_of(c, next.epoch)] != 0;"),
        ("launched: one count for all chunks", "count(one, s.handed + c, 1, at)", "count(one, s.handed, 1, at)"),
    ),
    *in_file(
        "region",
        OWN_WARP,
        ("own warp: not told of its tiles", "  rings.items.on(pe)[slot] = item;\n",
         "  if (item.chunk != region_item::end) return;\n  rings.items.on(pe)[slot] = item;\n"),
        ("own warp: the ticket raised before its item",
         "  rings.items.on(pe)[slot] = item;\n  one.signal_set(rings.filled + slot, ++ticket, pe, at);",
         "  one.signal_set(rings.filled + slot, ++ticket, pe, at);\n  rings.items.on(pe)[slot] = item;"),
        ("own warp: no room looked for",
         "  if (ticket >= slots) one.wait(rings.served + one.index(), ticket + 1 - slots, pe, at);\n", ""),
        ("own warp: room for one more", "ticket + 1 - slots, pe, at);", "ticket - slots, pe, at);"),
        ("own warp: does not wait for items", "      g.wait_idle(filled, at_least, g.pe());\n", ""),
        ("own warp: waits for the ticket before", "      g.wait_idle(filled, at_least, g.pe());",
         "      g.wait_idle(filled, at_least - 1, g.pe());"),
        ("own warp: what was served not kept", "      g.signal_set(served, ++ticket, pe);", "      ++ticket;"),
        ("own warp: tiles of one chunk alone", "for (std::int32_t i = first; i < end; ++i) put_tile(",
         "for (std::int32_t i = first; i < first + 1; ++i) put_tile("),
        ("own warp: unchanged tiles not counted", "    for (std::int32_t i = first; i < end; ++i) count_tile(",
         "    for (std::int32_t i = first; i < end && item.how == region_item::whole; ++i) count_tile("),
        ("own warp: tells before the last tile", "1, where::current()) + 1 == wanted;",
         "1, where::current()) + 2 == wanted || (wanted == 1 && s.use_of(epoch) == 1);"),
        ("own warp: nobody told", "    signal_arrival(g, c, epoch, g.votes(kept) != 0);\n", "    (void)kept;\n"),
        ("own warp: chunks always unchanged", "kept = last && s.stored.on(pe)[word] != epoch;", "kept = last;",
         "the word that goes with the arrival then says that it was stored"),
        ("own warp: chunks never unchanged", "kept = last && s.stored.on(pe)[word] != epoch;", "kept = false;"),
        ("own warp: tells all but one PE", "for (int k = 1; k < g.n_pes(); ++k) {",
         "for (int k = 2; k < g.n_pes(); ++k) {"),
        ("own warp: nothing for the host", "    if (!s.to_host()) return;\n", "    return;\n"),
        ("own warp: the host not told",
         "    if (s.to_host()) region_words::arrive_at_host(g, s, chunk, epoch, where::current());\n", ""),
        ("own warp: does not say what it has sent",
         "    if (s.awaits_sent()) g.signal_set(s.sent + c, epoch, pe);\n", ""),
        ("own warp: sent before it is", "g.signal_set(s.sent + c, epoch, pe);",
         "g.signal_set(s.sent + c, epoch + 1, pe);"),
    ),
    *in_file(
        "region",
        HOST_COPY,
        ("the host told before its data", "    g.fence();\n    g.signal_set", "    g.signal_set"),
        ("nothing put to the host", "  g.put(sym<T>(to, 0), source, n, g.pe(), at);",
         "  (void)g, (void)to, (void)source, (void)n, (void)at;"),
        ("the host told of the epoch before", "(sym<signal>(word, 0), epoch, g.pe(), at);",
         "(sym<signal>(word, 0), epoch - 1, g.pe(), at);"),
    ),
    *in_file(
        "region",
        VERIFY,
        ("hashes not sent before the arrival", "to, at);\n  }\n  g.fence();", "to, at);\n  }"),
        ("no hashes sent", "g.p(s.hash_word(chunk, epoch), hash, to, at);", "(void)hash;"),
        ("hashes of what lies beside", "return;\n  const std::uint64_t here",
         "return;\n  ++values;\n  const std::uint64_t here"),
    ),
    *in_file(
        "region",
        FLUSH,
        ("a hold that holds nothing", "    seen = swap_if(one, word, before, before + one_hold, at);\n", ""),
        ("a chunk held that is ready",
         "  while (commits_of(seen) < wanted || (commits_of(seen) == wanted && holds_of(seen) != 0)) {",
         "  while (commits_of(seen) <= wanted) {"),
        ("a hold that does not end", "      let_go(b.thread(), s, values, pitch, c, epoch, at);\n", ""),
        ("who lets go hands nothing on",
         "  if (now == wanted) ready(one, s, values, pitch, c, epoch, at);\n", "  (void)(now == wanted);\n"),
        ("a flush that leaves to the agent what it has", "      b.wait(s.sent + c, epoch, pe, at);\n", ""),
        ("no word of what was flushed", "      sent = epoch;\n", ""),
        ("no word that some was flushed",
         "      note(b.thread(), s.in_pieces + s.word_of(c, epoch), epoch, at);\n", ""),
        ("tiles of the block beside it", "+ b.rank(); t <", "+ (b.rank() + 1) % b.count(); t <"),
        ("a flush that completes nothing", "  b.quiet();\n", "",
         "the release of let_go has completed the puts; on GPUs inline stores need it"),
    ),
    *in_file("region", PIECES, ("pieces put short", "end - begin, to, at);", "end - begin - 1, to, at);")),
    *in_file(
        "region",
        LAYOUT,
        ("a part without elements ready by one mapping", "{static_cast<std::uint64_t>(mappings)}", "{1}"),
        ("writers counted of the first mapping alone", "    for (const std::int32_t c : mine) ++part",
         "    if (&ranges < &tiles.ranges[static_cast<std::size_t>(tiles.begins[1])])\n"
         "      for (const std::int32_t c : mine) ++part"),
    ),
    *in_file(
        "region",
        MEMORY,
        ("too few slots for the agent", "(state_.buffers + 1) * ceil_div(chunks, agents) + 2", "index_t{1}"),
    ),
    *in_file(
        "region",
        COPY_ENGINE,
        ("copy engine: the trigger pulled before the epoch is there", MADE + PULLED, PULLED + MADE),
        ("copy engine: a trigger that orders nothing", PULLED, PULLED.replace("release", "relaxed")),
        ("copy engine: never triggered", PULLED, "  (void)at, (void)triggers;\n"),
        ("copy engine: one epoch word for all buffers", "made.on(one.pe())[s.word_of(c, epoch)] =",
         "made.on(one.pe())[static_cast<index_t>(c) * s.buffers] ="),
        ("copy engine: not told that it is over",
         "    raise_no_more(b.thread(), s.triggers + c, last, at);", "    (void)last, (void)c, (void)at;"),
        ("copy engine: over without the last epoch", "s.triggers + c, last, at);", "s.triggers + c, last - last, at);"),
    ),
    *in_file(
        "region",
        COPY_PLAN,
        ("copy engine: waits for the epoch before", "  s.value = epoch;", "  s.value = epoch - 1;"),
        ("copy engine: the other buffer's data", "  const int buffer = state_.buffer_of(epoch);",
         "  const int buffer = state_.buffer_of(epoch + 1);"),
        ("copy engine: all but one PE", "for (int k = 1; k < pes; ++k)", "for (int k = 2; k < pes; ++k)"),
        ("copy engine: a byte less", "static_cast<std::size_t>(c.elements.size()) * element_ : 0;",
         "static_cast<std::size_t>(c.elements.size()) * element_ - 1 : 0;"),
        ("copy engine: does not say what it has sent",
         "state_.awaits_sent() ? state_.sent + c.of_part : sym<signal>();", "sym<signal>();"),
        ("copy engine: triggers of the run before",
         "  machine_.copy(words_.data(), reached.data(), words_.size());\n", ""),
        ("copy engine: begins with the last epoch again", "  first_epoch_ = last + 1;", "  first_epoch_ = last;"),
    ),
    *in_file(
        "region",
        COPY_QUEUE,
        ("copy engine: copies without waiting", "  b.wait_idle(s.awaited, s.value, b.pe());\n", ""),
        ("copy engine: arrival before the data",
         "s.data.on(b.pe()), static_cast<index_t>(s.bytes), pe);\n    b.quiet();",
         "s.data.on(b.pe()), static_cast<index_t>(s.bytes), pe);"),
        ("copy engine: goes on when it is over", "      if (!awaited(b, s)) return;\n",
         "      if (!awaited(b, s) && s.value > (std::uint64_t{1} << 40)) return;\n"),
    ),
    *in_file(
        "region_tasks",
        COMMIT,
        ("the epoch not kept for kernels that come",
         "  if (b.member() == 0) *s.newest.on(pe) = last_committed(s, pe);\n", ""),
        ("the epoch kept before all blocks have ended",
         "    last = is_last(b.thread(), s.ended, blocks, at);",
         "    *s.newest.on(b.pe()) = last_committed(s, b.pe());\n"
         "    last = is_last(b.thread(), s.ended, blocks, at);"),
        ("an epoch behind what was committed", "(uses - 1) * buffers + k;", "(uses - 1) * buffers;"),
    ),
    *in_file(
        "region_tasks",
        TASK_DEPENDENCIES,
        ("an update that others may read meanwhile",
         "    access.mode = stf::access_mode::rw;", "    access.mode = stf::access_mode::read;"),
    ),
    *in_file(
        "region_tasks",
        TASK_BLOCKS,
        ("blocks of the agent counted among those that write",
         "const bool last = end(b, s, writers, at);", "const bool last = end(b, s, b.blocks_per_pe(), at);"),
        ("no credit for what the loop has read",
         "        if (s.reads(pe, to, pe)) b.thread().signal_set(s.credit + pe, epoch, to);",
         "        (void)to;"),
        ("items that end before what they sent is there",
         "  b.quiet();  // a persistent program tells others that the block is done\n", ""),
        ("a block too few for the agent", "const int blocks = writers + w.agents;",
         "const int blocks = writers + w.agents - (w.agents > 1 ? 1 : 0);"),
    ),
    *in_file(
        "region_tasks",
        TASK_VIEWS,
        ("reads of the epoch before", "s.buffer_of(*s.newest.on(pe_))", "s.buffer_of(*s.newest.on(pe_) + 1)"),
    ),
    *in_file(
        "region_tasks",
        TASK_LAUNCH,
        ("a launch's groups of other PEs counted too", "const index_t groups = map.last_group - map.first_group;",
         "const index_t groups = map.last_group;"),
        ("a launch's tiles dealt to blocks in place of groups", "group - map.first_group,", "share.which,"),
        ("a launch's groups dealt to the agent's blocks too",
         "const detail::hierarchy_block<Spec, true> threads{map, share.which, share.of};",
         "const detail::hierarchy_block<Spec, true> threads{map, share.which, b.blocks_per_pe()};"),
        ("elements of a tile left to fewer threads", "i += me_->threads) f(i);", "i += me_->threads + 1) f(i);"),
    ),
    *in_file(
        "region_tasks",
        LAUNCHED,
        ("tiles assigned to the agent's blocks too", "      launch.roles.first[1] = writers;",
         "      launch.roles.first[1] = b.blocks_per_pe();"),
        ("the agent's blocks counted among those that write", "end(mine, handle.state(), writers, where::current());",
         "end(mine, handle.state(), b.blocks_per_pe(), where::current());"),
    ),
    *in_file(
        "region_tasks",
        COPY_ENGINE,
        ("copies of a launch: the trigger pulled before the epoch is there", MADE + PULLED, PULLED + MADE),
        ("copies of a launch: a trigger that orders nothing", PULLED, PULLED.replace("release", "relaxed")),
        ("copies of a launch: never triggered", PULLED, "  (void)at, (void)triggers;\n"),
        ("copies of a launch: the triggers of programs pulled", "launch != 0 ? s.launch_triggers : s.triggers;",
         "s.triggers;"),
        ("copies of a launch: the epochs of programs told", "launch != 0 ? s.launch_made : s.made;", "s.made;"),
    ),
    *in_file(
        "region_tasks",
        COPY_PLAN,
        ("copies of a launch: not waiting for their data", "      s.value = 1;", "      s.value = 0;"),
        ("copies of a launch: the other buffer's data", "      set_data(c, pe, buffer, s);\n      s.made",
         "      set_data(c, pe, 1 - buffer, s);\n      s.made"),
        ("copies of a launch: still those of a launch when programs come", "  s.fill(launched, 0, 1);\n", ""),
        ("copies of a launch: the buffer that was next before programs",
         "  for (const auto& t : turns_) t->lose();\n", ""),
    ),
    *in_file(
        "region_tasks",
        STREAM,
        ("copies of a launch: triggers that are still pulled",
         "  fill(copies->words, 0, copies->n_words * sizeof(signal));\n", ""),
        ("copies of a launch: begun before what is before the launch", "  beside_->wait(*begun);\n", ""),
        ("copies of a launch: over with the kernel", "        end->wait();\n", ""),
    ),
    *in_file(
        "region_tasks",
        ORDER,
        ("a round that begins when one device has ended the last", "in_whole_rounds(b) &&", "false &&"),
    ),
]  # fmt: skip
