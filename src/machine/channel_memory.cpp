#include <algorithm>
#include <iterator>

#include "starling/machine/machine.hpp"

namespace starling {
namespace {

constexpr int most_slots = 1 << 20;
constexpr int most_lanes = 1 << 20;
constexpr index_t most_bytes = index_t{1} << 46;

}  // namespace

channel_memory::channel_memory(machine& m, index_t capacity, std::size_t element, const channel_options& options)
    : options_(options), n_pes_(m.size()) {
  const auto size = static_cast<index_t>(element);
  expect<argument_error>(options.slots >= 1 && options.slots <= most_slots,
                         "machine::allocate_channel: slots = ", options.slots, "; must be from 1 to ", most_slots);
  expect<argument_error>(options.lanes >= 1 && options.lanes <= most_lanes,
                         "machine::allocate_channel: lanes = ", options.lanes, "; must be from 1 to ", most_lanes);
  const index_t slots = static_cast<index_t>(options.slots) * options.lanes;
  expect<argument_error>(capacity >= 0 && capacity <= most_bytes / size / slots,
                         "machine::allocate_channel: capacity = ", capacity, " elements of ", size, " bytes in ",
                         options.slots, " slots of ", options.lanes, " lanes; must be from 0 to ",
                         most_bytes / size / slots);
  constexpr index_t word = 16;
  slot_bytes_ = std::max(round_up(capacity * size, word), word);
  const index_t longest = std::max(packets_up_to_other_pe, packets_up_to_own_pe);
  const index_t by_packets = options.how == protocol::automatic ? std::min(capacity * size, longest)
                             : options.how == protocol::packets ? capacity * size
                                                                : 0;
  packets_per_slot_ = words_for<std::byte>(by_packets);
  packets_ = m.allocate<packet>(slots * packets_per_slot_);
  data_ = m.allocate<std::byte>(slots * slot_bytes_);
  arrived_ = m.allocate<signal>(slots);
  taken_ = m.allocate<signal>(static_cast<index_t>(options.lanes) * n_pes_);
  restart(m, 0);
}

void channel_memory::restart(machine& m, std::uint64_t after) {
  // GPUs compare the lower halves of numbers. Empty packets must look like no message that may come before the receiver
  // first renews them: within 2^31 messages and the slots.
  constexpr unsigned char bytes[] = {0x00, 0x55, 0xaa};
  const auto may_come = [&](unsigned char byte) {
    const std::uint32_t ahead = byte * 0x01010101u - static_cast<std::uint32_t>(after);
    return ahead != 0 && ahead <= (1u << 31) + static_cast<std::uint32_t>(most_slots);
  };
  const bool on_gpus = m.kind() == machine_kind::cuda;
  const auto* empty =
      std::find_if(std::begin(bytes), std::end(bytes), [&](auto b) { return !on_gpus || !may_come(b); });
  const std::vector<signal> credits(static_cast<std::size_t>(taken_.size()), signal{after});
  for (int pe = 0; pe < n_pes_; ++pe) {
    m.fill(packets_.on(pe), *empty, static_cast<std::size_t>(packets_.size()) * sizeof(packet));
    m.fill(arrived_.on(pe), 0, static_cast<std::size_t>(arrived_.size()) * sizeof(signal));
    m.copy(taken_.on(pe), credits.data(), credits.size() * sizeof(signal));
  }
}

}  // namespace starling
