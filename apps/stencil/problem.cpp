#include "stencil/problem.hpp"

#include <array>
#include <cmath>
#include <utility>

#include "starling/base/error.hpp"

namespace starling::stencil {
namespace {

constexpr std::array<std::pair<variant, const char*>, 8> names{{{variant::copy, "copy"},
                                                                {variant::overlap, "overlap"},
                                                                {variant::p2p, "p2p"},
                                                                {variant::graph, "graph"},
                                                                {variant::cpu_free, "cpu_free"},
                                                                {variant::resident, "resident"},
                                                                {variant::temporal, "temporal"},
                                                                {variant::automatic, "auto"}}};

constexpr index_t most_cells_per_axis = index_t{1} << 31;

template <class Item>
std::string list(const std::vector<Item>& items) {
  std::string text = "(";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i > 0 ? ", " : "") + message(items[i]);
  return text + ")";
}

constexpr index_t most_cells = index_t{1} << 48;

void check_dimensions(index_t dimensions) {
  expect<argument_error>(dimensions == 2 || dimensions == 3, "stencil: an array of ", dimensions,
                         " dimensions; must have 2 or 3");
}

void check_shape(const std::vector<index_t>& shape) {
  check_dimensions(static_cast<index_t>(shape.size()));
  for (const index_t n : shape)
    expect<argument_error>(n >= 1 && n < most_cells_per_axis, "stencil: shape ", list(shape),
                           "; every extent must be from 1 to ", most_cells_per_axis - 1);
  index_t cells = 1;
  for (const index_t n : shape) {
    expect<argument_error>(cells <= most_cells / n, "stencil: shape ", list(shape), "; must have at most 2^48 cells");
    cells *= n;
  }
}

template <class T>
void check_coefficients(const std::vector<T>& c, std::size_t dimensions) {
  expect<argument_error>(c.size() == 2 * dimensions + 1, "stencil: ", c.size(), " coefficients for ", dimensions,
                         " dimensions; must be ", 2 * dimensions + 1,
                         ": the centre, then the low and high side of each axis");
  for (std::size_t i = 0; i < c.size(); ++i)
    expect<argument_error>(std::isfinite(c[i]), "stencil: coefficient ", i, " is ", c[i], "; must be finite");
}

void check_parts(const std::vector<int>& parts, const std::vector<index_t>& shape, int n_pes) {
  expect<argument_error>(parts.size() == shape.size(), "stencil: split ", list(parts), " for ", shape.size(),
                         " dimensions; give one number of PEs per axis");
  index_t product = 1;
  for (std::size_t a = 0; a < parts.size(); ++a) {
    expect<argument_error>(parts[a] >= 1, "stencil: split ", list(parts), "; every number must be at least 1");
    expect<argument_error>(parts[a] <= shape[a], "stencil: split ", list(parts), " divides the ", shape[a],
                           " layers of axis ", a, " among ", parts[a],
                           " PEs; each needs at least one: use fewer devices or split another axis");
    product *= parts[a];
  }
  expect<argument_error>(product == n_pes, "stencil: split ", list(parts), " makes ", product,
                         " parts for a machine of ", n_pes, " PEs; they must be as many");
}

}  // namespace

template <class T>
std::vector<T> jacobi_coefficients(int dimensions) {
  check_dimensions(dimensions);
  std::vector<T> c(static_cast<std::size_t>(2 * dimensions + 1), T(1) / static_cast<T>(2 * dimensions));
  c[0] = 0;
  return c;
}

template <class T>
std::vector<T> heat_coefficients(int dimensions, double ratio) {
  check_dimensions(dimensions);
  expect<argument_error>(ratio > 0 && ratio <= 1.0 / (2 * dimensions), "stencil: heat ratio ", ratio, " in ",
                         dimensions, " dimensions; must be above 0 and at most ", 1.0 / (2 * dimensions),
                         " for a stable step");
  std::vector<T> c(static_cast<std::size_t>(2 * dimensions + 1), static_cast<T>(ratio));
  c[0] = static_cast<T>(1 - 2 * dimensions * ratio);
  return c;
}

const char* name(variant v) {
  for (const auto& [one, text] : names)
    if (one == v) return text;
  return "?";
}

variant variant_named(const std::string& text) {
  std::string all;
  for (const auto& [v, one] : names) {
    if (text == one) return v;
    all += (all.empty() ? "" : v == names.back().first ? " or " : ", ") + std::string(one);
  }
  throw argument_error(message("stencil: variant \"", text, "\"; must be ", all));
}

template <class T>
geometry geometry_of(const problem<T>& p, int n_pes) {
  check_shape(p.shape);
  const std::size_t dimensions = p.shape.size();
  check_coefficients(p.coefficients, dimensions);
  expect<argument_error>(p.edges.empty() || p.edges.size() == dimensions, "stencil: ", p.edges.size(), " edges for ",
                         dimensions, " dimensions; give one per axis");
  std::vector<int> parts = p.parts;
  if (parts.empty()) {
    parts.assign(dimensions, 1);
    parts[0] = n_pes;
  }
  check_parts(parts, p.shape, n_pes);
  geometry g;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::size_t a = i + axes - dimensions;
    g.extent[a] = p.shape[i];
    g.parts[a] = parts[i];
    g.active[a] = true;
    g.periodic[a] = !p.edges.empty() && p.edges[i] == edge::periodic;
  }
  // Rows start at multiples of 128 bytes.
  g.stride[1] = round_up(g.largest(2), 128 / static_cast<index_t>(sizeof(T)));
  g.stride[0] = g.stride[1] * g.largest(1);
  for (int a = 0; a < axes; ++a)
    expect<argument_error>(!g.exchanges(a) || g.face_cells(a) < (index_t{1} << 32), "stencil: shape ", list(p.shape),
                           " has faces of ", g.face_cells(a), " cells; must be fewer than 2^32: split other axes");
  return g;
}

template std::vector<float> jacobi_coefficients(int);
template std::vector<double> jacobi_coefficients(int);
template std::vector<float> heat_coefficients(int, double);
template std::vector<double> heat_coefficients(int, double);
template geometry geometry_of(const problem<float>&, int);
template geometry geometry_of(const problem<double>&, int);

}  // namespace starling::stencil
