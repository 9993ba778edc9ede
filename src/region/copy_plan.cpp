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
  const index_t made = index_t{most} * s.buffers;
  launch_words_ = machine_.allocate<std::uint64_t>(1 + most + made);
  s.launched = launch_words_.data();
  s.launch_triggers = s.launched + 1;
  s.launch_made = s.launch_triggers + most;
  state_ = s;
  // Of all PEs at once: the words say so only until the first of them copies again.
  const auto next = [this] {
    const int buffer = state_.buffer_of(last_epoch(machine_, state_, *layout_) + 1);
    for (const auto& t : turns_) t->go_to(buffer);
    return buffer;
  };
  for (int pe = 0; pe < pes; ++pe) turns_.push_back(std::make_shared<rotation>("buffer", s.buffers, next));
  queue_list queues(static_cast<std::size_t>(pes * s.agent_blocks));
  for (int pe = 0; pe < pes; ++pe)
    for (int c = 0; c < layout_->chunks_of(pe); ++c) {
      sent_chunk sent{c, layout_->elements_of(pe, c), {}};
      const int chunk = layout_->chunk_at[static_cast<std::size_t>(pe)] + c;
      for (int k = 1; k < pes; ++k)
        if (layout_->gets(chunk, (pe + k) % pes)) sent.to.push_back((pe + k) % pes);
      if (sent.to.empty() && !s.to_host()) continue;
      queues[static_cast<std::size_t>(pe * s.agent_blocks + c % s.agent_blocks)].push_back(std::move(sent));
    }
  chunks_ = std::make_shared<const queue_list>(std::move(queues));
}

void copy_plan::begin() {
  const std::uint64_t last = last_epoch(machine_, state_, *layout_);
  const std::vector<std::uint64_t> reached(words_.size() / sizeof last, last);
  machine_.copy(words_.data(), reached.data(), words_.size());
  first_epoch_ = last + 1;
  for (const auto& t : turns_) t->lose();
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
  set_data(c, pe, buffer, s);
  s.made = state_.made + (static_cast<index_t>(c.of_part) * state_.buffers + buffer);
  return true;
}

// What is copied, and which words tell of it.
void copy_plan::set_data(const sent_chunk& c, int pe, int buffer, copy_step& s) const {
  const index_t offset = (buffer * pitch_ + c.elements.begin) * static_cast<index_t>(element_);
  s.data = values_ + offset;
  s.bytes = state_.sending == region_sending::all ? static_cast<std::size_t>(c.elements.size()) * element_ : 0;
  s.to = c.to;
  const int chunk = layout_->chunk_at[static_cast<std::size_t>(pe)] + c.of_part;
  s.arrived = state_.arrived + chunk;
  s.on_host = state_.to_host() ? static_cast<std::byte*>(state_.host_values) + offset : nullptr;
  s.arrived_host = state_.to_host() ? state_.host_arrived + chunk : nullptr;
  s.done = state_.awaits_sent() ? state_.sent + c.of_part : sym<signal>();
}

void copy_plan::clear() {
  for (auto pe = static_cast<int>(machine_.local_pes().begin); pe < machine_.local_pes().end; ++pe)
    machine_.fill(launch_words_.on(pe), 0, static_cast<std::size_t>(launch_words_.size()) * sizeof(std::uint64_t));
  for (const auto& t : turns_) t->go_to(1);
}

std::shared_ptr<const launch_copies> copy_plan::copies_of_launch(int pe, int buffer) const {
  auto all = std::make_shared<launch_copies>();
  const sym<std::uint64_t> triggers = state_.launch_triggers;
  all->words = reinterpret_cast<signal*>(triggers.on(pe));
  all->n_words = static_cast<std::size_t>(layout_->chunks_of(pe));
  all->kept = chunks_;
  for (int q = 0; q < state_.agent_blocks; ++q) {
    if (chunks_of(pe, q).empty()) continue;
    std::vector<copy_step>& steps = all->queues.emplace_back();
    for (const sent_chunk& c : chunks_of(pe, q)) {
      copy_step& s = steps.emplace_back();
      const sym<std::uint64_t> trigger = triggers + c.of_part;
      s.awaited = {reinterpret_cast<signal*>(trigger.on(0)), trigger.stride_bytes()};
      s.value = 1;
      set_data(c, pe, buffer, s);
      s.made = state_.launch_made + (static_cast<index_t>(c.of_part) * state_.buffers + buffer);
    }
  }
  return all;
}

void copy_plan::launch(stream& s, int blocks, const kernel& k, const launch_options& options, int buffer) {
  const int pe = s.pe();
  const auto copies = copies_of_launch(pe, buffer);
  if (copies->queues.empty()) return s.launch_kernel(blocks, k, options);
  // The low byte of the word. For a chunk that is not made the signal keeps its value.
  std::uint64_t* launched = state_.launched.on(pe);
  s.fill(launched, static_cast<unsigned char>(buffer + 1), 1);
  constexpr std::size_t word = sizeof(std::uint64_t);
  s.copy_rows(state_.launch_made.on(pe) + buffer, static_cast<std::size_t>(state_.buffers) * word,
              state_.arrived.on(pe) + layout_->chunk_at[static_cast<std::size_t>(pe)], word, word, copies->n_words);
  s.launch_kernel(blocks, k, options, copies);
  s.fill(launched, 0, 1);
}

}  // namespace starling
