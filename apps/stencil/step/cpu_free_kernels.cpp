#include "stencil/step/kernel_by_shape.hpp"

namespace starling::stencil {
namespace {

// The part of the persistent program that does not depend on how faces travel.
template <class T, int Dimensions, bool Dynamic, class Exchange>
STARLING_HD void run_cpu_free(block& b, const cpu_free_arguments<T>& a, Exchange exchange) {
  const box& own = own_box(b, a.f);
  tile_queue<T>* queue = queue_of<Dynamic, T>(b);
  exchange.begin(b, own);
  const bool reports = b.pe() == 0 && b.index() == 0 && b.member() == 0;
  index_t time_level = a.first;
  index_t until_check = a.check_every;
  while (time_level < a.first + a.steps) {
    ++time_level;
    const bool check = --until_check == 0;
    const sweep<T, Dimensions> s(a.f, own, b.pe(), time_level, a.compute, check);
    T change = 0;
    if (b.role() == a.boundary_role) exchange.step(b, s, time_level, change);
    if (b.role() == a.interior_role) s.template interior<Dynamic>(b, a.interior, b.rank(), queue, change);
    if (!check) {
      b.sync_pe();
      continue;
    }
    until_check = a.check_every;
    const auto checked = static_cast<double>(b.all_reduce(b.reduce(change, maximum{}), maximum{}));
    if (reports) a.status.on(0)->change = checked;
    if (checked <= a.tolerance) break;
  }
  if (reports) a.status.on(0)->time_level = time_level;
}

template <class T, int Dimensions, bool Dynamic>
struct cpu_free_signalled {
  cpu_free_arguments<T> a;
  static constexpr int max_threads = threads_at_most(Dynamic);
  static constexpr int least_blocks = blocks_at_least(Dynamic);
  STARLING_HD void operator()(block& b) const {
    run_cpu_free<T, Dimensions, Dynamic>(b, a, signalled_halo<T, Dimensions>{a, own_chunks(b, a)});
  }
};

template <class T, int Dimensions, bool Dynamic>
struct cpu_free_packets {
  cpu_free_arguments<T> a;
  static constexpr int max_threads = threads_at_most(Dynamic);
  static constexpr int least_blocks = blocks_at_least(Dynamic);
  STARLING_HD void operator()(block& b) const {
    run_cpu_free<T, Dimensions, Dynamic>(b, a, packet_halo<T, Dimensions>{a, own_chunks(b, a)});
  }
};

}  // namespace

template <class T>
kernel cpu_free_kernel(const cpu_free_arguments<T>& arguments) {
  if (arguments.packets) return of_cut<cpu_free_packets, T>(arguments.f.shape, arguments.interior, arguments);
  return of_cut<cpu_free_signalled, T>(arguments.f.shape, arguments.interior, arguments);
}

template kernel cpu_free_kernel(const cpu_free_arguments<float>&);
template kernel cpu_free_kernel(const cpu_free_arguments<double>&);

}  // namespace starling::stencil
