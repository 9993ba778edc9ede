// link_times: how long a copy between two places is expected to take: by the copies that were measured, and before
// there are any by what such links usually give. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "starling/machine/machine.hpp"

namespace starling::stf {

class link_times {
 public:
  // Shorter copies say more about latency than about the link.
  static constexpr std::size_t least_measured = std::size_t{64} << 10;

  explicit link_times(const machine& m) : machine_(m) {}

  // Between PEs, or host_place. Nothing takes no time, and neither does a place's own memory for itself.
  double seconds(int from, int to, std::size_t bytes) const {
    if (from == to || bytes == 0) return 0;
    return latency + static_cast<double>(bytes) / bandwidth(from, to);
  }
  double bandwidth(int from, int to) const {
    const auto known = measured_.find({from, to});
    return known == measured_.end() ? usual(from, to) : known->second;
  }

  // Whether the newest copy between them should be measured: the first few, then now and then.
  bool wants_sample(int from, int to, std::size_t bytes) {
    if (bytes < least_measured || from == to) return false;
    const std::uint64_t n = ++copies_[{from, to}];
    return n <= 4 || n % 32 == 0;
  }
  void measured(int from, int to, std::size_t bytes, double seconds) {
    const double now = static_cast<double>(bytes) / std::max(seconds, 1e-7);
    const auto [known, first] = measured_.try_emplace({from, to}, now);
    if (!first) known->second += (now - known->second) / 4;
  }

 private:
  static constexpr double latency = 5e-6;

  double usual(int from, int to) const {
    if (machine_.kind() == machine_kind::host) return 5e9;
    if (from == host_place || to == host_place) return 5e10;
    switch (machine_.link(from, to)) {
      case peer_link::same_device:
        return 1.5e12;
      case peer_link::direct:
        return 3e11;
      default:
        return 2.5e10;
    }
  }

  machine machine_;
  std::map<std::pair<int, int>, double> measured_;
  std::map<std::pair<int, int>, std::uint64_t> copies_;
};

}  // namespace starling::stf
