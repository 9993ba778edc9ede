// The network card of a host of GPUs as a thread of the process: queue pairs are in pinned memory, the thread looks at
// their records, and the driver copies the data, by a stream of its own beside the kernels (in the publication on GIO:
// IKN, kernels that have a thread of the host send).
//
// What an entry writes goes into the stream in order; a completion is written when the stream has done all before it.
// Atomic operations are kernels of one thread, for which the residency of programs leaves room.
#pragma once

#include <deque>
#include <exception>
#include <thread>
#include <vector>

#include "../network/card.hpp"
#include "driver.hpp"
#include "gpu.hpp"
#include "handles.hpp"
#include "starling/device/network/card_view.hpp"

namespace starling::on_cuda {

class proxy_card final : network::card_memory {
 public:
  // `on`: a PE of the host, whose stream does the work.
  proxy_card(const driver_api& driver, const gpu& on);
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
  std::size_t piece(std::size_t left) override;
  bool lost(std::uint32_t) override { return failure_ != nullptr; }

  void serve(const std::stop_token& over);
  bool serve_pe(std::size_t i);
  bool in_words(const void* address) const;
  std::byte* room_for(std::size_t bytes);
  void await_stream();
  // What CUDA throws is kept, and the card does no more.
  template <class F>
  void attempt(const F& f);

  const driver_api& driver_;
  const gpu& on_;
  unique_stream stream_;
  pinned_array<std::byte> bounce_;  // on the way between the stream and the thread
  std::size_t used_ = 0;            // of bounce_, since the stream was last awaited
  pinned_array<std::uint64_t> done_;
  pinned_array<std::uint64_t> answer_;
  std::uint64_t issued_ = 0;  // how often the stream was asked to say that it is so far
  bool behind_ = false;       // the stream has work that it has not said to have done
  std::vector<network::card_view> pes_;
  std::vector<network::memory_region> words_;
  std::vector<std::deque<network::card_queue>> queues_;  // by place in pes_
  std::exception_ptr failure_;
  std::jthread thread_;
};

}  // namespace starling::on_cuda
