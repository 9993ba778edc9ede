#include "outcome.hpp"

#include "starling/base/environment.hpp"
#include "starling/device/host_port.hpp"
#include "starling/device/lock_report.hpp"
#include "starling/device/messages.hpp"
#include "starling/device/network/completion.hpp"
#include "starling/device/region_report.hpp"
#include "starling/device/team_report.hpp"

namespace starling {
namespace {

[[noreturn]] void throw_out_of_range(const block_report& r, const std::string& role, int n_pes,
                                     std::size_t scratch_bytes) {
  if (r.op == operation::slice_access)
    throw range_error(message("slice: index ", static_cast<std::int64_t>(r.wanted), " in dimension ", r.peer,
                              " of extent ", r.seen, " (PE ", r.pe, " block ", r.block, ", role ", role,
                              "); indices start at 0 and end before the extent"));
  const std::string place =
      message(name(r.op), " at ", r.file, ":", r.line, " (PE ", r.pe, " block ", r.block, ", role ", role, ")");
  if (r.op == operation::scratch)
    throw range_error(message(place, ": ", format_bytes(r.wanted), " of scratch memory wanted, the launch gave ",
                              format_bytes(scratch_bytes), "; raise launch_options::scratch_bytes"));
  if (r.op == operation::lock)
    throw_lock_fault(place, r.block, {static_cast<lock_defect>(r.wanted), r.peer, static_cast<std::int64_t>(r.seen)});
  if (r.op == operation::channel)
    throw range_error(
        message(place, ": ", refused_message(static_cast<std::int64_t>(r.wanted), r.seen, r.signal_offset)));
  if (r.op == operation::region) throw region_error(message(place, ": ", text_of(fault_of<region_fault>(r))));
  if (of_team(r.op)) throw_team_fault(place, fault_of<team_fault>(r));
  if (r.wanted != 0)
    throw range_error(message(place, ": ", r.wanted, " bytes at +0x", std::hex, r.signal_offset, std::dec, " on PE ",
                              r.peer,
                              " are not inside one live allocation; check the size, the offset and whether the ",
                              "array is still allocated"));
  throw range_error(
      message(place, ": PE ", r.peer, " of a machine with ", n_pes, "; PEs are numbered from 0 to ", n_pes - 1));
}

[[noreturn]] void throw_near_side(const block_report& r, const std::string& role) {
  const bool get = r.op == operation::get || r.op == operation::atomic;
  const std::string side = message(name(r.op), " at ", r.file, ":", r.line, " (PE ", r.pe, " block ", r.block,
                                   ", role ", role, "): the ", get ? "destination, " : "source, ", r.wanted, " bytes");
  if (r.seen != unknown_bytes)
    throw range_error(message(side, ", goes beyond the end of its variable, which has ", r.seen,
                              " bytes from there on; check the count: it is one of elements"));
  const std::string what = message(side, " at +0x", std::hex, r.signal_offset, std::dec);
  if (r.peer != any_pe && r.peer != r.pe)
    throw range_error(message(what, " on PE ", r.peer, ", is memory of another PE; ",
                              r.op == operation::atomic ? "an atomic operation fetches to"
                              : get                     ? "a get writes to"
                                                        : "a put reads from",
                              " memory of its own PE ", r.pe, ": pass the symmetric address, or x.on(b.pe())"));
  throw range_error(message(what, r.peer == any_pe ? " of local or scratch memory" : message(" on PE ", r.peer),
                            ", is not inside one live allocation; check the size, the offset and whether the array is "
                            "still allocated"));
}

[[noreturn]] void throw_not_symmetric(const block_report& r, const std::string& role) {
  std::ostringstream is;
  is << "0x" << std::hex << r.wanted;
  if (r.peer != any_pe) is << " (+0x" << r.signal_offset << std::dec << " on PE " << r.peer << ")";
  throw range_error(message(r.file, ":", r.line, " (PE ", r.pe, " block ", r.block, ", role ", role, "): the pointer ",
                            is.str(), " is given for a symmetric address and is not in symmetric memory of its own PE ",
                            r.pe, "; pass the symmetric array's data(), or a pointer into its own copy, x.on(b.pe())"));
}

}  // namespace

void throw_first_cause(const std::vector<block_report>& reports, const program& p, int n_pes, double deadline_seconds,
                       const std::vector<std::string>& injected) {
  const role_table table = p.roles.resolve();
  bool stalled = false;
  for (const block_report& r : reports) {
    if (r.state == block_state::out_of_range && r.op == operation::sync_level)
      throw argument_error(message("sync at ", r.file, ":", r.line, " (PE ", r.pe, " block ", r.block, "): level ",
                                   r.peer,
                                   " cannot synchronise: it is par, is not there, or has several blocks and a "
                                   "con level outside; make it con, or synchronise another level"));
    if (r.state == block_state::out_of_range)
      throw_out_of_range(r, p.roles.name(r.role), n_pes, p.options.scratch_bytes);
    if (r.state == block_state::near_side) throw_near_side(r, p.roles.name(r.role));
    if (r.state == block_state::not_symmetric) throw_not_symmetric(r, p.roles.name(r.role));
    if (r.state == block_state::network_failed)
      throw network_error(r, p.roles.name(r.role), network::name(static_cast<network::status>(r.wanted)), injected);
    if (r.state == block_state::not_resident)
      throw argument_error(message(name(r.op), " at ", r.file, ":", r.line, refused_in_launch(r.op)));
    if (r.state == block_state::incomplete)
      throw argument_error(message(r.op == operation::none ? "any, first or reduce" : name(r.op), " at ", r.file, ":",
                                   r.line, " (PE ", r.pe, " block ", r.block,
                                   "): threads of the block have returned from the kernel before; all threads of a "
                                   "group make its calls, so let them skip work instead of returning"));
    stalled = stalled || r.state == block_state::expired;
  }
  if (!stalled) return;
  std::vector<std::string> role_names;
  for (int i = 0; i < table.count; ++i) role_names.push_back(p.roles.name(i));
  throw stall_error(reports, role_names, deadline_seconds, injected);
}

}  // namespace starling
