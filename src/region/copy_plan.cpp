#include "copy_plan.hpp"

#include <algorithm>

namespace starling {

std::uint64_t last_epoch(machine& m, const region_state& s, const region_layout& l) {
  std::vector<signal> arrived(static_cast<std::size_t>(s.chunks));
  std::uint64_t least = ~std::uint64_t{0};
  for (int pe = 0; pe < m.size(); ++pe) {
    if (s.sending == region_sending::untracked) {
      std::uint64_t reached = 0;
      m.copy(&reached, s.reached.on(pe), sizeof reached);
      least = std::min(least, reached);
      continue;
    }
    m.copy(arrived.data(), s.arrived.on(pe), arrived.size() * sizeof(signal));
    for (std::size_t c = 0; c < arrived.size(); ++c)
      if (l.gets(static_cast<int>(c), pe)) least = std::min(least, arrived[c].value);
  }
  return least;
}

copy_plan::copy_plan(const machine& m, region_state& s, std::shared_ptr<const region_layout> l, sym<std::byte> values,
                     std::size_t element, index_t pitch)
    : machine_(m), layout_(std::move(l)), values_(values), element_(element), pitch_(pitch) {
  const int pes = machine_.size();
  int most = 0;
  for (int pe = 0; pe < pes; ++pe) most = std::max(most, layout_->chunks_of(pe));
  const index_t words = index_t{most} * (1 + s.buffers);  // of a PE
  words_ = machine_.allocate_on(host_place, static_cast<std::size_t>(pes * words) * sizeof(std::uint64_t));
  s.triggers = {reinterpret_cast<std::uint64_t*>(words_.data()), words * static_cast<index_t>(sizeof(std::uint64_t))};
  s.made = s.triggers + most;
  state_ = s;
  chunks_.resize(static_cast<std::size_t>(pes * s.agent_blocks));
  for (int pe = 0; pe < pes; ++pe)
    for (int c = 0; c < layout_->chunks_of(pe); ++c) {
      sent_chunk sent{c, layout_->elements_of(pe, c), {}};
      const int chunk = layout_->chunk_at[static_cast<std::size_t>(pe)] + c;
      for (int k = 1; k < pes; ++k)
        if (layout_->gets(chunk, (pe + k) % pes)) sent.to.push_back((pe + k) % pes);
      if (sent.to.empty() && !s.to_host()) continue;
      chunks_[static_cast<std::size_t>(pe * s.agent_blocks + c % s.agent_blocks)].push_back(std::move(sent));
    }
}

void copy_plan::begin() {
  const std::uint64_t last = last_epoch(machine_, state_, *layout_);
  const std::vector<std::uint64_t> reached(words_.size() / sizeof last, last);
  machine_.copy(words_.data(), reached.data(), words_.size());
  first_epoch_ = last + 1;
}

bool copy_plan::step(int pe, int queue, std::uint64_t number, copy_step& s) const {
  const std::vector<sent_chunk>& chunks = chunks_of(pe, queue);
  if (chunks.empty()) return false;
  const sent_chunk& c = chunks[static_cast<std::size_t>(number % chunks.size())];
  const std::uint64_t epoch = first_epoch_ + number / chunks.size();
  const int buffer = state_.buffer_of(epoch);
  const sym<std::uint64_t> trigger = state_.triggers + c.of_part;
  s.awaited = {reinterpret_cast<signal*>(trigger.on(0)), trigger.stride_bytes()};
  s.value = epoch;
  const index_t offset = (buffer * pitch_ + c.elements.begin) * static_cast<index_t>(element_);
  s.data = values_ + offset;
  s.bytes = state_.sending == region_sending::all ? static_cast<std::size_t>(c.elements.size()) * element_ : 0;
  s.to = c.to;
  s.made = state_.made + (static_cast<index_t>(c.of_part) * state_.buffers + buffer);
  const int chunk = layout_->chunk_at[static_cast<std::size_t>(pe)] + c.of_part;
  s.told = state_.arrived + chunk;
  s.on_host = state_.to_host() ? static_cast<std::byte*>(state_.host_values) + offset : nullptr;
  s.told_host = state_.to_host() ? state_.host_arrived + chunk : nullptr;
  s.done = state_.awaits_sent() ? state_.sent + c.of_part : sym<signal>();
  return true;
}

}  // namespace starling
