#include "starling/shmem/symmetric_team.hpp"

#include <algorithm>
#include <vector>

namespace starling::shmem {
namespace {

constexpr int most_blocks = 1 << 20;
constexpr index_t least_slot = 64;
constexpr index_t most_slot = index_t{1} << 30;

void check_parent(const char* call, const team& parent) {
  expect<argument_error>(static_cast<bool>(parent), call,
                         ": the parent is no team; pass shmem::team_world(machine) or a split of it");
}

}  // namespace

team_memory::team_memory(machine& m, int capacity, const team_options& options)
    : options_(options), capacity_(capacity) {
  expect<argument_error>(options.blocks >= 1 && options.blocks <= most_blocks,
                         "team_options::blocks = ", options.blocks, "; must be from 1 to ", most_blocks);
  expect<argument_error>(options.slot_bytes >= least_slot && options.slot_bytes <= most_slot,
                         "team_options::slot_bytes = ", options.slot_bytes, "; must be from ", least_slot, " to ",
                         most_slot);
  expect<argument_error>(options.gather_bytes >= 0, "team_options::gather_bytes = ", options.gather_bytes,
                         "; must be at least 0");
  options_.slot_bytes = round_up(options.slot_bytes, least_slot);
  const index_t members = static_cast<index_t>(options.blocks) * capacity;
  packets_ = m.allocate<packet>(2 * members * packets_per_message);
  slots_ = m.allocate<std::byte>(2 * members * options_.slot_bytes);
  entered_ = m.allocate<signal>(2 * members);
  progress_ = m.allocate<team_progress>(options.blocks);
  restart(m, 0);
}

team::memory team_memory::handle() const {
  return {packets_.data(),     slots_.data(),         entered_.data(), progress_.data(),
          options_.slot_bytes, options_.gather_bytes, capacity_,       options_.blocks};
}

void team_memory::restart(machine& m, std::uint64_t after) {
  // GPUs keep the lower half of a packet's number beside each half of its data: see target::numbered.
  constexpr int number_bits = 32;
  const bool on_gpus = m.kind() == machine_kind::cuda;
  const packet old = on_gpus ? packet{after << number_bits, {after << number_bits}} : packet{0, {after}};
  const std::vector<packet> packets(static_cast<std::size_t>(packets_.size()), old);
  const std::vector<signal> entered(static_cast<std::size_t>(entered_.size()), signal{after});
  const std::vector<team_progress> progress(static_cast<std::size_t>(progress_.size()),
                                            team_progress{after, after, after});
  for (int pe = 0; pe < m.size(); ++pe) {
    m.copy(packets_.on(pe), packets.data(), packets.size() * sizeof(packet));
    m.copy(entered_.on(pe), entered.data(), entered.size() * sizeof(signal));
    m.copy(progress_.on(pe), progress.data(), progress.size() * sizeof(team_progress));
  }
}

symmetric_axis::symmetric_axis(machine& m, const team& parent, int across, bool rows, const team_options& options)
    : memory_(m, axis_teams(parent, across, rows, {})[0].size(), options),
      parent_(parent),
      across_(across),
      rows_(rows) {}

symmetric_team team_world(machine& m, const team_options& options) { return {m, 0, 1, m.size(), options}; }

symmetric_team team_split_strided(machine& m, const team& parent, int start, int stride, int size,
                                  const team_options& options) {
  check_parent("shmem::team_split_strided", parent);
  const index_t last = start + static_cast<index_t>(size - 1) * stride;
  const auto inside = [&](index_t number) { return number >= 0 && number < parent.size(); };
  expect<range_error>(size >= 1 && inside(start) && inside(last) && (stride != 0 || size == 1),
                      "shmem::team_split_strided: start = ", start, ", stride = ", stride, ", size = ", size,
                      " of a team of ", parent.size(), " PEs; start and start + (size - 1) * stride must be from 0 to ",
                      parent.size() - 1, ", size at least 1, and stride 0 is for one PE alone");
  return {m, parent.pe(start), size == 1 ? 1 : stride * parent.stride(), size, options};
}

split_axes team_split_2d(machine& m, const team& parent, int xrange, const team_options& x, const team_options& y) {
  check_parent("shmem::team_split_2d", parent);
  expect<argument_error>(xrange > 0, "shmem::team_split_2d: xrange = ", xrange, "; must be at least 1");
  const int across = std::min(xrange, parent.size());
  return {symmetric_axis(m, parent, across, true, x), symmetric_axis(m, parent, across, false, y)};
}

}  // namespace starling::shmem
