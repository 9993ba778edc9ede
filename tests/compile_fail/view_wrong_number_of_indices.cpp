// expect: at() takes one index per dimension
#include "starling/device/symmetric.hpp"

starling::sym<float> address(const starling::sym_view<float, 2>& v) { return v.at(1, 2, 3); }
