// What tests of refused systems and options share.
#pragma once

#include <initializer_list>
#include <limits>
#include <string>

#include "cg/matrices.hpp"

namespace starling::test {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double infinite = std::numeric_limits<double>::infinity();

// Texts that the message of a refusal has to have.
using message_parts = std::initializer_list<std::string>;

// 12 rows, positive definite.
inline cg::csr<double> good_matrix() { return cg::grid_2d<double>(4, 3); }

}  // namespace starling::test
