// The card of one host of virtual devices: a thread that serves the queue pairs of the host's PEs, and sleeps while no
// doorbell rings.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "../network/card.hpp"
#include "parking.hpp"

namespace starling::host {

class card_thread final : public network::card_memory {
 public:
  explicit card_thread(parking& lot);
  ~card_thread() override;
  card_thread(const card_thread&) = delete;
  card_thread& operator=(const card_thread&) = delete;

  void open(const network::queue_setup& s);
  // The card does not touch the queue's memory after. What is posted and not done is lost.
  void close(std::uint32_t queue);
  // A doorbell has been rung.
  void ring();
  // The way to the peer of a queue is lost: entries that are fetched from now on fail.
  void lose(std::uint32_t queue);

 private:
  void serve();
  bool rings_soon() const;
  network::entry fetch(const network::entry_name& of, const network::entry& place) override;
  std::uint64_t look(const std::uint64_t& word) override;
  void gather(const network::entry_name& of, const void* from, void* to, std::size_t bytes) override;
  void scatter(const network::entry_name& of, void* to, const void* from, std::size_t bytes) override;
  std::uint64_t change(const network::entry_name& of, void* word, const network::order& what) override;
  void complete(const network::entry_name& of, network::completion& place, const network::completion& value) override;
  bool lost(std::uint32_t queue) override;

  parking& lot_;
  std::mutex mutex_;  // held while it serves
  std::vector<std::unique_ptr<network::card_queue>> queues_;
  std::vector<std::uint32_t> lost_;
  std::atomic<bool> rung_{false};
  std::mutex sleep_mutex_;
  std::condition_variable wakeup_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace starling::host
