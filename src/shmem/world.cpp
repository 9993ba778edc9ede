#include "starling/shmem/world.hpp"

#include <algorithm>
#include <bit>

namespace starling::shmem {

pe_memory world::on(int pe) {
  expect<range_error>(pe >= 0 && pe < n_pes(), "shmem::world::on: PE ", pe, " of a machine with ", n_pes(),
                      "; PEs are numbered from 0 to ", n_pes() - 1);
  return {*this, pe};
}

void world::check_alignment(std::size_t alignment) {
  constexpr std::size_t most = 256;
  expect<argument_error>(std::has_single_bit(alignment) && alignment <= most,
                         "shmem::world::align: alignment = ", alignment, "; must be a power of two up to ", most,
                         ", at which every allocation begins");
}

std::size_t pe_memory::bytes_of(const char* call, index_t n, std::size_t element) {
  expect<argument_error>(n >= 0, "shmem::world: ", call, " of ", n, " elements; must be at least 0");
  std::size_t all = 0;
  expect<argument_error>(!__builtin_mul_overflow(static_cast<std::size_t>(n), element, &all), "shmem::world: ", call,
                         " of ", n, " elements of ", element, " bytes; no memory has as many");
  return all;
}

void pe_memory::copy(void* dest, const void* source, std::size_t bytes, where at) const {
  if (bytes > 0) world_->machine_.copy(dest, source, bytes, at);
}

void pe_memory::copy_pieces(void* dest, index_t dest_stride, const void* source, index_t source_stride, index_t piece,
                            index_t pieces, std::size_t element) const {
  const std::size_t row = bytes_of("a piece", piece, element);
  const index_t least = std::max(index_t{1}, piece);
  expect<argument_error>(dest_stride >= least && source_stride >= least, "shmem::world: strides of ", dest_stride,
                         " and ", source_stride, " elements; must be at least ", least,
                         piece > 1 ? ", the elements of a piece" : "");
  const std::size_t dest_pitch = bytes_of("a stride", dest_stride, element);
  const std::size_t source_pitch = bytes_of("a stride", source_stride, element);
  (void)bytes_of("strided pieces", pieces, std::max(dest_pitch, source_pitch));
  if (pieces == 0 || row == 0) return;
  if (!world_->rows_) world_->rows_ = world_->machine_.new_stream(static_cast<int>(world_->machine_.local_pes().begin));
  world_->rows_->copy_rows(dest, dest_pitch, source, source_pitch, row, static_cast<std::size_t>(pieces));
  world_->rows_->synchronize();
}

bool pe_memory::in_place() const { return world_->machine_.kind() == machine_kind::host; }

}  // namespace starling::shmem
