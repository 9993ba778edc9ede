// Spilling register tiles: whole programs of blocks that threads of the host play, against the sequential reference.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "stencil/plan/spilling_choice.hpp"
#include "stencil/reference.hpp"
#include "stencil/spilling_tiles/spilling_program.hpp"
#include "support/played_lanes.hpp"

namespace starling::stencil {
namespace {

// What the threads of a block share.
template <class T>
struct played_block {
  played_block(int pe_, int index_, int threads, std::size_t scratch_bytes)
      : pe(pe_),
        index(index_),
        scratch(scratch_bytes / sizeof(target::vector16)),
        warps(static_cast<std::size_t>(threads / band_vectors)),
        values(static_cast<std::size_t>(threads)),
        meeting(threads) {}

  int pe;
  int index;
  std::vector<target::vector16> scratch;
  std::vector<test::played_warp<T>> warps;
  std::vector<T> values;
  std::barrier<> meeting;
};

// All blocks of a machine.
template <class T>
struct played_machine {
  std::vector<std::unique_ptr<played_block<T>>> blocks;
  std::vector<T> values;
  std::unique_ptr<std::barrier<>> meeting;
  std::atomic<bool> stalled = false;  // some packet did not come, and nobody waits any more
};

// One thread, with the calls that the program makes.
template <class T>
class player {
 public:
  player(played_machine<T>& m, int block, int member)
      : machine_(m),
        shared_(*m.blocks[static_cast<std::size_t>(block)]),
        block_(block),
        member_(member),
        draw_(static_cast<unsigned>(1000 * block + member)) {}

  int pe() const { return shared_.pe; }
  int index() const { return shared_.index; }
  int member() const { return member_; }
  int members() const { return static_cast<int>(shared_.values.size()); }
  const player& thread() const { return *this; }
  const player& warp() const { return *this; }
  void sync() const { shared_.meeting.arrive_and_wait(); }
  void any(bool) const { sync(); }

  template <class Element>
  Element* scratch(index_t n) {
    const std::size_t vectors = (static_cast<std::size_t>(n) * sizeof(Element) + 15) / 16;
    REQUIRE(used_ + vectors <= shared_.scratch.size());
    auto* here = reinterpret_cast<Element*>(shared_.scratch.data() + used_);
    used_ += vectors;
    return here;
  }
  std::size_t scratch_left() const { return shared_.scratch.size() - used_; }

  template <class Op>
  T reduce(T value, const Op& op) const {
    return combined(shared_.values, member_, value, op, shared_.meeting);
  }
  template <class Op>
  T all_reduce(T value, const Op& op) const {
    return combined(machine_.values, member_ == 0 ? block_ : nowhere, value, op, *machine_.meeting);
  }

  template <class Element, class F>
  void put_packet_each(bool mine, sym<packet> to, const F& f, std::uint64_t number, int pe) const {
    if (!mine) return;
    packet* p = to.on(pe);
    const packet_content<Element> c = f();
    std::atomic_ref(p->data).store(c.as_data(), std::memory_order_relaxed);
    std::atomic_ref(p->number.value).store(number, std::memory_order_release);
  }
  template <class Element, int N, class Wanted, class Source, class From, class Use>
  void take_packets_together(const Wanted& wanted, const Source& source, std::uint64_t number, const From& from,
                             const Use& use) const {
    // Some are late, so that others get ahead of them.
    if (draw_() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(draw_() % 500));
    unrolled<N>([&](auto i) {
      if (!wanted(i)) return;
      CHECK(from(i) >= 0);
      packet* p = source(i).on(pe());
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
      while (std::atomic_ref(p->number.value).load(std::memory_order_acquire) != number && !machine_.stalled) {
        std::this_thread::yield();
        if (std::chrono::steady_clock::now() > deadline) machine_.stalled = true;
      }
      use(i, packet_content<Element>::of_data(std::atomic_ref(p->data).load(std::memory_order_relaxed)));
    });
  }

 private:
  static constexpr int nowhere = -1;

  // Of values that some threads leave at their places.
  template <class Op>
  static T combined(std::vector<T>& all, int at, T value, const Op& op, std::barrier<>& meeting) {
    if (at != nowhere) all[static_cast<std::size_t>(at)] = value;
    meeting.arrive_and_wait();
    T sum = all[0];
    for (const T& other : all) sum = op(sum, other);
    meeting.arrive_and_wait();
    return sum;
  }

  played_machine<T>& machine_;
  played_block<T>& shared_;
  int block_;
  int member_;
  std::size_t used_ = 0;
  mutable std::minstd_rand draw_;
};

constexpr int poison = -12345;

// A domain on PEs whose memory are plain vectors.
template <class T, int Rows>
class played_domain {
 public:
  played_domain(const problem<T>& p, const tiling& t, std::vector<T> u)
      : problem_(p), g_(geometry_of(p, product(p.parts))), expected_(std::move(u)) {
    a_.grid = t;
    a_.f.shape = g_;
    a_.f.weight.centre = p.coefficients[0];
    for (int axis = 1; axis < axes; ++axis) {
      a_.f.weight.low[axis] = p.coefficients[static_cast<std::size_t>(2 * axis - 1)];
      a_.f.weight.high[axis] = p.coefficients[static_cast<std::size_t>(2 * axis)];
    }
    const int pes = g_.n_pes();
    for (int pe = 0; pe < pes; ++pe) boxes_.push_back(box_of(g_, pe));
    a_.f.own = {boxes_.data(), sizeof(box)};
    elements_ = g_.largest(1) * g_.stride[1];
    for (int which = 0; which < 2; ++which) {
      u_[which].assign(static_cast<std::size_t>(pes * elements_), T(poison));
      a_.f.u[which] = {u_[which].data(), elements_ * static_cast<index_t>(sizeof(T))};
    }
    each_cell([&](std::size_t here, std::size_t there) { u_[0][here] = expected_[there]; });
    const index_t packet_buffer = packet_slots * t.blocks() * t.packets_per_block();
    packet_buffer_.resize(static_cast<std::size_t>(pes * packet_buffer));
    a_.packet_buffer = {packet_buffer_.data(), packet_buffer * static_cast<index_t>(sizeof(packet))};
    const index_t memory = t.blocks() * t.memory_elements;
    memory_.assign(static_cast<std::size_t>(pes * memory) / cell_vector<T>::width + 1, {});
    a_.memory = {memory_[0].cell, memory * static_cast<index_t>(sizeof(T))};
    a_.status = {&status_, sizeof status_};
    a_.compute = true;
  }

  template <bool Products, bool Whole>
  void run(index_t steps, index_t check_every) {
    a_.steps = steps;
    a_.check_every = check_every;
    a_.tolerance = -1;
    a_.first_message = messages_ + 1;
    messages_ += steps + 1;
    std::fill(u_[1 - a_.first % 2].begin(), u_[1 - a_.first % 2].end(), T(poison));
    const int members = band_vectors * a_.grid.spilling.count;
    const int n = g_.n_pes() * a_.grid.blocks();
    played_machine<T> m;
    const std::size_t scratch = resident_scratch<T>(a_.grid, members);
    for (int i = 0; i < n; ++i)
      m.blocks.push_back(
          std::make_unique<played_block<T>>(i / a_.grid.blocks(), i % a_.grid.blocks(), members, scratch));
    m.values.resize(static_cast<std::size_t>(n));
    m.meeting = std::make_unique<std::barrier<>>(n * members);
    std::vector<std::thread> threads;
    for (int i = 0; i < n * members; ++i)
      threads.emplace_back([&, i] {
        using lanes = test::played_lanes<T>;
        player<T> b(m, i / members, i % members);
        lanes own(m.blocks[static_cast<std::size_t>(i / members)]->warps, i % members);
        spilling_program<T, Rows, Products, Whole, player<T>, lanes>(b, a_, own).run();
        CHECK(b.scratch_left() == 0);
      });
    for (std::thread& t : threads) t.join();
    CHECK_FALSE(m.stalled);
    a_.first += steps;
    CHECK(status_.time_level == a_.first);
    double change = 0;
    for (index_t i = 0; i < steps; ++i) {
      const double last = reference(problem_, expected_, 1);
      if (check_every > 0 && (i + 1) % check_every == 0) change = last;
    }
    if (check_every > 0 && check_every <= steps) CHECK(status_.change == change);
  }

  index_t wrong() {
    index_t n = 0;
    each_cell([&](std::size_t here, std::size_t there) { n += u_[a_.first % 2][here] == expected_[there] ? 0 : 1; });
    return n;
  }

 private:
  static int product(const std::vector<int>& parts) { return parts[0] * parts[1]; }

  template <class F>
  void each_cell(const F& f) {
    for (int pe = 0; pe < g_.n_pes(); ++pe) {
      const box& own = boxes_[static_cast<std::size_t>(pe)];
      for (index_t y = 0; y < own.extent[1]; ++y)
        for (index_t x = 0; x < own.extent[2]; ++x)
          f(static_cast<std::size_t>(pe * elements_ + y * g_.stride[1] + x),
            static_cast<std::size_t>((own.first[1] + y) * g_.extent[2] + own.first[2] + x));
    }
  }

  problem<T> problem_;
  geometry g_;
  resident_arguments<T> a_;
  std::vector<T> expected_;
  std::vector<box> boxes_;
  index_t elements_ = 0;
  std::vector<T> u_[2];
  std::vector<packet> packet_buffer_;
  std::vector<cell_vector<T>> memory_;
  program_status status_{};
  index_t messages_ = 0;
};

template <class T>
problem<T> random_flat_problem(std::mt19937& draw, int rows, int columns, bool uniform_weights) {
  const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
  std::uniform_real_distribution<T> value(-1, 1);
  problem<T> p;
  p.shape = {rows, columns};
  p.parts = {1, 1};
  p.parts[static_cast<std::size_t>(between(0, 1))] = between(1, 2);
  for (int i = 0; i < 2; ++i) p.edges.push_back(between(0, 1) == 0 ? edge::fixed : edge::periodic);
  const T side = value(draw);
  p.coefficients = {value(draw)};
  for (int i = 0; i < 4; ++i) p.coefficients.push_back(uniform_weights ? side : value(draw));
  return p;
}

struct seen {
  int streamed = 0;
  int many_pieces = 0;
  int ragged = 0;
  int rounds = 0;
};

template <class T, int Rows>
void compare_random_domain(std::mt19937& draw, seen& all) {
  const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
  const bool uniform_weights = between(0, 1) == 0;
  const int width = cell_vector<T>::width;
  const int grain = between(0, 2) > 0 ? 1 : 2 * width;  // whole vectors are otherwise rare
  const int columns = between((2 * width + grain) / grain, 50 * width / grain) * grain;
  problem<T> p = random_flat_problem<T>(draw, between(8, between(0, 2) == 0 ? 350 : 70), columns, uniform_weights);
  const geometry g = geometry_of(p, p.parts[0] * p.parts[1]);
  tiling t;
  t.tiles[1] = between(1, 2);
  t.tiles[2] = between(1, 2);
  const std::size_t row = sizeof(T) * band_vectors * static_cast<std::size_t>(width);
  const std::size_t room = 2'000 + row * static_cast<std::size_t>(between(2, 30));
  if (!lay_out_spilling<T>(g, t, between(1, 3), room, Rows)) return;
  CHECK(resident_scratch<T>(t, band_vectors * t.spilling.count) <= room);
  const bool whole = p.shape[1] % (p.parts[1] * width) == 0;
  std::vector<T> u(static_cast<std::size_t>(p.shape[0] * p.shape[1]));
  std::uniform_real_distribution<T> value(-1, 1);
  for (T& x : u) x = value(draw);
  INFO("shape ", p.shape[0], " x ", p.shape[1], " parts ", p.parts[0], " ", p.parts[1], " periodic ", g.periodic[1],
       " ", g.periodic[2], " tiles ", t.tiles[1], " ", t.tiles[2], " bands ", t.spilling.count, " on chip ",
       t.spilling.shared_rows, " in memory ", t.spilling.memory_rows, " uniform weights ", uniform_weights);
  played_domain<T, Rows> d(p, t, u);
  for (const int steps : {between(1, 3), between(1, 2)}) {
    const int check_every = between(0, 2);
    if (!whole)
      d.template run<false, false>(steps, check_every);
    else
      uniform_weights ? d.template run<true, true>(steps, check_every)
                      : d.template run<false, true>(steps, check_every);
    CHECK(d.wrong() == 0);
  }
  ++all.rounds;
  all.streamed += t.memory_elements > 0 ? 1 : 0;
  all.many_pieces += t.spilling.memory_rows > most_rows_of_piece ? 1 : 0;
  all.ragged += whole ? 0 : 1;
}

template <class T>
void compare_random_domains(unsigned seed) {
  std::mt19937 draw(seed);
  seen all;
  for (int tried = 0; all.rounds < 40; ++tried) {
    INFO("seed ", seed, " try ", tried);
    REQUIRE(tried < 2000);
    tried % 2 == 0 ? compare_random_domain<T, 2>(draw, all) : compare_random_domain<T, 5>(draw, all);
  }
  CHECK(all.streamed > 5);
  CHECK(all.streamed < 35);
  CHECK(all.many_pieces > 0);
  CHECK(all.ragged > 10);
  CHECK(all.ragged < 30);
}

TEST_CASE("spilling register tiles, float") { compare_random_domains<float>(51); }
TEST_CASE("spilling register tiles, double") { compare_random_domains<double>(52); }

}  // namespace
}  // namespace starling::stencil
