#include "starling/region/host_region.hpp"

#include <algorithm>
#include <bit>
#include <chrono>

#include "layout.hpp"
#include "starling/base/environment.hpp"

namespace starling {
namespace {

// Streams by which a PE sends: links of different peers work at the same time, and streams of virtual devices are
// threads.
constexpr int most_streams = 3;

region_options as_region(const host_region_options& o, std::size_t element) {
  expect<argument_error>(std::has_single_bit(element) && element <= 16, "host_region: elements of ", element,
                         " bytes; must be 1, 2, 4, 8 or 16");
  expect<argument_error>(o.buffers >= 2, "host_region_options::buffers = ", o.buffers, "; must be from 2 to 8");
  region_options r;
  r.buffers = o.buffers;
  r.chunk_bytes = o.chunk_bytes;
  r.bounds = o.bounds;
  r.tiles =
      region_mapping::by([](int, index_range part) { return region_mapping::tiles{std::vector<index_range>{part}}; });
  return r;
}

}  // namespace

// What has been committed and sent of one PE's part. An event of an epoch is used again when its buffer is: whoever
// waits for the later epoch by mistake waits too long, never too short.
struct host_region::pe_state {
  stream work;
  event written;                          // the commit under way
  event awaited;                          // the last wait of a stream of another library
  std::vector<stream> streams;            // that carry to others
  std::vector<std::vector<event>> there;  // [PEs][buffers] all of the epoch has arrived; [own PE]: has been committed
  std::map<index_t, index_t> given;       // begin and end of what has been committed of the epoch after `epoch`
  std::vector<index_t> whole;             // [chunks of the part] elements committed of it
  index_t n_given = 0;
  std::uint64_t epoch = 0;   // last that is committed
  std::uint64_t waited = 0;  // last that has been waited for
  std::vector<std::uint64_t> bytes_to;

  stream& stream_to(int from, int to, int pes) {
    return streams[static_cast<std::size_t>((to - from - 1 + pes) % pes) % streams.size()];
  }
};

host_region::host_region(machine& m, index_t n, std::size_t element, const host_region_options& o)
    : machine_(m),
      size_(n),
      element_(element),
      pitch_(0),
      buffers_(o.buffers),
      deadline_(o.deadline > 0 ? o.deadline : environment::read().deadline),
      layout_(std::make_unique<region_layout>(make_region_layout(n, m.size(), element, as_region(o, element)))) {
  expect<argument_error>(o.deadline >= 0 && o.deadline < 1e6, "region::options: deadline = ", o.deadline,
                         " s; must be more than 0 and less than 1e6, or 0 for STARLING_DEADLINE");
  pitch_ = round_up(n * static_cast<index_t>(element), line_bytes) / static_cast<index_t>(element);
  values_ = machine_.allocate<std::byte>(static_cast<index_t>(bytes(buffers_ * pitch_)));
  const int pes = machine_.size();
  for (int pe = 0; pe < pes; ++pe) {
    const auto order = [&] { return machine_.new_event(pe, event_use::ordering); };
    pe_state p{machine_.new_stream(pe), order(), order(), {}, {}, {}, {}, 0, 0, 0, {}};
    for (int i = 0; i < std::min(most_streams, pes - 1); ++i) p.streams.push_back(machine_.new_stream(pe));
    p.there.resize(static_cast<std::size_t>(pes));
    for (auto& of_peer : p.there)
      for (int b = 0; b < buffers_; ++b) of_peer.push_back(order());
    const auto first = layout_->chunk_at[static_cast<std::size_t>(pe)];
    p.whole.assign(static_cast<std::size_t>(layout_->chunk_at[static_cast<std::size_t>(pe) + 1] - first), 0);
    p.bytes_to.assign(static_cast<std::size_t>(pes), 0);
    pes_.push_back(std::make_unique<pe_state>(std::move(p)));
  }
}

host_region::~host_region() {
  for (const auto& p : pes_) try {
      p->work.synchronize();
      for (stream& to_other : p->streams) to_other.synchronize();
    } catch (const error&) {  // a failure of the producer's work, which wait and read have told of
    }
}

int host_region::chunks() const { return layout_->chunks(); }

host_region::pe_state& host_region::on(int pe, const char* call) const {
  expect<range_error>(pe >= 0 && pe < machine_.size(), "region::", call, ": PE ", pe, " of a machine with ",
                      machine_.size(), "; PEs are numbered from 0");
  return *pes_[static_cast<std::size_t>(pe)];
}

index_range host_region::part(int pe) const {
  (void)on(pe, "part");
  return layout_->parts[static_cast<std::size_t>(pe)].elements;
}

stream& host_region::work(int pe) { return on(pe, "work").work; }

std::byte* host_region::data(int pe, std::uint64_t epoch) const {
  (void)on(pe, "data");
  return values_.on(pe) + bytes(static_cast<index_t>(epoch % static_cast<std::uint64_t>(buffers_)) * pitch_);
}

void host_region::load(const std::byte* values) {
  const std::lock_guard lock(mutex_);
  for (const auto& p : pes_) {
    p->work.synchronize();
    for (stream& to_other : p->streams) to_other.synchronize();
  }
  for (int pe = 0; pe < machine_.size(); ++pe) {
    pe_state& p = *pes_[static_cast<std::size_t>(pe)];
    machine_.copy(data(pe, 0), values, bytes(size_));
    p.given.clear();
    std::ranges::fill(p.whole, 0);
    p.n_given = 0;
    p.epoch = p.waited = 0;
  }
}

void host_region::check_commit(int pe, const pe_state& p, index_range e) const {
  const index_range mine = layout_->parts[static_cast<std::size_t>(pe)].elements;
  expect<range_error>((!e.empty() || e == mine) && e.begin >= mine.begin && e.end <= mine.end,
                      "region::commit: elements ", e.begin, " to ", e.end, " of PE ", pe, "; its part is ", mine.begin,
                      " to ", mine.end, ", and a commit has at least one element");
  expect<region_error>(p.waited == p.epoch, "region::commit: PE ", pe, " commits epoch ", p.epoch + 1,
                       " and has not waited for epoch ", p.epoch,
                       "; call wait first: the buffer that it writes may still be read or sent");
  const auto after = p.given.lower_bound(e.begin);
  const bool before_too = after != p.given.begin() && std::prev(after)->second > e.begin;
  if (before_too || (after != p.given.end() && after->first < e.end))
    throw region_error(message("region::commit: element ", before_too ? e.begin : after->first, " of PE ", pe,
                               " was committed twice for epoch ", p.epoch + 1,
                               "; each element is committed once an epoch, when it has its value"));
}

void host_region::commit(int pe, index_range e, void* native) {
  pe_state& p = on(pe, "commit");
  const std::lock_guard lock(mutex_);
  check_commit(pe, p, e);
  if (native != nullptr) {
    p.written.record_in(native);
    p.work.wait(p.written);
  }
  p.work.record(p.written);
  p.given.emplace(e.begin, e.end);
  p.n_given += e.size();
  const index_range mine = layout_->parts[static_cast<std::size_t>(pe)].elements;
  const index_t chunk = layout_->chunk_elements;
  for (index_t c = (e.begin - mine.begin) / chunk; c < ceil_div(e.end - mine.begin, chunk); ++c) {
    const index_range all = layout_->elements_of(pe, static_cast<int>(c));
    index_t& whole = p.whole[static_cast<std::size_t>(c)];
    whole += std::min(e.end, all.end) - std::max(e.begin, all.begin);
    if (whole == all.size()) send(pe, p, static_cast<int>(c));
  }
  if (p.n_given == mine.size()) complete(pe, p);
}

// A copy overwrites what its receiver had of an epoch `buffers` ago. What the receiver read of that came before its own
// commits of the last epoch, whose arrival work(pe) has waited for.
void host_region::send(int pe, pe_state& p, int chunk) {
  const int pes = machine_.size();
  const std::uint64_t epoch = p.epoch + 1;
  const index_range e = layout_->elements_of(pe, chunk);
  const std::size_t offset = bytes(e.begin);
  for (int k = 1; k < pes; ++k) {
    const int to = (pe + k) % pes;
    stream& to_other = p.stream_to(pe, to, pes);
    to_other.wait(p.written);
    to_other.copy(data(to, epoch) + offset, data(pe, epoch) + offset, bytes(e.size()));
    p.bytes_to[static_cast<std::size_t>(to)] += bytes(e.size());
  }
}

void host_region::complete(int pe, pe_state& p) {
  const int pes = machine_.size();
  const std::size_t buffer = (p.epoch + 1) % static_cast<std::uint64_t>(buffers_);
  p.work.record(p.there[static_cast<std::size_t>(pe)][buffer]);
  for (int to = 0; to < pes; ++to) {
    if (to == pe) continue;
    stream& to_other = p.stream_to(pe, to, pes);
    to_other.wait(p.written);  // a PE without elements has sent nothing
    to_other.record(p.there[static_cast<std::size_t>(to)][buffer]);
  }
  ++p.epoch;
  p.given.clear();
  std::ranges::fill(p.whole, 0);
  p.n_given = 0;
  changed_.notify_all();
}

bool host_region::all_committed(std::uint64_t epoch) const {
  return std::ranges::all_of(pes_, [&](const auto& p) { return p->epoch >= epoch; });
}

// Who has not committed all of an epoch, and the first element that lacks.
std::string host_region::missing(std::uint64_t epoch) const {
  for (std::size_t pe = 0; pe < pes_.size(); ++pe) {
    const pe_state& p = *pes_[pe];
    if (p.epoch >= epoch) continue;
    index_t first = layout_->parts[pe].elements.begin;
    if (p.epoch + 1 == epoch)
      for (const auto& [begin, end] : p.given)
        if (begin == first) first = end;
    return message("PE ", pe, " has not committed element ", first);
  }
  return "nothing lacks";
}

void host_region::wait_for_arrivals(int pe, std::uint64_t epoch) const {
  const std::size_t buffer = epoch % static_cast<std::uint64_t>(buffers_);
  for (const auto& from : pes_) from->there[static_cast<std::size_t>(pe)][buffer].synchronize();
}

void host_region::wait(int pe, std::uint64_t epoch, void* native) {
  pe_state& p = on(pe, "wait");
  std::unique_lock lock(mutex_);
  expect<region_error>(epoch <= p.epoch, "region::wait: PE ", pe, " waits for epoch ", epoch, ", and ", missing(epoch),
                       "; it commits its own part first");
  expect<region_error>(
      changed_.wait_for(lock, std::chrono::duration<double>(deadline_), [&] { return all_committed(epoch); }),
      "region::wait: PE ", pe, " has waited ", deadline_, " s for epoch ", epoch, ", and ", missing(epoch),
      "; every PE commits all of its part in every epoch");
  expect<argument_error>(epoch + static_cast<std::uint64_t>(buffers_) > p.epoch, "region::wait: PE ", pe,
                         " waits for epoch ", epoch, " and has committed epoch ", p.epoch, "; with ", buffers_,
                         " buffers it has so many epochs, that one included");
  const std::size_t buffer = epoch % static_cast<std::uint64_t>(buffers_);
  for (const auto& from : pes_) p.work.wait(from->there[static_cast<std::size_t>(pe)][buffer]);
  if (native != nullptr) {
    p.work.record(p.awaited);
    p.awaited.hold(native);
  }
  p.waited = std::max(p.waited, epoch);
}

void host_region::wait_on_host(int pe, std::uint64_t epoch) {
  wait(pe, epoch);
  wait_for_arrivals(pe, epoch);
}

std::uint64_t host_region::committed(int pe) const {
  const pe_state& p = on(pe, "committed");
  const std::lock_guard lock(mutex_);
  return p.epoch;
}

std::uint64_t host_region::epoch() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t least = pes_.front()->epoch;
  for (const auto& p : pes_) least = std::min(least, p->epoch);
  return least;
}

void host_region::read(int pe, std::uint64_t epoch, std::byte* values) const {
  const pe_state& p = on(pe, "read");
  {
    const std::lock_guard lock(mutex_);
    expect<argument_error>(all_committed(epoch) && epoch + static_cast<std::uint64_t>(buffers_) > p.epoch,
                           "region::read: epoch ", epoch, " of PE ", pe, ", which has committed epoch ", p.epoch, "; ",
                           missing(epoch), ", and with ", buffers_, " buffers it has so many epochs");
  }
  wait_for_arrivals(pe, epoch);
  machine_.copy(values, data(pe, epoch), bytes(size_));
}

std::vector<std::uint64_t> host_region::bytes_sent() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::uint64_t> all;
  for (const auto& p : pes_) all.insert(all.end(), p->bytes_to.begin(), p->bytes_to.end());
  return all;
}

}  // namespace starling
