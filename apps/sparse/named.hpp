// Enumerators and the words that users write for them.
#pragma once

#include <string>

#include "starling/base/error.hpp"

namespace starling::sparse {

template <class E>
struct naming {
  E value;
  const char* name;
};

template <class E, std::size_t N>
const char* name_in(const naming<E> (&all)[N], E value) {
  for (const auto& one : all)
    if (one.value == value) return one.name;
  return "?";
}

// Throws argument_error with the list for a word that is none of them; `what` they are is its beginning.
template <class E, std::size_t N>
E named_in(const naming<E> (&all)[N], const char* what, const std::string& text) {
  std::string known;
  for (const auto& one : all) {
    if (text == one.name) return one.value;
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  throw argument_error(message(what, " \"", text, "\" is not known; must be one of ", known));
}

}  // namespace starling::sparse
