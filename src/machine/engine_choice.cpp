#include "engine_choice.hpp"

#include "distributed/engine_group.hpp"
#include "distributed/engine_library.hpp"
#include "nvshmem/nvshmem_engine.hpp"
#include "starling/base/error.hpp"

namespace starling {
namespace {

std::unique_ptr<engine> mpi_engine_for(const process_place& place) {
  auto made = load_engine("mpi");
  expect<unsupported_error>(made->size() == place.size && made->rank() == place.rank,
                            "machine::distributed: MPI calls "
                            "this process ",
                            made->rank(), " of ", made->size(), ", ", place.source, " calls it ", place.rank, " of ",
                            place.size, "; start the processes by the mpirun of the MPI that Starling was built with");
  return made;
}

// The processes tell each other how to begin NVSHMEM as those of a machine without it would: on several hosts by MPI.
std::unique_ptr<engine> nvshmem_engine_for(const process_place& place, const environment& e) {
  constexpr const char* terms = "messages by NVSHMEM";
  std::unique_ptr<process_group> group;
  if (place.several_hosts)
    group = std::make_unique<engine_group>(place, mpi_engine_for(place), "", terms, 1, e.meeting_deadline);
  else
    group = std::make_unique<board_group>(place, terms, 1, e.meeting_deadline);
  auto made = nvshmem::make_engine(*group, e.nvshmem_library);
  group->leave();
  return made;
}

}  // namespace

std::unique_ptr<engine> engine_for(const process_place& place, const environment& e) {
  expect<unsupported_error>(e.transport != "direct" || !place.several_hosts, "machine::distributed: ", place.source,
                            " has started ", place.size,
                            " processes on several hosts, and STARLING_TRANSPORT=direct is for one; unset it");
  if (e.transport == "direct" || (e.transport == "auto" && !place.several_hosts)) return nullptr;
  return e.transport == "nvshmem" ? nvshmem_engine_for(place, e) : mpi_engine_for(place);
}

std::string host_for(const process_place& place, const environment& e) {
  return e.messages_alone() ? message("process ", place.rank) : std::string();
}

}  // namespace starling
