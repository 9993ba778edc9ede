// program_kernel<F...>: a persistent program that does operations of tasks, those whose kernel is one of the F. Each
// block goes through a list of steps of its own, round after round. A step waits until the operations that it depends
// on have come far enough, does the block's part of one operation, and counts that in the operation's counter. Several
// such programs run at the same time, and their operations wait for each other in the same way.
//
// An operation is work that so many blocks of a launch would do; the block calls it once for each of those that are its
// part, with the number that each would have, so that all values are those of the launch. Where the values are the same
// for any number of blocks, the operation has as many as blocks of the program do it. Counters only grow: in round
// t, from 0, an operation of k parts is done when its counter is k * (t + 1). A counter has a copy on every device, and
// an operation counts on those devices that wait for it: nobody polls memory of another device.
//
// No block waits in a circle: all lists follow one order of the operations, each step waits for earlier operations of
// its round or for operations of the round before, and all blocks are resident. Each wait has the program's deadline,
// and names the task that it is for. A round that a value decides begins on every device when that device has been told
// so.
#pragma once

#include <algorithm>
#include <cstdint>

#include "starling/stf/detail/operation_port.hpp"

namespace starling::stf {

using operation_function = void (*)(const void* closure, block& b);

// Scratch memory is aligned to so many bytes, and a closure there takes a multiple of them; the tables have as many.
inline constexpr std::size_t near_alignment = 16;
constexpr index_t room_of_closure(std::size_t bytes) {
  return round_up(static_cast<index_t>(bytes), static_cast<index_t>(near_alignment));
}

// That another operation has done what it does in the same round, or in the round before (`lag` 1).
struct program_wait {
  std::int32_t counter = 0;
  std::int32_t lag = 0;
  std::uint64_t parts = 0;
  std::int32_t from = 0;  // the device of the operation
  std::int32_t pad = 0;
  const char* name = nullptr;  // on the device
};

struct program_step {
  operation_function on_host = nullptr;
  const void* closure = nullptr;   // null: looks at the value that decides about the next round
  std::int32_t kind = 0;           // which of the program's kernels
  std::int32_t closure_words = 0;  // of 8 bytes, of what it carries
  std::int32_t first = 0;          // of the operation's blocks
  std::int32_t stride = 1;         // as many blocks of the program share the operation
  std::int32_t blocks = 1;         // of the operation
  std::int32_t counter = 0;
  std::uint64_t tells = 0;  // devices whose copy of the counter is raised, a bit each
  std::int32_t waits = 0;   // where its waits begin
  std::int32_t waits_end = 0;
};

// What one device has of one program, in its memory: where each block's steps begin, by block, then how many all are.
struct program_table {
  const std::int32_t* first_step = nullptr;
  const program_step* steps = nullptr;
  const program_wait* waits = nullptr;
  std::int32_t blocks = 0;
};

struct program_tables {
  sym<program_table> table;
  sym<signal> counters;
  sym<signal> go_on;  // 2 t + 2 once round t is over and another one begins, 2 t + 3 when it was the last
  std::uint64_t rounds = 1;
  const std::byte* flag = nullptr;      // 1, 2, 4 or 8 bytes, of which one is not 0 if another round is to follow
  std::uint32_t flag_bytes = 0;         // 0: all rounds are done
  std::uint32_t operation_scratch = 0;  // bytes of scratch memory that an operation may ask for
  std::uint32_t list_scratch = 0;       // bytes behind these for a block's steps and waits; 0: they stay where they are
  std::uint32_t closure_scratch = 0;    // bytes behind these for what its operations carry; 0: likewise; GPUs only
  std::uint32_t closure_room = 0;       // of that, for what one operation carries
};

// Copies what a block reads in every round into its shared memory; by all threads, without a barrier.
template <class T>
STARLING_HD T* keep_near(const block& b, std::byte* to, const T* from, index_t n) {
  static_assert(sizeof(T) % sizeof(std::uint64_t) == 0 && alignof(T) <= 8);
  auto* words = reinterpret_cast<std::uint64_t*>(to);
  const auto* source = reinterpret_cast<const std::uint64_t*>(from);
  const index_t all = n * static_cast<index_t>(sizeof(T) / sizeof(std::uint64_t));
  for (index_t i = b.member(); i < all; i += b.members()) words[i] = source[i];
  return reinterpret_cast<T*>(to);
}

// What an operation sees of the launch: as many blocks as it has, no other programs, no barriers across blocks.
STARLING_HD inline program_state state_of_operation(const block& b) {
  program_state s = b.state();
  s.roles = role_table{};
  s.control.arrived = {};
  s.control.released = {};
  if constexpr (target::on_gpu) {
    s.reports += static_cast<std::uint32_t>(b.index()) % s.report_slots;
    s.report_slots = 1;
  }
  return s;
}

// program_kernel<> on a virtual device, whose steps say themselves what they call.
void do_program_on_host(const program_tables& tables, block& b);

template <class... F>
struct program_kernel {
  static constexpr int max_threads = std::min({1024, target::most_threads<F>...});

  program_tables tables;

  STARLING_HD void operator()(block& b) const {
    // Compiled once, not with each body, but where check mode is to see what this reads.
    if constexpr (!target::on_gpu && !target::checked && sizeof...(F) > 0)
      do_program_on_host(tables, b);
    else
      do_steps(b);
  }

 private:
  STARLING_HD void do_steps(block& b) const {
    const program_table& mine = *tables.table.on(b.pe());
    if (b.index() >= mine.blocks) return;
    const std::int32_t first = mine.first_step[b.index()];
    const std::int32_t last = mine.first_step[b.index() + 1];
    if (first == last) return;
    steps_and_waits list{mine.steps + first, mine.waits, last - first, 0};
    const std::uint32_t room = tables.operation_scratch + tables.list_scratch + tables.closure_scratch;
    std::byte* scratch = room > 0 ? b.scratch<std::byte>(room) : nullptr;
    if (tables.list_scratch > 0) list = near(b, list, scratch + tables.operation_scratch);
    program_state state = state_of_operation(b);
    state.scratch_bytes = tables.operation_scratch;
    if constexpr (target::on_gpu) {
      rounds(b, state, list, nullptr);
    } else {
      operation_port port(b.port(), scratch, tables.operation_scratch);
      rounds(b, state, list, &port);
    }
  }

  struct steps_and_waits {
    const program_step* steps;
    const program_wait* waits;
    std::int32_t count;       // of the steps
    std::int32_t first_wait;  // the number that the steps have for waits[0]
  };

  STARLING_HD steps_and_waits near(const block& b, const steps_and_waits& list, std::byte* room) const {
    const std::int32_t first = list.steps[0].waits;
    const std::int32_t last = list.steps[list.count - 1].waits_end;
    program_step* steps = keep_near(b, room, list.steps, list.count);
    const program_wait* waits = keep_near(b, room + static_cast<std::size_t>(list.count) * sizeof(program_step),
                                          list.waits + first, last - first);
    b.sync();
    if constexpr (target::on_gpu && ((alignof(F) <= near_alignment) && ...))
      if (tables.closure_scratch > 0) take_closures(b, steps, list.count, room + tables.list_scratch);
    return {steps, waits, list.count, first};
  }

  // What a block acquires from others empties the L1: from memory an operation would wait once for what it carries
  // and again for its data.
  STARLING_HD void take_closures(const block& b, program_step* steps, std::int32_t count, std::byte* room) const {
    const auto each = static_cast<index_t>(tables.closure_room);
    for (std::int32_t i = 0; i < count; ++i)
      if (steps[i].closure != nullptr)
        (void)keep_near(b, room + i * each, static_cast<const std::uint64_t*>(steps[i].closure),
                        steps[i].closure_words);
    b.sync();
    for (std::int32_t i = b.member(); i < count; i += b.members())
      if (steps[i].closure != nullptr) steps[i].closure = room + i * each;
    b.sync();
  }

  STARLING_HD void rounds(block& b, program_state& state, const steps_and_waits& list, operation_port* port) const {
    for (std::uint64_t t = 0; t < tables.rounds; ++t) {
      if (t > 0 && tables.flag_bytes > 0 && !another(b, t)) return;
      for (std::int32_t i = 0; i < list.count; ++i) {
        const program_step& s = list.steps[i];
        await(b, list, s, t);
        if (s.closure != nullptr)
          work(b, state, s, port);
        else
          decide(b, t);
        tell(b, s);
      }
      // Who waits for nothing learns here that another block has ended the program.
      if (t % 32 == 31) (void)b.test(tables.go_on, compare::eq, ~std::uint64_t{0});
    }
  }

  STARLING_HD void await(const block& b, const steps_and_waits& list, const program_step& s, std::uint64_t t) const {
    if (s.waits == s.waits_end) return;
    for (std::int32_t i = s.waits + b.member(); i < s.waits_end; i += b.members()) {
      const program_wait& w = list.waits[i - list.first_wait];
      if (t < static_cast<std::uint64_t>(w.lag)) continue;
      const std::uint64_t round = t - static_cast<std::uint64_t>(w.lag);
      // The report names the task in place of a file, and the round in place of a line.
      b.thread().wait(tables.counters + w.counter, w.parts * (round + 1), w.from,
                      where{w.name, static_cast<int>(round & 0x7fffffff)});
    }
    (void)b.any(false);  // together again; ends the block if a thread gave up
  }

  STARLING_HD static void work(const block& b, program_state& state, const program_step& s, operation_port* port) {
    state.n_blocks = s.blocks;
    state.roles.first[1] = s.blocks;
    for (std::int32_t i = s.first; i < s.blocks; i += s.stride) {
      if constexpr (!target::on_gpu) port->next_operation();
      block part = b.in_place_of(state, port, i);
      if constexpr (target::on_gpu)
        call(std::index_sequence_for<F...>(), s, part);
      else
        s.on_host(s.closure, part);
      // What the threads share is free for the next one.
      if (i + s.stride < s.blocks) b.sync();
    }
  }

  template <std::size_t... I>
  STARLING_HD static void call(std::index_sequence<I...>, const program_step& s, block& part) {
    if constexpr (sizeof...(F) == 1)
      ((*static_cast<const F*>(s.closure))(part), ...);
    else
      (void)((s.kind == static_cast<std::int32_t>(I) && ((*static_cast<const F*>(s.closure))(part), true)) || ...);
  }

  STARLING_HD void tell(const block& b, const program_step& s) const {
    b.sync();
    if (s.tells == 0) return;
    for (int pe = b.member(); pe < b.n_pes(); pe += b.members())
      if ((s.tells >> pe & 1) != 0) b.thread().signal_add(tables.counters + s.counter, 1, pe);
  }

  STARLING_HD void decide(const block& b, std::uint64_t t) const {
    bool more = false;
    for (std::uint32_t i = 0; i < tables.flag_bytes; ++i)
      more = more || *static_cast<const volatile std::byte*>(tables.flag + i) != std::byte{0};
    for (int pe = b.member(); pe < b.n_pes(); pe += b.members())
      b.thread().signal_set(tables.go_on, 2 * t + (more ? 2 : 3), pe);
  }

  // Whether round t is to be done. Later news means that it was.
  STARLING_HD bool another(const block& b, std::uint64_t t) const {
    b.wait(tables.go_on, 2 * t);
    return !b.test(tables.go_on, compare::eq, 2 * t + 1);
  }
};

}  // namespace starling::stf
