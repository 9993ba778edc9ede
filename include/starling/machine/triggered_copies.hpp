// Copies that programs set off while they run, made by what a device has for copies: a companion of machine::run, which
// a library above supplies with its program. Each queue of a PE takes its steps in order; a step waits for a word that
// a kernel raises, copies memory of the PE to the same place on other PEs, and then tells each that it is there. The
// wait is named in advance, so the plan says beforehand in which order a queue's steps can be expected to become ready.
//
// On GPUs a queue is a stream, which the host thread of the run keeps a bounded number of steps ahead. On virtual
// devices it is a thread of the run, in check mode a scheduled block of the same exploration.
//
// A launch in a stream has such copies too (stream::launch_kernel): then there are as many steps as it makes data, all
// put into streams behind it, or into the same graph. What a graph repeats has the same numbers each time, so the words
// that are awaited are 0 before, and any other value after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "starling/device/block.hpp"

namespace starling {

struct copy_step {
  // Whose copy of the own PE is to be at least `value`; in memory of the host (machine::allocate_on(host_place)), so
  // that the host can let a wait go without any stream. At the start of a run it holds what `arrived` does.
  sym<signal> awaited;
  std::uint64_t value = 0;

  sym<std::byte> data;  // on the own PE, and where it goes
  std::size_t bytes = 0;
  std::span<const int> to;  // PEs, in this order

  // As well, unless null: memory of the host.
  std::byte* on_host = nullptr;

  // When the data is everywhere: a word of the own PE, which holds `value` until such steps have been made, is copied
  // to `arrived` of each PE and, unless null, to `arrived_host`, and to `done` of the own PE. In memory of the host, so
  // that the host can set it right for steps that are never made.
  sym<std::uint64_t> made;
  sym<signal> arrived;
  signal* arrived_host = nullptr;
  sym<signal> done;
};

class triggered_copies {
 public:
  // Added to an awaited word: it will not be raised any more. A queue whose step waits for more than the word has
  // beside this mark ends there.
  static constexpr std::uint64_t over = std::uint64_t{1} << 62;
  static constexpr bool is_made(std::uint64_t awaited, std::uint64_t value) { return (awaited & ~over) >= value; }

  virtual ~triggered_copies() = default;

  // Before each run.
  virtual void begin() = 0;
  // Of each PE. A queue is one hardware queue that may be waiting, on a GPU.
  virtual int queues() const = 0;
  // Step `number` of a queue, from 0 on; there is no last one. False: the queue has no steps at all. A step waits only
  // for what needs steps with a smaller `value` of the same plan, of any queue and PE.
  virtual bool step(int pe, int queue, std::uint64_t number, copy_step& s) const = 0;
};

// What one launch sets off. Addresses and values are those of its every launch, if it is recorded.
struct launch_copies {
  std::vector<std::vector<copy_step>> queues;  // the steps of each, in order
  // What steps await, at least 1 each: `n_words` words behind each other on the stream's PE, set to 0 before the
  // launch, and by it to another value when the data may go. What is still 0 when its blocks have ended, it was not
  // made.
  signal* words = nullptr;
  std::size_t n_words = 0;
  std::shared_ptr<const void> kept = {};  // what the steps' lists of PEs lie in
};

// At the end of a kernel, for each awaited word of the own PE, which has reached `last`. Queues of virtual devices end
// by it. On GPUs the host thread of the run sees when the kernels are over, and only then lets waits go that are left:
// a stream cannot leave the copies out.
template <class Group>
STARLING_HD void raise_no_more(const Group& g, sym<std::uint64_t> awaited, std::uint64_t last,
                               where at = where::current()) {
  if constexpr (!target::on_gpu)
    g.atomic_set(awaited, triggered_copies::over + last, g.pe(), cuda::memory_order_release, at);
}

}  // namespace starling
