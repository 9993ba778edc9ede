#include "device_access.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "card_kernel.hpp"
#include "check.hpp"
#include "device_guard.hpp"

namespace starling::on_cuda {
namespace {

constexpr std::size_t bounce_bytes = std::size_t{1} << 20;
constexpr std::size_t piece_bytes = std::size_t{64} << 10;
constexpr std::chrono::seconds stream_deadline{30};

std::uint64_t seen(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load(std::memory_order_acquire);
}

// f(first byte, bytes) for each piece.
template <class F>
void for_each_piece(std::size_t bytes, const F& f) {
  for (std::size_t begin = 0; begin < bytes; begin += piece_bytes) f(begin, std::min(piece_bytes, bytes - begin));
}

}  // namespace

device_access::device_access(const driver_api& driver, const gpu& on)
    : driver_(driver), on_(on), bounce_(bounce_bytes, on.id), done_(1, on.id), answer_(1, on.id) {
  const device_guard guard(on_.id);
  stream_ = new_stream(on_);
  load_change();
}

void device_access::store(void* to, const void* from, std::size_t bytes) {
  attempt([&] {
    behind_ = true;
    if (bytes == sizeof(std::uint64_t) && reinterpret_cast<std::uintptr_t>(to) % sizeof(std::uint64_t) == 0) {
      std::uint64_t value = 0;
      std::memcpy(&value, from, bytes);
      driver_.check(driver_.stream_write(stream_.get(), address(to), value, CU_STREAM_WRITE_VALUE_DEFAULT),
                    "cuStreamWriteValue64 (network card)", on_.pe);
      return;
    }
    for_each_piece(bytes, [&](std::size_t begin, std::size_t n) {
      std::byte* room = room_for(n);
      std::memcpy(room, static_cast<const std::byte*>(from) + begin, n);
      check(cudaMemcpyAsync(static_cast<std::byte*>(to) + begin, room, n, cudaMemcpyDefault, stream_.get()),
            "cudaMemcpyAsync (network card)", on_.pe);
      behind_ = true;
    });
  });
}

void device_access::load(void* to, const void* from, std::size_t bytes) {
  attempt([&] {
    for_each_piece(bytes, [&](std::size_t begin, std::size_t n) {
      std::byte* room = room_for(n);
      check(cudaMemcpyAsync(room, static_cast<const std::byte*>(from) + begin, n, cudaMemcpyDefault, stream_.get()),
            "cudaMemcpyAsync (network card)", on_.pe);
      behind_ = true;
      await_stream();
      std::memcpy(static_cast<std::byte*>(to) + begin, room, n);
    });
  });
}

std::uint64_t device_access::change(void* word, word_change what, std::size_t bytes, std::uint64_t operand,
                                    std::uint64_t compare) {
  answer_[0] = 0;
  attempt([&] {
    network::order o;
    o.what = static_cast<network::opcode>(what);
    o.remote = reinterpret_cast<std::uintptr_t>(word);
    o.bytes = static_cast<std::uint32_t>(bytes);
    o.operand = operand;
    o.compare = compare;
    o.local = reinterpret_cast<std::uintptr_t>(&answer_[0]);
    launch_change(o, stream_.get(), on_.pe);
    behind_ = true;
    await_stream();
  });
  return seen(answer_[0]);
}

void device_access::settle() {
  attempt([this] { await_stream(); });
}

// Lasts until the stream has done what is put into it next.
std::byte* device_access::room_for(std::size_t bytes) {
  if (used_ + bytes > bounce_.size()) await_stream();
  std::byte* room = bounce_.data() + used_;
  constexpr std::size_t line = 64;
  used_ += (bytes + line - 1) / line * line;
  return room;
}

// The stream says in pinned memory how far it is; now and then it is asked whether it has failed.
void device_access::await_stream() {
  if (behind_) {
    driver_.check(driver_.stream_write(stream_.get(), address(&done_[0]), ++issued_, CU_STREAM_WRITE_VALUE_DEFAULT),
                  "cuStreamWriteValue64 (network card)", on_.pe);
    constexpr int looks_between = 1 << 14;
    const auto begin = std::chrono::steady_clock::now();
    for (int looks = 1; seen(done_[0]) != issued_; ++looks) {
      if (looks % looks_between != 0) continue;
      (void)still_running(cudaStreamQuery(stream_.get()), "cudaStreamQuery (network card)", on_.pe);
      expect<device_error>(std::chrono::steady_clock::now() - begin < stream_deadline, "network card of PE ", on_.pe,
                           ": what it put into its stream has not come to its end in ", stream_deadline.count(),
                           " s; leave its GPU room for one block beside the program, or look for a kernel that hangs");
    }
  }
  behind_ = false;
  used_ = 0;
}

template <class F>
void device_access::attempt(const F& f) {
  if (failed_) return;
  try {
    const device_guard guard(on_.id);
    f();
  } catch (const error&) {
    failure_ = std::current_exception();
    failed_ = true;
  }
}

}  // namespace starling::on_cuda
