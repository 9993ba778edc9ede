#include "process_place.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "starling/base/error.hpp"

namespace starling {
namespace {

// The variables of one launcher. The first whose `rank` is set is believed.
struct launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* on_host;  // how many of them are on this host; null: it has one host alone
  std::vector<const char*> job;
};

const std::vector<launcher>& launchers() {
  static const std::vector<launcher> all = {
      {"starling launch", "STARLING_RANK", "STARLING_RANKS", nullptr, {"STARLING_RENDEZVOUS"}},
      {"mpirun",
       "OMPI_COMM_WORLD_RANK",
       "OMPI_COMM_WORLD_SIZE",
       "OMPI_COMM_WORLD_LOCAL_SIZE",
       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
      {"torchrun",
       "RANK",
       "WORLD_SIZE",
       "LOCAL_WORLD_SIZE",
       {"TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT", "MASTER_ADDR", "MASTER_PORT"}},
      {"srun", "SLURM_PROCID", "SLURM_NTASKS", nullptr, {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
  };
  return all;
}

int number(const variables& v, const char* name, int least, int most) {
  const std::string text = value_of(v, name);
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  expect<argument_error>(problem == std::errc() && end == text.data() + text.size() && value >= least && value <= most,
                         name, "=\"", text, "\": must be a whole number from ", least, " to ", most,
                         "; start the processes by `starling launch`");
  return value;
}

bool on_several_hosts(const variables& v, const launcher& by, int size) {
  const bool counted = by.on_host != nullptr && v.count(by.on_host) > 0;
  if (counted && number(v, by.on_host, 1, size) < size) return true;
  const std::string nodes = value_of(v, "SLURM_STEP_NUM_NODES");
  return std::string(by.name) == "srun" && !nodes.empty() && nodes != "1";
}

bool is_set(const variables& v, const launcher& by) { return v.count(by.rank) > 0 && v.count(by.size) > 0; }

}  // namespace

bool is_launched(const variables& v) {
  return std::any_of(launchers().begin(), launchers().end(), [&](const launcher& by) { return is_set(v, by); });
}

process_place place_of(const variables& v) {
  constexpr int most = 256;
  for (const launcher& by : launchers()) {
    if (!is_set(v, by)) continue;
    process_place p;
    p.source = by.name;
    p.size = number(v, by.size, 1, most);
    p.rank = number(v, by.rank, 0, p.size - 1);
    p.several_hosts = on_several_hosts(v, by, p.size);
    p.job = by.name;
    for (const char* name : by.job) {
      p.job += '/';
      p.job += value_of(v, name);
    }
    return p;
  }
  throw unsupported_error(
      "machine::distributed: no launcher has started this process; start the program by `starling launch -n 4 -- "
      "PROGRAM`, mpirun, srun or torchrun, or use machine::host(n)");
}

int pes_of_each(int pes) {
  const process_place p = place_of(environment_variables());
  expect<argument_error>(pes % p.size == 0, "machine::distributed: ", pes, " devices for ", p.size,
                         " processes; must be a multiple of ", p.size, ", as many in each");
  return pes / p.size;
}

}  // namespace starling
