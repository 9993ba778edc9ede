// The memory of this process's PEs, as messages of other hosts reach it: by the engine's thread alone, in the order of
// the calls, also while programs run there.
#pragma once

#include <cstddef>
#include <cstdint>

#include "starling/device/network/entry.hpp"

namespace starling {

// What an atomic operation does to a word. The first two are those of network cards.
enum class word_change : std::uint8_t {
  compare_swap = static_cast<std::uint8_t>(network::opcode::compare_swap),
  fetch_add = static_cast<std::uint8_t>(network::opcode::fetch_add),
  swap = 1,
  fetch_and = 2,
  fetch_or = 3,
  fetch_xor = 4,
};

class near_memory {
 public:
  virtual ~near_memory() = default;

  // Whether an engine may read and write it by itself, and aligned words, of 4 or 8 bytes, that are stored together are
  // seen whole and in their order, up to so many bytes.
  virtual bool engine_reaches() const = 0;
  static constexpr std::size_t whole_bytes = 64 * sizeof(std::uint64_t);

  // What is stored is seen by blocks after all that was stored before it; an aligned word of 8 bytes is seen whole.
  virtual void store(void* to, const void* from, std::size_t bytes) = 0;
  // Into memory of the host; what was stored before is read.
  virtual void load(void* to, const void* from, std::size_t bytes) = 0;
  // An engine has written there.
  virtual void written(void* to, std::size_t bytes) = 0;
  // Does an atomic operation on 4 or 8 bytes, on GPUs one of those of cards; what the word held.
  virtual std::uint64_t change(void* word, word_change what, std::size_t bytes, std::uint64_t operand,
                               std::uint64_t compare) = 0;
  // Returns when all that was stored is there for everybody.
  virtual void settle() = 0;
  // A run has been ended elsewhere: whoever waits here looks again.
  virtual void wake_all() = 0;
  // Whether one of the calls has failed; nothing is then said to be done.
  virtual bool failed() const { return false; }
};

}  // namespace starling
