#include "starling/machine/check.hpp"

#include <sstream>

namespace starling {

const char* name(defect d) {
  switch (d) {
    case defect::deadlock:
      return "deadlock";
    case defect::lost_signal:
      return "lost signal";
    case defect::unordered_read:
      return "unordered read";
    case defect::unordered_write:
      return "unordered write";
    case defect::within_block:
      return "unordered threads of a block";
    case defect::loop_elements:
      return "unordered elements of a loop";
    case defect::source_reused:
      return "source reused";
    case defect::signal_back:
      return "signal went back";
    case defect::two_writers:
      return "two writers of a signal";
    case defect::collective:
      return "collective mismatch";
    case defect::out_of_bounds:
      return "out of bounds";
    case defect::foreign_access:
      return "plain access to another PE";
    case defect::uninitialised:
      return "uninitialised memory";
    case defect::endless:
      return "endless";
    case defect::network:
      return "network card";
    case defect::undeclared:
      return "undeclared access";
  }
  return "?";
}

namespace {

std::string whole_text(defect what, std::uint64_t seed, const std::string& text,
                       const std::vector<block_history>& blocks, int threads) {
  std::ostringstream out;
  out << "check: " << name(what) << " (seed " << seed << ")\n  " << text << "\n";
  for (const block_history& b : blocks) {
    out << "  last calls of PE " << b.pe << " block " << b.block << " (" << b.role << "):\n";
    if (b.calls.empty()) out << "    none\n";
    for (const std::string& c : b.calls) out << "    " << c << "\n";
  }
  if (blocks.empty()) {  // not of a schedule
    std::string said = out.str();
    said.pop_back();
    return said;
  }
  out << "  again: seed " << seed << " shows the same, by check_options{.first_seed = " << seed
      << ", .seeds = 1, .threads = " << threads << "} or starling check --seed " << seed << " --threads " << threads;
  return out.str();
}

}  // namespace

check_error::check_error(defect what, std::uint64_t seed, const std::string& text, std::vector<block_history> blocks,
                         int threads)
    : error(whole_text(what, seed, text, blocks, threads)),
      kind_(what),
      seed_(seed),
      threads_(threads),
      blocks_(std::move(blocks)) {}

}  // namespace starling
