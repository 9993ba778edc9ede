// sym<T> is a plain handle and owns nothing. The array dies at the end of the function that made it, on every PE, and a
// kernel goes on with its handle.
#include "gallery.hpp"

namespace {

constexpr st::index_t n = 16;

bool run(st::machine& m, bool fixed) {
  st::symmetric_array<int> owner;
  const auto make = [&] {
    auto squares = gallery::filled(m, n, 0);
    const st::sym<int> handle = squares.data();
    if (fixed) owner = std::move(squares);  // wrong without: freed here
    return handle;
  };
  const st::sym<int> squares = make();
  m.run(
      1, STARLING_KERNEL(st::block & b) {
        b.for_each(n, [&](st::index_t i) { squares.on(b.pe())[i] = static_cast<int>(i * i); });
      });
  for (int pe = 0; pe < m.size(); ++pe)
    for (int i = 0; i < n; ++i)
      if (owner.on(pe)[i] != i * i) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::out_of_bounds}, "still allocated"}, run);
}
