#include "cg/setup/launch_shape.hpp"

#include <algorithm>
#include <numeric>

#include "starling/base/error.hpp"

namespace starling::cg {
namespace {

// The vectors that an iteration uses.
std::uint32_t vectors_used(const solve_options& o) {
  std::uint32_t all = 1u << vec_x | 1u << vec_r | 1u << vec_p | 1u << vec_s;
  if (o.how != method::standard) all |= 1u << vec_w;
  if (o.how == method::pipelined) all |= 1u << vec_n | 1u << vec_z;
  if (o.m == preconditioner::none) return all;
  all |= 1u << vec_u;
  if (o.how == method::pipelined) all |= 1u << vec_q | 1u << vec_m;
  if (o.m == preconditioner::chebyshev) all |= 1u << vec_d | 1u << vec_e | 1u << vec_n;
  return all;
}

// What stays in shared memory: vectors first, since each is read and written, the most used ones first, then the
// matrix.
template <class T>
void choose_kept(const machine& m, matrix<T>& a, const solve_options& o, std::size_t base, int fit,
                 launch_shape& shape) {
  const bool on_gpu = m.kind() == machine_kind::cuda;
  const bool compressed = a.facts().how == storage::compressed;
  const block_partition<T>& rows = a.partitioned(shape.blocks, shape.unit);
  const std::size_t room = m.device(0).scratch_bytes;
  std::size_t left = room > base ? room - base : 0;
  // Entries that stream past need room in the L1 cache, which is the same memory; short rows gain more by staying.
  constexpr std::size_t with_room_to_stream = 150'000;
  const bool streams = compressed || a.facts().nonzeros > 16 * a.facts().rows;
  if (streams && on_gpu) left = std::min(left, with_room_to_stream);
  if (o.keep_bytes >= 0) left = std::min(left, static_cast<std::size_t>(o.keep_bytes));
  if (fit > shape.blocks + 1 && on_gpu) {
    // Several blocks share a multiprocessor's memory when there are more than multiprocessors.
    const int each = static_cast<int>(ceil_div(shape.blocks + 1, std::max(m.device(0).multiprocessors, 1)));
    left =
        std::min(left, room / static_cast<std::size_t>(each) - std::min(base, room / static_cast<std::size_t>(each)));
  }
  const std::size_t budget = left;
  const std::size_t vector_bytes = static_cast<std::size_t>(
      round_up(round_up(rows.most_block_rows, pack_rows) * static_cast<index_t>(sizeof(T)), 16));
  const std::uint32_t wish = vectors_used(o);
  for (const vector_name v : {vec_s, vec_p, vec_r, vec_z, vec_w, vec_x, vec_u, vec_q, vec_n, vec_m, vec_e, vec_d})
    if ((wish >> v & 1) != 0 && vector_bytes <= left) {
      shape.kept.vectors |= 1u << v;
      left -= vector_bytes;
    }
  const std::size_t rounding = 64 + sizeof(slice) * static_cast<std::size_t>(rows.most_block_parts);
  if (!compressed && left > rounding) {
    const std::size_t area = a.facts().how == storage::sliced_3x3 ? 9 : 1;
    const std::size_t entry = area * sizeof(T) + static_cast<std::size_t>(a.facts().offset_bits / 8);
    const std::size_t bytes = std::min(left - rounding, rows.most_block_bytes + rows.most_block_bytes / 16);
    shape.kept.entries = static_cast<index_t>(bytes / entry);
    left -= static_cast<std::size_t>(shape.kept.entries) * entry + rounding;
  }
  shape.kept_bytes = budget - left;
  shape.scratch_bytes = base + shape.kept_bytes;
}

}  // namespace

template <class T>
launch_shape choose_launch(const machine& m, matrix<T>& a, const system_data<T>& s, const solve_options& o) {
  const bool on_gpu = m.kind() == machine_kind::cuda;
  launch_shape shape;
  shape.threads = o.threads > 0 ? o.threads : most_block_threads;
  const bool compressed = a.facts().how == storage::compressed;
  const std::size_t base = program_scratch<T>(shape.threads, on_gpu, compressed, m.size());
  program_arguments<T> program;
  program.s = s;
  program.how = o.how;
  const int fit = m.blocks_that_fit(program_kernel(program), {shape.threads, base, o.deadline});
  const int most = fit - 1;  // one gathers sums
  expect<launch_error>(o.blocks <= most && most >= 1, "cg: blocks = ", o.blocks, " per PE, but only ", most,
                       " fit at once beside the one that gathers sums; ask for fewer, or 0 to choose");
  const index_t wanted = on_gpu ? ceil_div(a.most_rows(), shape.threads) : 2;
  shape.blocks = o.blocks > 0 ? o.blocks : static_cast<int>(std::clamp<index_t>(wanted, 1, most));
  shape.unit = std::lcm(index_t{pack_rows}, o.m == preconditioner::block_jacobi ? index_t{s.block_size} : index_t{1});
  choose_kept(m, a, o, base, fit, shape);
  return shape;
}

template launch_shape choose_launch(const machine&, matrix<float>&, const system_data<float>&, const solve_options&);
template launch_shape choose_launch(const machine&, matrix<double>&, const system_data<double>&, const solve_options&);

}  // namespace starling::cg
