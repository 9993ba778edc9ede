// Edges of tiles as vectors, sent and taken by many threads: every cell of a ring is the neighbour's, and no other cell
// changes.
#include "stencil/tile_faces.hpp"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "starling/base/error.hpp"
#include "stencil/tile_choice.hpp"
#include "support/stencil_runs.hpp"
#include "support/threads_of_block.hpp"

namespace starling::stencil {
namespace {

// One thread of a block, with the calls that tile_faces makes. Blocks run one after the other here, first those that
// send, so a signal that is awaited has to be there.
class player : public test::thread_of_block {
 public:
  player(const test::thread_of_block& t, int pe, int index, std::vector<tile_face>& faces)
      : test::thread_of_block(t), pe_(pe), index_(index), faces_(faces) {}

  int pe() const { return pe_; }
  int index() const { return index_; }
  bool stalled() const { return stalled_; }

  template <class T>
  T* scratch(index_t n) const {
    static_assert(std::is_same_v<T, tile_face>);
    return n == static_cast<index_t>(faces_.size()) ? faces_.data() : nullptr;
  }

  template <class T, class To, class F>
  void put_signals(int puts, const To& to, const F& f, std::uint64_t value) const {
    index_t k = member();
    for (int i = 0; i < puts; ++i) {
      const signalled_put<T> put = to(i);
      for (; k < put.n; k += members()) put.dest.on(put.pe)[k] = f(i, k);
      k -= put.n;
    }
    sync();
    for (int i = member(); i < puts; i += members()) to(i).sig.on(to(i).pe)->value = value;
  }

  template <class What>
  void wait_each(int n, const What& what, std::uint64_t at_least) {
    for (int i = member(); i < n; i += members()) stalled_ = stalled_ || what(i).sig.on(pe_)->value < at_least;
    sync();
  }

 private:
  int pe_;
  int index_;
  std::vector<tile_face>& faces_;
  bool stalled_ = false;
};

template <class T>
constexpr T poison = -12345;

template <class T>
struct tile_memory {
  tile mine{};
  std::vector<cell_vector<T>> chip;
  std::vector<cell_vector<T>> memory;
  std::vector<tile_face> faces;
};

// All tiles of a machine. Cells hold their place in the domain.
template <class T, int Dimensions, bool OneArray, bool Streams>
class all_tiles {
 public:
  using faces = tile_faces<T, Dimensions, OneArray, Streams, player>;
  using cells = typename faces::cells;

  all_tiles(const geometry& g, const tiling& t)
      : g_(g),
        t_(t),
        mail_(static_cast<std::size_t>(g.n_pes() * mail_slots * t.blocks() * t.mail_per_block())),
        arrived_(static_cast<std::size_t>(g.n_pes() * t.blocks() * directions)) {
    for (int pe = 0; pe < g.n_pes(); ++pe)
      for (int block = 0; block < t.blocks(); ++block) {
        tile_memory<T>& m = tiles_.emplace_back();
        m.mine = tile_of(g, t, box_of(g, pe), block);
        m.chip.resize(vectors(t.arrays() * t.chip.elements), filled());
        m.memory.resize(vectors(t.memory_elements()), filled());
        m.faces.resize(static_cast<std::size_t>(t.directions_used()));
        for (int which = 0; which < t.arrays(); ++which)
          each_cell(pe, m, 0, [&](int z, int y, int x, T value) { *array(m, which).at(z, y, x) = value; });
      }
  }

  void exchange(index_t message, int members) {
    const index_t stride = t_.blocks() * directions * static_cast<index_t>(sizeof(signal));
    const index_t mail = mail_slots * t_.blocks() * t_.mail_per_block();
    tile_mail<T> to;
    to.vectors = {mail_.data(), mail * static_cast<index_t>(sizeof(cell_vector<T>))};
    to.arrived = {arrived_.data(), stride};
    for (const bool sends : {true, false})
      for (int i = 0; i < g_.n_pes() * t_.blocks(); ++i) {
        tile_memory<T>& m = tiles_[static_cast<std::size_t>(i)];
        std::vector<int> stalled(static_cast<std::size_t>(members));
        test::run_as_block(members, [&](const test::thread_of_block& thread) {
          player p(thread, i / t_.blocks(), i % t_.blocks(), m.faces);
          faces f(p, t_, to);
          f.plan(g_, m.mine, true);
          if (sends)
            f.send(message, array(m, 0));
          else
            f.take(message, array(m, 0), array(m, t_.arrays() - 1), !OneArray);
          stalled[static_cast<std::size_t>(p.member())] = p.stalled() ? 1 : 0;
        });
        CHECK(stalled == std::vector<int>(stalled.size()));
      }
  }

  // How many cells of rings and tiles are not what they should be.
  index_t wrong() {
    index_t n = 0;
    for (std::size_t i = 0; i < tiles_.size(); ++i)
      for (int which = 0; which < t_.arrays(); ++which)
        each_cell(static_cast<int>(i) / t_.blocks(), tiles_[i], t_.depth,
                  [&](int z, int y, int x, T value) { n += *array(tiles_[i], which).at(z, y, x) == value ? 0 : 1; });
    return n;
  }

 private:
  static std::size_t vectors(index_t elements) {
    return static_cast<std::size_t>(ceil_div(elements, cell_vector<T>::width));
  }
  static cell_vector<T> filled() {
    cell_vector<T> v;
    for (T& c : v.cell) c = poison<T>;
    return v;
  }
  cells array(tile_memory<T>& m, int which) {
    return {m.chip.data()->cell + which * t_.chip.elements,
            Streams ? m.memory.data()->cell + which * t_.memory.elements : nullptr, t_};
  }

  // f(z, y, x, value) for a tile's cells and `ring` layers around them.
  template <class F>
  void each_cell(int pe, const tile_memory<T>& m, int ring, const F& f) const {
    const box own = box_of(g_, pe);
    const int above = g_.active[0] ? ring : 0;
    for (int z = -above; z < m.mine.extent[0] + above; ++z)
      for (int y = -ring; y < m.mine.extent[1] + ring; ++y)
        for (int x = -ring; x < m.mine.extent[2] + ring; ++x) f(z, y, x, value_at(own, m.mine, {z, y, x}));
  }

  struct place {
    int at[axes];
  };
  T value_at(const box& own, const tile& mine, const place& p) const {
    index_t where[axes];
    int outside = 0;
    for (int a = 0; a < axes; ++a) {
      const bool out = p.at[a] < 0 || p.at[a] >= mine.extent[a];
      if (out && !tiles_exchange(g_, t_, a)) return poison<T>;
      outside += out ? 1 : 0;
      where[a] = own.first[a] + mine.first[a] + p.at[a];
      const bool beyond = where[a] < 0 || where[a] >= g_.extent[a];
      if (beyond && !g_.periodic[a]) return poison<T>;
      where[a] = (where[a] + g_.extent[a]) % g_.extent[a];
    }
    // Corners travel where more than one layer does.
    if (outside > 1 && t_.depth == 1) return poison<T>;
    return static_cast<T>((where[0] * g_.extent[1] + where[1]) * g_.extent[2] + where[2] + 1);
  }

  const geometry& g_;
  const tiling& t_;
  std::vector<cell_vector<T>> mail_;
  std::vector<signal> arrived_;
  std::vector<tile_memory<T>> tiles_;
};

template <class T, int Dimensions, bool OneArray, bool Streams>
void check_exchanges(const geometry& g, const tiling& t, int members) {
  all_tiles<T, Dimensions, OneArray, Streams> tiles(g, t);
  for (const index_t message : {7, 8}) tiles.exchange(message, members);
  CHECK(tiles.wrong() == 0);
}

// A tiling of each kind of layout in turn.
template <class T, int Dimensions>
void check_random_tiles(unsigned seed) {
  std::mt19937 draw(seed);
  const auto between = [&](int a, int b) { return std::uniform_int_distribution<int>(a, b)(draw); };
  for (int round = 0; round < 40; ++round) {
    const bool in_place = round % 2 == 1;
    const bool streams = round / 2 % 2 == 1;
    for (bool found = false; !found;) {
      const int n_pes = between(1, 4);
      problem<T> p = test::random_problem<T>(n_pes, draw);
      if (static_cast<int>(p.shape.size()) != Dimensions) continue;
      for (std::size_t a = 0; a < p.shape.size(); ++a) p.shape[a] = p.parts[a] * between(1, Dimensions == 2 ? 30 : 14);
      run_options o{.how = variant::temporal, .blocks = between(1, 4), .packet_bytes = 0};
      o.depth = between(0, 2) == 0 ? between(2, 6) : 1;
      o.on_chip_bytes = static_cast<std::size_t>(between(1500, 20000));
      try {
        const geometry g = geometry_of(p, n_pes);
        const tiling t =
            choose_tiles<T>(g, {in_place ? machine_kind::cuda : machine_kind::host, 4, std::size_t{1} << 20}, o).grid;
        found = t.faces && t.in_place == in_place && t.streams == streams;
        if (!found) continue;
        const int members = between(0, 2) == 0 ? between(1, 5) : between(6, 70);
        INFO("seed ", seed, " round ", round, " ", test::describe(p, o), " members ", members);
        if (in_place)
          streams ? check_exchanges<T, Dimensions, true, true>(g, t, members)
                  : check_exchanges<T, Dimensions, true, false>(g, t, members);
        else
          streams ? check_exchanges<T, Dimensions, false, true>(g, t, members)
                  : check_exchanges<T, Dimensions, false, false>(g, t, members);
      } catch (const error&) {
        found = false;  // no such tiles
      }
    }
  }
}

TEST_CASE("2D tiles exchange vectors, float") { check_random_tiles<float, 2>(61); }
TEST_CASE("2D tiles exchange vectors, double") { check_random_tiles<double, 2>(62); }
TEST_CASE("3D tiles exchange vectors, float") { check_random_tiles<float, 3>(63); }
TEST_CASE("3D tiles exchange vectors, double") { check_random_tiles<double, 3>(64); }

}  // namespace
}  // namespace starling::stencil
