// The network card of a host of GPUs as a thread of the process: queue pairs are in pinned memory, the thread looks at
// their records, and the driver copies the data, by a stream of its own beside the kernels (in the publication on GIO:
// IKN, kernels that have a thread of the host send).
//
// What an entry writes goes into the stream in order; a completion is written when the stream has done all before it.
//
// Where the hosts are others indeed, the thread is that of their engine: what goes to PEs of other hosts are messages,
// which the engine keeps in order and the other process's thread stores by its own stream in that order
// (device_access.hpp). An entry's completion is written when the other process has said that it is there, so a block
// that has its answer, and a run whose blocks have all theirs, has left nothing on the way.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "../far_memory.hpp"
#include "../network/card.hpp"
#include "../traffic_table.hpp"
#include "device_access.hpp"
#include "starling/device/network/card_view.hpp"

namespace starling::on_cuda {

// How a card reaches hosts that are other ones: all of it outlives the card.
struct other_hosts {
  far_memory& far;
  device_access& near;
  messenger& thread;
  traffic_table& traffic;
};

class proxy_card final : network::card_memory {
 public:
  // `on`: a PE of the host, whose stream does the work. `others`: null where one process plays all hosts; the card then
  // has a thread of its own.
  proxy_card(const driver_api& driver, const gpu& on, const other_hosts* others);
  ~proxy_card() override;

  // Serves the queues that blocks of these PEs take, as the launch tells the blocks of them, until stop(). `words`: the
  // pinned memory that their queues are in.
  void start(std::vector<network::card_view> pes, std::vector<network::memory_region> words);
  // Throws device_error when CUDA has failed in between: the blocks' calls have then failed too.
  void stop();

 private:
  network::entry fetch(const network::entry_name& of, const network::entry& place) override;
  std::uint64_t look(const std::uint64_t& word) override;
  void gather(const network::entry_name& of, const void* from, void* to, std::size_t bytes) override;
  void scatter(const network::entry_name& of, void* to, const void* from, std::size_t bytes) override;
  std::uint64_t change(const network::entry_name& of, void* word, const network::order& what) override;
  void complete(const network::entry_name& of, network::completion& place, const network::completion& value) override;
  bool settled(const network::entry_name& of) override;
  std::size_t piece(std::size_t left) override;
  bool lost(std::uint32_t) override { return access_.failed(); }

  void serve(const std::stop_token& over);
  void set_queues(std::vector<network::card_view> pes, std::vector<network::memory_region> words);
  bool serve_all();
  bool serve_pe(std::size_t i);
  bool in_words(const void* address) const;
  bool is_far(const void* address) const { return others_ != nullptr && others_->far.holds(address); }
  // What an entry's PE has moved to the PE that has this address; back: from it.
  void count(const network::entry_name& of, const void* far_address, std::size_t bytes, bool back) const;

  const gpu& on_;
  const other_hosts* others_;
  std::unique_ptr<device_access> own_;  // null: that of others_
  device_access& access_;
  std::mutex mutex_;                  // held while it serves
  std::atomic<bool> awaited_{false};  // somebody else wants it
  std::vector<network::card_view> pes_;
  std::vector<network::memory_region> words_;
  std::vector<std::deque<network::card_queue>> queues_;  // by place in pes_
  std::jthread thread_;
};

}  // namespace starling::on_cuda
