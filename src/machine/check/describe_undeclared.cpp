// Words for accesses of work that has said what it touches.
#include "describe.hpp"

namespace starling::check {
namespace {

// What is farther away than this has nothing to do with the access.
constexpr std::size_t most_beside = std::size_t{1} << 20;

// Whether two addresses are of one live allocation.
bool one_allocation(const memory_map& m, std::uintptr_t a, std::uintptr_t b) {
  const auto both = [&](std::uintptr_t begin, std::size_t bytes) { return a - begin < bytes && b - begin < bytes; };
  if (m.is_local(a)) {
    for (const local_heap::allocation& x : m.local->live())
      if (both(reinterpret_cast<std::uintptr_t>(x.start), x.bytes)) return true;
    return false;
  }
  for (const memory_map::allocation& x : m.allocations)
    if (both(a - m.offset_of(a) + x.offset, x.bytes)) return true;
  return false;
}

std::size_t distance(const bad_access& b, const declared_range& r) {
  const std::uintptr_t begin = begin_of(r);
  if (b.address + b.bytes <= begin) return begin - b.address - b.bytes;
  return b.address >= begin + r.bytes ? b.address - begin - r.bytes : 0;
}

bool contains(const declared_range& r, const bad_access& b) {
  return b.address >= begin_of(r) && b.address + b.bytes <= begin_of(r) + r.bytes;
}

std::string beside(const bad_access& b, const declared_range& r) {
  const std::uintptr_t begin = begin_of(r);
  // Of an access across the end, the first byte behind it.
  const bool across = b.address >= begin && b.address < begin + r.bytes;
  return place_beside(across ? begin + r.bytes : b.address, begin, r.bytes, r.name);
}

}  // namespace

void describe_undeclared(finding& f, const std::string& does, const memory_map& m) {
  const bad_access& b = *f.access;
  const std::string who = b.scope->who_and_where();
  const declared_range* near = b.scope->nearest(b.address, b.bytes);
  if (near != nullptr && distance(b, *near) > most_beside) near = nullptr;
  if (near != nullptr && contains(*near, b)) {
    f.what = defect::undeclared;
    f.text = message(does, ", ", place_beside(b.address, begin_of(*near), near->bytes, near->name), ", which ", who,
                     " names for reading only; name it for writing too");
    return;
  }
  const named_range* there = name_at(*b.scope->names(), b.address);
  const bool dead = b.what == bad_access::kind::dead;
  if (near != nullptr && (dead || distance(b, *near) == 0 || one_allocation(m, b.address, begin_of(*near)))) {
    f.what = defect::out_of_bounds;
    f.text = message(does, ", out of bounds of ", near->name, " of ", who, ": ", beside(b, *near),
                     there != nullptr && *there->name != near->name ? message(", where ", *there->name, " lies") : "",
                     "; check the index and the shape of the loop");
    return;
  }
  if (dead || there == nullptr) {
    f.what = defect::out_of_bounds;
    f.text =
        message(does, ", ", range_text(m, b.address, b.bytes),
                ", outside of every allocation; check the index, the size and whether the array is still allocated");
    return;
  }
  f.what = defect::undeclared;
  f.text = message(does, ", ", place_beside(b.address, there->begin, there->bytes, *there->name), ", which ", who,
                   " does not name; name it among the data of the task",
                   near != nullptr ? message(", or check the index: it is ", beside(b, *near)) : "");
}

}  // namespace starling::check
