#include "cuda_stream.hpp"

#include <algorithm>
#include <exception>

#include "../launch_queues.hpp"
#include "../launch_rules.hpp"
#include "cuda_event.hpp"
#include "device_guard.hpp"
#include "residency.hpp"

namespace starling::on_cuda {
namespace {

// Bytes from the first row's start to the last row's end.
std::size_t extent(std::size_t pitch, std::size_t row_bytes, std::size_t rows) {
  return rows == 0 || row_bytes == 0 ? 0 : (rows - 1) * pitch + row_bytes;
}

}  // namespace

cuda_stream::cuda_stream(std::shared_ptr<cuda_backend> machine, int pe, int priority)
    : machine_(std::move(machine)),
      pe_(pe),
      priority_(priority),
      number_(machine_->new_stream_number()),
      faults_(machine_->faults().take()) {
  const device_guard guard(device().id);
  stream_ = new_stream(device(), priority);
}

void cuda_stream::note_in(graph_parts& recorded) const {
  recorded.pes.insert(pe_);
  recorded.priorities = recorded.priorities || priority_ > 0;
}

cuda_stream::~cuda_stream() {
  try {
    if (!recording()) {
      ignore(cudaStreamSynchronize(get()));
    } else if (calls_->pending()) {
      (void)calls_.release();  // what is recorded cannot be waited for, and CUDA may still run functions from before
    }
  } catch (const error&) {  // the driver is gone, and the stream's work with it
  }
}

void cuda_stream::trace_into(std::optional<activity_span>& span, const host_activity& a) const {
  if (machine_->trace() && !recording()) span.emplace(*machine_, on_stream(a, pe_, number_));
}

int cuda_stream::blocks_that_fit(const kernel& k, const launch_options& options) {
  known_kernel& slot = known_[reinterpret_cast<std::uintptr_t>(k.on_gpu) / 16 % known_.size()];
  if (slot.kernel != nullptr && slot.kernel == k.on_gpu && slot.threads == options.threads &&
      slot.scratch == options.scratch_bytes)
    return slot.blocks;
  const int blocks = blocks_of_launch(device(), machine_->machine().kernels, k, options);
  slot = {k.on_gpu, options.threads, options.scratch_bytes, blocks};
  return blocks;
}

void cuda_stream::launch(int blocks, const kernel& k, const launch_options& options) {
  machine_->require_idle("stream::launch");
  std::optional<activity_span> span;
  host_activity a;
  a.kind = host_activity::what::launch;
  a.blocks = static_cast<std::uint64_t>(blocks);
  trace_into(span, a);
  const gpu& g = device();
  const parts& machine = machine_->machine();
  const int fit = blocks_that_fit(k, options);
  if (options.resident && blocks > fit) refuse_resident_launch(g, machine.kernels, k, options, blocks);
  // Where the driver does not see to the room of a resident launch, it must be there whatever else has been launched:
  // all resident launches want the same of a multiprocessor.
  const bool cooperative = options.resident && launches_cooperatively(g, k);
  if (options.resident && !cooperative) machine.kernels.prefer_shared_memory(k, pe_, kernel_table::all_of_it);
  role_table roles;
  roles.first[1] = blocks;
  const double deadline = deadline_of(options, machine_->default_deadline());
  program_state state = machine.state(pe_, roles, options, deadline);

  const device_guard guard(g.id);
  const auto recorded = recording();
  launch_faults& faults = recorded ? *recorded->faults : *faults_;
  if (recorded) note_in(*recorded);
  faults.attach(state, options, deadline);
  if (options.resident) {
    if (recorded) recorded->meetings.push_back(std::make_unique<program_control>(machine.control, 1));
    state.control.arrived = recorded ? recorded->meetings.back()->words().arrived : faults.arrived();
    check(cudaMemsetAsync(state.control.arrived.on(pe_), 0, sizeof(signal), get()), "cudaMemsetAsync (barrier)", pe_);
  }
  on_cuda::launch(g, get(), k, options.threads, state, cooperative);
}

// Throws what launches with copies throw; afterwards there is a stream for each queue.
void cuda_stream::prepare_copies(const launch_copies& copies) {
  const gpu& g = device();
  int able = 0;
  machine_->driver().check(
      machine_->driver().device_attribute(&able, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, g.id),
      "cuDeviceGetAttribute", pe_);
  expect<unsupported_error>(able != 0, "stream::launch: the streams of ", describe(g),
                            " cannot wait for words of memory, which copies that launches set off need; send by "
                            "blocks instead");
  const std::string problem =
      too_many_waiting(static_cast<int>(copies.queues.size()), g.info.pes_on_gpu, queues_set(environment_variables()));
  expect<launch_error>(problem.empty(), "stream::launch: ", problem);
  if (launching_.get() == nullptr) launching_ = make_event(pe_, event_use::ordering);
  while (beside_.size() < copies.queues.size())
    beside_.push_back({new_stream(g), make_event(pe_, event_use::ordering)});
}

// As in programs (copy_streams.hpp), but that all is in streams or in a graph when the kernel begins, and that nobody
// looks at the words that tell of the data before the launch is over. The kernel goes first: streams may share a
// hardware queue, in which what waits must not be before what it waits for.
void cuda_stream::launch_with(int blocks, const kernel& k, const launch_options& options,
                              const std::shared_ptr<const launch_copies>& copies) {
  const device_guard guard(device().id);
  prepare_copies(*copies);
  const auto fill_words = [&](int byte) {
    check(cudaMemsetAsync(copies->words, byte, copies->n_words * sizeof(signal), get()),
          "cudaMemsetAsync (copies of a launch)", pe_);
  };
  fill_words(0);
  check(cudaEventRecord(launching_.get(), get()), "cudaEventRecord (copies of a launch)", pe_);
  launch(blocks, k, options);
  // A kernel that failed has not said of all data that it may go: no stream waits for more than its end.
  constexpr int more_than_all = 0x7f;
  fill_words(more_than_all);
  const auto recorded = recording();
  if (recorded) recorded->waits_for_words = true;
  for (std::size_t q = 0; q < copies->queues.size(); ++q) {
    const copy_stream& beside = beside_[q];
    check(cudaStreamWaitEvent(beside.stream.get(), launching_.get(), 0), "cudaStreamWaitEvent (copies of a launch)",
          pe_);
    for (const copy_step& s : copies->queues[q]) {
      put(s, beside.stream.get());
      if (recorded) recorded->pes.insert(s.to.begin(), s.to.end());
    }
    check(cudaEventRecord(beside.done.get(), beside.stream.get()), "cudaEventRecord (copies of a launch)", pe_);
    check(cudaStreamWaitEvent(get(), beside.done.get(), 0), "cudaStreamWaitEvent (copies of a launch)", pe_);
  }
}

void cuda_stream::put(const copy_step& s, cudaStream_t stream) const {
  const device_guard guard(device().id);
  const auto copy = [&](void* dest, const void* source, std::size_t bytes) {
    check(cudaMemcpyAsync(dest, source, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync (copies of a launch)", pe_);
  };
  machine_->driver().check(
      machine_->driver().stream_wait(stream, address(s.awaited.on(pe_)), s.value, CU_STREAM_WAIT_VALUE_GEQ),
      "cuStreamWaitValue64", pe_);
  if (s.bytes > 0)
    for (const int to : s.to) copy(s.data.on(to), s.data.on(pe_), s.bytes);
  if (s.bytes > 0 && s.on_host != nullptr) copy(s.on_host, s.data.on(pe_), s.bytes);
  for (const int to : s.to) copy(s.arrived.on(to), s.made.on(pe_), sizeof(std::uint64_t));
  if (s.arrived_host != nullptr) copy(s.arrived_host, s.made.on(pe_), sizeof(std::uint64_t));
  if (static_cast<bool>(s.done)) copy(s.done.on(pe_), s.made.on(pe_), sizeof(std::uint64_t));
}

void cuda_stream::copy_rows(void* dest, std::size_t dest_pitch, const void* source, std::size_t source_pitch,
                            std::size_t row_bytes, std::size_t rows) {
  machine_->require_idle("stream::copy");
  machine_->check_bytes("stream::copy (dest)", dest, extent(dest_pitch, row_bytes, rows));
  machine_->check_bytes("stream::copy (source)", source, extent(source_pitch, row_bytes, rows));
  machine_->expect_reached("stream::copy (dest)", dest);
  machine_->expect_reached("stream::copy (source)", source);
  if (rows == 0 || row_bytes == 0) return;
  const host_activity copy = copy_activity(*machine_, dest, source, rows * row_bytes);
  if (const auto recorded = recording()) {
    note_in(*recorded);
    for (const int pe : {copy.from, copy.to})
      if (pe >= 0) recorded->pes.insert(pe);
  }
  std::optional<activity_span> span;
  trace_into(span, copy);
  const device_guard guard(device().id);
  const auto most = device().properties.memPitch;
  if (rows == 1 || (dest_pitch == row_bytes && source_pitch == row_bytes)) {
    check(cudaMemcpyAsync(dest, source, rows * row_bytes, cudaMemcpyDefault, get()), "cudaMemcpyAsync", pe_);
  } else if (dest_pitch <= most && source_pitch <= most) {
    check(cudaMemcpy2DAsync(dest, dest_pitch, source, source_pitch, row_bytes, rows, cudaMemcpyDefault, get()),
          "cudaMemcpy2DAsync", pe_);
  } else {
    for (std::size_t i = 0; i < rows; ++i)
      check(cudaMemcpyAsync(static_cast<std::byte*>(dest) + i * dest_pitch,
                            static_cast<const std::byte*>(source) + i * source_pitch, row_bytes, cudaMemcpyDefault,
                            get()),
            "cudaMemcpyAsync", pe_);
  }
}

void cuda_stream::fill(void* dest, unsigned char byte, std::size_t bytes) {
  machine_->require_idle("stream::fill");
  machine_->check_bytes("stream::fill", dest, bytes);
  machine_->expect_reached("stream::fill", dest);
  if (bytes == 0) return;
  std::optional<activity_span> span;
  trace_into(span, fill_activity(*machine_, dest, bytes));
  const device_guard guard(device().id);
  if (!machine_->is_own(dest)) {
    cudaPointerAttributes a{};
    check(cudaPointerGetAttributes(&a, dest), "cudaPointerGetAttributes (stream::fill)", pe_);
    expect<argument_error>(
        a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged,
        "stream::fill: host memory; a GPU's stream fills device memory, use machine::fill or memset");
  }
  if (const auto recorded = recording()) note_in(*recorded);
  check(cudaMemsetAsync(dest, byte, bytes, get()), "cudaMemsetAsync", pe_);
}

void cuda_stream::call(std::function<void()> f) {
  std::optional<activity_span> span;
  host_activity a;
  a.kind = host_activity::what::call;
  trace_into(span, a);
  const auto recorded = recording();
  host_calls& calls = recorded ? recorded->calls : *calls_;
  calls.submit(get(), pe_, std::move(f), !recorded);
}

// CUDA lets streams record and wait whichever device is current; launches and fills want theirs, and copies one that
// reaches the memory.
void cuda_stream::record(event_backend& e) { as_cuda<cuda_event>(e, "stream::record").record_on(device(), get()); }

void cuda_stream::wait(const event_backend& e) {
  const auto& awaited = as_cuda<const cuda_event>(e, "stream::wait");
  if (awaited.recorded()) check(cudaStreamWaitEvent(get(), awaited.get(), 0), "cudaStreamWaitEvent", pe_);
}

void cuda_stream::synchronize() {
  expect<argument_error>(
      !recording(),
      "stream::synchronize inside a recording; record work only, and synchronize after the graph was "
      "launched");
  check(cudaStreamSynchronize(get()), "stream::synchronize", pe_);
  if (const auto trace = machine_->trace()) trace->flush();
  std::exception_ptr first;
  const auto look = [&first](launch_faults& faults, host_calls& calls) {
    try {
      faults.throw_first();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
    try {
      calls.throw_first();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  };
  look(*faults_, *calls_);
  for (const launched_graph& g : of_graphs_) look(*g.parts->faults, g.parts->calls);
  of_graphs_.clear();
  if (first) std::rethrow_exception(first);
}

bool cuda_stream::keep_with_recording(std::shared_ptr<void> what) {
  const auto recorded = recording();
  if (recorded && what) recorded->kept.push_back(std::move(what));
  return recorded != nullptr;
}

void cuda_stream::launch_graph(cudaGraphExec_t graph, const std::shared_ptr<graph_parts>& parts) {
  machine_->require_idle("graph::launch");
  const device_guard guard(device().id);
  expect<argument_error>(!recording(), "graph::launch inside a recording; launch it after");
  keep(parts);
  std::optional<activity_span> span;
  host_activity a;
  a.kind = host_activity::what::graph;
  trace_into(span, a);
  check(cudaGraphLaunch(graph, get()), "cudaGraphLaunch", pe_);
}

// The stream's device is current.
void cuda_stream::keep(const std::shared_ptr<graph_parts>& parts) {
  if (!of_graphs_.empty()) {
    launched_graph& newest = of_graphs_.back();
    if (newest.parts == parts) return;
    newest.ended = make_event(pe_, event_use::ordering);
    check(cudaEventRecord(newest.ended.get(), get()), "cudaEventRecord (graph::launch)", pe_);
  }
  let_go();
  const auto there =
      std::find_if(of_graphs_.begin(), of_graphs_.end(), [&](const launched_graph& g) { return g.parts == parts; });
  if (there == of_graphs_.end())
    of_graphs_.push_back({parts, {}});
  else
    std::rotate(there, there + 1, of_graphs_.end());
}

// Of graphs whose launches have ended without a fault, so that a host that never synchronizes does not keep them all.
void cuda_stream::let_go() {
  constexpr std::size_t enough = 8;
  while (of_graphs_.size() > enough) {
    const launched_graph& oldest = of_graphs_.front();
    if (still_running(cudaEventQuery(oldest.ended.get()), "cudaEventQuery (graph::launch)", pe_)) return;
    if (oldest.parts->any()) return;
    of_graphs_.erase(of_graphs_.begin());
  }
}

}  // namespace starling::on_cuda
