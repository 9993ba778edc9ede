// Products with the matrix as kernels that the host launches: for multiply(), and for the residual at the end of a
// solve.
#pragma once

#include <vector>

#include "cg/setup/launch_shape.hpp"

namespace starling::cg {

template <class T>
class launched_products {
 public:
  // The streams, one for each PE of this process, must stay.
  launched_products(machine& m, matrix<T>& a, std::vector<stream>& streams);

  // Vector `out` = A times vector `in`; returns when it is there.
  void multiply(system_data<T>& s, vector_name in, vector_name out);

  // Seconds of one of `products` products in a row, for each repetition; on several PEs with the exchange of values.
  std::vector<double> time(system_data<T>& s, int products, int repetitions);

 private:
  void prepare(system_data<T>& s);
  void publish(const system_data<T>& s, vector_name v);
  void product(const system_data<T>& s, vector_name out);
  void synchronize();

  machine& machine_;
  matrix<T>& matrix_;
  std::vector<stream>& streams_;
  std::vector<event> published_;  // by own PE
  int blocks_ = 0;                // 0: not chosen yet
  launch_options launch_;
  std::uint64_t number_ = 2;  // of the last product
};

}  // namespace starling::cg
