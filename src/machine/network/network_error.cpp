#include "starling/machine/card.hpp"

namespace starling {
namespace {

std::string next_step(const std::vector<std::string>& injected) {
  if (injected.empty()) return "Run it again; if it happens again, look at the way between the hosts";
  std::string text = "This was done on purpose; machine::inject({}) removes the faults:";
  for (const std::string& fault : injected) text += "\n  injected fault: " + fault;
  return text;
}

}  // namespace

network_error::network_error(const block_report& r, const std::string& of_role, const std::string& status_text,
                             const std::vector<std::string>& injected)
    : error(message(name(r.op), " at ", r.file, ":", r.line, " (PE ", r.pe, " block ", r.block, ", role ", of_role,
                    "): the network card could not do it at PE ", r.peer, ": ", status_text, " (status 0x", std::hex,
                    r.wanted, std::dec, ", entry ", r.seen & 0xffff,
                    "); what was asked for after it through this queue is not done either. ", next_step(injected))),
      report_(r),
      status_text_(status_text) {}

}  // namespace starling
