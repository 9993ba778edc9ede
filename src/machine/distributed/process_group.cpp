#include "process_group.hpp"

#include <algorithm>
#include <cstring>

namespace starling {
namespace {

std::string bytes_of(const word_list& w) {
  return {reinterpret_cast<const char*>(w.data()), w.size() * sizeof(std::uint64_t)};
}

word_list words_of(const std::string& bytes) {
  word_list w(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(w.data(), bytes.data(), w.size() * sizeof(std::uint64_t));
  return w;
}

std::string who(const char* call, int other, int size, std::int64_t system_number) {
  return message(call, ": process ", other, " of ", size, " (pid ", system_number, ")");
}

}  // namespace

std::vector<std::string> process_group::collect(const char* call, const std::string& mine,
                                                const std::function<bool()>& hurried) {
  const std::vector<std::string> said =
      exchange(call, call + std::string(1, '\0') + mine.substr(0, most_bytes), hurried);
  std::vector<std::string> all;
  int other = -1;
  std::string their_call;
  for (std::size_t r = 0; r < said.size(); ++r) {
    const std::size_t end = said[r].find('\0');
    all.push_back(said[r].substr(end + 1));
    if (other >= 0 || said[r].compare(0, end, call) == 0) continue;
    other = static_cast<int>(r);
    their_call = said[r].substr(0, end);
  }
  expect<argument_error>(other < 0, call, ": process ", rank(), " is in this call, process ", other, " in ", their_call,
                         "; these are collective: all processes make the same calls in the same order");
  return all;
}

std::vector<std::string> process_group::collect_long(const char* call, const std::string& mine) {
  std::uint64_t longest = 0;
  for (const word_list& w : collect(call, word_list{mine.size()})) longest = std::max(longest, w[0]);
  std::vector<std::string> all(static_cast<std::size_t>(size()));
  for (std::size_t begin = 0; begin < longest; begin += most_bytes) {
    const std::vector<std::string> parts =
        collect(call, begin < mine.size() ? mine.substr(begin, most_bytes) : std::string());
    for (std::size_t r = 0; r < all.size(); ++r) all[r] += parts[r];
  }
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

process_error process_group::died(const char* call, int other, std::int64_t system_number) const {
  return process_error(who(call, other, size(), system_number) +
                       " has died; the others cannot go on without it: see how it ended, and start the job again");
}

process_error process_group::silent(const char* call, int other, std::int64_t system_number, double deadline) const {
  return process_error(message(who(call, other, size(), system_number), " did not come within ", deadline,
                               " s; see what it does, or raise STARLING_MEETING_DEADLINE, and start the job again"));
}

process_error process_group::gave_up(const char* call, int other) const {
  return process_error(message(call, ": process ", other, " of ", size(),
                               " has given its machine up and does not come; a collective call is made by all "
                               "processes"));
}

}  // namespace starling
