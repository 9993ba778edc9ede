// Jobs of processes, each with PEs on GPUs, or virtual devices where there is none, and on a host that it plays.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "machine/host/make_distributed.hpp"
#include "machine/make_distributed.hpp"
#include "machine/process_devices.hpp"
#include "support/environment_guard.hpp"
#include "support/processes.hpp"
#include "support/socket_engine.hpp"

namespace starling::test {

inline constexpr double limit = 90;  // seconds that a job may take

// The machine of process `rank`, on the host that it plays.
inline machine on_host(const socket_mesh& mesh, const std::vector<int>& hosts, int rank, int pes) {
  const std::string host = message("host ", hosts[static_cast<std::size_t>(rank)]);
  const process_place place = place_of(environment_variables());
  prepare_process_to_share(pes, environment::read());
  if (machine::probe_cuda().problem.empty())
    return machine::over(make_distributed_gpus({.pes = pes}, place, mesh.engine_of(rank), host));
  return machine::over(make_distributed_backend({.pes = pes}, place, mesh.engine_of(rank), host));
}

// What `work` says in each of so many processes, with `pes` PEs each, on a machine of all.
inline std::vector<std::string> on_all(const std::vector<int>& hosts, int pes,
                                       const std::function<std::string(machine&)>& work) {
  const environment_guard deadline("STARLING_DEADLINE", "10");
  const environment_guard meeting("STARLING_MEETING_DEADLINE", "30");
  const std::string each = std::to_string(pes);
  const environment_guard sharing("STARLING_PES_PER_GPU", each.c_str());
  const int n = static_cast<int>(hosts.size());
  const socket_mesh mesh(n);
  job j(n, [&](int rank) {
    machine m = on_host(mesh, hosts, rank, pes);
    return work(m);
  });
  std::vector<std::string> all;
  for (int rank = 0; rank < n; ++rank) all.push_back(j.end_of(rank, limit));
  return all;
}

inline void check_all(const std::vector<std::string>& ends, const std::string& expected) {
  for (const std::string& text : ends) CHECK(text == expected);
}

}  // namespace starling::test
