#include "moment.hpp"

namespace starling::stf {

void moment_list::grow(std::size_t n) {
  auto larger = std::make_unique<moment[]>(n);
  std::copy(begin(), end(), larger.get());
  many_ = std::move(larger);
  many_capacity_ = static_cast<std::uint32_t>(n);
}

void moment_list::assign(const moment_list& other) {
  if (other.size_ > capacity()) grow(other.size_);
  std::copy(other.begin(), other.end(), data());
  size_ = other.size_;
}

}  // namespace starling::stf
