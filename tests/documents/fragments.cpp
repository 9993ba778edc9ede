// What fragments of programs in the pages may name. tools/check_documents.py puts those of a page where the last
// comment stands, each between braces, and compiles the whole; nothing of it runs.
#include <cstdio>
#include <vector>

#include "starling/region/tasks.hpp"
#include "starling/shmem.hpp"
#include "starling/starling.hpp"
#include "starling/stf/algorithm.hpp"
#include "starling/stf/context.hpp"
#include "starling/stf/rounds.hpp"
#include "starling/stf/untyped.hpp"

namespace st = starling;
namespace stf = starling::stf;
namespace shmem = starling::shmem;
using st::index_t;
using stf::slice;

// The body of any task or loop.
struct any_body {
  template <class... A>
  STARLING_HD void operator()(A&&...) const {}
};

// A kernel that does nothing.
struct any_kernel {
  STARLING_HD void operator()(st::block&) const {}
};

void library_call(slice<const double> value, st::stream& s);
void write_file(slice<const double> value);
struct library_handle {
  explicit library_handle(const st::stream& s);
  void axpy(double factor, slice<const double> from, slice<double> to);
};

struct of_tasks {
  stf::context& ctx;
  stf::logical_data<slice<double>> d, x, y, lX, u, v, sums;
  stf::logical_data<slice<double, 2>> a;
  stf::logical_data<stf::scalar_view<double>> lSum;
  stf::logical_data<slice<double>> lSums;
  stf::logical_data<stf::scalar_view<int>> again;
};

template <class Where>
void fragments(st::machine& m, st::block& b, st::stream& s, const of_tasks& data, Where where, int i, index_t n) {
  const st::role_plan roles(2);
  const any_kernel kernel;
  const any_body body;
  stf::context& ctx = data.ctx;
  const auto &d = data.d, &x = data.x, &y = data.y, &lX = data.lX, &u = data.u, &v = data.v, &sums = data.sums;
  const auto& a = data.a;
  const auto& lSum = data.lSum;
  const auto& lSums = data.lSums;
  const auto& again = data.again;
  const auto inner = x.shape();
  const auto submit = [&] { ctx.parallel_for(x.shape(), x.rw())->*body; };
  st::region<double> rank(m, n);
  auto channel = m.allocate_channel<double>(n);
  const auto c = channel.handle();
  const st::sym<double> dest;
  const double* source = nullptr;
  const double* in = nullptr;
  double* out = nullptr;
  const st::sym<st::signal> arrived;
  const std::uint64_t number = 1;
  const std::uint64_t t = 1;
  const int right = 1;
  // fragments
}

template void fragments(st::machine&, st::block&, st::stream&, const of_tasks&, stf::exec_place, int, index_t);
