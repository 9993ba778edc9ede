#include "symmetric_range.hpp"

#include <algorithm>
#include <exception>

#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::on_cuda {

symmetric_range::symmetric_range(const std::vector<gpu>& gpus, const device_mapper& mapper, std::size_t bytes,
                                 memory_exchange* exchange)
    : gpus_(gpus),
      mapper_(mapper),
      exchange_(exchange),
      stride_(mapper.rounded(bytes)),
      base_(mapper.reserve(gpus.size() * stride_)) {}

symmetric_range::~symmetric_range() {
  // A kernel or copy that still used the memory would fault: let all work of the GPUs end first.
  (void)mapper_.await_all_work();
  unmap_from(0);
  mapper_.give_back(base_, gpus_.size() * stride_);
}

void symmetric_range::unmap_from(std::size_t first) noexcept {
  while (mapped_.size() > first) {
    const piece& last = mapped_.back();
    mapper_.unmap(*last.on, last.address, last.bytes);
    mapped_.pop_back();
  }
}

void symmetric_range::map(std::size_t begin, std::size_t end, whose pes) {
  const std::lock_guard lock(mutex_);
  const std::size_t before = mapped_.size();
  mapped_.reserve(before + gpus_.size());  // here, so that nothing can fail between mapping and noting it
  const std::string what = message("symmetric memory: ", format_bytes(end - begin), " more are needed on every PE");
  try {
    if (exchange_ != nullptr && pes == whose::all)
      map_together(begin, end, what);
    else
      map_driven(begin, end, what);
  } catch (...) {
    unmap_from(before);
    throw;
  }
}

void symmetric_range::map_driven(std::size_t begin, std::size_t end, const std::string& what) {
  for (const gpu& g : driven_here(gpus_)) {
    mapper_.map(g, address_of(g, begin), end - begin, what);
    mapped_.push_back({&g, address_of(g, begin), end - begin});
  }
}

void symmetric_range::map_together(std::size_t begin, std::size_t end, const std::string& what) {
  const std::vector<CUmemGenericAllocationHandle> all = exchange_->create(end - begin, what);
  std::exception_ptr problem;
  for (const gpu& g : gpus_) {
    if (!g.reached) continue;
    const CUmemGenericAllocationHandle handle = all[static_cast<std::size_t>(g.pe)];
    try {
      if (!problem) {
        mapper_.put_behind(g, address_of(g, begin), end - begin, handle);
        mapped_.push_back({&g, address_of(g, begin), end - begin});
      }
    } catch (const error&) {
      problem = std::current_exception();
    }
    if (problem) mapper_.give_back_share(g, end - begin);
    mapper_.let_go(handle);
  }
  if (problem) std::rethrow_exception(problem);
}

void growing_area::grow_to(std::size_t size) {
  if (size <= size_) return;
  expect<memory_error>(size <= limit_, "symmetric memory: ", format_bytes(size), " needed, the range has ",
                       format_bytes(limit_));
  const std::size_t needed = range_.rounded(size);
  const std::size_t generous = std::min(std::max(needed, size_ + range_.rounded(step_)), limit_);
  try {
    range_.map(begin_ + size_, begin_ + generous, pes_);
    size_ = generous;
  } catch (const memory_error&) {
    if (generous == needed) throw;
    range_.map(begin_ + size_, begin_ + needed, pes_);
    size_ = needed;
  }
}

}  // namespace starling::on_cuda
