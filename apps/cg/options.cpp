#include "cg/options.hpp"

#include "sparse/named.hpp"

namespace starling::cg {
namespace {

constexpr naming<method> methods[] = {
    {method::standard, "standard"}, {method::fused, "fused"}, {method::pipelined, "pipelined"}};
constexpr naming<control> controls[] = {
    {control::cpu_free, "cpu_free"}, {control::streams, "streams"}, {control::graph, "graph"}};
constexpr naming<preconditioner> preconditioners[] = {{preconditioner::none, "none"},
                                                      {preconditioner::jacobi, "jacobi"},
                                                      {preconditioner::block_jacobi, "block_jacobi"},
                                                      {preconditioner::chebyshev, "chebyshev"}};
constexpr naming<stop> stops[] = {{stop::converged, "converged"},
                                  {stop::iterations, "iterations"},
                                  {stop::stagnated, "stagnated"},
                                  {stop::not_positive_definite, "not positive definite"},
                                  {stop::not_finite, "not finite"}};

}  // namespace

const char* name(method m) { return name_in(methods, m); }
const char* name(control c) { return name_in(controls, c); }
const char* name(preconditioner p) { return name_in(preconditioners, p); }
const char* name(stop s) { return name_in(stops, s); }
method method_named(const std::string& text) { return named_in(methods, "cg: method", text); }
control control_named(const std::string& text) { return named_in(controls, "cg: control", text); }
preconditioner preconditioner_named(const std::string& text) {
  return named_in(preconditioners, "cg: preconditioner", text);
}

}  // namespace starling::cg
