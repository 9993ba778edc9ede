// The matrices of the benchmark, one for each class of table 3.1 of "GPU-Centric Communication Schemes", and what they
// stand for there: about as many entries, and rows of about the same length where a generator has them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cg/matrices.hpp"

namespace starling::bench {

struct matrix_case {
  std::string name;
  std::string stands_for;
  // A solve is fixed to at most so many iterations: before the residual becomes too small for the numbers.
  index_t most_iterations;
  std::function<cg::csr<double>()> make;
};

// `small`: matrices of the same classes that virtual devices finish in a moment.
inline std::vector<matrix_case> matrix_cases(bool small) {
  if (small)
    return {
        {"5-point 60^2", "ecology2", 100, [] { return cg::grid_2d<double>(60, 60); }},
        {"27-point 14^3", "StocF-1465", 50, [] { return cg::grid_3d<double>(14, 14, 14); }},
        {"elasticity 8^3", "Queen_4147", 100, [] { return cg::elasticity_3d<double>(8, 8, 8); }},
        {"circuit 3 k", "G3_circuit", 100, [] { return cg::circuit<double>(3000, 4, 1); }},
        {"uneven 2 k", "none: uneven rows", 20, [] { return cg::uneven<double>(2000, 8, 1); }},
    };
  const auto brick = [](index_t nx, index_t ny, index_t nz) {
    return [=] { return cg::elasticity_3d<double>(nx, ny, nz); };
  };
  return {
      {"5-point 1000^2", "ecology2", 2000, [] { return cg::grid_2d<double>(1000, 1000); }},
      {"5-point 1260x1258", "G3_circuit", 2000, [] { return cg::grid_2d<double>(1260, 1258); }},
      {"27-point 100^3", "StocF-1465", 1000, [] { return cg::grid_3d<double>(100, 100, 100); }},
      {"elasticity 110^3", "Queen_4147", 1000, brick(110, 110, 110)},
      {"elasticity 80^3", "Flan_1565", 1000, brick(80, 80, 80)},
      {"elasticity 65^3", "Serena", 1000, brick(65, 65, 65)},
      {"27-point 132^3", "Hook_1498", 1000, [] { return cg::grid_3d<double>(132, 132, 132); }},
      {"elasticity 330x480x2", "ldoor", 1000, brick(330, 480, 2)},
      {"elasticity 36^3", "bmwcra_1", 1000, brick(36, 36, 36)},
      {"elasticity 30^3", "consph", 1000, brick(30, 30, 30)},
      {"5-point 534x533", "thermomech_dM", 1000, [] { return cg::grid_2d<double>(534, 533); }},
      {"circuit 1.6 M", "G3_circuit", 1000, [] { return cg::circuit<double>(1585414, 64, 1); }},
      {"uneven 1 M", "none: uneven rows", 200, [] { return cg::uneven<double>(1000000, 8, 1); }},
  };
}

}  // namespace starling::bench
