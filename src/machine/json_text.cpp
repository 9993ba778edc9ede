#include "json_text.hpp"

#include <sstream>

namespace starling {

std::string json_string(const std::string& text) {
  std::ostringstream out;
  out << '"';
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out << '\\' << c;
    else if (c == '\n')
      out << "\\n";
    else if (static_cast<unsigned char>(c) < 0x20)
      out << "\\u00" << "0123456789abcdef"[c >> 4 & 15] << "0123456789abcdef"[c & 15];
    else
      out << c;
  }
  out << '"';
  return out.str();
}

}  // namespace starling
