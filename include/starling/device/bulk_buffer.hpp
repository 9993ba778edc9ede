// bulk_buffer: the part of a block's scratch memory through which the copy engine of its multiprocessor moves large
// contiguous pieces, in stages, by one thread of the block: few blocks fill a link. Made by block::bulk_scratch, handed
// to put, put_signal, get and send. Virtual devices deliver the same calls as they deliver all others.
#pragma once

#include "starling/device/gpu_copy.hpp"
#include "starling/device/gpu_wait.hpp"

namespace starling {

inline constexpr int bulk_stages = 4;
inline constexpr std::uint32_t bulk_stage_bytes = 16 * 1024;
// What block::bulk_scratch takes of launch_options::scratch_bytes.
inline constexpr std::size_t bulk_scratch_bytes = bulk_stages * bulk_stage_bytes + bulk_stages * 16;

class bulk_buffer {
 public:
  STARLING_HD explicit bulk_buffer(std::byte* scratch) : scratch_(scratch) {}
  bulk_buffer(const bulk_buffer&) = delete;
  bulk_buffer& operator=(const bulk_buffer&) = delete;

  // Whether a copy can go this way: both ends at whole 16 bytes, and enough of them.
  STARLING_HD static bool suits(const void* dest, const void* source, index_t bytes) {
    const auto both = reinterpret_cast<std::uintptr_t>(dest) | reinterpret_cast<std::uintptr_t>(source);
    return target::has_bulk_copies && both % 16 == 0 && bytes >= static_cast<index_t>(bulk_stage_bytes);
  }

  STARLING_HD std::byte* stage(std::uint64_t load) const { return scratch_ + load % bulk_stages * bulk_stage_bytes; }
  STARLING_HD std::uint64_t* barrier(std::uint64_t load) const {
    return reinterpret_cast<std::uint64_t*>(scratch_ + bulk_stages * bulk_stage_bytes) + load % bulk_stages;
  }
  STARLING_HD static std::uint32_t parity(std::uint64_t load) {
    return static_cast<std::uint32_t>(load / bulk_stages % 2);
  }

  // Loads so far; every thread of the block counts them.
  STARLING_HD std::uint64_t loads() const { return loads_; }
  STARLING_HD void count(index_t loads) { loads_ += static_cast<std::uint64_t>(loads); }

 private:
  std::byte* scratch_;
  std::uint64_t loads_ = 0;
};

namespace gpu {

// Copies `bytes`, a multiple of 16; one thread calls it. On return the copy is done and visible to that thread. Returns
// false, report filed, when a load has not come within the deadline.
STARLING_HD inline bool bulk_copy(const program_state& s, int block, const bulk_buffer& via, void* dest,
                                  const void* source, index_t bytes, int pe, where at) {
  constexpr int ahead = bulk_stages / 2;  // loads under way; as many stages are being stored from
  constexpr auto stage_bytes = static_cast<index_t>(bulk_stage_bytes);
  const index_t pieces = ceil_div(bytes, stage_bytes);
  const auto size = [&](index_t piece) {
    const index_t left = bytes - piece * stage_bytes;
    return static_cast<std::uint32_t>(left < stage_bytes ? left : stage_bytes);
  };
  auto* to = static_cast<std::byte*>(dest);
  const auto* from = static_cast<const std::byte*>(source);
  for (index_t i = 0; i < pieces + ahead; ++i) {
    if (i < pieces) {
      // The stage's last piece was i - bulk_stages; stores up to i - ahead - 1 have been started.
      target::bulk_stores_read<bulk_stages - ahead - 1>();
      const std::uint64_t load = via.loads() + static_cast<std::uint64_t>(i);
      target::bulk_load(via.stage(load), from + i * stage_bytes, size(i), via.barrier(load));
    }
    const index_t done = i - ahead;
    if (done < 0) continue;
    const std::uint64_t load = via.loads() + static_cast<std::uint64_t>(done);
    const wait_request request{&s.control.abort.on(s.pe)[0], compare::ge, 1, pe, operation::put, at};
    const auto look = [&] {
      return std::uint64_t{target::bulk_loaded(via.barrier(load), bulk_buffer::parity(load)) ? 1u : 0u};
    };
    if (!poll(s, block, request, look)) return false;
    target::bulk_store(to + done * stage_bytes, via.stage(load), size(done));
  }
  target::bulk_stores_done();
  return true;
}

}  // namespace gpu
}  // namespace starling
