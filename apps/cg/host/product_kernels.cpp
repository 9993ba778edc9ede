#include "cg/iterate/cg_kernels.hpp"
#include "cg/iterate/phases.hpp"

namespace starling::cg {
namespace {

template <class T>
struct publish_once {
  static constexpr int max_threads = most_block_threads;
  system_data<T> s;
  vector_name v;
  std::uint64_t product;

  STARLING_HD void operator()(block& b) const {
    block_context<T> k(b, s, false, {}, product - 1);
    publish(k, v);
  }
};

template <class T>
struct multiply_once {
  static constexpr int max_threads = most_block_threads;
  static constexpr int least_blocks = 1;
  system_data<T> s;
  vector_name out;
  std::uint64_t product;

  STARLING_HD void operator()(block& b) const {
    const block_context<T> k(b, s, false, {}, product);
    k.product(out);
  }
};

}  // namespace

template <class T>
kernel publish_kernel(const system_data<T>& s, vector_name v, std::uint64_t product) {
  return make_kernel(publish_once<T>{s, v, product});
}
template <class T>
kernel product_kernel(const system_data<T>& s, vector_name out, std::uint64_t product) {
  return make_kernel(multiply_once<T>{s, out, product});
}

template kernel publish_kernel(const system_data<float>&, vector_name, std::uint64_t);
template kernel publish_kernel(const system_data<double>&, vector_name, std::uint64_t);
template kernel product_kernel(const system_data<float>&, vector_name, std::uint64_t);
template kernel product_kernel(const system_data<double>&, vector_name, std::uint64_t);

}  // namespace starling::cg
