#include "sparse/iteration_log.hpp"

#include <array>
#include <chrono>

namespace starling::sparse {

iteration_log::iteration_log(machine& m)
    : machine_(m), values_(machine_.allocate<double>(most_epochs)), waited_(machine_.allocate<std::uint64_t>(2)) {}

void iteration_log::begin() {
  done_ = {};
  for (int pe = 0; pe < machine_.size(); ++pe)
    if (machine_.is_local(pe)) machine_.fill(waited_.on(pe), 0, 2 * sizeof(std::uint64_t));
}

void iteration_log::run(const std::vector<program>& programs, const std::function<std::uint64_t()>& epoch,
                        std::uint64_t first) {
  const auto start = std::chrono::steady_clock::now();
  machine_.run(programs);
  done_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  done_.blocks = programs.front().roles.blocks();
  done_.threads = programs.front().options.threads;
  const auto some = static_cast<std::size_t>(epoch() - first);
  const std::size_t before = done_.history.size();
  done_.history.resize(before + some);
  if (some > 0) machine_.copy(done_.history.data() + before, values_.on(0), some * sizeof(double));
}

iteration_report iteration_log::report() const {
  iteration_report r = done_;
  machine m = machine_;
  for (int pe = 0; pe < m.size(); ++pe) {
    std::array<std::uint64_t, 2> words{};
    m.copy(words.data(), waited_.on(pe), sizeof words);
    r.wait_seconds.push_back(1e-9 * static_cast<double>(words[0]) / std::max(r.blocks, 1));
    r.tiles_skipped += words[1];
  }
  return r;
}

}  // namespace starling::sparse
