#include "sparse/vertex_order.hpp"

#include <algorithm>
#include <numeric>

#include "sparse/in_parallel.hpp"
#include "sparse/named.hpp"

namespace starling::sparse {
namespace {

constexpr naming<vertex_order> names[] = {
    {vertex_order::automatic, "auto"}, {vertex_order::given, "given"}, {vertex_order::by_degree, "degree"}};

constexpr index_t cached_bytes = 256 * 1024;  // of a vector that the cache of a multiprocessor holds anyway
constexpr index_t line_bytes = 128;
constexpr index_t samples = 64;
constexpr index_t entries_of_a_sample = 4096;
constexpr double worth_it = 0.75;  // of the lines that are read now

template <class T>
std::vector<std::int32_t> by_degree(const csr_view<T>& a) {
  std::vector<std::int32_t> degree(static_cast<std::size_t>(a.columns), 0);
  for (index_t e = a.row_start[0]; e < a.row_start[a.rows]; ++e) ++degree[static_cast<std::size_t>(a.column[e])];
  if (degree.empty()) return {};
  // Counted, not compared: there are millions of vertices, and no degree is larger than their number.
  const index_t largest = *std::max_element(degree.begin(), degree.end());
  std::vector<index_t> next(static_cast<std::size_t>(largest) + 2, 0);  // place of a vertex, by largest - degree
  for (const index_t d : degree) ++next[static_cast<std::size_t>(largest - d) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::int32_t> vertex(degree.size());
  for (std::size_t v = 0; v < degree.size(); ++v)
    vertex[static_cast<std::size_t>(next[static_cast<std::size_t>(largest - degree[v])]++)] =
        static_cast<std::int32_t>(v);
  return vertex;
}

// Every n_pes-th from the first on, then every n_pes-th from the second on, ...
std::vector<std::int32_t> round_robin(const std::vector<std::int32_t>& vertex, int n_pes) {
  std::vector<std::int32_t> all;
  all.reserve(vertex.size());
  const auto pes = static_cast<std::size_t>(n_pes);
  for (std::size_t pe = 0; pe < pes; ++pe)
    for (std::size_t i = pe; i < vertex.size(); i += pes) all.push_back(vertex[i]);
  return all;
}

// The new number of each of the caller's vertices.
std::vector<std::int32_t> inverse(const std::vector<std::int32_t>& vertex) {
  std::vector<std::int32_t> number(vertex.size());
  for (std::size_t i = 0; i < vertex.size(); ++i)
    number[static_cast<std::size_t>(vertex[i])] = static_cast<std::int32_t>(i);
  return number;
}

// Different lines of the vector that stretches of entries read, added up; `number` gives the place of a column.
template <class T, class Number>
index_t lines_read(const csr_view<T>& a, const Number& number) {
  constexpr auto of_line = line_bytes / static_cast<index_t>(sizeof(T));
  std::vector<std::int64_t> lines;
  index_t all = 0;
  for (index_t s = 0; s < samples; ++s) {
    const index_range part = share(a.nonzeros(), samples, s);
    const index_t end = std::min(part.end, part.begin + entries_of_a_sample);
    lines.clear();
    for (index_t e = part.begin; e < end; ++e) lines.push_back(number(a.column[a.row_start[0] + e]) / of_line);
    std::sort(lines.begin(), lines.end());
    all += std::unique(lines.begin(), lines.end()) - lines.begin();
  }
  return all;
}

}  // namespace

const char* name(vertex_order o) { return name_in(names, o); }
vertex_order vertex_order_named(const std::string& text) { return named_in(names, "order", text); }

template <class T>
ordered_graph<T>::ordered_graph(const csr_view<T>& edges_in, vertex_order wanted, int n_pes) : view_(edges_in) {
  const bool small = edges_in.columns * static_cast<index_t>(sizeof(T)) <= cached_bytes;
  if (wanted == vertex_order::given || (wanted == vertex_order::automatic && small) || edges_in.nonzeros() == 0) return;
  vertex_ = round_robin(by_degree(edges_in), n_pes);
  const auto number = inverse(vertex_);
  if (wanted == vertex_order::automatic) {
    const auto now = lines_read(edges_in, [](std::int32_t column) { return column; });
    const auto then =
        lines_read(edges_in, [&](std::int32_t column) { return number[static_cast<std::size_t>(column)]; });
    if (static_cast<double>(then) > worth_it * static_cast<double>(now)) {
      vertex_.clear();
      return;
    }
  }
  renumber(edges_in, number);
}

template <class T>
void ordered_graph<T>::renumber(const csr_view<T>& a, const std::vector<std::int32_t>& number) {
  row_start_.assign(static_cast<std::size_t>(a.rows) + 1, 0);
  for (std::size_t i = 0; i < vertex_.size(); ++i) {
    const index_t* of_caller = a.row_start + vertex_[i];
    row_start_[i + 1] = row_start_[i] + of_caller[1] - of_caller[0];
  }
  column_.resize(static_cast<std::size_t>(a.nonzeros()));
  if (a.value != nullptr) value_.resize(column_.size());
  // Parts of about the same entries: the first rows have most.
  const auto row_of = [&](index_t entry) {
    return std::lower_bound(row_start_.begin(), row_start_.end(), entry) - row_start_.begin();
  };
  in_parts(a.nonzeros(), 1, [&](index_range part) {
    std::vector<std::pair<std::int32_t, index_t>> entries;  // new column, place in the caller's rows
    for (index_t i = row_of(part.begin), end = row_of(part.end); i < end && i < a.rows; ++i) {
      const index_t* of_caller = a.row_start + vertex_[static_cast<std::size_t>(i)];
      const auto first = static_cast<std::size_t>(row_start_[static_cast<std::size_t>(i)]);
      auto to = first;
      if (a.value == nullptr) {  // half the time of sorting pairs
        for (index_t e = of_caller[0]; e < of_caller[1]; ++e)
          column_[to++] = number[static_cast<std::size_t>(a.column[e])];
        std::sort(column_.data() + first, column_.data() + to);
        continue;
      }
      entries.clear();
      for (index_t e = of_caller[0]; e < of_caller[1]; ++e)
        entries.emplace_back(number[static_cast<std::size_t>(a.column[e])], e);
      std::sort(entries.begin(), entries.end());
      for (const auto& [column, from] : entries) {
        column_[to] = column;
        value_[to++] = a.value[from];
      }
    }
  });
  view_ = {a.rows, a.columns, row_start_.data(), column_.data(), a.value != nullptr ? value_.data() : nullptr};
}

template <class T>
std::vector<T> ordered_graph<T>::ordered(const T* of_caller) const {
  const auto n = static_cast<std::size_t>(view_.rows);
  if (vertex_.empty()) return {of_caller, of_caller + n};
  std::vector<T> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = of_caller[vertex_[i]];
  return all;
}

template <class T>
void ordered_graph<T>::restore(const T* ordered, T* of_caller) const {
  const auto n = static_cast<std::size_t>(view_.rows);
  for (std::size_t i = 0; i < n; ++i)
    of_caller[vertex_.empty() ? i : static_cast<std::size_t>(vertex_[i])] = ordered[i];
}

template class ordered_graph<float>;
template class ordered_graph<double>;

}  // namespace starling::sparse
