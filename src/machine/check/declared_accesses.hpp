// What a piece of work said that it would touch, and the judgement on what it does touch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "access_marks.hpp"
#include "memory_names.hpp"
#include "starling/machine/access_scope.hpp"

namespace starling {

class access_scope {
 public:
  access_scope(std::string who, where at, std::vector<declared_range> ranges,
               std::shared_ptr<const check::named_ranges> names)
      : who_(std::move(who)), at_(at), ranges_(std::move(ranges)), names_(std::move(names)) {}

  // The same work when other names hold.
  access_scope as_named(std::shared_ptr<const check::named_ranges> names) const {
    return access_scope(who_, at_, ranges_, std::move(names));
  }

  const std::string& who() const { return who_; }
  // "task 'scale' (main.cpp:12)".
  std::string who_and_where() const;
  const std::shared_ptr<const check::named_ranges>& names() const { return names_; }

  // Whether the access may be: its bytes are within one range, or none of them has a name. If so `around` is what
  // lies around.
  bool allows(std::uintptr_t address, std::size_t bytes, bool write, check::allowed_run& around) const;

  // The range that is nearest to these bytes; null: there is none.
  const declared_range* nearest(std::uintptr_t address, std::size_t bytes) const;

 private:
  std::string who_;
  where at_;
  std::vector<declared_range> ranges_;
  std::shared_ptr<const check::named_ranges> names_;
};

namespace check {

inline std::uintptr_t begin_of(const declared_range& r) { return reinterpret_cast<std::uintptr_t>(r.start); }

// "8 bytes behind the end of logical data 'x' (1024 bytes)", "16 bytes before the beginning of ...", or of bytes that
// are inside "byte 8 of ...".
std::string place_beside(std::uintptr_t address, std::uintptr_t begin, std::size_t bytes, const std::string& name);

}  // namespace check

}  // namespace starling
