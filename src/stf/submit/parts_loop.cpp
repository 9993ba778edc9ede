#include "starling/stf/parts_loop.hpp"

#include "starling/base/error.hpp"
#include "stf/memory/data_state.hpp"

namespace starling::stf::detail {

void check_parts(int parts, std::size_t of_dependency) {
  expect<argument_error>(of_dependency == static_cast<std::size_t>(parts), "context::parallel_for: a loop over ", parts,
                         " parts, of which data has ", of_dependency, "; split both into as many");
}

void check_shared(const data_access& a) {
  expect<argument_error>(!writes(a.mode),
                         "context::parallel_for: ", a.data ? a.data->body.describe() : "logical data that is none",
                         " cannot be given for ", name(a.mode),
                         " to a loop with a task for each part, all of which would write it; split it, "
                         "reduce into it, or only read it");
}

std::vector<exec_place> places_of_parts(const exec_place& where, int n_pes, int parts) {
  if (where.is_host() || where.is_automatic()) return {static_cast<std::size_t>(parts), where};
  const std::vector<int> devices = where.devices(n_pes);
  std::vector<exec_place> all;
  for (int i = 0; i < parts; ++i) {
    const index_t owner = sharer(parts, static_cast<index_t>(devices.size()), i);
    all.push_back(exec_place::device(devices[static_cast<std::size_t>(owner)]));
  }
  return all;
}

}  // namespace starling::stf::detail
