// Linear elasticity of a brick. All elements are alike, so the block of two nodes depends only on where they lie to
// each other and on which sides of the first one there are elements: there are 27 x 27 such blocks, made once.
#include <array>
#include <cmath>

#include "cg/generators/make_rows.hpp"
#include "cg/generators/matrix_sizes.hpp"
#include "cg/matrices.hpp"

namespace starling::cg {
namespace {

constexpr double modulus = 1;
constexpr double poisson = 0.3;
constexpr double spring = 100;

using block = std::array<std::array<double, 3>, 3>;
using vector3 = std::array<double, 3>;
// blocks[a][b] joins corners a and b; corner c lies at (c & 1, c >> 1 & 1, c >> 2) of the element.
using element = std::array<std::array<block, 8>, 8>;

constexpr int bit(int corner, std::size_t axis) { return corner >> axis & 1; }

// The gradient of the function of a corner, which is 1 there and 0 in the other corners, at a point of the unit cube.
vector3 gradient(int corner, const vector3& at) {
  vector3 value{};
  for (std::size_t k = 0; k < 3; ++k) value[k] = bit(corner, k) ? at[k] : 1 - at[k];
  vector3 g{};
  for (std::size_t k = 0; k < 3; ++k) g[k] = (bit(corner, k) ? 1 : -1) * value[(k + 1) % 3] * value[(k + 2) % 3];
  return g;
}

// The stiffness between two corners: the integral of lambda div u div v + 2 mu e(u) : e(v), by 2 x 2 x 2 Gauss points.
block stiffness(int a, int b) {
  const double lambda = modulus * poisson / ((1 + poisson) * (1 - 2 * poisson));
  const double mu = modulus / (2 * (1 + poisson));
  const double gauss[2] = {0.5 - 0.5 / std::sqrt(3.0), 0.5 + 0.5 / std::sqrt(3.0)};
  block k{};
  for (int point = 0; point < 8; ++point) {
    const vector3 at = {gauss[bit(point, 0)], gauss[bit(point, 1)], gauss[bit(point, 2)]};
    const vector3 ga = gradient(a, at);
    const vector3 gb = gradient(b, at);
    const double dot = ga[0] * gb[0] + ga[1] * gb[1] + ga[2] * gb[2];
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        k[i][j] += (lambda * ga[i] * gb[j] + mu * ga[j] * gb[i] + (i == j ? mu * dot : 0)) / 8;
  }
  return k;
}

// Exactly symmetric: one half is the mirror of the other.
element element_matrix() {
  element e{};
  for (int a = 0; a < 8; ++a)
    for (int b = a; b < 8; ++b) {
      const auto ia = static_cast<std::size_t>(a);
      const auto ib = static_cast<std::size_t>(b);
      const block k = stiffness(a, b);
      for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) {
          const bool mirrored = a == b && j < i;
          e[ia][ib][i][j] = mirrored ? k[j][i] : k[i][j];
          e[ib][ia][j][i] = e[ia][ib][i][j];
        }
    }
  return e;
}

// Where a node lies on an axis: at its first node, at its last, or between. And where its neighbour lies: before it, at
// the same place, behind it.
enum side { first, last, between };
enum step { before, same, behind };

struct place {
  std::size_t code = 0;  // base 3, an axis a digit

  constexpr int digit(std::size_t axis) const {
    constexpr std::size_t power[3] = {1, 3, 9};
    return static_cast<int>(code / power[axis] % 3);
  }
};

// Whether there is an element on the low (0) or high (1) side of a node.
constexpr bool has_element(int at, int high) { return high ? at != last : at != first; }

// The sum of the elements that two nodes share; element e lies on the high sides of the node that its bits name. In the
// order of the elements for either of the two, so that the blocks are exactly symmetric.
block shared_stiffness(const element& e, place at, place to) {
  block sum{};
  for (int octant = 0; octant < 8; ++octant) {
    int a = 0;
    int b = 0;
    bool there = true;
    for (std::size_t k = 0; k < 3; ++k) {
      const int high = bit(octant, k);
      const int corner = (high ? 0 : 1) + to.digit(k) - same;
      there = there && has_element(at.digit(k), high) && (corner == 0 || corner == 1);
      a |= (high ? 0 : 1) << k;
      b |= corner << k;
    }
    if (!there) continue;
    const block& k = e[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) sum[i][j] += k[i][j];
  }
  return sum;
}

template <class T>
class brick {
 public:
  brick(index_t nx, index_t ny, index_t nz) : n_{nx, ny, nz} {
    const element e = element_matrix();
    for (std::size_t at = 0; at < 27; ++at)
      for (std::size_t to = 0; to < 27; ++to) {
        const block sum = shared_stiffness(e, {at}, {to});
        for (std::size_t i = 0; i < 3; ++i)
          for (std::size_t j = 0; j < 3; ++j) blocks_[at][i][to][j] = rounded(sum[i][j]);
      }
  }

  index_t count(index_t row) const {
    const node at(row / 3, n_);
    return 3 * at.near[0].size() * at.near[1].size() * at.near[2].size();
  }

  void fill(index_t row, std::int32_t* column, T* value) const {
    const node at(row / 3, n_);
    const auto& mine = blocks_[at.code][static_cast<std::size_t>(row % 3)];
    for (index_t dz = at.near[2].begin; dz < at.near[2].end; ++dz)
      for (index_t dy = at.near[1].begin; dy < at.near[1].end; ++dy)
        for (index_t dx = at.near[0].begin; dx < at.near[0].end; ++dx) {
          const std::size_t to = static_cast<std::size_t>((dz + 1) * 9 + (dy + 1) * 3 + dx + 1);
          const index_t first_column = (row / 3 + (dz * n_[1] + dy) * n_[0] + dx) * 3;
          for (std::size_t j = 0; j < 3; ++j) {
            const index_t c = first_column + static_cast<index_t>(j);
            *column++ = static_cast<std::int32_t>(c);
            *value++ = mine[to][j] + (c == row && at.c[0] == 0 ? static_cast<T>(spring) : T(0));
          }
        }
  }

 private:
  struct node {
    node(index_t at, const std::array<index_t, 3>& n) : c{at % n[0], at / n[0] % n[1], at / n[0] / n[1]} {
      std::size_t power = 1;
      for (std::size_t k = 0; k < 3; ++k, power *= 3) {
        code += power * (c[k] == 0 ? first : c[k] == n[k] - 1 ? last : between);
        near[k] = {c[k] == 0 ? 0 : -1, c[k] == n[k] - 1 ? 1 : 2};
      }
    }

    std::array<index_t, 3> c;
    std::array<index_range, 3> near;  // neighbours, as differences
    std::size_t code = 0;
  };

  // Entries that cancel are zero, not what rounding left of them.
  static T rounded(double v) { return std::abs(v) < 1e-12 ? T(0) : static_cast<T>(v); }

  std::array<index_t, 3> n_;
  T blocks_[27][3][27][3];  // of a place: row of the block, neighbour, column of the block
};

}  // namespace

template <class T>
csr<T> elasticity_3d(index_t nx, index_t ny, index_t nz) {
  const index_t rows = checked_rows("elasticity_3d", {{"nx", nx}, {"ny", ny}, {"nz", nz}}, 2, 3);
  return make_rows<T>(rows, brick<T>(nx, ny, nz));
}

template csr<float> elasticity_3d(index_t, index_t, index_t);
template csr<double> elasticity_3d(index_t, index_t, index_t);

}  // namespace starling::cg
