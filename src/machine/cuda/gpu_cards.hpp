// The network cards of a machine of GPUs whose PEs are on several hosts: the memory of queue pairs, each PE's its own,
// and the cards, which are a program beside the others or threads. Queue pairs are in symmetric memory, beside control
// words; for threads in pinned memory.
#pragma once

#include <memory>
#include <vector>

#include "../network/host_layout.hpp"
#include "../symmetric_heap.hpp"
#include "gpu.hpp"
#include "proxy_card.hpp"
#include "starling/device/network/card_view.hpp"
#include "starling/device/symmetric.hpp"
#include "starling/machine/machine.hpp"

namespace starling::on_cuda {

// A range of addresses that cards reach.
struct reached_range {
  const std::byte* start;
  std::size_t bytes;
};

class gpu_cards {
 public:
  // `of_pes`: the symmetric memory of each PE; `shared`: what is of no PE alone; `others`: as of proxy_card, which the
  // cards are then, of the PEs of this process. Throws argument_error when a block would have more PEs behind the card
  // than it can have queue pairs.
  gpu_cards(const std::vector<gpu>& gpus, const driver_api& driver, symmetric_heap& control, network::host_layout hosts,
            card kind, int depth, std::vector<reached_range> of_pes, const reached_range& shared,
            const other_hosts* others = nullptr);
  ~gpu_cards();
  gpu_cards(const gpu_cards&) = delete;
  gpu_cards& operator=(const gpu_cards&) = delete;

  const network::host_layout& hosts() const { return hosts_; }

  // These programs with what fits beside them behind them: the cards (see card_kernel), or so much room as the kernels
  // of threads need. For residency alone before prepare().
  std::vector<program> with_cards(std::vector<program> programs) const;
  // Whether that program is run.
  bool are_program() const { return kind_ == card::model; }
  // Makes room for the queue pairs of these programs' blocks and sets all of it back. Nothing runs. Throws
  // memory_error.
  void prepare(const std::vector<program>& programs);
  // What blocks of a program are told.
  const network::card_view* view(std::size_t program, int pe) const { return views(program).on(pe); }
  // Cards that are threads serve from start() to stop(), which throws device_error when CUDA has failed in between.
  void start();
  void stop();

 private:
  // Offsets in each PE's memory.
  struct places {
    std::size_t views = 0;  // by program
    std::size_t hosts = 0;
    std::size_t regions = 0;
    std::size_t counts = 0;  // from here to `queues` all is zero when a run starts
    std::size_t records = 0;
    std::size_t progress = 0;
    std::size_t tables = 0;
    std::size_t queues = 0;
    std::size_t bytes = 0;
  };
  places places_for(std::size_t programs, std::size_t blocks) const;
  std::uint32_t queues_for(std::size_t blocks) const;
  std::byte* at(std::size_t place, int pe) const { return control_.on(offset_ + place, pe); }
  // From `counts` on.
  std::byte* word_at(std::size_t place, int pe) const;
  void make_room();
  network::card_view view_of(const gpu& g) const;
  sym<network::card_view> views(std::size_t program) const;
  std::vector<network::memory_region> regions() const;
  void clear(const gpu& g) const;
  void tell(const gpu& g, const std::vector<program>& programs) const;
  int far_from(int pe) const;

  const std::vector<gpu>& gpus_;
  symmetric_heap& control_;
  network::host_layout hosts_;
  card kind_;
  std::uint32_t depth_;
  std::vector<reached_range> reached_;  // those of PEs first
  places places_;
  std::uint32_t n_queues_ = 0;  // of each PE
  std::size_t offset_ = 0;
  std::size_t room_ = 0;                              // bytes there
  std::vector<pinned_array<std::byte>> words_;        // by PE, for threads
  std::vector<network::memory_region> table_;         // that threads look up
  std::vector<std::unique_ptr<proxy_card>> threads_;  // by host
};

}  // namespace starling::on_cuda
