#include "cg/host/launched_products.hpp"

#include <algorithm>
#include <chrono>

#include "starling/base/error.hpp"

namespace starling::cg {

template <class T>
launched_products<T>::launched_products(machine& m, matrix<T>& a, std::vector<stream>& streams)
    : machine_(m), matrix_(a), streams_(streams) {
  for (auto pe = m.local_pes().begin; pe < m.local_pes().end; ++pe)
    published_.push_back(m.new_event(static_cast<int>(pe)));
}

template <class T>
void launched_products<T>::prepare(system_data<T>& s) {
  const bool on_gpu = machine_.kind() == machine_kind::cuda;
  if (blocks_ == 0) {
    launch_.threads = most_block_threads;
    const bool compressed = matrix_.facts().how == storage::compressed;
    launch_.scratch_bytes = block_context<T>::scratch_bytes(on_gpu ? launch_.threads / 32 : 0, compressed);
    const index_t wanted = on_gpu ? ceil_div(matrix_.most_rows(), launch_.threads) : 2;
    const int most = machine_.blocks_that_fit(product_kernel(s, vec_n, number_), launch_);
    blocks_ = static_cast<int>(std::clamp<index_t>(wanted, 1, most));
  }
  s.a = matrix_.partitioned(blocks_, pack_rows).data;
}

template <class T>
void launched_products<T>::publish(const system_data<T>& s, vector_name v) {
  ++number_;  // in the other slot than the product before, which other PEs may still read
  const kernel k = publish_kernel(s, v, number_);
  if (machine_.transport() != "direct") {
    // What streams launch on GPUs does not reach processes of other hosts.
    synchronize();
    return machine_.run_kernel(blocks_, k, launch_);
  }
  machine_.meet();
  for (std::size_t pe = 0; pe < streams_.size(); ++pe) {
    streams_[pe].launch_kernel(blocks_, k, launch_);
    streams_[pe].record(published_[pe]);
  }
  for (stream& to : streams_)
    for (const event& e : published_) to.wait(e);
  if (machine_.processes() == 1) return;
  synchronize();  // no event tells another process
  machine_.meet();
}

template <class T>
void launched_products<T>::product(const system_data<T>& s, vector_name out) {
  for (stream& one : streams_) one.launch_kernel(blocks_, product_kernel(s, out, number_), launch_);
}

template <class T>
void launched_products<T>::synchronize() {
  for (stream& s : streams_) s.synchronize();
}

template <class T>
void launched_products<T>::multiply(system_data<T>& s, vector_name in, vector_name out) {
  prepare(s);
  publish(s, in);
  product(s, out);
  synchronize();
  machine_.meet();
}

template <class T>
std::vector<double> launched_products<T>::time(system_data<T>& s, int products, int repetitions) {
  expect<argument_error>(products >= 1 && repetitions >= 1, "cg: time_multiply(", products, ", ", repetitions,
                         "); both must be at least 1");
  prepare(s);
  publish(s, vec_d);
  synchronize();
  std::vector<double> seconds;
  for (int r = 0; r < repetitions; ++r) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < products; ++i) {
      if (machine_.size() > 1) publish(s, vec_d);
      product(s, vec_n);
    }
    synchronize();
    const double all = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    seconds.push_back(all / products);
  }
  return seconds;
}

template class launched_products<float>;
template class launched_products<double>;

}  // namespace starling::cg
