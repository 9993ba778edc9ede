// pinned_memory: while it lives, copies of streams read and write a user's memory of the host in the stream's order and
// without the host. Made by machine::pin. Released when the owner dies: copies that use the memory must have ended.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace starling {

class backend;

class pinned_memory {
 public:
  pinned_memory() = default;
  pinned_memory(std::shared_ptr<backend> machine, void* start, std::size_t bytes);
  pinned_memory(pinned_memory&& other) noexcept { swap(other); }
  pinned_memory& operator=(pinned_memory&& other) noexcept {
    pinned_memory(std::move(other)).swap(*this);
    return *this;
  }
  ~pinned_memory();

  // False when the system did not allow it: the memory is used as before.
  bool held() const { return held_; }
  // Whether anything is released at the end: virtual devices, and memory that was pinned before, need nothing.
  bool owns() const { return machine_ != nullptr; }

 private:
  void swap(pinned_memory& other) noexcept {
    std::swap(machine_, other.machine_);
    std::swap(start_, other.start_);
    std::swap(held_, other.held_);
  }

  std::shared_ptr<backend> machine_;
  void* start_ = nullptr;
  bool held_ = false;
};

}  // namespace starling
