#include "host_layout.hpp"

namespace starling::network {

host_layout layout_of(const char* call, const std::vector<int>& hosts, int pes, const environment& e) {
  if (hosts.empty()) {
    std::vector<int> host_of_pe;
    for (int pe = 0; pe < pes; ++pe) host_of_pe.push_back(pe * std::min(e.hosts, pes) / pes);
    return host_layout(std::move(host_of_pe));
  }
  expect<argument_error>(hosts.size() == static_cast<std::size_t>(pes), call, ": hosts has ", hosts.size(),
                         " entries for ", pes, " PEs; name the host of each PE");
  for (std::size_t pe = 0; pe < hosts.size(); ++pe)
    expect<argument_error>(hosts[pe] >= 0 && hosts[pe] < pes, call, ": hosts[", pe, "] = ", hosts[pe],
                           "; hosts are numbered from 0, and there are at most as many as PEs, ", pes);
  return host_layout(hosts);
}

card card_of(const std::optional<card>& wanted, const environment& e) {
  return wanted.value_or(e.card == "proxy" ? card::proxy : card::model);
}

void check_queue_depth(const char* call, int depth) {
  expect<argument_error>(depth > 0 && is_depth(static_cast<std::uint64_t>(depth)), call, ": queue_depth = ", depth,
                         "; must be a power of two from ", least_depth, " to ", most_depth);
}

}  // namespace starling::network
