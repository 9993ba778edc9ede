#include "host_card.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "../network/queue_memory.hpp"

namespace starling::host {

host_card::~host_card() = default;

void host_card::open(const network::queue_setup& s) {
  const std::lock_guard lock(mutex_);
  queues_.push_back(std::make_unique<network::card_queue>(s, *this));
}

void host_card::close(std::uint32_t queue) {
  const std::lock_guard lock(mutex_);
  std::erase_if(queues_, [&](const auto& q) { return q->setup().number == queue; });
  std::erase(lost_, queue);
}

void host_card::lose(std::uint32_t queue) {
  const std::lock_guard lock(mutex_);
  lost_.push_back(queue);
}

bool host_card::lost(std::uint32_t queue) { return std::find(lost_.begin(), lost_.end(), queue) != lost_.end(); }

bool host_card::serve() {
  const std::lock_guard lock(mutex_);
  bool any = false;
  for (const auto& q : queues_) any = q->serve() || any;
  return any;
}

network::entry host_card::fetch(const network::entry_name&, const network::entry& place) {
  network::entry e{};
  for (int i = 0; i < 8; ++i)
    e.word[i] = std::atomic_ref(const_cast<std::uint64_t&>(place.word[i])).load(std::memory_order_relaxed);
  return e;
}

std::uint64_t host_card::look(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load();
}

void host_card::gather(const network::entry_name&, const void* from, void* to, std::size_t bytes) {
  if (is_far(from)) return far_->get(to, from, bytes);
  std::memcpy(to, from, bytes);
}

void host_card::scatter(const network::entry_name& of, void* to, const void* from, std::size_t bytes) {
  if (is_far(to)) return far_->put(of, to, from, bytes);
  land_.store(to, from, bytes);
}

// Between hosts, but for what is read in one message: it lands as others expect small data to.
bool host_card::move(const network::entry_name& of, void* to, const void* from, std::size_t bytes) {
  static_assert(network::staging_bytes < far_memory::apart_bytes, "what goes apart is in memory of the machine");
  if (is_far(to)) {
    far_->put(of, to, from, bytes);
    return true;
  }
  if (bytes < far_memory::apart_bytes || !is_far(from)) return false;
  far_->get(to, from, bytes);
  land_.written(to, bytes);
  return true;
}

std::uint64_t host_card::change(const network::entry_name&, void* word, const network::order& what) {
  if (is_far(word)) return far_->change(word, what);
  return land_.change(word, static_cast<word_change>(what.what), what.bytes, what.operand, what.compare);
}

bool host_card::settled(const network::entry_name& of) { return far_ == nullptr || far_->settled(of); }

void host_card::complete(const network::entry_name&, network::completion& place, const network::completion& value) {
  for (int i = 0; i < 7; ++i) std::atomic_ref(place.word[i]).store(value.word[i], std::memory_order_relaxed);
  std::atomic_ref(place.word[7]).store(value.word[7]);
  if (network::is_error(network::big_endian(value.word[7])))
    land_.lot().wake_all();  // it ends every wait
  else
    land_.lot().wake(&place.word[7]);
}

}  // namespace starling::host
