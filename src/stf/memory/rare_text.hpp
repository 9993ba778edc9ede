// rare_text: a text that few of many objects have, in one pointer.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <utility>

namespace starling::stf {

class rare_text {
 public:
  rare_text() = default;
  rare_text& operator=(std::string text) {
    text_ = text.empty() ? nullptr : std::make_unique<const std::string>(std::move(text));
    return *this;
  }

  bool empty() const { return text_ == nullptr; }
  void clear() { text_.reset(); }
  std::string str() const { return text_ ? *text_ : std::string(); }
  friend std::ostream& operator<<(std::ostream& out, const rare_text& t) { return t.text_ ? out << *t.text_ : out; }

 private:
  std::unique_ptr<const std::string> text_;
};

}  // namespace starling::stf
