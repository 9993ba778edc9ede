#include "engine_group.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "build_identity.hpp"
#include "starling/base/error.hpp"

namespace starling {
namespace {

using clock = std::chrono::steady_clock;

// Where the process's local sockets are reached from: one network namespace of one running system.
std::string this_host() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat about = {};
  (void)::stat("/proc/self/ns/net", &about);
  return message(boot, "/", about.st_ino);
}

// Texts one behind the other, each with its length in front.
std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& t : texts) {
    const std::uint64_t n = t.size();
    all.append(reinterpret_cast<const char*>(&n), sizeof n);
    all += t;
  }
  return all;
}

std::vector<std::string> parts_of(const std::string& all) {
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size();) {
    std::uint64_t n = 0;
    std::memcpy(&n, all.data() + at, sizeof n);
    texts.push_back(all.substr(at + sizeof n, n));
    at += sizeof n + n;
  }
  return texts;
}

// Which processes share a host, as numbers from 0 by rank.
std::vector<int> numbered(const std::vector<std::string>& hosts) {
  std::vector<int> numbers;
  std::vector<std::string> seen;
  for (const std::string& h : hosts) {
    const auto found = std::find(seen.begin(), seen.end(), h);
    numbers.push_back(static_cast<int>(found - seen.begin()));
    if (found == seen.end()) seen.push_back(h);
  }
  return numbers;
}

constexpr const char* start_call = "machine::distributed";

}  // namespace

engine_group::engine_group(const process_place& place, std::unique_ptr<engine> carrier, const std::string& host,
                           const std::string& terms, std::size_t memory_bytes, double deadline)
    : process_group(place),
      deadline_(deadline),
      left_(static_cast<std::size_t>(place.size)),
      system_numbers_(static_cast<std::size_t>(place.size)),
      messenger_(std::move(carrier)),
      on_system_(place) {
  messenger_.handle(message_kind::said,
                    [this](int from, const message_view& m) { take(m.head.number, from, m.text()); });
  messenger_.handle(message_kind::heard, [this](int, const message_view& m) {
    const std::lock_guard lock(mutex_);
    heard_[m.head.number] = parts_of(m.text());
    changed_.notify_all();
  });
  messenger_.handle(message_kind::lost,
                    [this](int, const message_view& m) { lose(m.head.pe, static_cast<loss>(m.head.number), false); });
  messenger_.handle(message_kind::left, [this](int from, const message_view& m) {
    const std::lock_guard lock(mutex_);
    left_[static_cast<std::size_t>(from)] = 1 + m.head.number;
    changed_.notify_all();
  });
  messenger_.resume();
  meet_hosts(host, terms, memory_bytes);
}

void engine_group::meet_hosts(const std::string& host, const std::string& terms, std::size_t memory_bytes) {
  const std::string mine = host.empty() ? this_host() : host;
  const std::vector<std::string> all =
      collect(start_call, joined({build_identity(), terms, mine, std::to_string(::getpid()), this_host()}));
  std::vector<std::string> where;
  std::vector<std::string> systems;
  for (std::size_t r = 0; r < all.size(); ++r) {
    const std::vector<std::string> said = parts_of(all[r]);
    const std::vector<std::string> first = parts_of(all[0]);
    expect<argument_error>(said[0] == first[0], start_call, ": process ", r,
                           " runs another build of the program than process 0 (", said[0], " and ", first[0],
                           "); start the same program in all processes");
    expect<argument_error>(said[1] == first[1], start_call, ": process ", r, " wants a machine of ", said[1],
                           ", process 0 one of ", first[1], "; ask for the same in all processes");
    where.push_back(said[2]);
    systems.push_back(said[4]);
    system_numbers_[r] = std::stoull(said[3]);
  }
  const auto self = systems.begin() + rank();
  on_system_.size = static_cast<int>(std::count(systems.begin(), systems.end(), *self));
  on_system_.rank = static_cast<int>(std::count(systems.begin(), self, *self));
  hosts_ = numbered(where);
  const int here = hosts_[static_cast<std::size_t>(rank())];
  process_place local = place();
  local.size = static_cast<int>(std::count(hosts_.begin(), hosts_.end(), here));
  local.rank = static_cast<int>(std::count(hosts_.begin(), hosts_.begin() + rank(), here));
  local.job += message("/host ", here);
  local_ = std::make_unique<board_group>(local, terms, memory_bytes, deadline_);
  local_->when_lost([this, here] {
    // By the number among those of this host.
    int left = local_->lost();
    for (int r = 0; r < size(); ++r)
      if (hosts_[static_cast<std::size_t>(r)] == here && left-- == 0) return lose(r, loss::died, true);
  });
}

engine_group::~engine_group() {
  when_lost({});
  local_->when_lost({});
  for (const message_kind k : {message_kind::said, message_kind::heard, message_kind::lost, message_kind::left})
    messenger_.handle(k, {});
}

void engine_group::leave() {
  std::unique_lock lock(mutex_);
  message_head h{message_kind::left};
  h.number = meetings_;
  for (int other = 0; other < size(); ++other)
    if (other != rank()) messenger_.post(other, made_message(h));
  left_[static_cast<std::size_t>(rank())] = 1 + meetings_;
  const auto all_gone = [this] {
    return lost_ >= 0 || std::none_of(left_.begin(), left_.end(), [](std::uint64_t l) { return l == 0; });
  };
  (void)changed_.wait_for(lock, std::chrono::duration<double>(deadline_), all_gone);
}

void engine_group::when_lost(std::function<void()> f) {
  const std::lock_guard lock(mutex_);
  when_lost_ = std::move(f);
  if (when_lost_ && lost_ >= 0) when_lost_();
}

bool engine_group::has_lost() const {
  const std::lock_guard lock(mutex_);
  return lost_ >= 0;
}

void engine_group::expect_alive(const char* call) const {
  const std::lock_guard lock(mutex_);
  if (lost_ < 0) return;
  const auto number = static_cast<std::int64_t>(system_numbers_[static_cast<std::size_t>(lost_)]);
  if (how_ == loss::died) throw died(call, lost_, number);
  throw silent(call, lost_, number, deadline_);
}

void engine_group::lose(int other, loss how, bool tell) {
  const std::lock_guard lock(mutex_);
  if (lost_ >= 0) return;
  lost_ = other;
  how_ = how;
  // Before anybody here learns of it, and leaves: the others hear of that later.
  message_head h{message_kind::lost, other};
  h.number = static_cast<std::uint64_t>(how);
  for (int r = 0; r < size() && tell; ++r)
    if (r != rank() && r != other) messenger_.post(r, made_message(h));
  changed_.notify_all();
  if (when_lost_) when_lost_();
}

void engine_group::take(std::uint64_t meeting, int from, std::string text) {
  std::string all;
  {
    const std::lock_guard lock(mutex_);
    std::vector<std::string>& said = said_[meeting];
    said.resize(static_cast<std::size_t>(size()));
    said[static_cast<std::size_t>(from)] = std::move(text);
    if (std::any_of(said.begin(), said.end(), [](const std::string& s) { return s.empty(); })) return;
    all = joined(said);
    heard_[meeting] = std::move(said);
    said_.erase(meeting);
    changed_.notify_all();
  }
  message_head h{message_kind::heard};
  h.number = meeting;
  for (int r = 1; r < size(); ++r) messenger_.post(r, made_message(h, all.data(), all.size()));
}

std::vector<std::string> engine_group::exchange(const char* call, const std::string& mine,
                                                const std::function<bool()>& hurried) {
  expect_alive(call);
  std::uint64_t meeting = 0;
  {
    const std::lock_guard lock(mutex_);
    meeting = ++meetings_;
  }
  message_head h{message_kind::said};
  h.number = meeting;
  if (rank() == 0)
    take(meeting, 0, mine);
  else
    messenger_.post(0, made_message(h, mine.data(), mine.size()));
  return wait(call, meeting, hurried);
}

std::vector<std::string> engine_group::wait(const char* call, std::uint64_t meeting,
                                            const std::function<bool()>& hurried) {
  constexpr clock::duration nap = std::chrono::milliseconds(200);  // after which it asks whether it is in a hurry
  // Process 0 knows who is missing, so it gives up first and says so.
  const double longer = rank() == 0 ? 0 : 5;
  const auto most = std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(deadline_ + longer));
  clock::duration waited{0};
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      const auto start = clock::now();
      (void)changed_.wait_for(lock, nap, [&] { return heard_.count(meeting) > 0 || lost_ >= 0; });
      if (const auto found = heard_.find(meeting); found != heard_.end()) {
        std::vector<std::string> all = std::move(found->second);
        heard_.erase(found);
        return all;
      }
      check_left(call, meeting);
      if (lost_ < 0 && (!hurried || hurried())) waited += clock::now() - start;
    }
    expect_alive(call);
    if (waited >= most) give_up(call, meeting);
  }
}

void engine_group::check_left(const char* call, std::uint64_t meeting) const {
  for (std::size_t other = 0; other < left_.size(); ++other)
    if (left_[other] != 0 && left_[other] <= meeting) throw gave_up(call, static_cast<int>(other));
}

void engine_group::give_up(const char* call, std::uint64_t meeting) {
  int missing = 0;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = said_.find(meeting); rank() == 0 && found != said_.end())
      missing = static_cast<int>(
          std::find_if(found->second.begin(), found->second.end(), [](const std::string& s) { return s.empty(); }) -
          found->second.begin());
  }
  lose(missing, loss::silent, true);
  expect_alive(call);
  throw process_error(message(call, ": the processes do not meet"));
}

void engine_group::pause() {
  messenger_.pause();
  local_->pause();
}

void engine_group::resume() {
  local_->resume();
  messenger_.resume();
}

}  // namespace starling
