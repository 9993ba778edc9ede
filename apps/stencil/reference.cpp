#include "stencil/reference.hpp"

namespace starling::stencil {
namespace {

// The array as (z, y, x); z has extent 1 and takes no part when there are two dimensions.
template <class T>
struct whole_array {
  explicit whole_array(const problem<T>& p) : problem_(p), skipped_(3 - p.shape.size()) {
    for (std::size_t i = 0; i < p.shape.size(); ++i) n[i + skipped_] = p.shape[i];
  }

  bool periodic(std::size_t axis) const {
    return !problem_.edges.empty() && problem_.edges[axis - skipped_] == edge::periodic;
  }

  bool dirichlet(const index_t (&c)[3]) const {
    for (std::size_t a = skipped_; a < 3; ++a)
      if (!periodic(a) && (c[a] == 0 || c[a] == n[a] - 1)) return true;
    return false;
  }

  index_t position(const index_t (&c)[3]) const { return (c[0] * n[1] + c[1]) * n[2] + c[2]; }

  T new_value(const std::vector<T>& u, const index_t (&c)[3]) const {
    T sum = problem_.coefficients[0] * u[static_cast<std::size_t>(position(c))];
    for (std::size_t a = skipped_; a < 3; ++a) {
      for (std::size_t side = 0; side < 2; ++side) {
        index_t beside[3] = {c[0], c[1], c[2]};
        beside[a] = (c[a] + (side == 0 ? n[a] - 1 : 1)) % n[a];
        sum =
            sum + problem_.coefficients[1 + 2 * (a - skipped_) + side] * u[static_cast<std::size_t>(position(beside))];
      }
    }
    return sum;
  }

  index_t n[3] = {1, 1, 1};

 private:
  const problem<T>& problem_;
  std::size_t skipped_;
};

}  // namespace

template <class T>
double reference(const problem<T>& p, std::vector<T>& u, index_t steps) {
  const whole_array<T> array(p);
  std::vector<T> next = u;
  double change = 0;
  for (index_t t = 0; t < steps; ++t) {
    change = 0;
    for (index_t z = 0; z < array.n[0]; ++z)
      for (index_t y = 0; y < array.n[1]; ++y)
        for (index_t x = 0; x < array.n[2]; ++x) {
          const index_t c[3] = {z, y, x};
          if (array.dirichlet(c)) continue;
          const auto i = static_cast<std::size_t>(array.position(c));
          next[i] = array.new_value(u, c);
          const double difference = static_cast<double>(next[i] > u[i] ? next[i] - u[i] : u[i] - next[i]);
          if (difference > change || difference != difference) change = difference;
        }
    std::swap(u, next);
  }
  return change;
}

template double reference(const problem<float>&, std::vector<float>&, index_t);
template double reference(const problem<double>&, std::vector<double>&, index_t);

}  // namespace starling::stencil
