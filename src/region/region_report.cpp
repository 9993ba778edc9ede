// What a region has moved, and when: from its layout and the words that kernels left.
#include <algorithm>

#include "layout.hpp"
#include "starling/region/region.hpp"

namespace starling {

std::vector<region_times> region_memory::times() const {
  std::vector<region_times> all;
  std::vector<std::uint64_t> words(times_.allocated() ? static_cast<std::size_t>(times_.size()) : 0);
  for (int pe = 0; pe < machine_.size() && !words.empty(); ++pe) {
    machine_.copy(words.data(), times_.on(pe), words.size() * sizeof(std::uint64_t));
    const std::uint64_t begun = words[region_state::begun];
    const std::uint64_t over = words[region_state::over];
    // Of a word that was written before the kernel's first block noted its begin, 0.
    const auto after_begin = [&](std::uint64_t ns) { return ns > begun ? 1e-9 * static_cast<double>(ns - begun) : 0; };
    region_times& t = all.emplace_back();
    t.kernel = after_begin(over);
    t.waited = 1e-9 * static_cast<double>(words[region_state::waited]);
    for (std::size_t w = region_state::of_chunks; w < words.size(); w += 2) {
      if (words[w] == 0) continue;
      const double first = after_begin(words[w]);
      t.first_arrival = t.arrived == 0 ? first : std::min(t.first_arrival, first);
      t.last_arrival = std::max(t.last_arrival, after_begin(words[w + 1]));
      ++t.arrived;
      if (words[w + 1] > over) ++t.after_end;
    }
  }
  return all;
}

region_report region_memory::report() const {
  const region_layout& l = *layout_;
  const std::size_t pes = l.parts.size();
  const std::vector<std::uint64_t> none(pes * pes, 0);
  region_report r{
      state_.agent, state_.sending, links_, l.chunks(), static_cast<std::size_t>(l.chunk_elements) * element_, 0,
      epoch(),      none,           none};
  if (state_.agent != region_agent::inline_stores && state_.agent != region_agent::own_warp)
    r.agent_blocks = state_.agent_blocks;
  for (std::size_t from = 0; from < pes; ++from) {
    r.tiles += l.parts[from].tiles();
    if (state_.sending != region_sending::all) continue;
    const int first = l.chunk_at[from];
    std::vector<std::uint64_t> left_out(static_cast<std::size_t>(l.chunk_at[from + 1] - first), 0);
    if (state_.agent != region_agent::copy_engine)  // which sends unchanged chunks too
      machine_.copy(left_out.data(), state_.left_out.on(static_cast<int>(from)),
                    left_out.size() * sizeof(std::uint64_t));
    for (int c = first; c < l.chunk_at[from + 1]; ++c) {
      const auto of_part = static_cast<std::size_t>(c - first);
      const auto bytes = static_cast<std::uint64_t>(l.elements_of(static_cast<int>(from), c - first).size()) * element_;
      for (std::size_t to = 0; to < pes; ++to) {
        if (to == from || !l.gets(c, static_cast<int>(to))) continue;
        r.bytes_per_epoch[from * pes + to] += bytes;
        r.bytes_left_out[from * pes + to] += bytes * left_out[of_part];
      }
    }
  }
  if (state_.to_host() && state_.sending == region_sending::all)
    r.host_bytes_per_epoch = static_cast<std::uint64_t>(state_.size) * element_;
  const line_stores stores = count_line_stores(l, element_);
  r.line_stores_inline = stores.as_written;
  r.line_stores_by_chunk = stores.by_chunk;
  r.times = times();
  return r;
}

}  // namespace starling
