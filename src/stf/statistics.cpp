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
  return out.str();
}

}  // namespace starling::stf
