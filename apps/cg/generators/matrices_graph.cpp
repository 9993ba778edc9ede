// Matrices of random graphs. Every random choice is a function of the seed and of the nodes it concerns, so that any
// row can be made alone and the two ends of an edge agree. Only arithmetic whose rounding IEEE 754 prescribes is used.
#include <cmath>
#include <numeric>

#include "cg/generators/make_rows.hpp"
#include "cg/generators/matrix_sizes.hpp"
#include "cg/matrices.hpp"

namespace starling::cg {
namespace {

// splitmix64's last step: bits that look random from bits that do not.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::uint64_t draw(std::uint64_t seed, index_t a, index_t b) {
  constexpr std::uint64_t step = 0x9e3779b97f4a7c15U;
  return mixed(mixed(mixed(seed + step) + static_cast<std::uint64_t>(a) + step) + static_cast<std::uint64_t>(b) + step);
}

// In [0, 1).
double fraction(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

// The mesh is a lattice wound around a cylinder: node i is joined to i + 1, mostly to i + width and sometimes to
// i + width + 1. The nets come behind it; each has a stretch of the mesh, and one of 16 nodes there is joined to it.
template <class T>
class mesh_with_nets {
 public:
  mesh_with_nets(index_t n, index_t nets, std::uint64_t seed)
      : n_(n),
        nets_(nets),
        width_(std::max<index_t>(3, static_cast<index_t>(std::sqrt(static_cast<double>(n))))),
        seed_(seed) {}

  index_t count(index_t row) const {
    index_t entries = 1;
    for_neighbours(row, [&](index_t) { ++entries; });
    return entries;
  }

  void fill(index_t row, std::int32_t* column, T* value) const {
    T* diagonal = nullptr;
    double sum = 0;
    const auto make_diagonal = [&] {
      *column++ = static_cast<std::int32_t>(row);
      diagonal = value++;
    };
    for_neighbours(row, [&](index_t to) {
      if (to > row && diagonal == nullptr) make_diagonal();
      const T g = conductance(std::min(row, to), std::max(row, to));
      *column++ = static_cast<std::int32_t>(to);
      *value++ = -g;
      sum += static_cast<double>(g);
    });
    if (diagonal == nullptr) make_diagonal();
    // A little of every current leaks to the ground, which makes the matrix positive definite.
    *diagonal = sum > 0 ? static_cast<T>(sum * (1 + leak)) : T(1);
  }

 private:
  static constexpr double leak = 1e-4;
  static constexpr index_t members = 16;  // one node of so many is joined to the net

  // Calls f for the neighbours of a row, in their order.
  template <class F>
  void for_neighbours(index_t row, const F& f) const {
    if (row >= n_) return for_members(row - n_, f);
    if (aslant(row - width_ - 1)) f(row - width_ - 1);
    if (down(row - width_)) f(row - width_);
    if (row > 0) f(row - 1);
    if (row < n_ - 1) f(row + 1);
    if (down(row)) f(row + width_);
    if (aslant(row)) f(row + width_ + 1);
    if (nets_ > 0 && is_member(row)) f(n_ + net_of(row));
  }

  // Whether there are edges from i to i + width and to i + width + 1. The ends of the lattice have the former always.
  bool down(index_t i) const {
    const index_t last = n_ - 1 - width_;
    return i >= 0 && i <= last && (i == 0 || i == last || fraction(draw(seed_, i, 1)) < 0.75);
  }
  bool aslant(index_t i) const { return i >= 0 && i + width_ + 1 < n_ && fraction(draw(seed_, i, 2)) < 0.165; }

  index_t net_of(index_t node) const {
    const index_t guess =
        static_cast<index_t>(static_cast<double>(node) / static_cast<double>(n_) * static_cast<double>(nets_));
    index_t net = std::clamp<index_t>(guess, 0, nets_ - 1);
    while (net > 0 && node < share(n_, nets_, net).begin) --net;
    while (node >= share(n_, nets_, net).end) ++net;
    return net;
  }

  index_t member_of_group(index_t g) const {
    return g * members + static_cast<index_t>(draw(seed_, g, 3) % static_cast<std::uint64_t>(members));
  }
  // The first node of a net's stretch always belongs to it.
  bool is_member(index_t node) const {
    return member_of_group(node / members) == node || share(n_, nets_, net_of(node)).begin == node;
  }

  template <class F>
  void for_members(index_t net, const F& f) const {
    const index_range mine = share(n_, nets_, net);
    f(mine.begin);
    for (index_t g = mine.begin / members; g <= (mine.end - 1) / members; ++g) {
      const index_t node = member_of_group(g);
      if (node > mine.begin && node < mine.end) f(node);
    }
  }

  // Spread over four decades, from 0.01 to 100.
  T conductance(index_t low, index_t high) const {
    constexpr double decade[4] = {0.01, 0.1, 1, 10};
    const std::uint64_t bits = draw(seed_, low, high);
    return static_cast<T>(decade[bits & 3] * (1 + 9 * fraction(bits)));
  }

  index_t n_, nets_, width_;
  std::uint64_t seed_;
};

// The edges of a graph as drawn, each at one of its ends: node i draws half of its mean degree, and the targets follow
// a power law: the node of rank r is drawn with a probability that falls like r^-0.6.
struct drawn_edges {
  index_t n, mean_degree;
  std::uint64_t seed;
  index_t stride;  // maps ranks to nodes; shares no factor with n

  // Even and odd nodes take turns when the mean degree is odd.
  index_t draws(index_t node) const { return (mean_degree + node % 2) / 2; }

  index_t target(index_t node, index_t which) const {
    const double u = fraction(draw(seed, node, which));
    const index_t rank = std::min(n - 1, static_cast<index_t>(static_cast<double>(n) * (u * u * std::sqrt(u))));
    return rank * stride % n;
  }
};

// About n / golden ratio, so that neighbouring ranks lie far apart.
index_t stride_for(index_t n) {
  index_t s = std::max<index_t>(1, static_cast<index_t>(static_cast<double>(n) * 0.6180339887498949));
  while (std::gcd(s, n) != 1) ++s;
  return s;
}

// Who drew a node, in any order.
class drawn_by {
 public:
  explicit drawn_by(const drawn_edges& edges) : start_(static_cast<std::size_t>(edges.n + 1), 0) {
    for_edges(edges, [&](index_t, index_t to) { add_one(start_[static_cast<std::size_t>(to) + 1]); });
    starts_from_counts(start_);
    who_.resize(static_cast<std::size_t>(start_.back()));
    std::vector<index_t> next = start_;
    for_edges(edges, [&](index_t from, index_t to) {
      who_[static_cast<std::size_t>(add_one(next[static_cast<std::size_t>(to)]))] = static_cast<std::int32_t>(from);
    });
  }

  const std::int32_t* begin(index_t node) const { return who_.data() + start_[static_cast<std::size_t>(node)]; }
  const std::int32_t* end(index_t node) const { return who_.data() + start_[static_cast<std::size_t>(node) + 1]; }

 private:
  static index_t add_one(index_t& counter) {
    return std::atomic_ref<index_t>(counter).fetch_add(1, std::memory_order_relaxed);
  }

  template <class F>
  static void for_edges(const drawn_edges& edges, const F& f) {
    for_rows(edges.n, [&](index_t node) {
      for (index_t k = 0; k < edges.draws(node); ++k) f(node, edges.target(node, k));
    });
  }

  std::vector<index_t> start_;
  std::vector<std::int32_t> who_;
};

template <class T>
class power_law {
 public:
  explicit power_law(const drawn_edges& edges) : edges_(edges), drawn_by_(edges) {}

  index_t count(index_t row) const { return static_cast<index_t>(columns(row).size()); }

  void fill(index_t row, std::int32_t* column, T* value) const {
    const std::vector<std::int32_t>& all = columns(row);
    const T diagonal = static_cast<T>(all.size());  // the degree, and 1 of the identity
    for (std::size_t k = 0; k < all.size(); ++k) {
      column[k] = all[k];
      value[k] = all[k] == row ? diagonal : T(-1);
    }
  }

 private:
  // Those whom a row drew, those who drew it, and itself: each once, in order.
  const std::vector<std::int32_t>& columns(index_t row) const {
    thread_local std::vector<std::int32_t> all;
    all.assign(drawn_by_.begin(row), drawn_by_.end(row));
    for (index_t k = 0; k < edges_.draws(row); ++k) all.push_back(static_cast<std::int32_t>(edges_.target(row, k)));
    all.push_back(static_cast<std::int32_t>(row));
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  drawn_edges edges_;
  drawn_by drawn_by_;
};

}  // namespace

template <class T>
csr<T> circuit(index_t n, index_t nets, std::uint64_t seed) {
  checked_rows("circuit", {{"n", n}});
  expect<argument_error>(nets >= 0 && nets <= n, "cg: circuit of ", n, " nodes and ", nets,
                         " nets; there must be from 0 to ", n, " nets");
  expect<argument_error>(nets <= most_rows - n, "cg: circuit of ", n, " nodes and ", nets, " nets; must have at most ",
                         most_rows, " rows: use fewer");
  return make_rows<T>(n + nets, mesh_with_nets<T>(n, nets, seed));
}

template <class T>
csr<T> uneven(index_t n, index_t mean_degree, std::uint64_t seed) {
  checked_rows("uneven", {{"n", n}});
  expect<argument_error>(mean_degree >= 1 && mean_degree <= std::max<index_t>(1, n - 1), "cg: uneven of mean degree ",
                         mean_degree, "; must be from 1 to one less than the ", n, " nodes");
  return make_rows<T>(n, power_law<T>({n, mean_degree, seed, stride_for(n)}));
}

template csr<float> circuit(index_t, index_t, std::uint64_t);
template csr<double> circuit(index_t, index_t, std::uint64_t);
template csr<float> uneven(index_t, index_t, std::uint64_t);
template csr<double> uneven(index_t, index_t, std::uint64_t);

}  // namespace starling::cg
