#include "proxy_card.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "check.hpp"
#include "device_guard.hpp"

namespace starling::on_cuda {
namespace {

constexpr std::size_t piece_bytes = std::size_t{64} << 10;

template <class Word>
std::atomic_ref<Word> shared(const Word& word) {
  return std::atomic_ref<Word>(const_cast<Word&>(word));
}

}  // namespace

proxy_card::proxy_card(const driver_api& driver, const gpu& on, const other_hosts* others)
    : on_(on),
      others_(others),
      own_(others != nullptr ? nullptr : std::make_unique<device_access>(driver, on)),
      access_(others != nullptr ? others->near : *own_) {
  if (others_ == nullptr) return;
  others_->thread.work_too([this] {
    const bool told = others_->far.tell();
    return serve_all() || told;
  });
}

proxy_card::~proxy_card() {
  if (others_ != nullptr) others_->thread.work_too({});
}

void proxy_card::set_queues(std::vector<network::card_view> pes, std::vector<network::memory_region> words) {
  awaited_ = true;
  const std::lock_guard lock(mutex_);
  awaited_ = false;
  pes_ = std::move(pes);
  words_ = std::move(words);
  queues_.clear();
  queues_.resize(pes_.size());
}

void proxy_card::start(std::vector<network::card_view> pes, std::vector<network::memory_region> words) {
  if (own_ != nullptr) own_->forget_failure();
  set_queues(std::move(pes), std::move(words));
  if (others_ == nullptr)
    thread_ = std::jthread([this](const std::stop_token& over) { serve(over); });
  else
    others_->thread.ring();
}

void proxy_card::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  set_queues({}, {});
  // Of a run that was ended early: nothing of it comes to words that others clear for the next one.
  constexpr double patience = 1;  // seconds
  if (others_ != nullptr) others_->far.await_confirmed(patience);
  if (access_.failed()) access_.rethrow();
}

void proxy_card::serve(const std::stop_token& over) {
  const device_guard guard(on_.id);
  while (!over.stop_requested()) (void)serve_all();
  access_.settle();
}

// While there are queues it looks at them without a rest: nobody wakes it.
bool proxy_card::serve_all() {
  bool any = false;
  bool open = true;
  if (!awaited_) {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < pes_.size(); ++i) any = serve_pe(i) || any;
    open = !pes_.empty();
  }
  if (!any && open) std::this_thread::yield();
  return any || open;
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

void proxy_card::count(const network::entry_name& of, const void* far_address, std::size_t bytes, bool back) const {
  const int pe = network::pe_of_queue(pes_.front(), of.queue);
  const int peer = others_->far.pe_of(far_address);
  traffic_table::pair_bytes moved;
  moved.add(carried::by_engine, bytes);
  others_->traffic.add(back ? peer : pe, back ? pe : peer, moved);
}

void proxy_card::gather(const network::entry_name& of, const void* from, void* to, std::size_t bytes) {
  if (is_far(from)) {
    count(of, from, bytes, true);
    others_->far.get(to, from, bytes);
  } else if (in_words(from)) {
    std::memcpy(to, from, bytes);
  } else {
    access_.load(to, from, bytes);
  }
}

void proxy_card::scatter(const network::entry_name& of, void* to, const void* from, std::size_t bytes) {
  if (is_far(to)) {
    if (access_.failed()) return;  // it is perhaps not what was to be sent
    count(of, to, bytes, false);
    others_->far.put(of, to, from, bytes);
  } else if (in_words(to)) {
    std::memcpy(to, from, bytes);
  } else {
    access_.store(to, from, bytes);
  }
}

std::uint64_t proxy_card::change(const network::entry_name& of, void* word, const network::order& what) {
  if (!is_far(word))
    return access_.change(word, static_cast<word_change>(what.what), what.bytes, what.operand, what.compare);
  count(of, word, what.bytes, false);
  return others_->far.change(word, what);
}

bool proxy_card::settled(const network::entry_name& of) { return others_ == nullptr || others_->far.settled(of); }

void proxy_card::complete(const network::entry_name&, network::completion& place, const network::completion& value) {
  access_.settle();
  // What CUDA has failed to do is never said to be done.
  if (access_.failed() && !network::is_error(network::big_endian(value.word[7]))) return;
  for (int i = 0; i < 7; ++i) shared(place.word[i]).store(value.word[i], std::memory_order_relaxed);
  shared(place.word[7]).store(value.word[7], std::memory_order_release);
}

std::size_t proxy_card::piece(std::size_t left) { return std::min(left, piece_bytes); }

}  // namespace starling::on_cuda
