// The command line of the benchmark programs: --name value pairs, where a value may be a list with commas between.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "starling/base/error.hpp"

namespace starling::bench {

class command_line {
 public:
  // `known` names what there is; flags have no value and end in "!". Throws argument_error for anything else.
  command_line(int argc, char** argv, const std::vector<std::string>& known) {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      const bool flag = has(known, word + "!");
      expect<argument_error>(flag || has(known, word), "\"", word, "\" is not known; must be one of ", all(known));
      expect<argument_error>(flag || i + 1 < argc, word, " has no value; give one behind it");
      given_[word] = flag ? "" : argv[++i];
    }
  }

  bool has(const std::string& name) const { return given_.count(name) > 0; }

  std::string text(const std::string& name, const std::string& otherwise) const {
    const auto found = given_.find(name);
    return found == given_.end() ? otherwise : found->second;
  }

  double number(const std::string& name, double otherwise) const {
    return has(name) ? parsed(name, text(name, "")) : otherwise;
  }

  std::vector<std::string> list(const std::string& name, const std::string& otherwise) const {
    std::vector<std::string> items(1);
    for (const char c : text(name, otherwise)) {
      if (c == ',')
        items.emplace_back();
      else
        items.back() += c;
    }
    if (items.size() == 1 && items[0].empty()) items.clear();
    return items;
  }

  std::vector<int> numbers(const std::string& name, const std::string& otherwise) const {
    std::vector<int> result;
    for (const std::string& item : list(name, otherwise)) result.push_back(static_cast<int>(parsed(name, item)));
    return result;
  }

 private:
  static bool has(const std::vector<std::string>& known, const std::string& word) {
    return std::find(known.begin(), known.end(), word) != known.end();
  }

  static std::string all(const std::vector<std::string>& known) {
    std::string text;
    for (const std::string& one : known) text += (text.empty() ? "" : ", ") + one.substr(0, one.find('!'));
    return text;
  }

  static double parsed(const std::string& name, const std::string& value) {
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    expect<argument_error>(!value.empty() && *end == '\0' && number > 0, name, " ", value,
                           "; must be a number above 0");
    return number;
  }

  std::map<std::string, std::string> given_;
};

// Whether a name is wanted: nothing is asked for, or it contains one of the texts.
inline bool wanted(const std::vector<std::string>& asked, const std::string& name) {
  return asked.empty() || std::any_of(asked.begin(), asked.end(),
                                      [&](const std::string& text) { return name.find(text) != std::string::npos; });
}

}  // namespace starling::bench
