// The copy of an instance as an operation of a persistent program.
#include "operation_list.hpp"
#include "starling/device/gpu_copy.hpp"

namespace starling::stf {
namespace {

constexpr std::size_t bytes_of_block = std::size_t{4} << 10;  // a vector for each thread
constexpr int most_copy_blocks = 64;

struct copy_rows_kernel {
  static constexpr int max_threads = 256;

  operation_list::rows rows;

  STARLING_HD void operator()(block& b) const {
    const auto all = static_cast<index_t>(rows.bytes * rows.count);
    const auto width = static_cast<index_t>(rows.bytes);
    // Blocks begin at multiples of 16 bytes, as the rows of one piece do.
    const index_range units = share(ceil_div(all, 16), b.blocks_per_pe(), b.index());
    const index_t end = units.end * 16 < all ? units.end * 16 : all;
    for (index_t at = units.begin * 16; at < end;) {
      const index_t row = at / width;
      const index_t from = at - row * width;
      const index_t n = width - from < end - at ? width - from : end - at;
      std::byte* to = rows.dest + row * static_cast<index_t>(rows.dest_pitch) + from;
      const std::byte* source = rows.source + row * static_cast<index_t>(rows.source_pitch) + from;
      if constexpr (target::on_gpu)
        gpu::copy(b.member(), b.members(), to, source, n);
      else
        b.port().put({to, source, n, 1, 1, 1, rows.to, true, where::current()});
      at += n;
    }
    // A virtual device tells of what it has put once that has arrived.
    if constexpr (!target::on_gpu) b.quiet();
  }
};

}  // namespace

erased_kernel copying_kernel(const operation_list::rows& r) {
  erased_kernel c = erase_kernel(copy_rows_kernel{r});
  c.accesses_seen = true;  // it puts
  return c;
}

void operation_list::copy(const std::string& name, const rows& r) {
  if (r.bytes == 0 || r.count == 0) return;
  program_operation i;
  i.name = name;
  i.task = ++tasks;
  i.pe = r.from;
  const std::size_t blocks = (r.bytes * r.count + bytes_of_block - 1) / bytes_of_block;
  i.blocks = static_cast<int>(blocks < most_copy_blocks ? blocks : most_copy_blocks);
  i.divisible = true;
  i.code = copying_kernel(r);
  // Pieces that lie one behind the other are one; otherwise what is between rows counts too.
  const std::size_t gaps = r.count - 1;
  i.accesses = {{r.source, gaps * r.source_pitch + r.bytes, false}, {r.dest, gaps * r.dest_pitch + r.bytes, true}};
  operations.push_back(std::move(i));
}

}  // namespace starling::stf
