// Words for a race: two accesses that nothing orders, and what to do about them.
#include "describe.hpp"
#include "source_line.hpp"

namespace starling::check {
namespace {

std::string source_place(where at) { return message(at.file, ":", at.line); }

// One side of a race: "PE 0 block 0 (all) writes 4 bytes ... at file:12".
std::string side_text(const access& who, bool writes, const conflict& c, const std::vector<scheduled_block>& scheduled,
                      const std::vector<seen_access>& seen) {
  const scheduled_block& a = scheduled[static_cast<std::size_t>(who.block)];
  if (who.operation) {
    const operation_fact& o = a.operations[who.stamp];
    const char* does = writes ? " writes them by " : " reads them by ";
    return message(block_text(a), does, o.what, " at ", source_place(o.at),
                   o.blocking ? "" : " (not complete before quiet)");
  }
  const std::string text = message(block_text(a, who.stamp), writes ? " writes them" : " reads them");
  for (const seen_access& s : seen)
    if (s.block == who.block && s.stamp == who.stamp && s.write == writes && s.address < c.address + c.bytes &&
        s.address + s.bytes > c.address)
      return message(text, " at ", source_line(s.code));
  // A call that reads or writes on the block's behalf leaves no access of its own.
  return text + (who.atomic ? " by an atomic operation" : " by the call shown below");
}

std::string advice(const conflict& c, const std::vector<scheduled_block>& scheduled) {
  const auto fact = [&](const access& a) -> const operation_fact& {
    return scheduled[static_cast<std::size_t>(a.block)].operations[a.stamp];
  };
  const bool same_block = c.earlier.block == c.later.block;
  const auto pe = [&](const access& a) { return scheduled[static_cast<std::size_t>(a.block)].pe; };
  const auto of_streams = [&](const access& a) {
    return scheduled[static_cast<std::size_t>(a.block)].what != scheduled_block::kind::block;
  };
  if (!c.earlier.operation && !c.later.operation && of_streams(c.earlier) && of_streams(c.later))
    return "blocks of one launch: order them by sync_pe in a resident launch, or use two launches; work of two "
           "streams: "
           "record an event after the first and let the other stream wait for it";
  if (!c.earlier.operation && !c.later.operation && pe(c.earlier) == pe(c.later))
    return "order the two by sync_pe or a signal";
  if (same_block && c.earlier.operation && !fact(c.earlier).blocking)
    return "the call does not block: call quiet() before the bytes are touched again";
  if (same_block && c.earlier.operation && c.later.operation)
    return "the second may arrive before the receiver has read the first, or before the first itself: wait for the "
           "signal "
           "by which the receiver says that it has read it (a credit), or use another buffer; fence() between the two "
           "is enough if nobody reads the first";
  if (same_block && c.earlier.operation && c.earlier_writes && !c.later.operation)
    return "a put is on its way when it returns: call quiet() before what it writes is read back";
  if (c.earlier_writes && c.earlier.operation && !c.later_writes)
    return "wait for the signal that covers this put before reading; a signal covers its own put_signal and what was "
           "fenced before, no other put";
  if (!c.earlier_writes)
    return "if the reader wants what the other brings, it has to wait for that one's signal; if it wants what was "
           "there "
           "before, it has to signal that it is done (a credit), or the other to use another buffer";
  return "order the two by a signal or a barrier, or let them use different bytes";
}

// What the blocks of a clash have done that explains why a wait did not order it.
std::string suspicions(const std::vector<int>& blocks, const std::vector<scheduled_block>& scheduled,
                       const memory_map& m) {
  std::string text;
  for (const int number : blocks) {
    const scheduled_block& a = scheduled[static_cast<std::size_t>(number)];
    if (const suspicion& s = a.passed_early; s.word != nullptr)
      text += message("\n  note: the wait of ", block_text(a), " at ", source_place(s.at), " passed by what ",
                      place_text(m, s.word), " held before the run, ", s.value,
                      ": count on from run to run, or set it back with machine::fill");
    if (const suspicion& s = a.same_again; s.word != nullptr)
      text += message("\n  note: ", block_text(a), " at ", source_place(s.at), " sets ", place_text(m, s.word), " to ",
                      s.value, ", which it had been set to already: a wait cannot tell the two apart");
  }
  return text;
}

}  // namespace

void describe_race(finding& f, const std::vector<scheduled_block>& scheduled, const memory_map& now,
                   const std::vector<seen_access>& seen) {
  const conflict& c = *f.race;
  const scheduled_block& later = scheduled[static_cast<std::size_t>(c.later.block)];
  const memory_map m = as_named(now, c.later.operation ? later.scope : later.at(c.later.stamp).scope);
  const bool reused = c.earlier.block == c.later.block && c.earlier.operation &&
                      !scheduled[static_cast<std::size_t>(c.earlier.block)].operations[c.earlier.stamp].blocking;
  f.what = reused ? defect::source_reused : c.later_writes ? defect::unordered_write : defect::unordered_read;
  f.text = message("nothing orders two accesses to ", range_text(m, c.address, c.bytes),
                   "\n  first: ", side_text(c.earlier, c.earlier_writes, c, scheduled, seen),
                   "\n  then: ", side_text(c.later, c.later_writes, c, scheduled, seen), "\n  ", advice(c, scheduled));
  f.blocks = {c.earlier.block};
  if (c.later.block != c.earlier.block) f.blocks.push_back(c.later.block);
  f.text += suspicions(f.blocks, scheduled, m);
}
}  // namespace starling::check
