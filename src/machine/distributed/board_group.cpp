#include "board_group.hpp"

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

}  // namespace

board_group::board_group(const process_place& place, const std::string& terms, std::size_t memory_bytes,
                         double deadline)
    : board_group(place, build_identity(), terms, memory_bytes, deadline) {}

board_group::board_group(const process_place& place, const std::string& build, const std::string& terms,
                         std::size_t memory_bytes, double deadline)
    : board_group(place, find(place, build, terms, memory_bytes, deadline), deadline) {}

board_group::board_group(const process_place& place, rendezvous_result found, double deadline)
    : process_group(place),
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

std::string board_group::name() const {
  struct stat about = {};
  (void)::fstat(memory_.number(), &about);
  return message(place().job, " ", about.st_ino);  // a job may make several machines, one after the other
}

board_group::~board_group() {
  when_lost({});
  seat(rank()).left.store(1);
  board_->bell.fetch_add(1);
  futex::wake_all(board_->bell);
  watch_.reset();
}

void board_group::when_lost(std::function<void()> f) {
  const std::lock_guard lock(loss_mutex_);
  when_lost_ = std::move(f);
  if (when_lost_ && board_->lost.load() != 0) when_lost_();
}

void board_group::lose(int other, loss how) {
  std::uint32_t none = 0;
  const auto value = static_cast<std::uint32_t>(other + 1) | static_cast<std::uint32_t>(how) << 16;
  (void)board_->lost.compare_exchange_strong(none, value);
  board_->bell.fetch_add(1);
  futex::wake_all(board_->bell);
  const std::lock_guard lock(loss_mutex_);
  if (when_lost_) when_lost_();
}

void board_group::expect_alive(const char* call) const {
  const std::uint32_t lost = board_->lost.load();
  if (lost == 0) return;
  const int other = this->lost();
  const std::int32_t system_number = seat(other).system_number.load();
  if (static_cast<loss>(lost >> 16) == loss::died) throw died(call, other, system_number);
  throw silent(call, other, system_number, deadline_);
}

void board_group::check_left(const char* call) const {
  for (int other = 0; other < size(); ++other)
    if (seat(other).left.load() != 0 && seat(other).met.load() < meetings_) throw gave_up(call, other);
}

// The first of those who are not there is to blame.
void board_group::give_up(const char* call) {
  for (int other = 0; other < size(); ++other)
    if (seat(other).met.load() < meetings_) {
      lose(other, loss::silent);
      break;
    }
  expect_alive(call);
  throw process_error(message(call, ": the processes do not meet"));
}

void board_group::arrive(const char* call, const std::function<bool()>& hurried) {
  expect_alive(call);
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
    expect_alive(call);
    check_left(call);
    if (waited >= most) give_up(call);
    const auto start = clock::now();
    constexpr clock::duration nap = std::chrono::milliseconds(200);  // after which it asks whether it is in a hurry
    futex::wait(board_->bell, seen, std::min(nap, most - waited));
    if (!hurried || hurried()) waited += clock::now() - start;
  }
}

std::vector<std::string> board_group::exchange(const char* call, const std::string& mine,
                                               const std::function<bool()>& hurried) {
  const std::size_t which = (meetings_ + 1) % 2;
  board::box& own = seat(rank()).boxes[which];
  own.bytes = static_cast<std::uint32_t>(mine.size());
  std::memcpy(own.text, mine.data(), mine.size());
  arrive(call, hurried);
  std::vector<std::string> all;
  for (int r = 0; r < size(); ++r) all.emplace_back(seat(r).boxes[which].text, seat(r).boxes[which].bytes);
  return all;
}

}  // namespace starling
