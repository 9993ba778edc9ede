#include "declared_accesses.hpp"

#include <limits>

#include "scheduled_block.hpp"
#include "starling/base/error.hpp"

namespace starling {

std::string access_scope::who_and_where() const {
  return at_.line > 0 ? message(who_, " (", at_.file, ":", at_.line, ")") : who_;
}

bool access_scope::allows(std::uintptr_t address, std::size_t bytes, bool write, check::allowed_run& around) const {
  // What lies around bytes without a name, up to the nearest that have one.
  std::uintptr_t low = 0;
  std::uintptr_t high = std::numeric_limits<std::uintptr_t>::max();
  const auto beside = [&](std::uintptr_t begin, std::size_t n) {
    if (begin + n <= address)
      low = std::max(low, begin + n);
    else if (begin >= address + bytes)
      high = std::min(high, begin);
    else
      return false;
    return true;
  };
  bool met = false;
  for (const declared_range& r : ranges_) {
    const check::allowed_run whole{check::begin_of(r), r.bytes, r.write};
    if (beside(whole.begin, whole.bytes)) continue;
    met = true;
    if (!whole.allows(address, bytes, write)) continue;
    around = whole;
    return true;
  }
  if (met) return false;
  for (const check::named_range& r : *names_)
    if (!beside(r.begin, r.bytes)) return false;
  around = {low, high - low, true};
  return true;
}

const declared_range* access_scope::nearest(std::uintptr_t address, std::size_t bytes) const {
  const declared_range* best = nullptr;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const declared_range& r : ranges_) {
    const std::uintptr_t begin = check::begin_of(r);
    const std::size_t distance = address + bytes <= begin     ? begin - address - bytes + 1
                                 : address >= begin + r.bytes ? address - begin - r.bytes + 1
                                                              : 0;
    if (distance >= least) continue;
    least = distance;
    best = &r;
  }
  return best;
}

scoped_block::scoped_block(const access_scope* scope) : outer_(nullptr) {
  if (check::running_marks == nullptr) return;
  outer_ = check::running_marks->scope;
  check::running_marks->running->enter(scope);
  check::running_marks->enter(scope);
}

scoped_block::~scoped_block() {
  // A block that is given up is unwound without marks.
  if (check::running_marks == nullptr) return;
  check::running_marks->running->scope = outer_;
  check::running_marks->enter(outer_);
}

namespace check {

std::string place_beside(std::uintptr_t address, std::uintptr_t begin, std::size_t bytes, const std::string& name) {
  const auto count = [](std::size_t n) { return message(n, n == 1 ? " byte" : " bytes"); };
  const std::string what = message(name, " (", count(bytes), ")");
  if (address < begin) return message(count(begin - address), " before the beginning of ", what);
  if (address >= begin + bytes) return message(count(address - begin - bytes), " behind the end of ", what);
  return message("byte ", address - begin, " of ", what);
}

}  // namespace check

}  // namespace starling
