// data_locks: where threads wait for data that others hold. Data are many and waits are few, so that data share them.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace starling::stf {

class data_locks {
 public:
  struct one {
    std::mutex mutex;
    std::condition_variable freed;  // some of the data
  };
  one& of(std::uint64_t data) { return all_[static_cast<std::size_t>(data) % all_.size()]; }

 private:
  std::array<one, 16> all_;
};

}  // namespace starling::stf
