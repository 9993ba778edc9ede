// What iterations over a region leave behind for the host: a number of each, and how long blocks waited for chunks. The
// device's part is plain data, for kernels; the host's owns the memory and collects it between stretches of iterations.
#pragma once

#include <vector>

#include "starling/region/region.hpp"

namespace starling::sparse {

struct iteration_words {
  sym<double> values;         // [iteration_log::most_epochs], of the stretch, on PE 0
  sym<std::uint64_t> waited;  // [2] nanoseconds, of all blocks of the PE; tiles that they have skipped
  std::uint64_t first = 0;    // epoch before the stretch

  // By every block, each epoch: what the iteration came to.
  STARLING_HD void note(const block& b, std::uint64_t epoch, double value) const {
    if (b.pe() == 0 && b.index() == 0 && b.member() == 0) values.on(0)[epoch - 1 - first] = value;
  }
  // By every block, at its end.
  STARLING_HD void note_waited(const block& b, std::uint64_t nanoseconds) const {
    if (b.member() == 0) (void)b.thread().atomic_fetch_add(waited, nanoseconds, b.pe());
  }
  STARLING_HD void note_skipped(const block& b, std::uint64_t tiles) const {
    if (b.member() == 0) (void)b.thread().atomic_fetch_add(waited + 1, tiles, b.pe());
  }
};

// A region's await that adds the time that it took to `waited`.
template <class T>
STARLING_HD auto timed_await(const region_handle<T>& h, const block& b, std::uint64_t epoch, std::uint64_t& waited,
                             where at = where::current()) {
  const std::uint64_t start = target::now_ns();
  const auto old = h.await(b, epoch, region_handle<T>::whole(), at);
  waited += target::now_ns() - start;
  return old;
}

// How iterations went. `bytes_sent`: [from * PEs + to], of all iterations.
struct iteration_report {
  std::vector<double> history;
  double seconds = 0;  // of the iterations alone
  int blocks = 0;      // of each PE, that compute
  int threads = 0;
  int tiles = 0;                     // of each PE, the most
  std::uint64_t tiles_skipped = 0;   // of all PEs and iterations: nothing that they read had changed
  std::vector<double> wait_seconds;  // by PE: of a block, on average
  std::vector<index_t> first_rows;
  std::vector<std::uint64_t> bytes_sent;
  region_agent agent = region_agent::polling;
  std::size_t chunk_bytes = 0;
  int agent_blocks = 0;                          // of each PE; 0: the agent has none
  region_sending sending = region_sending::all;  // with another one results are wrong
  paced links = {};                              // simulated, if any
  std::uint64_t line_stores_inline = 0;          // of an epoch: see region_report
  std::uint64_t line_stores_by_chunk = 0;
  std::vector<region_times> times;  // by PE, of the last stretch of iterations, if timed
};

class iteration_log {
 public:
  static constexpr std::uint64_t most_epochs = 4096;  // of a stretch

  explicit iteration_log(machine& m);

  // Before a solve.
  void begin();
  // For the kernels of the stretch from epoch `first` on.
  iteration_words words(std::uint64_t first) const { return {values_.data(), waited_.data(), first}; }
  // Runs the programs, the first of which computes, and collects what they left. `epoch`: where they ended.
  void run(const std::vector<program>& programs, const std::function<std::uint64_t()>& epoch, std::uint64_t first);
  iteration_report report() const;

 private:
  machine machine_;
  symmetric_array<double> values_;
  symmetric_array<std::uint64_t> waited_;
  iteration_report done_;
};

}  // namespace starling::sparse
