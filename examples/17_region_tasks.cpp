// A region in tasks: bodies that attract each other. Every device moves its own bodies and needs the places of all: the
// loop's tiles are sent to the other devices while it runs, and the tasks that follow read their own device's copy.
#include <cmath>
#include <cstdio>
#include <vector>

#include "starling/region/tasks.hpp"

namespace st = starling;
namespace stf = starling::stf;

struct place {
  float x, y;
};

// How one body moves in a step: the same function for the loop and for the check.
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
  std::vector<place> speeds(n, place{0, 0});
  float fastest = 0;
  std::vector<place> result;

  stf::context ctx(m);
  const auto all = stf::exec_place::all_devices();
  auto speed = ctx.logical_data(speeds);
  auto most = ctx.logical_data(stf::scalar_view<float>(&fastest));
  ctx.repeat(steps, [&] {
    ctx.parallel_for(places.partition(), all, places.shape(), places.update(),
                     speed.rw(stf::data_place::composite(places.partition(), all)), most.reduce(stf::reducer::maxval()))
            ->*STARLING_KERNEL(st::index_t i, st::region_step<place> p, stf::slice<place> s, float& fast) {
      place mine = s(i);
      p.next(i) = moved(p.old, n, i, mine);
      s(i) = mine;
      const float square = mine.x * mine.x + mine.y * mine.y;
      if (square > fast) fast = square;
    };
  });
  ctx.host_launch(places.read())->*[&result](stf::slice<const place> p) {
    result.assign(p.data_handle(), p.data_handle() + p.extent(0));
  };
  ctx.finalize();

  std::vector<place> check(n, place{0, 0});
  for (std::uint64_t t = 0; t < steps; ++t) {
    std::vector<place> next;
    const auto at = [&](st::index_t i) { return start[static_cast<std::size_t>(i)]; };
    for (st::index_t i = 0; i < n; ++i) next.push_back(moved(at, n, i, check[static_cast<std::size_t>(i)]));
    start = next;
  }
  float worst = 0;
  for (std::size_t i = 0; i < start.size(); ++i)
    worst = std::fmax(worst, std::fabs(result[i].x - start[i].x) + std::fabs(result[i].y - start[i].y));
  std::printf("%d PEs, epoch %d, fastest %.1f\n", m.size(), static_cast<int>(places.epoch()), std::sqrt(fastest));
  std::printf("far from a loop on the host by less than 1e-3: %s\n", worst < 1e-3f ? "yes" : "no");
  return worst < 1e-3f ? 0 : 1;
} catch (const st::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
