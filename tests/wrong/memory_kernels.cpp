// Local memory, and what the host copies: who owns it, how much of it there is, and whether anybody has written it.
#include "wrong/wrong.hpp"

namespace starling::test::memory_kernels_tests {
namespace {

struct add_to {
  int* x;
  index_t n;
  STARLING_HD void operator()(block& b) const {
    b.for_each(b.my_share(n), [&](index_t i) { x[i] += 1; });
  }
};

std::vector<int> read_local(machine& m, const local_memory& from) {
  std::vector<int> out(from.size() / sizeof(int));
  m.copy(out.data(), from.data(), from.size());
  return out;
}

// fill counts bytes: three quarters of the array stay as they were.
WRONG_PROGRAM(filled_elements_for_bytes, found, .kinds = {defect::uninitialised},
              .says = {"which nothing has written", "memory_kernels.cpp:"}, .pes = 1) {
  const local_memory x = m.allocate_on(0, 32);
  m.fill(x.data(), 0, fixed ? x.size() : 8);
  m.run(1, add_to{ints(x), 8});
  return read_local(m, x) == std::vector<int>(8, 1);
}

// The buffer grows, and the kernel still has the old address.
WRONG_PROGRAM(address_of_the_buffer_before_it_grew, found, .kinds = {defect::out_of_bounds},
              .says = {"memory_kernels.cpp:"}, .pes = 1) {
  local_memory x = m.allocate_on(0, 32);
  m.fill(x.data(), 0, 32);
  int* p = ints(x);
  local_memory larger = m.allocate_on(0, 64);
  m.fill(larger.data(), 0, 64);
  x = std::move(larger);
  if (fixed) p = ints(x);
  m.run(1, add_to{p, 8});
  return read_local(m, x)[0] == 1;
}

// Each PE has memory of its own, and all of them take that of PE 0.
WRONG_PROGRAM(local_memory_of_the_wrong_pe, found, .kinds = races,
              .says = {"local memory of PE 0", "memory_kernels.cpp:"}, .pes = 2) {
  const local_memory a = m.allocate_on(0, 32);
  const local_memory b = m.allocate_on(1, 32);
  m.fill(a.data(), 0, 32);
  m.fill(b.data(), 0, 32);
  int* const of_0 = ints(a);
  int* const of_1 = ints(b);
  m.run(
      1, STARLING_KERNEL(block & k) {
        int* mine = fixed && k.pe() == 1 ? of_1 : of_0;
        k.for_each(8, [&](index_t i) { mine[i] += 1; });
      });
  return read_local(m, b)[0] == 1;
}

// Both PEs count the element in the middle as theirs.
WRONG_PROGRAM(parts_over_two_pes_overlap, found, .kinds = races,
              .says = {"local memory of PE", "memory_kernels.cpp:"}) {
  const std::size_t page = m.page_bytes();
  const local_memory x = m.allocate_over({{0, page}, {1, page}});
  m.fill(x.data(), 0, x.size());
  int* const p = ints(x);
  const index_t half = static_cast<index_t>(page / sizeof(int));
  m.run(
      1, STARLING_KERNEL(block & b) {
        const index_range mine =
            b.pe() == 0 ? index_range{half - 4, fixed ? half : half + 1} : index_range{half, half + 4};
        b.for_each(mine, [&](index_t i) { p[i] += 1; });
      });
  return read_local(m, x)[static_cast<std::size_t>(half)] == 1;
}

// One piece more than there is.
WRONG_PROGRAM(beyond_the_last_piece, found, .kinds = {defect::out_of_bounds},
              .says = {"behind the end of an allocation", "memory_kernels.cpp:"}) {
  const std::size_t page = m.page_bytes();
  const local_memory x = m.allocate_over({{0, page}, {1, page}});
  m.fill(x.data(), 0, x.size());
  int* const p = ints(x);
  const index_t half = static_cast<index_t>(page / sizeof(int));
  m.run(1, STARLING_KERNEL(block & b) { p[(b.pe() + (fixed ? 0 : 1)) * half] = 1; });
  return read_local(m, x)[static_cast<std::size_t>(half)] == 1;
}

// Local memory as the source of a put by the owner's neighbour, while the owner writes it.
WRONG_PROGRAM(local_memory_put_while_written, found, .kinds = races, .says = {"memory_kernels.cpp:"}) {
  const local_memory x = m.allocate_on(0, 16);
  m.fill(x.data(), 0, 16);
  const auto data = zeroed<int>(m, 4);
  const sym<int> y = data.data();
  int* const p = ints(x);
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() == 0) b.for_each(4, [&](index_t i) { p[i] = 3; });
        if (fixed) b.sync_all();
        if (b.pe() == 1) b.put(y, p, 4, 0);
        b.barrier_all();
      });
  return read(m, data, 0)[3] == 3;
}

// The host takes a result that no kernel wrote: the pointers of input and output are mixed up.
WRONG_PROGRAM(host_copies_what_nobody_wrote, found, .kinds = {defect::uninitialised}, .says = {"the host reads"},
              .pes = 1) {
  const auto in = zeroed<int>(m, 4);
  const auto out = m.allocate<int>(4);
  const sym<int> x = in.data();
  const sym<int> y = out.data();
  m.run(1, STARLING_KERNEL(block & b) { b.for_each(4, [&](index_t i) { (fixed ? y : x).on(0)[i] = 1; }); });
  return read(m, out, 0)[3] == 1;
}

// The kernel writes the inner points, the host takes all.
WRONG_PROGRAM(host_copies_ends_that_nobody_wrote, found, .kinds = {defect::uninitialised}, .says = {"the host reads"},
              .pes = 1) {
  const auto out = m.allocate<int>(8);
  const sym<int> y = out.data();
  m.run(1, STARLING_KERNEL(block & b) { b.for_each(index_range{1, 7}, [&](index_t i) { y.on(0)[i] = 1; }); });
  if (fixed) {
    m.fill(y.on(0), 0, 4);
    m.fill(y.on(0) + 7, 0, 4);
  }
  return read(m, out, 0)[1] == 1;
}

// The same by a copy of a stream.
WRONG_PROGRAM(stream_copies_unwritten_memory_to_the_host, found, .kinds = {defect::uninitialised},
              .says = {"the host reads"}, .pes = 1) {
  const local_memory x = m.allocate_on(0, 32);
  std::vector<int> host(8);
  stream s = m.new_stream(0);
  if (fixed) s.fill(x.data(), 0, 32);
  s.copy(host.data(), x.data(), 32);
  s.synchronize();
  return host == std::vector<int>(8, 0);
}

// PE 1 computes, the host asks PE 0.
WRONG_PROGRAM(host_copies_from_the_wrong_pe, found, .kinds = {defect::uninitialised}, .says = {"the host reads"}) {
  const auto out = m.allocate<int>(4);
  const sym<int> y = out.data();
  m.run(
      1, STARLING_KERNEL(block & b) {
        if (b.pe() == 1) b.for_each(4, [&](index_t i) { y.on(1)[i] = 1; });
      });
  return read(m, out, fixed ? 1 : 0)[0] == 1;
}

// What a copy between devices hands on without a value is used by the kernel behind it.
WRONG_PROGRAM(copy_before_the_first_kernel, found, .kinds = {defect::uninitialised},
              .says = {"which nothing has written", "memory_kernels.cpp:"}) {
  const auto data = m.allocate<int>(8);
  const sym<int> x = data.data();
  stream s = m.new_stream(0);
  const auto make = STARLING_KERNEL(block & b) {
    b.for_each(8, [&](index_t i) { x.on(0)[i] = 4; });
  };
  if (fixed) s.launch(1, make);
  s.copy(x.on(1), x.on(0), 32);
  if (!fixed) s.launch(1, make);
  stream t = m.new_stream(1);
  event copied = m.new_event(0);
  s.record(copied);
  t.wait(copied);
  t.launch(1, add_to{x.on(1), 8});
  t.synchronize();
  return read(m, data, 1) == std::vector<int>(8, 5);
}

}  // namespace
}  // namespace starling::test::memory_kernels_tests
