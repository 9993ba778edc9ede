// A sum in scratch memory that begins with what lies there.
#include "gallery.hpp"

namespace {

bool run(st::machine& m, bool fixed) {
  auto sums = gallery::filled(m, 1, 0);
  const auto sum = sums.data();
  m.run(1,
        STARLING_KERNEL(st::block & b) {
          int* partial = b.scratch<int>(2);
          if (fixed) b.for_each(2, [&](st::index_t i) { partial[i] = 0; });  // wrong without: nobody else clears it
          b.sync();
          if (b.member() > 0) return;
          for (int i = 0; i < 10; ++i) partial[i % 2] += i;
          *sum.on(b.pe()) = partial[0] + partial[1];
        },
        {.scratch_bytes = 64});
  for (int pe = 0; pe < m.size(); ++pe)
    if (sums.on(pe)[0] != 45) return false;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  return gallery::show(argc, argv, {{st::defect::uninitialised}, "scratch memory holds nothing"}, run);
}
