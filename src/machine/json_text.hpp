// JSON that the machine layer writes into its reports and traces.
#pragma once

#include <string>

namespace starling {

// A text as a JSON string, with its quotes.
std::string json_string(const std::string& text);

}  // namespace starling
