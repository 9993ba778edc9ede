// Which PE has moved how many bytes to which, and how: straight into memory, or by an engine or a card. Only pairs that
// have moved any take memory.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "starling/machine/machine.hpp"

namespace starling {

enum class carried { directly, by_engine };

// From any thread.
class traffic_table {
 public:
  struct pair_bytes {
    std::uint64_t directly = 0;
    std::uint64_t by_engine = 0;

    void add(carried how, std::uint64_t bytes) { (how == carried::directly ? directly : by_engine) += bytes; }
  };

  void add(int source, int destination, const pair_bytes& more) {
    const std::lock_guard lock(mutex_);
    pair_bytes& all = pairs_[{source, destination}];
    all.directly += more.directly;
    all.by_engine += more.by_engine;
  }
  // Without pairs and ways that have moved nothing.
  std::vector<pair_traffic> all(const std::string& engine) const {
    const std::lock_guard lock(mutex_);
    std::vector<pair_traffic> found;
    for (const auto& [pair, moved] : pairs_) {
      if (moved.directly > 0) found.push_back({pair.first, pair.second, "direct", moved.directly});
      if (moved.by_engine > 0) found.push_back({pair.first, pair.second, engine, moved.by_engine});
    }
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<int, int>, pair_bytes> pairs_;
};

// What one block moves, until it ends: counting takes no lock. By one thread.
class block_traffic {
 public:
  block_traffic(traffic_table& all, int pe) : all_(all), pe_(pe) {}
  ~block_traffic() { tell(); }
  block_traffic(const block_traffic&) = delete;
  block_traffic& operator=(const block_traffic&) = delete;

  void sent(int to, carried how, std::uint64_t bytes) { count(sent_, to, how, bytes); }
  void fetched(int from, carried how, std::uint64_t bytes) { count(fetched_, from, how, bytes); }

 private:
  using by_peer = std::vector<traffic_table::pair_bytes>;

  void count(by_peer& bytes, int peer, carried how, std::uint64_t more) {
    if (peer == pe_) return;
    const auto i = static_cast<std::size_t>(peer);
    if (bytes.size() <= i) bytes.resize(i + 1);
    bytes[i].add(how, more);
  }
  void tell() const {
    for (std::size_t p = 0; p < sent_.size(); ++p) tell(pe_, static_cast<int>(p), sent_[p]);
    for (std::size_t p = 0; p < fetched_.size(); ++p) tell(static_cast<int>(p), pe_, fetched_[p]);
  }
  void tell(int source, int destination, const traffic_table::pair_bytes& moved) const {
    if (moved.directly + moved.by_engine > 0) all_.add(source, destination, moved);
  }

  traffic_table& all_;
  int pe_;
  by_peer sent_;
  by_peer fetched_;
};

}  // namespace starling
