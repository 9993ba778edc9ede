// Names of parts of memory, by which messages call them. Thread-safe. Work is checked by the names of the time when it
// was submitted, of which it keeps a copy: later the same memory may be somebody else's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace starling::check {

struct named_range {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::shared_ptr<const std::string> name;
  std::uint64_t number = 0;

  bool covers(std::uintptr_t address) const { return address - begin < bytes; }
  bool meets(std::uintptr_t address, std::size_t n) const { return address < begin + bytes && begin < address + n; }
};

// The newest last.
using named_ranges = std::vector<named_range>;

// The newest that has the byte; null: none.
inline const named_range* name_at(const named_ranges& all, std::uintptr_t address) {
  const auto found = std::find_if(all.rbegin(), all.rend(), [&](const named_range& r) { return r.covers(address); });
  return found == all.rend() ? nullptr : &*found;
}

class memory_names {
 public:
  // Returns the number of the name, from 1.
  std::uint64_t add(const std::byte* start, std::size_t bytes, std::string name) {
    const std::lock_guard lock(mutex_);
    shown_.reset();
    all_.push_back({reinterpret_cast<std::uintptr_t>(start), bytes,
                    std::make_shared<const std::string>(std::move(name)), ++numbers_});
    return numbers_;
  }
  void remove(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    shown_.reset();
    std::erase_if(all_, [number](const named_range& r) { return r.number == number; });
  }
  // Those of now.
  std::shared_ptr<const named_ranges> now() const {
    const std::lock_guard lock(mutex_);
    if (!shown_) shown_ = std::make_shared<const named_ranges>(all_);
    return shown_;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const named_ranges> shown_;  // null: something has changed since
  named_ranges all_;
  std::uint64_t numbers_ = 0;
};

}  // namespace starling::check
