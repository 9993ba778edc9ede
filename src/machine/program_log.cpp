#include "program_log.hpp"

#include <algorithm>

#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling {
namespace {

std::unique_ptr<trace_record[]> room_for(std::size_t records) {
  try {
    return std::make_unique_for_overwrite<trace_record[]>(records);
  } catch (const std::bad_alloc&) {
    throw memory_error(message("trace: ", format_bytes(records * sizeof(trace_record)),
                               " of host memory for the blocks' records are not to be had; lower "
                               "STARLING_TRACE_RECORDS (trace_options::records), or use fewer blocks"));
  }
}

}  // namespace

program_log::program_log(int n_pes, int n_blocks, std::uint32_t capacity)
    : n_pes_(n_pes),
      n_blocks_(n_blocks),
      capacity_(capacity),
      heads_(static_cast<std::size_t>(n_pes) * static_cast<std::size_t>(n_blocks)),
      records_(room_for(heads_.size() * capacity)) {}

trace_rings program_log::on(int pe) { return {&head(pe, 0), slots(pe, 0), capacity_, pair_shift_of(capacity_)}; }

std::uint32_t program_log::kept(int pe, int block) const {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(heads_[index(pe, block)].written, capacity_));
}

}  // namespace starling
