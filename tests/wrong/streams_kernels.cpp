// Streams, events and graphs: work that the host believes to be in order.
#include "wrong/wrong.hpp"

namespace starling::test::streams_kernels_tests {
namespace {

struct add_to {
  int* x;
  index_t n;
  int what = 1;
  STARLING_HD void operator()(block& b) const {
    b.for_each(b.my_share(n), [&](index_t i) { x[i] += what; });
  }
};

// The event is recorded before the launch that it stands for.
WRONG_PROGRAM(event_recorded_too_early, found, .kinds = races, .says = {"record an event"}) {
  const auto data = zeroed<int>(m, 8);
  stream a = m.new_stream(0);
  stream b = m.new_stream(1);
  event done = m.new_event(0);
  if (!fixed) a.record(done);
  a.launch(2, add_to{data.on(0), 8});
  if (fixed) a.record(done);
  b.wait(done);
  b.copy(data.on(1), data.on(0), 32);
  b.synchronize();
  return read(m, data, 1) == std::vector<int>(8, 1);
}

// The other stream waits for the event before it is recorded, which is no wait at all.
WRONG_PROGRAM(event_awaited_before_it_is_recorded, found, .kinds = races, .says = {"record an event"}, .pes = 1) {
  const auto data = zeroed<int>(m, 8);
  stream a = m.new_stream(0);
  stream b = m.new_stream(0);
  event done = m.new_event(0);
  if (!fixed) b.wait(done);
  a.launch(1, add_to{data.on(0), 8});
  a.record(done);
  if (fixed) b.wait(done);
  b.launch(1, add_to{data.on(0), 8});
  b.synchronize();
  a.synchronize();
  return read(m, data, 0) == std::vector<int>(8, 2);
}

// A stream clears the buffer for the next step while the kernel of this one adds to it.
WRONG_PROGRAM(fill_beside_a_kernel, found, .kinds = races, .says = {"record an event"}, .pes = 1) {
  const auto data = zeroed<int>(m, 8);
  stream a = m.new_stream(0);
  stream b = m.new_stream(0);
  event done = m.new_event(0);
  a.launch(2, add_to{data.on(0), 8});
  a.record(done);
  if (fixed) b.wait(done);
  b.fill(data.on(0), 0, 32);
  b.synchronize();
  return read(m, data, 0) == std::vector<int>(8, 0);
}

// Copies into two buffers in turns: nothing says when the kernel has read the buffer that is filled again.
WRONG_PROGRAM(double_buffer_without_the_way_back, found, .kinds = races, .says = {"record an event"}, .pes = 1) {
  const auto buffers = zeroed<int>(m, 2);
  const auto data = zeroed<int>(m, 1);
  const sym<int> x = buffers.data();
  const sym<int> sum = data.data();
  const std::vector<int> host = {1, 2, 3, 4};
  stream copies = m.new_stream(0);
  stream works = m.new_stream(0);
  std::vector<event> filled;
  std::vector<event> used;
  for (index_t k = 0; k < 4; ++k) {
    const auto at = static_cast<std::size_t>(k);
    filled.push_back(m.new_event(0));
    used.push_back(m.new_event(0));
    if (fixed && k >= 2) copies.wait(used[at - 2]);
    copies.copy(x.on(0) + k % 2, &host[at], sizeof(int));
    copies.record(filled[at]);
    works.wait(filled[at]);
    works.launch(1, STARLING_KERNEL(block&) { *sum.on(0) += x.on(0)[k % 2]; });
    works.record(used[at]);
  }
  works.synchronize();
  return read(m, data, 0)[0] == 10;
}

// A kernel of PE 0 puts to PE 1, whose own stream goes on without waiting.
WRONG_PROGRAM(put_into_another_devices_stream, found, .kinds = races, .says = {"by put", "streams_kernels.cpp:"}) {
  const auto data = zeroed<int>(m, 8);
  const sym<int> x = data.data();
  stream a = m.new_stream(0);
  stream b = m.new_stream(1);
  event done = m.new_event(0);
  a.launch(1, STARLING_KERNEL(block & k) { k.put(x, [](index_t) { return 4; }, 8, 1); });
  a.record(done);
  if (fixed) b.wait(done);
  b.launch(1, add_to{x.on(1), 8});
  b.synchronize();
  return read(m, data, 1) == std::vector<int>(8, 5);
}

// A run does not wait for streams, nor streams for the run.
WRONG_PROGRAM(run_beside_a_stream, missed, .kinds = races, .says = {"streams_kernels.cpp:"}, .pes = 1) {
  const auto data = zeroed<int>(m, 8);
  stream s = m.new_stream(0);
  s.launch(1, add_to{data.on(0), 8, 10});
  if (fixed) s.synchronize();
  m.run(1, add_to{data.on(0), 8, 1});
  s.synchronize();
  return read(m, data, 0) == std::vector<int>(8, 11);
}

// The host copies what a stream has not been waited for.
WRONG_PROGRAM(host_copies_before_it_waits, found, .kinds = {defect::uninitialised, defect::unordered_read},
              .says = {"the host reads"}, .pes = 1) {
  const auto data = m.allocate<int>(4);
  const sym<int> x = data.data();
  stream s = m.new_stream(0);
  s.launch(1, STARLING_KERNEL(block & b) { b.for_each(4, [&](index_t i) { x.on(0)[i] = 3; }); });
  if (fixed) s.synchronize();
  const std::vector<int> seen = read(m, data, 0);
  s.synchronize();
  return seen == std::vector<int>(4, 3);
}

// One graph in two streams at the same time works on the same memory.
WRONG_PROGRAM(graph_in_two_streams_at_once, found, .kinds = races, .says = {"streams_kernels.cpp:"}, .pes = 1) {
  const auto data = zeroed<int>(m, 4);
  stream a = m.new_stream(0);
  stream b = m.new_stream(0);
  event done = m.new_event(0);
  const graph g = m.record(a, [&] { a.launch(1, add_to{data.on(0), 4}); });
  g.launch(a);
  a.record(done);
  if (fixed) b.wait(done);
  g.launch(b);
  b.synchronize();
  a.synchronize();
  return read(m, data, 0) == std::vector<int>(4, 2);
}

// The last row of the copy begins inside of the array and ends outside.
WRONG_PROGRAM(rows_beyond_the_end, found, .kinds = {defect::out_of_bounds}, .says = {"copy"}, .pes = 1) {
  const auto from = zeroed<int>(m, 4 * 8);
  const auto to = filled<int>(m, 4 * 8, 1);
  stream s = m.new_stream(0);
  const std::size_t row = 8 * sizeof(int);
  s.copy_rows(to.on(0) + 2, row, from.on(0) + 2, row, fixed ? row - 2 * sizeof(int) : row, 4);
  s.synchronize();
  return read(m, to, 0)[31] == 0;
}

// Local memory goes while work on it is to come, and is given out again before that work runs.
WRONG_PROGRAM(freed_for_another_while_in_use, found,
              .kinds = {defect::out_of_bounds, defect::unordered_read, defect::unordered_write}, .says = {}, .pes = 1) {
  local_memory first = m.allocate_on(0, 32);
  m.fill(first.data(), 0, 32);
  stream s = m.new_stream(0);
  s.launch(1, add_to{ints(first), 8});
  if (fixed) s.synchronize();
  first = local_memory();
  const local_memory second = m.allocate_on(0, 32);
  m.fill(second.data(), 0, 32);
  s.synchronize();
  return *ints(second) == 0;
}

// A function of the host reads what another stream copies to it.
WRONG_PROGRAM(function_reads_before_the_copy, found, .kinds = races, .says = {"event"}, .pes = 1) {
  const auto data = filled<int>(m, 4, 1);
  const local_memory host = m.allocate_on(host_place, 16);
  const local_memory result = m.allocate_on(host_place, 4);
  m.fill(host.data(), 0, 16);
  stream a = m.new_stream(0);
  stream b = m.new_stream(0);
  event done = m.new_event(0);
  a.copy(host.data(), data.on(0), 16);
  a.record(done);
  if (fixed) b.wait(done);
  b.call([h = ints(host), r = ints(result)] { *r = h[3]; });
  b.synchronize();
  return *ints(result) == 0x01010101;
}

}  // namespace
}  // namespace starling::test::streams_kernels_tests
