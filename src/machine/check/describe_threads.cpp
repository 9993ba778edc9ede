// Words for what threads of a block have done to each other.
#include "describe.hpp"
#include "source_line.hpp"

namespace starling::check {
namespace {

// "thread 2 writes them at file:12"; the last access of the thread that a replay has seen.
std::string thread_text(const thread_conflict& c, const thread_conflict::side& one,
                        const std::vector<seen_access>& seen) {
  const bool several = one.thread == all_threads || one.count > 1;
  const std::string who = one.thread == all_threads ? "the threads"
                          : one.count > 1           ? message("the threads of warp ", one.thread / one.count)
                                                    : message("thread ", one.thread);
  const std::string text = who + (one.writes ? several ? " write" : " writes" : several ? " read" : " reads") + " them";
  if (one.call != nullptr) return message(text, " in ", one.call, " at ", one.at.file, ":", one.at.line);
  for (auto s = seen.rbegin(); s != seen.rend(); ++s)
    if (s->block == c.block && s->thread == one.thread && s->interval == c.interval && s->write == one.writes &&
        s->address < c.address + c.bytes && s->address + s->bytes > c.address)
      return message(text, " at ", source_line(s->code));
  return text;
}

bool in_one_warp(const thread_conflict& c) {
  if (c.in_warps_of <= 1 || c.first.thread == all_threads || c.second.thread == all_threads) return false;
  return c.first.thread / c.in_warps_of == c.second.thread / c.in_warps_of;
}

}  // namespace

void describe_threads(finding& f, const std::vector<scheduled_block>& scheduled, const memory_map& now,
                      const std::vector<seen_access>& seen) {
  const thread_conflict& c = *f.threads;
  const scheduled_block& a = scheduled[static_cast<std::size_t>(c.block)];
  const memory_map m = as_named(now, a.scope);
  f.text =
      message(block_text(a), ": no barrier of the block is between two accesses to ", range_text(m, c.address, c.bytes),
              "\n  first: ", thread_text(c, c.first, seen), "\n  then: ", thread_text(c, c.second, seen),
              "\n  order the two by b.sync()", in_one_warp(c) ? " or b.warp().sync()" : "",
              ", give each thread elements of its own (b.for_each), or let one thread "
              "do it: if (b.member() == 0)");
}

}  // namespace starling::check
