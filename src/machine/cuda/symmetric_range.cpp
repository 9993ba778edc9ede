#include "symmetric_range.hpp"

#include <algorithm>

#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::on_cuda {

symmetric_range::symmetric_range(const std::vector<gpu>& gpus, const device_mapper& mapper, std::size_t bytes)
    : gpus_(gpus), mapper_(mapper), stride_(mapper.rounded(bytes)), base_(mapper.reserve(gpus.size() * stride_)) {}

symmetric_range::~symmetric_range() {
  // A kernel or copy that still used the memory would fault: let all work of the GPUs end first.
  (void)mapper_.await_all_work();
  for (auto p = mapped_.rbegin(); p != mapped_.rend(); ++p) mapper_.unmap(*p->on, p->address, p->bytes);
  mapper_.give_back(base_, gpus_.size() * stride_);
}

void symmetric_range::map(std::size_t begin, std::size_t end) {
  const std::lock_guard lock(mutex_);
  const std::size_t before = mapped_.size();
  mapped_.reserve(before + gpus_.size());  // here, so that nothing can fail between mapping and noting it
  const std::string what = message("symmetric memory: ", format_bytes(end - begin), " more are needed on every PE");
  try {
    for (const gpu& g : gpus_) {
      const CUdeviceptr address = base_ + static_cast<std::size_t>(g.pe) * stride_ + begin;
      mapper_.map(g, address, end - begin, what);
      mapped_.push_back({&g, address, end - begin});
    }
  } catch (...) {
    while (mapped_.size() > before) {
      const piece& last = mapped_.back();
      mapper_.unmap(*last.on, last.address, last.bytes);
      mapped_.pop_back();
    }
    throw;
  }
}

void growing_area::grow_to(std::size_t size) {
  if (size <= size_) return;
  expect<memory_error>(size <= limit_, "symmetric memory: ", format_bytes(size), " needed, the range has ",
                       format_bytes(limit_));
  const std::size_t needed = range_.rounded(size);
  const std::size_t generous = std::min(std::max(needed, size_ + range_.rounded(step_)), limit_);
  try {
    range_.map(begin_ + size_, begin_ + generous);
    size_ = generous;
  } catch (const memory_error&) {
    if (generous == needed) throw;
    range_.map(begin_ + size_, begin_ + needed);
    size_ = needed;
  }
}

}  // namespace starling::on_cuda
