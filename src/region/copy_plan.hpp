// Which stream of the copy engine waits for what: queue q of a PE has chunks q, q + queues, ... of its part that others
// get, in the order of their numbers, epoch after epoch. Tiles are distributed over blocks in order, so that this is
// the order in which chunks become ready, but for a few; a chunk that is late holds up those behind it in its queue. A
// launch has one epoch of this.
#pragma once

#include "layout.hpp"
#include "starling/base/rotation.hpp"
#include "starling/machine/machine.hpp"
#include "starling/region/state.hpp"

namespace starling {

// The last epoch of which every PE has what it gets.
std::uint64_t last_epoch(machine& m, const region_state& s, const region_layout& l);

class copy_plan final : public triggered_copies {
 public:
  // `values`: [buffers][pitch] of elements of `element` bytes. Allocates the words of the copy engine, and puts them
  // into `s`.
  copy_plan(const machine& m, region_state& s, std::shared_ptr<const region_layout> l, sym<std::byte> values,
            std::size_t element, index_t pitch);

  void begin() override;
  int queues() const override { return state_.agent_blocks; }
  bool step(int pe, int queue, std::uint64_t number, copy_step& s) const override;

  // There is a new epoch 0.
  void clear();
  // Which buffers launches on a PE write.
  const std::shared_ptr<rotation>& turn(int pe) const { return turns_[static_cast<std::size_t>(pe)]; }
  // Launches a kernel of one epoch, which lies in this buffer, and its copies.
  void launch(stream& s, int blocks, const kernel& k, const launch_options& options, int buffer);

 private:
  struct sent_chunk {
    int of_part;
    index_range elements;
    std::vector<int> to;  // rotated, so that not all PEs send to the same one at the same time
  };

  using queue_list = std::vector<std::vector<sent_chunk>>;  // [PEs][queues]

  const std::vector<sent_chunk>& chunks_of(int pe, int queue) const {
    return (*chunks_)[static_cast<std::size_t>(pe * state_.agent_blocks + queue)];
  }
  void set_data(const sent_chunk& c, int pe, int buffer, copy_step& s) const;
  std::shared_ptr<const launch_copies> copies_of_launch(int pe, int buffer) const;

  machine machine_;
  std::shared_ptr<const region_layout> layout_;
  local_memory words_;  // triggers, and what is made
  region_state state_;
  sym<std::byte> values_;
  std::size_t element_;
  index_t pitch_;
  std::uint64_t first_epoch_ = 1;
  std::shared_ptr<const queue_list> chunks_;

  symmetric_array<std::uint64_t> launch_words_;   // see region_state
  std::vector<std::shared_ptr<rotation>> turns_;  // by PE
};

}  // namespace starling
