#include "process_group.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "build_identity.hpp"
#include "futex.hpp"
#include "rendezvous.hpp"
#include "starling/base/error.hpp"

namespace starling {
namespace {

using clock = std::chrono::steady_clock;

rendezvous_result find(const process_place& place, const std::string& build, const std::string& terms,
                       std::size_t memory_bytes, double deadline) {
  return meet_first({place, build, terms, {sizeof(board), memory_bytes}, deadline});
}

std::string bytes_of(const word_list& w) {
  return {reinterpret_cast<const char*>(w.data()), w.size() * sizeof(std::uint64_t)};
}

word_list words_of(const std::string& bytes) {
  word_list w(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(w.data(), bytes.data(), w.size() * sizeof(std::uint64_t));
  return w;
}

}  // namespace

process_group::process_group(const process_place& place, const std::string& terms, std::size_t memory_bytes,
                             double deadline)
    : process_group(place, build_identity(), terms, memory_bytes, deadline) {}

process_group::process_group(const process_place& place, const std::string& build, const std::string& terms,
                             std::size_t memory_bytes, double deadline)
    : process_group(place, find(place, build, terms, memory_bytes, deadline), deadline) {}

process_group::process_group(const process_place& place, rendezvous_result found, double deadline)
    : place_(place),
      deadline_(deadline),
      memory_(std::move(found.memory.at(1))),
      words_(found.memory.at(0), sizeof(board)),
      board_(reinterpret_cast<board*>(words_.start())) {
  seat(rank()).system_number = ::getpid();
  watch_ = std::make_unique<death_watch>(std::move(found.lines), [this](int other) {
    if (seat(other).left.load() == 0) lose(other, loss::died);
  });
  meet("machine::distributed");
}

std::string process_group::name() const {
  struct stat about = {};
  (void)::fstat(memory_.number(), &about);
  return message(place_.job, " ", about.st_ino);  // a job may make several machines, one after the other
}

process_group::~process_group() {
  when_lost({});
  seat(rank()).left.store(1);
  board_->bell.fetch_add(1);
  futex::wake_all(board_->bell);
  watch_.reset();
}

void process_group::when_lost(std::function<void()> f) {
  const std::lock_guard lock(loss_mutex_);
  when_lost_ = std::move(f);
  if (when_lost_ && board_->lost.load() != 0) when_lost_();
}

void process_group::lose(int other, loss how) {
  std::uint32_t none = 0;
  const auto value = static_cast<std::uint32_t>(other + 1) | static_cast<std::uint32_t>(how) << 16;
  (void)board_->lost.compare_exchange_strong(none, value);
  board_->bell.fetch_add(1);
  futex::wake_all(board_->bell);
  const std::lock_guard lock(loss_mutex_);
  if (when_lost_) when_lost_();
}

void process_group::check_lost(const char* call) const {
  const std::uint32_t lost = board_->lost.load();
  if (lost == 0) return;
  const int other = static_cast<int>(lost & 0xffff) - 1;
  const std::string who =
      message(call, ": process ", other, " of ", size(), " (pid ", seat(other).system_number.load(), ")");
  if (static_cast<loss>(lost >> 16) == loss::died)
    throw process_error(who +
                        " has died; the others cannot go on without it: see how it ended, and start the job again");
  throw process_error(message(who, " did not come within ", deadline_,
                              " s; see what it does, or raise STARLING_MEETING_DEADLINE, and start the job again"));
}

void process_group::check_left(const char* call) const {
  for (int other = 0; other < size(); ++other)
    if (seat(other).left.load() != 0 && seat(other).met.load() < meetings_)
      throw process_error(message(call, ": process ", other, " of ", size(),
                                  " has given its machine up and does not come; a collective call is made by all "
                                  "processes"));
}

// The first of those who are not there is to blame.
void process_group::give_up(const char* call) {
  for (int other = 0; other < size(); ++other)
    if (seat(other).met.load() < meetings_) {
      lose(other, loss::silent);
      break;
    }
  check_lost(call);
  throw process_error(message(call, ": the processes do not meet"));
}

void process_group::arrive(const char* call, const std::function<bool()>& hurried) {
  check_lost(call);
  const std::uint64_t all = ++meetings_ * static_cast<std::uint64_t>(size());
  seat(rank()).met.store(meetings_);
  if (board_->arrivals.fetch_add(1) + 1 == all) {
    board_->bell.fetch_add(1);
    return futex::wake_all(board_->bell);
  }
  constexpr int looks = 256;  // before it sleeps
  for (int i = 0; i < looks; ++i)
    if (board_->arrivals.load() >= all) return;
  clock::duration waited{0};
  const auto most = std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(deadline_));
  for (;;) {
    const std::uint32_t seen = board_->bell.load();
    if (board_->arrivals.load() >= all) return;
    check_lost(call);
    check_left(call);
    if (waited >= most) give_up(call);
    const auto start = clock::now();
    constexpr clock::duration nap = std::chrono::milliseconds(200);  // after which it asks whether it is in a hurry
    futex::wait(board_->bell, seen, std::min(nap, most - waited));
    if (!hurried || hurried()) waited += clock::now() - start;
  }
}

std::vector<std::string> process_group::collect(const char* call, const std::string& mine,
                                                const std::function<bool()>& hurried) {
  const std::size_t which = (meetings_ + 1) % 2;
  board::box& own = seat(rank()).boxes[which];
  const std::string said = call + std::string(1, '\0') + mine.substr(0, most_bytes);
  own.bytes = static_cast<std::uint32_t>(said.size());
  std::memcpy(own.text, said.data(), said.size());
  arrive(call, hurried);
  std::vector<std::string> all;
  int other = -1;
  std::string their_call;
  for (int r = 0; r < size(); ++r) {
    const board::box& box = seat(r).boxes[which];
    const std::string text(box.text, box.bytes);
    const std::size_t end = text.find('\0');
    all.push_back(text.substr(end + 1));
    if (other >= 0 || text.compare(0, end, call) == 0) continue;
    other = r;
    their_call = text.substr(0, end);
  }
  expect<argument_error>(other < 0, call, ": process ", rank(), " is in this call, process ", other, " in ", their_call,
                         "; these are collective: all processes make the same calls in the same order");
  return all;
}

std::vector<word_list> process_group::collect(const char* call, const word_list& mine) {
  std::vector<word_list> all;
  for (const std::string& said : collect(call, bytes_of(mine))) all.push_back(words_of(said));
  return all;
}

void process_group::expect_same(const char* call, const word_list& mine, const char* what) {
  const std::vector<word_list> all = collect(call, mine);
  const auto other = std::find_if(all.begin(), all.end(), [&](const word_list& w) { return w != all.front(); });
  if (other == all.end()) return;
  const auto differs = std::mismatch(other->begin(), other->end(), all[0].begin(), all[0].end());
  const auto shown = [](const word_list& w, auto at) { return at == w.end() ? std::string("none") : message(*at); };
  throw argument_error(message(call, ": process ", other - all.begin(), " and process 0 differ in ", what, " (",
                               shown(*other, differs.first), " and ", shown(all[0], differs.second),
                               "); a collective call is made alike by all processes"));
}

}  // namespace starling
