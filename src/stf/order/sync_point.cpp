#include "sync_point.hpp"

namespace starling::stf {

void sync_point_list::grow(std::size_t n) {
  auto larger = std::make_unique<sync_point[]>(n);
  std::copy(begin(), end(), larger.get());
  many_ = std::move(larger);
  many_capacity_ = static_cast<std::uint32_t>(n);
}

void sync_point_list::assign(const sync_point_list& other) {
  if (other.size_ > capacity()) grow(other.size_);
  std::copy(other.begin(), other.end(), data());
  size_ = other.size_;
}

}  // namespace starling::stf
