#include "card_thread.hpp"

#include <algorithm>
#include <cstring>

namespace starling::host {
namespace {

// Words that blocks may wait for arrive whole.
template <class Word>
bool store_words(void* to, const void* from, std::size_t bytes) {
  constexpr std::size_t few = 64;
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(Word) != 0 || bytes % sizeof(Word) != 0 ||
      bytes > few * sizeof(Word))
    return false;
  auto* words = static_cast<Word*>(to);
  for (std::size_t i = 0; i < bytes / sizeof(Word); ++i) {
    Word value;
    std::memcpy(&value, static_cast<const std::byte*>(from) + i * sizeof(Word), sizeof(Word));
    std::atomic_ref(words[i]).store(value);
  }
  return true;
}

template <class Word>
std::uint64_t changed(void* address, const network::order& o) {
  const std::atomic_ref word(*static_cast<Word*>(address));
  if (o.what == network::opcode::fetch_add) return word.fetch_add(static_cast<Word>(o.operand));
  auto old = static_cast<Word>(o.compare);
  (void)word.compare_exchange_strong(old, static_cast<Word>(o.operand));
  return old;
}

}  // namespace

card_thread::card_thread(parking& lot) : lot_(lot), thread_([this] { serve(); }) {}

card_thread::~card_thread() {
  over_.store(true);
  ring();
  thread_.join();
}

void card_thread::ring() {
  if (rung_.exchange(true)) return;
  const std::lock_guard lock(sleep_mutex_);
  wakeup_.notify_one();
}

void card_thread::open(const network::queue_setup& s) {
  const std::lock_guard lock(mutex_);
  queues_.push_back(std::make_unique<network::card_queue>(s, *this));
}

void card_thread::close(std::uint32_t queue) {
  const std::lock_guard lock(mutex_);
  std::erase_if(queues_, [&](const auto& q) { return q->setup().number == queue; });
  std::erase(lost_, queue);
}

void card_thread::lose(std::uint32_t queue) {
  const std::lock_guard lock(mutex_);
  lost_.push_back(queue);
}

bool card_thread::lost(std::uint32_t queue) { return std::find(lost_.begin(), lost_.end(), queue) != lost_.end(); }

void card_thread::serve() {
  while (!over_.load()) {
    bool any = false;
    {
      const std::lock_guard lock(mutex_);
      rung_.store(false);  // who rings from here on is looked at in the next round
      for (const auto& q : queues_) any = q->serve() || any;
    }
    if (any || rings_soon()) continue;
    std::unique_lock lock(sleep_mutex_);
    wakeup_.wait(lock, [this] { return rung_.load() || over_.load(); });
  }
}

// Whether a doorbell rings while the card lets others run: sleep and wakeup take longer than most work.
bool card_thread::rings_soon() const {
  for (int looks = 0; looks < 64; ++looks) {
    if (rung_.load()) return true;
    std::this_thread::yield();
  }
  return false;
}

network::entry card_thread::fetch(const network::entry_name&, const network::entry& place) {
  network::entry e{};
  for (int i = 0; i < 8; ++i)
    e.word[i] = std::atomic_ref(const_cast<std::uint64_t&>(place.word[i])).load(std::memory_order_relaxed);
  return e;
}

std::uint64_t card_thread::look(const std::uint64_t& word) {
  return std::atomic_ref(const_cast<std::uint64_t&>(word)).load();
}

void card_thread::gather(const network::entry_name&, const void* from, void* to, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

void card_thread::scatter(const network::entry_name&, void* to, const void* from, std::size_t bytes) {
  if (!store_words<std::uint64_t>(to, from, bytes) && !store_words<std::uint32_t>(to, from, bytes))
    std::memcpy(to, from, bytes);
  if (bytes == sizeof(std::uint64_t) || bytes == sizeof(std::uint32_t)) lot_.wake(to);
  if (lot_.values_awaited()) lot_.wake_range(to, bytes);
}

std::uint64_t card_thread::change(const network::entry_name&, void* word, const network::order& what) {
  const std::uint64_t old = what.bytes == 8 ? changed<std::uint64_t>(word, what) : changed<std::uint32_t>(word, what);
  lot_.wake(word);
  return old;
}

void card_thread::complete(const network::entry_name&, network::completion& place, const network::completion& value) {
  for (int i = 0; i < 7; ++i) std::atomic_ref(place.word[i]).store(value.word[i], std::memory_order_relaxed);
  std::atomic_ref(place.word[7]).store(value.word[7]);
  if (network::is_error(network::big_endian(value.word[7])))
    lot_.wake_all();  // it ends every wait
  else
    lot_.wake(&place.word[7]);
}

}  // namespace starling::host
