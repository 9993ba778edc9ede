// What Python says of how a region sends, for whatever has these options.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "starling/region/region.hpp"

namespace starling::python {

inline region_agent agent_named(const std::string& agent) {
  if (agent == "auto") return region_agent::polling;
  const auto* const found = std::ranges::find_if(region_agents, [&](region_agent a) { return agent == name(a); });
  expect<unsupported_error>(found != std::end(region_agents), "agent = '", agent,
                            "' is not built; use 'inline', 'polling', 'own_warp', 'launched', 'copy_engine' or 'auto'");
  return *found;
}

// What is only for measuring and finding mistakes: starling/_measuring.py.
template <class Options>
void add_measuring(Options& o, const nanobind::dict& measuring) {
  const auto sending = nanobind::cast<std::string>(measuring["sending"]);
  for (const region_sending s : {region_sending::elide_stores, region_sending::track_only, region_sending::untracked})
    if (sending == name(s)) o.sending = s;
  o.links = {nanobind::cast<double>(measuring["bytes_per_second"]), nanobind::cast<double>(measuring["latency"])};
  o.verify = nanobind::cast<bool>(measuring["verify"]);
  o.timed = nanobind::cast<bool>(measuring["timed"]);
}

inline nanobind::list times_of(const std::vector<region_times>& times) {
  nanobind::list all;
  for (const region_times& t : times)
    all.append(nanobind::make_tuple(t.kernel, t.arrived, t.first_arrival, t.last_arrival, t.after_end, t.waited));
  return all;
}

}  // namespace starling::python
