// The card of one host of virtual devices: serves the queue pairs of its PEs when some thread asks it to. Peers are in
// memory that this process has too, or `far`.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "../far_memory.hpp"
#include "../network/card.hpp"
#include "landing.hpp"

namespace starling::host {

class host_card : public network::card_memory {
 public:
  // `far`: the memory of other hosts; null: there is none.
  explicit host_card(parking& lot, far_memory* far = nullptr) : land_(lot), far_(far) {}
  ~host_card() override;
  host_card(const host_card&) = delete;
  host_card& operator=(const host_card&) = delete;

  void open(const network::queue_setup& s);
  // The card does not touch the queue's memory after. What is posted and not done is lost.
  void close(std::uint32_t queue);
  // The way to the peer of a queue is lost: entries that are fetched from now on fail.
  void lose(std::uint32_t queue);
  // A doorbell has been rung.
  virtual void ring() = 0;

 protected:
  // Does all there is to do; whether that was anything.
  bool serve();

 private:
  network::entry fetch(const network::entry_name& of, const network::entry& place) override;
  std::uint64_t look(const std::uint64_t& word) override;
  void gather(const network::entry_name& of, const void* from, void* to, std::size_t bytes) override;
  void scatter(const network::entry_name& of, void* to, const void* from, std::size_t bytes) override;
  bool move(const network::entry_name& of, void* to, const void* from, std::size_t bytes) override;
  std::uint64_t change(const network::entry_name& of, void* word, const network::order& what) override;
  void complete(const network::entry_name& of, network::completion& place, const network::completion& value) override;
  bool settled(const network::entry_name& of) override;
  bool lost(std::uint32_t queue) override;
  bool is_far(const void* address) const { return far_ != nullptr && far_->holds(address); }

  landing land_;
  far_memory* far_;
  std::mutex mutex_;  // held while it serves
  std::vector<std::unique_ptr<network::card_queue>> queues_;
  std::vector<std::uint32_t> lost_;
};

}  // namespace starling::host
