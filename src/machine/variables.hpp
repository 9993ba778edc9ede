// The environment of this process, for what reads variables of other programs.
#pragma once

#include <map>
#include <string>

namespace starling {

using variables = std::map<std::string, std::string>;

variables environment_variables();

// Empty: it is not there.
std::string value_of(const variables& v, const std::string& name);

}  // namespace starling
