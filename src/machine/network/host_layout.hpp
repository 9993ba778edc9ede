// Which host each PE is on, where PEs of one machine play several hosts with network cards between them.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"
#include "starling/device/network/queue_pair.hpp"
#include "starling/machine/card.hpp"

namespace starling::network {

class host_layout {
 public:
  host_layout() = default;
  // By PE; hosts are numbered from 0.
  explicit host_layout(std::vector<int> hosts) : hosts_(std::move(hosts)) {
    n_hosts_ = hosts_.empty() ? 1 : 1 + *std::max_element(hosts_.begin(), hosts_.end());
  }

  int n_hosts() const { return n_hosts_; }
  bool one_host() const { return n_hosts_ == 1; }
  int host_of(int pe) const { return hosts_.empty() ? 0 : hosts_[static_cast<std::size_t>(pe)]; }
  // Whether a card is between them.
  bool apart(int a, int b) const { return host_of(a) != host_of(b); }

 private:
  std::vector<int> hosts_;
  int n_hosts_ = 1;
};

// From what a program asks for, and where that is nothing, from the environment: so many hosts with as many PEs each,
// as far as that goes. Throws argument_error that names the value.
host_layout layout_of(const char* call, const std::vector<int>& hosts, int pes, const environment& e);
// What cards are, from what a program asks for, or the environment.
card card_of(const std::optional<card>& wanted, const environment& e);
// Throws argument_error unless cards can have rings so deep.
void check_queue_depth(const char* call, int depth);

}  // namespace starling::network
