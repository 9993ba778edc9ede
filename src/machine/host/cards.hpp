// The cards of a machine of virtual devices whose PEs are on several hosts: one for each host.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "../network/host_layout.hpp"
#include "../network/queue_memory.hpp"
#include "host_card.hpp"
#include "source_copies.hpp"

namespace starling::host {

// A queue pair that a card serves. It is closed when this is destroyed.
class open_queue {
 public:
  open_queue(host_card& card, const std::vector<network::memory_region>& regions, int pes, std::uint32_t number,
             std::uint32_t depth, int pe, int peer)
      : card_(card), memory_(with_copies(regions), pes, number, depth, pe, peer, 0) {
    card_.open(network::setup_of(memory_.pair(), 0));
  }
  ~open_queue() { card_.close(memory_.pair().number); }
  open_queue(const open_queue&) = delete;
  open_queue& operator=(const open_queue&) = delete;

  const network::queue_pair& pair() const { return memory_.pair(); }
  host_card& card() { return card_; }
  source_copies& copies() { return copies_; }

 private:
  std::vector<network::memory_region> with_copies(std::vector<network::memory_region> regions) const {
    regions.push_back(copies_.region(static_cast<std::uint32_t>(regions.size()) + 1));
    return regions;
  }

  host_card& card_;
  source_copies copies_;
  network::queue_memory memory_;
};

class cards {
 public:
  // `regions`: the memory that cards reach, first that of each PE. `of_hosts`: the card of each host; null: of one
  // whose PEs are not of this process.
  cards(network::host_layout hosts, std::vector<network::memory_region> regions, int pes, std::uint32_t depth,
        std::vector<std::unique_ptr<host_card>> of_hosts)
      : hosts_(std::move(hosts)),
        regions_(std::move(regions)),
        pes_(pes),
        depth_(depth),
        of_hosts_(std::move(of_hosts)) {}

  const network::host_layout& hosts() const { return hosts_; }
  std::unique_ptr<open_queue> open(int pe, int peer) {
    const std::uint32_t number = 1 + next_.fetch_add(1) % most_queues;
    return std::make_unique<open_queue>(*of_hosts_[static_cast<std::size_t>(hosts_.host_of(pe))], regions_, pes_,
                                        number, depth_, pe, peer);
  }

 private:
  static constexpr std::uint32_t most_queues = (std::uint32_t{1} << 24) - 1;  // numbers have 24 bits

  network::host_layout hosts_;
  std::vector<network::memory_region> regions_;
  int pes_;
  std::uint32_t depth_;
  std::vector<std::unique_ptr<host_card>> of_hosts_;
  std::atomic<std::uint32_t> next_{0};
};

}  // namespace starling::host
