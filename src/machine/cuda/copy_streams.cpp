#include "copy_streams.hpp"

#include <thread>

#include "../launch_queues.hpp"
#include "device_guard.hpp"

namespace starling::on_cuda {
namespace {

int queues_of_a_pe(const std::vector<std::shared_ptr<triggered_copies>>& copies) {
  int all = 0;
  for (const auto& c : copies) all += c->queues();
  return all;
}

}  // namespace

void copy_streams::require_waits() const {
  for (const gpu& g : machine_.driven()) {
    int able = 0;
    driver_.check(driver_.device_attribute(&able, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, g.id),
                  "cuDeviceGetAttribute", g.pe);
    expect<unsupported_error>(able != 0, "machine::run: the streams of ", describe(g),
                              " cannot wait for words of memory, which copies that programs set off need; send by "
                              "blocks instead");
    const std::string problem =
        too_many_waiting(queues_of_a_pe(copies_), g.info.pes_on_gpu, queues_set(environment_variables()));
    expect<launch_error>(problem.empty(), "machine::run: ", problem);
  }
}

void copy_streams::prepare(const std::vector<program>& programs) {
  feed_.clear();
  copies_.clear();
  for (const program& p : programs)
    if (p.copies) copies_.push_back(p.copies);
  if (copies_.empty()) return;
  require_waits();
  const int on_pe = queues_of_a_pe(copies_);
  const std::size_t all = static_cast<std::size_t>(on_pe) * machine_.gpus.size();
  if (reached_.size() < all) reached_ = pinned_array<std::uint64_t>(all, machine_.driven().front().id);
  reached_.clear();
  streams_.resize(machine_.gpus.size());
  arrival_words_.resize(machine_.gpus.size());
  for (const gpu& g : machine_.driven()) {
    make_words(g, on_pe);
    make_streams(g, on_pe);
  }
  // All is there: from here on nothing fails.
  std::size_t queue = 0;
  for (const gpu& g : machine_.driven())
    for (const auto& c : copies_)
      for (int i = 0; i < c->queues(); ++i) feed_.add(*c, g.pe, i, &reached_[queue++]);
}

// Before the streams, whose number says how many words there are.
void copy_streams::make_words(const gpu& g, int on_pe) {
  const auto pe = static_cast<std::size_t>(g.pe);
  if (streams_[pe].size() >= static_cast<std::size_t>(on_pe)) return;
  const device_guard guard(g.id);
  void* words = nullptr;
  check(cudaMalloc(&words, static_cast<std::size_t>(on_pe) * sizeof(std::uint64_t)), "cudaMalloc (triggered copies)",
        g.pe);
  arrival_words_[pe] = unique_memory(words);
}

void copy_streams::make_streams(const gpu& g, int on_pe) {
  auto& mine = streams_[static_cast<std::size_t>(g.pe)];
  const device_guard guard(g.id);
  while (mine.size() < static_cast<std::size_t>(on_pe)) {
    cudaStream_t s = nullptr;
    check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreateWithFlags", g.pe);
    mine.emplace_back(s);
  }
}

// Queues come PE by PE.
std::size_t copy_streams::number_on_pe(const fed_queue& q) const {
  const auto number = static_cast<std::size_t>(q.reached - reached_.data());
  return number % (feed_.queues().size() / machine_.driven().size());
}

cudaStream_t copy_streams::stream_of(const fed_queue& q) const {
  return streams_[static_cast<std::size_t>(q.pe)][number_on_pe(q)].get();
}

std::uint64_t* copy_streams::arrival_word(const fed_queue& q) const {
  return static_cast<std::uint64_t*>(arrival_words_[static_cast<std::size_t>(q.pe)].get()) + number_on_pe(q);
}

void copy_streams::step() {
  while (fed_queue* q = feed_.next()) put(*q);
}

void copy_streams::put(fed_queue& q) {
  const copy_step& s = q.next;
  const cudaStream_t stream = stream_of(q);
  const auto copy = [&](void* dest, const void* source, std::size_t bytes) {
    check(cudaMemcpyAsync(dest, source, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync (triggered copy)", q.pe);
  };
  const device_guard guard(machine_.on(q.pe).id);
  driver_.check(driver_.stream_wait(stream, address(s.awaited.on(q.pe)), s.value, CU_STREAM_WAIT_VALUE_GEQ),
                "cuStreamWaitValue64", q.pe);
  if (s.bytes > 0)
    for (const int to : s.to) copy(s.data.on(to), s.data.on(q.pe), s.bytes);
  if (s.bytes > 0 && s.on_host != nullptr) copy(s.on_host, s.data.on(q.pe), s.bytes);
  driver_.check(driver_.stream_write(stream, address(q.reached), q.given + 1, CU_STREAM_WRITE_VALUE_DEFAULT),
                "cuStreamWriteValue64", q.pe);
  for (const int to : s.to) copy(s.arrived.on(to), s.made.on(q.pe), sizeof(std::uint64_t));
  if (s.arrived_host != nullptr) {
    // By way of the GPU: a copy from host to host keeps the calling thread until it is made.
    copy(arrival_word(q), s.made.on(q.pe), sizeof(std::uint64_t));
    copy(s.arrived_host, arrival_word(q), sizeof(std::uint64_t));
  }
  if (static_cast<bool>(s.done)) copy(s.done.on(q.pe), s.made.on(q.pe), sizeof(std::uint64_t));
  feed_.put(q);
}

void copy_streams::finish() {
  if (!active()) return;
  struct ending {
    copy_streams& all;
    ~ending() {
      all.feed_.clear();
      all.copies_.clear();
    }
  } at_end{*this};
  feed_.end();
  while (feed_.more()) {
    step();
    expect_no_failure();
    std::this_thread::yield();
  }
  release();
  synchronize();
}

void copy_streams::expect_no_failure() {
  device_guard guard;
  for (const fed_queue& q : feed_.queues()) {
    guard.use(machine_.on(q.pe).id);
    (void)still_running(cudaStreamQuery(stream_of(q)), "cudaStreamQuery (triggered copies)", q.pe);
  }
}

void copy_streams::synchronize() {
  device_guard guard;
  for (const fed_queue& q : feed_.queues()) {
    guard.use(machine_.on(q.pe).id);
    check(cudaStreamSynchronize(stream_of(q)), "cudaStreamSynchronize (triggered copies)", q.pe);
  }
}

}  // namespace starling::on_cuda
