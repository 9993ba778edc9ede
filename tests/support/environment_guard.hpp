// Sets an environment variable for a scope; a null value unsets it.
#pragma once

#include <cstdlib>
#include <string>

namespace starling::test {

class environment_guard {
 public:
  environment_guard(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    if (had_) before_ = before;
    set(value);
  }
  ~environment_guard() { set(had_ ? before_.c_str() : nullptr); }
  environment_guard(const environment_guard&) = delete;
  environment_guard& operator=(const environment_guard&) = delete;

 private:
  void set(const char* value) const {
    if (value == nullptr)
      unsetenv(name_.c_str());
    else
      setenv(name_.c_str(), value, 1);
  }

  std::string name_;
  std::string before_;
  bool had_ = false;
};

}  // namespace starling::test
