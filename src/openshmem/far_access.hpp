// The memory of PEs of other hosts, as the calls of this one reach it: what is put leaves at once and is done by
// finish(), what is asked for is there when the call returns. What is sent to one PE is done in the order of the calls.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "job.hpp"
#include "machine/far_memory.hpp"

namespace starling::openshmem {

class far_access {
 public:
  explicit far_access(job& j);

  // Throw process_error when a process is lost, or does not answer within the deadline.
  void store(const copied_rows& c, int pe);
  void load(const copied_rows& c);
  std::uint64_t change(void* word, const word_order& o);
  void change_unread(void* word, const word_order& o, int pe);
  // Returns when all that this process has put so far is done.
  void finish();

 private:
  // Of one PE: how often something was put there, how much of it is known to be done, and the bytes put since.
  struct tally {
    std::atomic<std::uint64_t> put{0};
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::size_t> bytes{0};
  };

  void count(int pe, std::size_t bytes);
  void finish(const std::vector<int>& pes);

  far_memory* far_;  // null: there are none
  std::vector<int> pes_;
  std::vector<tally> tallies_;  // by PE
};

}  // namespace starling::openshmem
