#include "proxy_card.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "card_kernel.hpp"
#include "check.hpp"
#include "device_guard.hpp"

namespace starling::on_cuda {
namespace {

constexpr std::size_t bounce_bytes = std::size_t{1} << 20;
constexpr std::size_t piece_bytes = std::size_t{64} << 10;

template <class Word>
std::atomic_ref<Word> shared(const Word& word) {
  return std::atomic_ref<Word>(const_cast<Word&>(word));
}

}  // namespace

proxy_card::proxy_card(const driver_api& driver, const gpu& on)
    : driver_(driver), on_(on), bounce_(bounce_bytes, on.id), done_(1, on.id), answer_(1, on.id) {
  const device_guard guard(on_.id);
  stream_ = new_stream(on_);
  load_change();
}

proxy_card::~proxy_card() = default;

void proxy_card::start(std::vector<network::card_view> pes, std::vector<network::memory_region> words) {
  pes_ = std::move(pes);
  words_ = std::move(words);
  queues_.clear();
  queues_.resize(pes_.size());
  failure_ = nullptr;
  thread_ = std::jthread([this](const std::stop_token& over) { serve(over); });
}

void proxy_card::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void proxy_card::serve(const std::stop_token& over) {
  const device_guard guard(on_.id);
  while (!over.stop_requested()) {
    bool any = false;
    for (std::size_t i = 0; i < pes_.size(); ++i) any = serve_pe(i) || any;
    if (!any) std::this_thread::yield();
  }
  attempt([this] { await_stream(); });
}

bool proxy_card::serve_pe(std::size_t i) {
  const network::card_view& v = pes_[i];
  std::deque<network::card_queue>& mine = queues_[i];
  const auto taken = std::min<std::uint64_t>(shared(v.counts->taken).load(std::memory_order_acquire), v.n_queues);
  while (mine.size() < taken)
    mine.emplace_back(network::setup_of(network::pair_of(v, static_cast<std::uint32_t>(mine.size())), 0),
                      static_cast<network::card_memory&>(*this));
  bool any = false;
  for (network::card_queue& q : mine) any = q.serve() || any;
  return any;
}

network::entry proxy_card::fetch(const network::entry_name&, const network::entry& place) {
  network::entry e{};
  for (int i = 0; i < 8; ++i) e.word[i] = shared(place.word[i]).load(std::memory_order_relaxed);
  return e;
}

std::uint64_t proxy_card::look(const std::uint64_t& word) { return shared(word).load(std::memory_order_acquire); }

bool proxy_card::in_words(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return std::any_of(words_.begin(), words_.end(), [at](const network::memory_region& w) { return w.holds(at, 1); });
}

void proxy_card::gather(const network::entry_name&, const void* from, void* to, std::size_t bytes) {
  if (in_words(from)) {
    std::memcpy(to, from, bytes);
    return;
  }
  attempt([&] {
    for (std::size_t begin = 0; begin < bytes; begin += piece_bytes) {
      const std::size_t n = std::min(piece_bytes, bytes - begin);
      std::byte* room = room_for(n);
      check(cudaMemcpyAsync(room, static_cast<const std::byte*>(from) + begin, n, cudaMemcpyDefault, stream_.get()),
            "cudaMemcpyAsync (network card)", on_.pe);
      behind_ = true;
      await_stream();
      std::memcpy(static_cast<std::byte*>(to) + begin, room, n);
    }
  });
}

// Words that blocks may wait for arrive whole, by the stream's own writes.
void proxy_card::scatter(const network::entry_name&, void* to, const void* from, std::size_t bytes) {
  if (in_words(to)) {
    std::memcpy(to, from, bytes);
    return;
  }
  attempt([&] {
    behind_ = true;
    if (bytes == sizeof(std::uint64_t) && reinterpret_cast<std::uintptr_t>(to) % sizeof(std::uint64_t) == 0) {
      std::uint64_t value = 0;
      std::memcpy(&value, from, bytes);
      driver_.check(driver_.stream_write(stream_.get(), address(to), value, CU_STREAM_WRITE_VALUE_DEFAULT),
                    "cuStreamWriteValue64 (network card)", on_.pe);
      return;
    }
    std::byte* room = room_for(bytes);
    std::memcpy(room, from, bytes);
    check(cudaMemcpyAsync(to, room, bytes, cudaMemcpyDefault, stream_.get()), "cudaMemcpyAsync (network card)", on_.pe);
  });
}

std::uint64_t proxy_card::change(const network::entry_name&, void*, const network::order& what) {
  answer_[0] = 0;
  attempt([&] {
    network::order o = what;
    o.local = reinterpret_cast<std::uintptr_t>(&answer_[0]);
    launch_change(o, stream_.get(), on_.pe);
    behind_ = true;
    await_stream();
  });
  return shared(answer_[0]).load(std::memory_order_acquire);
}

void proxy_card::complete(const network::entry_name&, network::completion& place, const network::completion& value) {
  attempt([this] { await_stream(); });
  // What CUDA has failed to do is never said to be done.
  if (failure_ && !network::is_error(network::big_endian(value.word[7]))) return;
  for (int i = 0; i < 7; ++i) shared(place.word[i]).store(value.word[i], std::memory_order_relaxed);
  shared(place.word[7]).store(value.word[7], std::memory_order_release);
}

std::size_t proxy_card::piece(std::size_t left) { return std::min(left, piece_bytes); }

// Lasts until the stream has done what is put into it next.
std::byte* proxy_card::room_for(std::size_t bytes) {
  if (used_ + bytes > bounce_.size()) await_stream();
  std::byte* room = bounce_.data() + used_;
  constexpr std::size_t line = 64;
  used_ += (bytes + line - 1) / line * line;
  return room;
}

// The stream says in pinned memory how far it is; now and then it is asked whether it has failed.
void proxy_card::await_stream() {
  if (behind_) {
    driver_.check(driver_.stream_write(stream_.get(), address(&done_[0]), ++issued_, CU_STREAM_WRITE_VALUE_DEFAULT),
                  "cuStreamWriteValue64 (network card)", on_.pe);
    constexpr int looks_between = 1 << 14;
    for (int looks = 1; shared(done_[0]).load(std::memory_order_acquire) != issued_; ++looks) {
      if (looks % looks_between != 0) continue;
      (void)still_running(cudaStreamQuery(stream_.get()), "cudaStreamQuery (network card)", on_.pe);
    }
  }
  behind_ = false;
  used_ = 0;
}

template <class F>
void proxy_card::attempt(const F& f) {
  if (failure_) return;
  try {
    f();
  } catch (const error&) {
    failure_ = std::current_exception();
  }
}

}  // namespace starling::on_cuda
