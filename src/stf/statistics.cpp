#include "starling/stf/statistics.hpp"

#include <sstream>

#include "starling/base/environment.hpp"

namespace starling::stf {
namespace {

std::string seconds_text(double s) {
  std::ostringstream out;
  out.precision(3);
  if (s >= 1)
    out << s << " s";
  else if (s >= 1e-3)
    out << s * 1e3 << " ms";
  else
    out << s * 1e6 << " us";
  return out.str();
}

}  // namespace

std::string explain(const statistics& s) {
  std::ostringstream out;
  for (const task_class_usage& c : s.classes) {
    out << "task '" << c.name << "', up to " << format_bytes(c.most_bytes) << ":";
    const char* between = " ";
    for (const task_class_usage::on_device& d : c.devices) {
      out << between << "device " << d.pe << " had " << d.chosen;
      if (d.explored > 0) out << " (" << d.explored << " to try it)";
      if (d.samples > 0)
        out << ", " << seconds_text(d.seconds) << " each by " << d.samples << " samples";
      else
        out << ", not measured";
      between = "; ";
    }
    out << "\n";
  }
  for (const epoch_class_usage& e : s.epoch_classes) {
    const auto times = [&out](const char* what, const epoch_class_usage::times& t) {
      out << what << " had " << t.epochs;
      if (t.seconds > 0) out << ", " << seconds_text(t.seconds) << " at best of " << t.samples << " samples";
    };
    out << "epochs of " << e.tasks << " tasks: ";
    times("streams", e.on_streams);
    times("; graphs", e.as_graph);
    out << "; next " << (e.chosen == backend_kind::graph ? "a graph" : "on streams");
    if (!e.refused.empty())
      out << ", because it cannot be recorded: " << e.refused;
    else
      out << (e.settled ? ", which is faster" : ", to be measured");
    out << "\n";
  }
  return out.str();
}

}  // namespace starling::stf
