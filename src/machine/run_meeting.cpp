#include "run_meeting.hpp"

#include <algorithm>

namespace starling {
namespace {

constexpr const char* run_call = "machine::run";

std::string said(const part_of_run& p) { return (p.ended ? "1" : "0") + p.problem; }
part_of_run heard(const std::string& text) { return {text[0] == '1', text.substr(1)}; }

}  // namespace

std::string text_of(const std::exception_ptr& problem) {
  if (!problem) return {};
  try {
    std::rethrow_exception(problem);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

void run_meeting::begin(const std::vector<program>& programs, bool traced) {
  word_list what = {programs.size()};
  for (const program& p : programs) what.push_back(static_cast<std::uint64_t>(p.roles.blocks()));
  what.push_back(traced ? 1 : 0);
  processes_.expect_same(run_call, what, "their programs, a program's blocks, or whether they are traced");
}

std::vector<part_of_run> run_meeting::end(const part_of_run& mine, const std::function<bool()>& hurried) {
  std::vector<part_of_run> all;
  for (const std::string& text : processes_.collect(run_call, said(mine), hurried)) all.push_back(heard(text));
  return all;
}

bool run_meeting::any_ended(const std::vector<part_of_run>& parts) {
  return std::any_of(parts.begin(), parts.end(), [](const part_of_run& p) { return p.ended; });
}

void run_meeting::expect_no_problem(const std::vector<part_of_run>& parts) {
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (!parts[p].problem.empty())
      throw process_error(
          message("machine::run: process ", p, " of ", parts.size(), " has ended the program: ", parts[p].problem));
}

}  // namespace starling
