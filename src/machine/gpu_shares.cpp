#include "gpu_shares.hpp"

#include <algorithm>

#include "gpu_placement.hpp"
#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling {

int plain_share(int multiprocessors, int pes, const std::string& gpu) {
  expect<argument_error>(pes <= multiprocessors, "machine::cuda: ", pes, " PEs on ", gpu, ", which has ",
                         multiprocessors, " multiprocessors, and every PE needs one; ask for at most ", multiprocessors,
                         " PEs per GPU");
  return multiprocessors / pes;
}

std::optional<int> partition_size(int multiprocessors, int pes, int least, int multiple) {
  const int unit = std::max(multiple, 1);
  const int size = multiprocessors / pes / unit * unit;
  if (size < std::max(least, 1)) return std::nullopt;
  return size;
}

shared_blocks blocks_of_shares(int held, int multiprocessors, int pes, int wanted) {
  const int all = wanted * pes;
  return {held * (multiprocessors / pes), (all + multiprocessors - 1) / multiprocessors};
}

std::size_t memory_share(std::size_t free, const std::vector<int>& pes, std::size_t page, const std::string& gpu) {
  const std::size_t share = free / pes.size() / page * page;
  expect<memory_error>(share > 0, "machine::cuda: ", gpu, " has ", format_bytes(free), " free, which ",
                       list_of_pes(pes), " share: less than one page (", format_bytes(page),
                       ") each; free memory of this GPU (nvidia-smi shows whose it is), or ask for fewer PEs per GPU");
  return share;
}

memory_shares::memory_shares(std::vector<std::size_t> limits) : limits_(std::move(limits)), taken_(limits_.size()) {}

bool memory_shares::take(int pe, std::size_t bytes) {
  const auto i = static_cast<std::size_t>(pe);
  const std::lock_guard lock(mutex_);
  if (bytes > limits_[i] - taken_[i]) return false;
  taken_[i] += bytes;
  return true;
}

void memory_shares::give_back(int pe, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  taken_[static_cast<std::size_t>(pe)] -= bytes;
}

std::size_t memory_shares::left(int pe) const {
  const auto i = static_cast<std::size_t>(pe);
  const std::lock_guard lock(mutex_);
  return limits_[i] == no_limit ? no_limit : limits_[i] - taken_[i];
}

std::string share_is_full(const std::string& pe, std::size_t left, std::size_t share, const std::vector<int>& pes) {
  return message(pe, " has ", format_bytes(left), " left of its share of ", format_bytes(share), "; ", list_of_pes(pes),
                 " share this GPU: free other memory, ask for fewer PEs per GPU, or use more devices");
}

}  // namespace starling
