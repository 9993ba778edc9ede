#include "rendezvous.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <thread>

#include "board.hpp"
#include "shared_memory.hpp"
#include "starling/base/error.hpp"

namespace starling {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint32_t message_version = 0x57a41001;  // changes with the messages below

struct hello {
  std::uint32_t number = message_version;
  std::int32_t rank = 0;
  std::int32_t size = 0;
  std::array<char, 96> build{};
  std::array<char, 160> terms{};
};

struct answer {
  enum class kind : std::uint32_t { come_in, disagreement, missing };
  kind what = kind::come_in;
  std::array<char, 1000> text{};
};

template <std::size_t N>
void put_text(std::array<char, N>& to, const std::string& text) {
  std::memcpy(to.data(), text.data(), std::min(text.size(), N - 1));
}

clock::time_point after(double seconds) {
  return clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds));
}

[[noreturn]] void throw_answer(answer::kind what, const std::string& text) {
  if (what == answer::kind::disagreement) throw argument_error(text);
  throw process_error(text);
}

// Process 0, which all come to.
class gathering {
 public:
  explicit gathering(const rendezvous_request& r) : r_(r), limit_(after(r.deadline)), lines_(size()) {}

  rendezvous_result gather() {
    open();
    while (here_ < size() && clock::now() < limit_) {
      std::vector<int> numbers = {listener_.number()};
      std::vector<std::size_t> whose = {0};
      for (std::size_t i = 1; i < size(); ++i)
        if (lines_[i].is_open()) {
          numbers.push_back(lines_[i].number());
          whose.push_back(i);
        }
      for (const file& line : silent_) numbers.push_back(line.number());
      const std::vector<bool> ready = local_socket::wait(numbers, limit_);
      for (std::size_t i = 1; i < whose.size(); ++i)
        if (ready[i]) lose(whose[i]);
      for (std::size_t i = whose.size(); i < ready.size(); ++i)
        if (ready[i]) let_in(std::move(silent_[i - whose.size()]));
      std::erase_if(silent_, [](const file& line) { return !line.is_open(); });
      if (ready[0]) silent_.push_back(local_socket::accept(listener_));
    }
    if (!wrong_.empty()) refuse(why_, wrong_);
    if (here_ < size()) refuse(answer::kind::missing, who_is_missing());
    listener_ = file();  // whoever comes now means the next machine
    return welcome();
  }

 private:
  std::size_t size() const { return static_cast<std::size_t>(r_.place.size); }

  void open() {
    // Somebody may still be leaving the name.
    while (!(listener_ = local_socket::listen(meeting_name(r_.place))).is_open()) {
      expect<process_error>(clock::now() < limit_, "machine::distributed: another process 0 of this job (",
                            r_.place.source, ") holds its meeting place; give every job a place of its own");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  void let_in(file line) {
    hello h;
    if (!local_socket::receive(line, &h, sizeof h)) return;
    const std::string wrong = disagreement(h);
    if (wrong.empty())
      lines_[static_cast<std::size_t>(h.rank)] = std::move(line);
    else
      strangers_.push_back(std::move(line));
    ++here_;
    if (!wrong.empty()) give_up(answer::kind::disagreement, wrong);
  }

  // All are told what is wrong: also those who are on their way, and would wait for a process 0 that has left.
  void give_up(answer::kind why, const std::string& what) {
    if (!wrong_.empty()) return;
    constexpr double for_the_others = 5;
    why_ = why;
    wrong_ = what;
    limit_ = std::min(limit_, after(for_the_others));
  }

  std::string disagreement(const hello& h) const {
    const std::string who = message("machine::distributed: process ", h.rank);
    const bool same_build = h.number == message_version && r_.build == h.build.data();
    if (!same_build)
      return message(who, " runs another build of the program than process 0 (", h.build.data(), " and ", r_.build,
                     "); start the same program in all processes");
    if (h.size != r_.place.size || h.rank < 1 || h.rank >= h.size)
      return message(who, " of ", h.size, " has come to a job of ", r_.place.size,
                     " processes; give every job a place of its own");
    if (lines_[static_cast<std::size_t>(h.rank)].is_open())
      return message(who, " has come twice; give every process a number of its own");
    if (r_.terms != h.terms.data())
      return message(who, " wants a machine of ", h.terms.data(), ", process 0 one of ", r_.terms,
                     "; ask for the same in all processes");
    return {};
  }

  std::string who_is_missing() const {
    std::string names;
    for (std::size_t i = 1; i < size(); ++i)
      if (!lines_[i].is_open()) names += message(names.empty() ? "" : ", ", i);
    return message("machine::distributed: of ", size(), " processes number ", names, " did not come within ",
                   r_.deadline, " s; see what became of it, or raise STARLING_MEETING_DEADLINE");
  }

  void lose(std::size_t rank) {
    lines_[rank] = file();
    give_up(answer::kind::missing, message("machine::distributed: process ", rank, " of ", size(),
                                           " has ended before all had come; see what became of it"));
  }

  [[noreturn]] void refuse(answer::kind what, const std::string& text) {
    answer a;
    a.what = what;
    put_text(a.text, text);
    for (const auto* to : {&lines_, &strangers_})
      for (const file& line : *to)
        if (line.is_open()) (void)local_socket::send(line, &a, sizeof a);
    throw_answer(what, text);
  }

  rendezvous_result welcome() {
    rendezvous_result result;
    std::vector<int> numbers;
    for (const std::size_t bytes : r_.memory) {
      result.memory.push_back(new_shared_memory(bytes));
      numbers.push_back(result.memory.back().number());
    }
    const answer a;
    // Who has died meanwhile is missed at the first meeting.
    for (std::size_t i = 1; i < size(); ++i) (void)local_socket::send(lines_[i], &a, sizeof a, numbers);
    result.lines = std::move(lines_);
    return result;
  }

  const rendezvous_request& r_;
  clock::time_point limit_;
  file listener_;
  std::vector<file> lines_;   // by rank
  std::vector<file> silent_;  // have connected, and may have been stopped before they sent anything
  std::vector<file> strangers_;
  std::size_t here_ = 1;
  answer::kind why_ = answer::kind::come_in;
  std::string wrong_;  // why the job does not start
};

file find_first(const rendezvous_request& r) {
  const clock::time_point limit = after(r.deadline);
  for (;;) {
    file line = local_socket::connect(meeting_name(r.place));
    if (line.is_open()) return line;
    expect<process_error>(clock::now() < limit, "machine::distributed: of ", r.place.size,
                          " processes number 0 did not come within ", r.deadline,
                          " s; see what became of it, or raise STARLING_MEETING_DEADLINE");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

rendezvous_result go_there(const rendezvous_request& r) {
  rendezvous_result result;
  result.lines.push_back(find_first(r));
  const file& line = result.lines.front();
  hello h;
  h.rank = r.place.rank;
  h.size = r.place.size;
  put_text(h.build, r.build);
  put_text(h.terms, r.terms);
  answer a;
  a.what = answer::kind::missing;
  constexpr double longer = 5;  // process 0, which may have come later, gives up first and says who is missing
  const bool sent = local_socket::send(line, &h, sizeof h);
  const bool answered = sent && local_socket::wait({line.number()}, after(r.deadline + longer)).front();
  if (!answered || !local_socket::receive(line, &a, sizeof a, &result.memory))
    throw process_error(message("machine::distributed: process 0 of ", r.place.size,
                                sent && !answered ? " does not answer" : " has ended before all had come",
                                "; see what became of it"));
  if (a.what != answer::kind::come_in) throw_answer(a.what, a.text.data());
  expect<process_error>(result.memory.size() == r.memory.size(),
                        "machine::distributed: this process has no room for open files; raise the limit (ulimit -n)");
  return result;
}

}  // namespace

std::string meeting_name(const process_place& p) {
  const std::string whose = message(::geteuid(), "/", p.job);
  return message("starling-", std::hex, std::hash<std::string>()(whose));
}

rendezvous_result meet_first(const rendezvous_request& r) {
  return r.place.rank == 0 ? gathering(r).gather() : go_there(r);
}

}  // namespace starling
