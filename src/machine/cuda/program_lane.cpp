#include "program_lane.hpp"

#include <algorithm>

#include "device_guard.hpp"

namespace starling::on_cuda {

void program_lane::prepare(int blocks) {
  device_guard guard;
  streams_.resize(machine_.gpus.size());
  for (const gpu& g : machine_.driven()) {
    unique_stream& s = streams_[static_cast<std::size_t>(g.pe)];
    if (s.get() != nullptr) continue;
    guard.use(g.id);
    s = new_stream(g);
  }
  if (blocks <= capacity_) return;
  const int capacity = std::max(blocks, 2 * capacity_);
  if (cleared_) await_cleared();  // the words that are being cleared go back to the heap now
  cleared_ = false;
  capacity_ = 0;  // until all of it is there
  control_ = std::make_unique<program_control>(machine_.control, capacity);
  reports_ = pinned_array<block_report>(machine_.gpus.size() * static_cast<std::size_t>(capacity),
                                        machine_.driven().front().id);
  capacity_ = capacity;
}

void program_lane::clear_control() {
  if (cleared_) return;
  device_guard guard;
  for (const gpu& g : machine_.driven()) {
    guard.use(g.id);
    check(cudaMemsetAsync(machine_.control.on(control_->offset(), g.pe), 0, control_->bytes(), stream(g.pe)),
          "cudaMemsetAsync (control words)", g.pe);
  }
  cleared_ = true;
}

void program_lane::await_cleared() {
  device_guard guard;
  for (const gpu& g : machine_.driven()) {
    guard.use(g.id);
    if (still_running(cudaStreamQuery(stream(g.pe)), "cudaStreamQuery", g.pe))
      check(cudaStreamSynchronize(stream(g.pe)), "cudaStreamSynchronize (control words)", g.pe);
  }
}

bool program_lane::reported(int blocks) const {
  for (const gpu& g : machine_.driven())
    for (int b = 0; b < blocks; ++b)
      if (*static_cast<const volatile block_state*>(&reports(g.pe)[b].state) != block_state::running) return true;
  return false;
}

std::vector<block_report> program_lane::read_reports(const role_table& roles, const std::vector<bool>& ended) const {
  std::vector<block_report> all;
  for (const gpu& g : machine_.driven()) {
    for (int b = 0; b < roles.first[roles.count]; ++b) {
      block_report r = reports(g.pe)[b];
      if (r.state == block_state::running) {
        r = block_report{};
        r.pe = g.pe;
        r.block = b;
        r.state = ended[static_cast<std::size_t>(g.pe)] ? block_state::finished : block_state::running;
      }
      r.role = roles.role_of(b);  // a block that reports missing threads leaves it out
      all.push_back(r);
    }
  }
  return all;
}

}  // namespace starling::on_cuda
