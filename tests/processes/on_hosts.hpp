// Machines of several processes that play hosts: each says where it is, and the engine is one of sockets.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "machine/host/make_distributed.hpp"
#include "support/processes.hpp"
#include "support/socket_engine.hpp"

namespace starling::test {

inline machine on_hosts(const socket_mesh& mesh, const std::vector<int>& hosts, int rank,
                        distributed_options options = {}) {
  return machine::over(make_distributed_backend(options, place_of(environment_variables()), mesh.engine_of(rank),
                                                "host " + std::to_string(hosts[static_cast<std::size_t>(rank)])));
}

// What each process of such a machine says.
inline std::vector<std::string> on_all(const std::vector<int>& hosts, int pes,
                                       const std::function<std::string(machine&, int)>& work) {
  const int n = static_cast<int>(hosts.size());
  const socket_mesh mesh(n);
  job j(n, [&](int rank) {
    machine m = on_hosts(mesh, hosts, rank, {.pes = pes});
    return work(m, rank);
  });
  return j.ends();
}

}  // namespace starling::test
