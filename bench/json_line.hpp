// One result as one line of JSON.
#pragma once

#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

namespace starling::bench {

class json_line {
 public:
  explicit json_line(const std::string& what) { add("what", what); }

  template <class V>
  json_line& add(const char* key, const V& value) {
    text_ += (text_.empty() ? "\"" : ", \"") + std::string(key) + "\": " + shown(value);
    return *this;
  }

  // To the standard output, at once.
  void print() const {
    std::printf("{%s}\n", text_.c_str());
    std::fflush(stdout);
  }

 private:
  static std::string shown(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return quoted + "\"";
  }
  static std::string shown(const char* text) { return shown(std::string(text)); }
  static std::string shown(bool value) { return value ? "true" : "false"; }

  template <class V>
    requires std::is_integral_v<V>
  static std::string shown(V value) {
    return std::to_string(value);
  }

  // JSON knows no infinities and no NaN.
  static std::string shown(double value) {
    if (!(value - value == 0)) return "null";
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
  }

  template <class V>
  static std::string shown(const std::vector<V>& values) {
    std::string text = "[";
    for (const V& value : values) text += (text.size() > 1 ? ", " : "") + shown(value);
    return text + "]";
  }

  std::string text_;
};

}  // namespace starling::bench
