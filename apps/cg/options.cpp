#include "cg/options.hpp"

#include <utility>

#include "starling/base/error.hpp"

namespace starling::cg {
namespace {

template <class E>
struct naming {
  E value;
  const char* name;
};

constexpr naming<method> methods[] = {
    {method::standard, "standard"}, {method::fused, "fused"}, {method::pipelined, "pipelined"}};
constexpr naming<control> controls[] = {
    {control::cpu_free, "cpu_free"}, {control::streams, "streams"}, {control::graph, "graph"}};
constexpr naming<preconditioner> preconditioners[] = {{preconditioner::none, "none"},
                                                      {preconditioner::jacobi, "jacobi"},
                                                      {preconditioner::block_jacobi, "block_jacobi"},
                                                      {preconditioner::chebyshev, "chebyshev"}};
constexpr naming<storage> storages[] = {{storage::automatic, "auto"},
                                        {storage::sliced, "sliced"},
                                        {storage::sliced_3x3, "sliced_3x3"},
                                        {storage::compressed, "compressed"}};
constexpr naming<row_split> splits[] = {{row_split::nonzeros, "nonzeros"}, {row_split::rows, "rows"}};
constexpr naming<stop> stops[] = {{stop::converged, "converged"},
                                  {stop::iterations, "iterations"},
                                  {stop::stagnated, "stagnated"},
                                  {stop::not_positive_definite, "not positive definite"},
                                  {stop::not_finite, "not finite"}};

template <class E, std::size_t N>
const char* name_in(const naming<E> (&all)[N], E value) {
  for (const auto& one : all)
    if (one.value == value) return one.name;
  return "?";
}

template <class E, std::size_t N>
E named_in(const naming<E> (&all)[N], const char* what, const std::string& text) {
  std::string known;
  for (const auto& one : all) {
    if (text == one.name) return one.value;
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  throw argument_error(message("cg: ", what, " \"", text, "\" is not known; must be one of ", known));
}

}  // namespace

const char* name(method m) { return name_in(methods, m); }
const char* name(control c) { return name_in(controls, c); }
const char* name(preconditioner p) { return name_in(preconditioners, p); }
const char* name(storage s) { return name_in(storages, s); }
const char* name(row_split s) { return name_in(splits, s); }
const char* name(stop s) { return name_in(stops, s); }
method method_named(const std::string& text) { return named_in(methods, "method", text); }
control control_named(const std::string& text) { return named_in(controls, "control", text); }
preconditioner preconditioner_named(const std::string& text) {
  return named_in(preconditioners, "preconditioner", text);
}
storage storage_named(const std::string& text) { return named_in(storages, "storage", text); }
row_split row_split_named(const std::string& text) { return named_in(splits, "partition", text); }

}  // namespace starling::cg
