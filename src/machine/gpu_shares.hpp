// What a PE has of a GPU that several share: multiprocessors, resident blocks, memory. Plain arithmetic and counting:
// nothing here asks a driver.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace starling {

// Multiprocessors of each PE where any may run blocks of any PE. Throws argument_error, which names the GPU, when there
// are more PEs than multiprocessors.
int plain_share(int multiprocessors, int pes, const std::string& gpu);

// Multiprocessors of each PE where each has a group of its own: groups have at least `least` and a multiple of
// `multiple`. Nothing when there are too few.
std::optional<int> partition_size(int multiprocessors, int pes, int least, int multiple);

// The blocks of `pes` PEs on one GPU without partitions, each of which wants `wanted` blocks of kernels of which a
// multiprocessor holds at least `held`, whichever they are.
//
// All are resident at once if each PE wants at most `held` x (multiprocessors / pes, rounded down). For then all PEs
// together want at most `held` x multiprocessors; and if a block could not be placed, no multiprocessor could take it,
// so each would hold at least `held`, and all of them at least as many as are wanted without this one.
struct shared_blocks {
  int fit = 0;      // on each PE
  int crowded = 0;  // a multiprocessor must have room for so many of them
};
shared_blocks blocks_of_shares(int held, int multiprocessors, int pes, int wanted);

// Bytes of each PE, whole pages, of what a GPU has free. Throws memory_error, which names the GPU and the PEs, when a
// PE would not have one page.
std::size_t memory_share(std::size_t free, const std::vector<int>& pes, std::size_t page, const std::string& gpu);

// What PEs have taken of their shares; thread-safe.
class memory_shares {
 public:
  static constexpr std::size_t no_limit = ~std::size_t{0};

  // By PE; no_limit for one that has its GPU alone.
  explicit memory_shares(std::vector<std::size_t> limits);

  // False, and nothing is taken, when less is left.
  bool take(int pe, std::size_t bytes);
  void give_back(int pe, std::size_t bytes) noexcept;
  std::size_t limit(int pe) const { return limits_[static_cast<std::size_t>(pe)]; }
  // no_limit stays so.
  std::size_t left(int pe) const;

 private:
  std::vector<std::size_t> limits_;
  mutable std::mutex mutex_;
  std::vector<std::size_t> taken_;
};

// The end of an error about memory: what is left of the share, who has the rest of the GPU, and the next step.
std::string share_is_full(const std::string& pe, std::size_t left, std::size_t share, const std::vector<int>& pes);

}  // namespace starling
