// A region: bodies that attract each other. Every PE moves its own bodies and needs the places of all, so each step's
// places go to every PE, in chunks, while the step is still computed.
#include <cmath>
#include <cstdio>
#include <vector>

#include "starling/region/region.hpp"

namespace st = starling;

struct place {
  float x, y;
};

// How one body moves in a step: the same function for kernel and check.
template <class Places>
STARLING_HD place moved(const Places& all, st::index_t n, st::index_t i, place& speed) {
  constexpr float step = 1e-3f;
  const place here = all(i);
  for (st::index_t j = 0; j < n; ++j) {
    const float dx = all(j).x - here.x;
    const float dy = all(j).y - here.y;
    const float distance = dx * dx + dy * dy + 0.01f;
    speed.x += step * dx / distance;
    speed.y += step * dy / distance;
  }
  return {here.x + step * speed.x, here.y + step * speed.y};
}

int main() try {
  st::machine m = st::machine::best();
  constexpr st::index_t n = 500;
  constexpr std::uint64_t steps = 50;
  std::vector<place> start;
  for (st::index_t i = 0; i < n; ++i) {
    const float angle = 2.4f * static_cast<float>(i);
    start.push_back({std::cos(angle) * static_cast<float>(i) / n, std::sin(angle) * static_cast<float>(i) / n});
  }

  st::region<place> places(m, n, {.chunk_bytes = 512, .tiles = st::region_mapping::one_to_one(32)});
  places.load(start);
  auto speeds = m.allocate<place>(n);  // of the PE's own bodies; nobody else reads them
  for (int pe = 0; pe < m.size(); ++pe) m.fill(speeds.on(pe), 0, n * sizeof(place));
  const auto h = places.handle();
  const auto speed_of = speeds.data();

  m.run(places.programs(
      2, STARLING_KERNEL(st::block & b) {
        place* speed = speed_of.on(b.pe());
        for (std::uint64_t t = 1; t <= steps; ++t) {
          const auto old = h.await(b, t - 1);
          h.each_tile(b, t, [&](st::tile mine, st::tracked<place> next) {
            b.for_each(mine.range, [&](st::index_t i) { next(i) = moved(old, n, i, speed[i]); });
          });
        }
      }));

  std::vector<place> result(n);
  places.read(m.size() - 1, steps, result);
  std::vector<place> speed(n, place{0, 0});
  for (std::uint64_t t = 0; t < steps; ++t) {
    std::vector<place> next;
    const auto at = [&](st::index_t i) { return start[static_cast<std::size_t>(i)]; };
    for (st::index_t i = 0; i < n; ++i) next.push_back(moved(at, n, i, speed[static_cast<std::size_t>(i)]));
    start = next;
  }
  float worst = 0;
  for (std::size_t i = 0; i < start.size(); ++i)
    worst = std::fmax(worst, std::fabs(result[i].x - start[i].x) + std::fabs(result[i].y - start[i].y));
  const auto report = places.report();
  std::printf("%d PEs, %d chunks, %d tiles, epoch %d\n", m.size(), report.chunks, report.tiles,
              static_cast<int>(report.epoch));
  std::printf("far from a loop on the host by less than 1e-3: %s\n", worst < 1e-3f ? "yes" : "no");
  return worst < 1e-3f ? 0 : 1;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
