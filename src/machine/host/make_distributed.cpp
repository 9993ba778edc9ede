// The processes of a job become one machine of virtual devices.
#include "make_distributed.hpp"

#include "../distributed/board_group.hpp"
#include "../engine_choice.hpp"
#include "../process_devices.hpp"
#include "host_backend.hpp"
#include "starling/base/error.hpp"

namespace starling {
namespace {

constexpr int queue_depth = 512;

host::host_settings settings_of(const distributed_options& options, const process_place& place, const environment& e) {
  check_several_processes(e);
  const int each = pes_of_process(options, place, e);
  expect<argument_error>(options.max_blocks >= 0, "machine::distributed: max_blocks = ", options.max_blocks,
                         "; must be at least 1, or 0 for STARLING_HOST_BLOCKS");
  constexpr std::size_t most_memory = std::size_t{1} << 50;
  expect<argument_error>(options.memory_bytes <= most_memory,
                         "machine::distributed: memory_bytes = ", options.memory_bytes,
                         "; must be at most 2^50, or 0 for STARLING_HOST_MEMORY");
  return {each * place.size,
          options.memory_bytes > 0 ? options.memory_bytes : e.host_memory,
          options.max_blocks > 0 ? options.max_blocks : e.host_blocks,
          options.poison,
          e.deadline,
          {},
          queue_depth};
}

std::string terms_of(const host::host_settings& s) {
  return message(s.devices, " PEs, each of ", s.memory_bytes, " bytes and ", s.max_blocks, " blocks");
}

}  // namespace

std::shared_ptr<backend> make_distributed_backend(const distributed_options& options, const process_place& place) {
  const environment e = environment::read();
  return make_distributed_backend(options, place, engine_for(place, e), host_for(place, e));
}

std::shared_ptr<backend> make_distributed_backend(const distributed_options& options, const process_place& place,
                                                  std::unique_ptr<engine> carrier, const std::string& host) {
  const environment e = environment::read();
  host::host_settings s = settings_of(options, place, e);
  const std::size_t bytes = host::host_backend::shared_bytes(s);
  if (carrier == nullptr)
    return std::make_shared<host::host_backend>(
        s, std::make_unique<board_group>(place, terms_of(s), bytes, e.meeting_deadline));
  auto group = std::make_unique<engine_group>(place, std::move(carrier), host, terms_of(s), bytes, e.meeting_deadline);
  std::vector<int> host_of_pe;
  for (int pe = 0; pe < s.devices; ++pe)
    host_of_pe.push_back(group->hosts()[static_cast<std::size_t>(pe / (s.devices / place.size))]);
  s.hosts = network::host_layout(host_of_pe);
  return std::make_shared<host::host_backend>(s, std::move(group));
}

}  // namespace starling
