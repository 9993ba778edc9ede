// For kernels that leave an allocation: two arrays, one after the other, and signals, on two virtual devices.
#pragma once

#include "support/failure.hpp"
#include "support/usable.hpp"

namespace starling::test {

struct expected_refusal {
  const char* call;
  const char* file;
  int line;
  std::uint64_t bytes;
};

class allocation_fixture {
 public:
  sym<int> data() const { return a_.data(); }
  sym<signal> signals() const { return signals_.data(); }
  // Memory of the host, outside of the devices.
  int* local() { return local_.data(); }

  // The error tells of PE 1's memory; the array behind the one that was left is as it was, and the machine works.
  template <class Kernel>
  void check_refused(const Kernel& k, const expected_refusal& e) {
    check_parts(failure_of<range_error>([&] { m_.run(1, k); }),
                {message(e.call, " at "), message(e.file, ":", e.line), message(e.bytes, " bytes at +0x"), "on PE 1",
                 "not inside one live allocation", "check the size, the offset"});
    CHECK(read(m_, b_, 1) == std::vector<int>(100, 0));
    check_usable(m_);
  }

 private:
  machine m_ = machine::host(2);
  symmetric_array<int> a_ = zeroed<int>(m_, 100);
  symmetric_array<int> b_ = zeroed<int>(m_, 100);
  symmetric_array<signal> signals_ = zeroed<signal>(m_, 4);
  std::vector<int> local_ = std::vector<int>(1000, 7);
};

}  // namespace starling::test
