// Words for what elements of a loop have done to each other.
#include "describe.hpp"
#include "source_line.hpp"

namespace starling::check {
namespace {

// "element (2, 3) writes them at file:12".
std::string element_text(const element_conflict& c, const element_conflict::side& one,
                         const std::vector<seen_access>& seen) {
  std::string at;
  for (const index_t x : one.at) at += message(at.empty() ? "" : ", ", x);
  if (one.at.size() > 1) at = "(" + at + ")";
  const std::string text =
      message(at.empty() ? std::string("one element") : "element " + at, one.writes ? " writes them" : " reads them");
  for (const seen_access& s : seen)
    if (s.loop == c.loop && s.element == one.element && s.write == one.writes && s.address < c.address + c.bytes &&
        s.address + s.bytes > c.address)
      return message(text, " at ", source_line(s.code));
  return text;
}

}  // namespace

void describe_elements(finding& f, const std::vector<scheduled_block>& scheduled, const memory_map& now,
                       const std::vector<seen_access>& seen) {
  const element_conflict& c = *f.elements;
  const scheduled_block& a = scheduled[static_cast<std::size_t>(f.blocks.front())];
  const memory_map m = as_named(now, a.scope);
  f.text = message(block_text(a), ": nothing orders two elements of a loop at ", range_text(m, c.address, c.bytes),
                   "\n  first: ", element_text(c, c.first, seen), "\n  then: ", element_text(c, c.second, seen),
                   "\n  elements of parallel_for run at the same time: let each write what no other touches, read from "
                   "data that the loop does not write, add up by a reduction or an atomic operation, or make it two "
                   "loops");
}

}  // namespace starling::check
