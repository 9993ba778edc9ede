#include "agreed_memory.hpp"

#include <algorithm>

namespace starling {

std::uint64_t agreed_memory::agree(std::size_t bytes, std::uint64_t told) {
  constexpr const char* call = "machine::allocate";
  word_list mine = {bytes, told};
  const std::vector<std::uint64_t> freed = released_.take(process_group::most_bytes / sizeof(std::uint64_t) - 8);
  mine.insert(mine.end(), freed.begin(), freed.end());
  const std::vector<word_list> all = processes_.collect(call, mine);
  for (const word_list& w : all)
    for (std::size_t i = 2; i < w.size(); ++i)
      if (released_.note(w[i], processes_.size())) heap_.free(w[i]);
  std::uint64_t most = 0;
  for (std::size_t r = 0; r < all.size(); ++r) {
    expect<argument_error>(all[r][0] == all[0][0], call, ": process ", r, " asks for ", all[r][0],
                           " bytes and process 0 for ", all[0][0],
                           "; a collective call is made alike by all processes");
    most = std::max(most, all[r][1]);
  }
  return most;
}

}  // namespace starling
