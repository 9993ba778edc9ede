#include "program_control.hpp"

namespace starling {
namespace {
// Words that different PEs or many blocks write lie on cache lines of their own.
constexpr std::size_t line = 128;
std::size_t lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }
}  // namespace

program_control::program_control(symmetric_heap& heap, int n_blocks) : heap_(heap) {
  const auto pes = static_cast<std::size_t>(heap.where().n_pes);
  const auto blocks = static_cast<std::size_t>(n_blocks);
  std::size_t end = 0;
  const auto place = [&](std::size_t bytes) {
    const std::size_t at = end;
    end += lines(bytes);
    return at;
  };
  const std::size_t abort = place(sizeof(signal));
  const std::size_t arrived = place(sizeof(signal));
  const std::size_t released = place(sizeof(signal));
  const std::size_t result = place(sizeof(small_value));
  const std::size_t pe_packets = place(2 * pes * small_value_packets * sizeof(packet));
  const std::size_t pe_values = place(pes * sizeof(small_value));
  const std::size_t block_values = place(blocks * sizeof(small_value));
  bytes_ = end;
  offset_ = heap.allocate(bytes_);
  const auto signals = [&](std::size_t at) {
    return sym<signal>(reinterpret_cast<signal*>(heap.on(offset_ + at, 0)), heap.where().stride);
  };
  const auto values = [&](std::size_t at) {
    return sym<small_value>(reinterpret_cast<small_value*>(heap.on(offset_ + at, 0)), heap.where().stride);
  };
  words_.abort = signals(abort);
  words_.arrived = signals(arrived);
  words_.released = signals(released);
  words_.block_values = values(block_values);
  words_.pe_packets = {reinterpret_cast<packet*>(heap.on(offset_ + pe_packets, 0)), heap.where().stride};
  words_.pe_values = values(pe_values);
  words_.result = values(result);
}

program_control::~program_control() { heap_.free(offset_); }

}  // namespace starling
