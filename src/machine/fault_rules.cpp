#include "fault_rules.hpp"

#include <cmath>
#include <limits>

#include "starling/base/error.hpp"

namespace starling {
namespace {

constexpr double most_seconds = 3600;

void check_count(const std::string& who, std::int64_t nth, std::int64_t times) {
  expect<argument_error>(nth >= 1, who, ": nth = ", nth, "; calls are counted from 1");
  expect<argument_error>(times >= 0, who, ": times = ", times, "; must be at least 1, or 0 for ever");
  expect<argument_error>(times <= std::numeric_limits<std::int64_t>::max() - nth, who, ": nth + times = ", nth, " + ",
                         times, " is more than can be counted; pass times = 0 for ever");
}

void check_selector(const std::string& who, const fault_selector& s, int n_pes) {
  expect<argument_error>(s.pe == any_pe || (s.pe >= 0 && s.pe < n_pes), who, ": pe = ", s.pe, "; must be from 0 to ",
                         n_pes - 1, ", or any_pe");
  expect<argument_error>(s.block >= any_block, who, ": block = ", s.block, "; must be at least 0, or any_block");
  expect<argument_error>(s.calls >= fault_calls::usual && s.calls <= fault_calls::all, who,
                         ": calls = ", static_cast<int>(s.calls), "; must be usual, user, control or all");
  check_count(who, s.nth, s.times);
}

void check_seconds(const std::string& who, double seconds) {
  expect<argument_error>(std::isfinite(seconds) && seconds > 0 && seconds <= most_seconds, who, ": seconds = ", seconds,
                         "; must be more than 0 and at most ", most_seconds);
}

}  // namespace

const char* name(const fault& f) {
  constexpr const char* names[] = {"drop_signal", "delay_signal", "corrupt_epoch",  "kill_block",
                                   "slow_pe",     "lose_link",    "fail_allocation"};
  return names[f.index()];
}

const fault_selector* selector_of(const fault& f) {
  return std::visit(
      [](const auto& one) -> const fault_selector* {
        if constexpr (requires { one.at; })
          return &one.at;
        else
          return nullptr;
      },
      f);
}

void check_faults(const fault_plan& plan, int n_pes) {
  for (std::size_t i = 0; i < plan.faults.size(); ++i) {
    const fault& f = plan.faults[i];
    const std::string who = message("fault ", i, " (", name(f), ")");
    if (const fault_selector* s = selector_of(f)) check_selector(who, *s, n_pes);
    if (const auto* one = std::get_if<delay_signal>(&f)) check_seconds(who, one->seconds);
    if (const auto* one = std::get_if<slow_pe>(&f)) check_seconds(who, one->seconds);
    if (const auto* one = std::get_if<corrupt_epoch>(&f))
      expect<argument_error>(one->flip != 0, who, ": flip = 0 changes nothing; name at least one bit");
    if (const auto* one = std::get_if<fail_allocation>(&f)) check_count(who, one->nth, one->times);
  }
}

std::string fired_fault::text() const {
  std::ostringstream out;
  out << kind << ":";
  if (pe != any_pe) out << " PE " << pe << " block " << block << ",";
  out << " " << (pe == any_pe ? "allocate" : op == operation::none ? "fence or quiet" : starling::name(op));
  if (!file.empty()) out << " at " << file << ":" << line;
  if (peer != any_pe) out << (op == operation::put ? " to" : " of") << " PE " << peer;
  if (times > 1) out << ", and " << times - 1 << " more";
  return out.str();
}

}  // namespace starling
