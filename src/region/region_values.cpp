// Values into a region and out of it: those that it begins with, the copy on the host, and epochs that the host reads.
#include <algorithm>
#include <chrono>
#include <thread>

#include "copy_plan.hpp"
#include "layout.hpp"
#include "starling/region/region.hpp"

namespace starling {

void region_memory::load(const std::byte* values) {
  ++loads_;
  machine_.meet();  // nobody reads what was there any more
  clear_words();
  // Of what is not sent, all buffers hold these values, so that kernels compute with numbers.
  const int buffers = state_.sending == region_sending::all ? 1 : state_.buffers;
  const index_t of_buffer = pitch_ * static_cast<index_t>(element_);
  for (auto pe = static_cast<int>(machine_.local_pes().begin); pe < machine_.local_pes().end; ++pe)
    for (int k = 0; k < buffers; ++k)
      machine_.copy(values_.on(pe) + k * of_buffer, values, static_cast<std::size_t>(state_.size) * element_);
  for (int k = 0; k < buffers && host_values_.data() != nullptr; ++k)
    machine_.copy(host_values_.data() + k * of_buffer, values, static_cast<std::size_t>(state_.size) * element_);
}

std::uint64_t region_memory::host_epoch() const {
  expect<argument_error>(state_.to_host(),
                         "region: the host has no copy; make the region with subscribers::and_host()");
  std::uint64_t least = ~std::uint64_t{0};
  for (int c = 0; c < state_.chunks; ++c)
    least = std::min(least, gpu::system_atomic(state_.host_arrived[c].value).load(cuda::memory_order_acquire));
  return least;
}

void region_memory::wait_host(std::uint64_t epoch, double deadline) const {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  for (std::uint64_t last = host_epoch(); last < epoch; last = host_epoch()) {
    expect<region_error>(std::chrono::duration<double>(clock::now() - start).count() < deadline,
                         "region::wait_host: epoch ", epoch, " is not there after ", deadline,
                         " s; the host has epoch ", last, ". Does a kernel write it, and may a wait take longer?");
    std::this_thread::yield();
  }
}

const std::byte* region_memory::on_host(std::uint64_t epoch) const {
  const std::uint64_t last = host_epoch();
  expect<argument_error>(epoch <= last && epoch + static_cast<std::uint64_t>(state_.buffers) > last,
                         "region::on_host: epoch ", epoch, " of a copy whose last is ", last, "; with ", state_.buffers,
                         " buffers it has so many epochs, the last one included");
  return host_values_.data() + state_.buffer_of(epoch) * pitch_ * static_cast<index_t>(element_);
}

std::uint64_t region_memory::epoch() const { return last_epoch(machine_, state_, *layout_); }

void region_memory::check_held(std::uint64_t epoch) const {
  const std::uint64_t last = this->epoch();
  expect<argument_error>(epoch <= last && epoch + static_cast<std::uint64_t>(state_.buffers) > last,
                         "region::read: epoch ", epoch, " of a region whose last is ", last, "; with ", state_.buffers,
                         " buffers it has so many epochs, the last one included");
}

void region_memory::copy_out(int pe, std::uint64_t epoch, index_range elements, std::byte* values) const {
  const auto bytes = [&](index_t n) { return n * static_cast<index_t>(element_); };
  const std::byte* start = values_.on(pe) + bytes(state_.buffer_of(epoch) * pitch_ + elements.begin);
  machine_.copy(values + bytes(elements.begin), start, static_cast<std::size_t>(bytes(elements.size())));
}

void region_memory::read(int pe, std::uint64_t epoch, std::byte* values) const {
  expect<range_error>(pe >= 0 && pe < machine_.size(), "region::read: PE ", pe, " of a machine with ", machine_.size(),
                      "; PEs are numbered from 0");
  check_held(epoch);
  copy_out(pe, epoch, {0, state_.size}, values);
}

void region_memory::collect(std::uint64_t epoch, std::byte* values) const {
  check_held(epoch);
  for (int pe = 0; pe < machine_.size(); ++pe) copy_out(pe, epoch, part(pe), values);
}

}  // namespace starling
