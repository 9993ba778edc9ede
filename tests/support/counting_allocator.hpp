// An allocator of a user that takes memory from the machine, fills it with garbage in its stream, after a while, and
// counts what it has given. The test fails when anything comes back that it has not given.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "starling/machine/machine.hpp"
#include "starling/stf/allocator.hpp"

namespace starling::test {

class counting_allocator : public stf::allocator {
 public:
  static constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

  // `limit`: bytes that it gives at most at each place. Then it throws or gives null.
  explicit counting_allocator(machine m, std::size_t limit = no_limit, bool throws = false)
      : machine_(std::move(m)), limit_(limit), throws_(throws) {}
  ~counting_allocator() override { CHECK(all_.empty()); }

  void* allocate(std::size_t bytes, const stf::data_place& where, stream& s) override {
    const std::lock_guard lock(mutex_);
    const int pe = where.is_host() ? host_place : where.pe();
    CHECK(s.pe() == std::max(pe, 0));
    if (bytes > limit_ - std::min(limit_, bytes_[pe])) {
      ++refused_;
      if (throws_) throw std::bad_alloc();
      return nullptr;
    }
    local_memory memory = machine_.allocate_on(pe, bytes);
    std::byte* start = memory.data();
    if (pe != host_place) {
      s.call([] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); });
      s.fill(start, 0xff, bytes);
    }
    bytes_[pe] += bytes;
    most_[pe] = std::max(most_[pe], bytes_[pe]);
    ++given_;
    all_.emplace(start, piece{std::move(memory), pe});
    return start;
  }
  void deallocate(void* start, std::size_t bytes, const stf::data_place& where, stream& s) noexcept override {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(static_cast<std::byte*>(start));
    if (found == all_.end() || found->second.memory.size() != bytes ||
        found->second.pe != (where.is_host() ? host_place : where.pe())) {
      ++wrong_;
      return;
    }
    if (!where.is_host()) {
      s.fill(start, 0xee, bytes);
      s.synchronize();
    }
    bytes_[found->second.pe] -= bytes;
    all_.erase(found);
  }

  // What is out at the moment.
  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    std::size_t sum = 0;
    for (const auto& [pe, bytes] : bytes_) sum += bytes;
    return sum;
  }
  // The most that was, at any place.
  std::size_t most(int pe) {
    const std::lock_guard lock(mutex_);
    return most_[pe];
  }
  int given() {
    const std::lock_guard lock(mutex_);
    return given_;
  }
  int refused() {
    const std::lock_guard lock(mutex_);
    return refused_;
  }
  bool nothing_wrong() {
    const std::lock_guard lock(mutex_);
    return wrong_ == 0;
  }
  // Whether the address is in a piece that is out.
  bool has(const void* address) {
    const std::lock_guard lock(mutex_);
    const auto* at = static_cast<const std::byte*>(address);
    return std::any_of(all_.begin(), all_.end(),
                       [at](const auto& p) { return at >= p.first && at < p.first + p.second.memory.size(); });
  }
  void set_limit(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
  }

 private:
  struct piece {
    local_memory memory;
    int pe;
  };
  machine machine_;
  std::size_t limit_;
  const bool throws_;
  std::mutex mutex_;
  std::map<const std::byte*, piece> all_;
  std::map<int, std::size_t> bytes_, most_;
  int given_ = 0, refused_ = 0, wrong_ = 0;
};

}  // namespace starling::test
