#include "variables.hpp"

#include <unistd.h>

namespace starling {

variables environment_variables() {
  variables all;
  for (char** one = environ; one != nullptr && *one != nullptr; ++one) {
    const std::string text = *one;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) all.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return all;
}

std::string value_of(const variables& v, const std::string& name) {
  const auto found = v.find(name);
  return found == v.end() ? "" : found->second;
}

}  // namespace starling
