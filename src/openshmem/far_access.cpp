#include "far_access.hpp"

#include <algorithm>

#include "errors.hpp"

namespace starling::openshmem {
namespace {

// What is under way to a PE waits in memory of its sender.
constexpr std::size_t most_under_way = std::size_t{8} << 20;

// f for parts of the rows that take up at most half of that, with the heads of their messages.
template <class F>
void for_each_part(const copied_rows& c, const F& f) {
  constexpr std::size_t most = most_under_way / 2;
  const std::size_t rows_at_once = std::max<std::size_t>(1, most / (c.row_bytes + sizeof(message_head)));
  for (std::size_t row = 0; row < c.rows; row += rows_at_once)
    for (std::size_t at = 0; at < c.row_bytes; at += most) {
      copied_rows part = c;
      part.to += row * c.to_pitch + at;
      part.from += row * c.from_pitch + at;
      part.row_bytes = std::min(most, c.row_bytes - at);
      part.rows = std::min(rows_at_once, c.rows - row);
      f(part);
    }
}

}  // namespace

far_access::far_access(job& j) : far_(j.far()), tallies_(static_cast<std::size_t>(j.processes())) {
  for (int pe = 0; pe < j.processes(); ++pe)
    if (!j.is_near(pe)) pes_.push_back(pe);
}

void far_access::store(const copied_rows& c, int pe) {
  for_each_part(c, [&](const copied_rows& part) {
    far_->post(part);
    count(pe, part.rows * (part.row_bytes + sizeof(message_head)));
  });
}

void far_access::load(const copied_rows& c) {
  for_each_part(c, [this](const copied_rows& part) { far_->read(part, call()); });
}

std::uint64_t far_access::change(void* word, const word_order& o) { return far_->change(word, o, call()); }

void far_access::change_unread(void* word, const word_order& o, int pe) {
  far_->post_change(word, o);
  count(pe, sizeof(message_head));
}

void far_access::count(int pe, std::size_t bytes) {
  tally& t = tallies_[static_cast<std::size_t>(pe)];
  t.put.fetch_add(1);
  if (t.bytes.fetch_add(bytes) + bytes > most_under_way) finish({pe});
}

void far_access::finish() { finish(pes_); }

// Another thread that has put more meanwhile asks for itself.
void far_access::finish(const std::vector<int>& pes) {
  std::vector<int> open;
  std::vector<std::uint64_t> put;
  for (const int pe : pes) {
    tally& t = tallies_[static_cast<std::size_t>(pe)];
    const std::uint64_t now = t.put.load();
    if (t.done.load() >= now) continue;
    open.push_back(pe);
    put.push_back(now);
    t.bytes.store(0);
  }
  if (open.empty()) return;
  far_->finish(open, call());
  for (std::size_t i = 0; i < open.size(); ++i) {
    std::atomic<std::uint64_t>& done = tallies_[static_cast<std::size_t>(open[i])].done;
    std::uint64_t known = done.load();
    while (known < put[i] && !done.compare_exchange_weak(known, put[i])) continue;
  }
}

}  // namespace starling::openshmem
