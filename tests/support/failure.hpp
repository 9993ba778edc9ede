// What a misuse test checks: the type of the error, and that its text names the value and the next step.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <typeinfo>

#include "starling/base/error.hpp"

namespace starling::test {

// The text of the Error that f() throws. The test fails when it throws nothing, or an error of another type.
template <class Error, class F>
std::string failure_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    CHECK_MESSAGE(typeid(e) == typeid(Error), "a type derived from the one expected: ", e.what());
    return e.what();
  } catch (const std::exception& e) {
    FAIL_CHECK("another type of error: " << e.what());
    return {};
  }
  FAIL_CHECK("no error");
  return {};
}

inline void check_parts(const std::string& text, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    INFO("error: ", text);
    CHECK_MESSAGE(text.find(part) != std::string::npos, "must say: ", part);
  }
}

}  // namespace starling::test
