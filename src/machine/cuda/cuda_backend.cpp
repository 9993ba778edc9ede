#include "cuda_backend.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "../gpu_placement.hpp"
#include "../launch_queues.hpp"
#include "answer.hpp"
#include "cuda_event.hpp"
#include "cuda_graph.hpp"
#include "cuda_stream.hpp"
#include "device_guard.hpp"
#include "residency.hpp"
#include "sharing_check.hpp"

namespace starling::on_cuda {
namespace {

// Addresses for control words, and for queue pairs where there are several hosts, per PE; memory comes as it is needed.
// A program of 4,000 blocks takes 130 KB.
std::size_t control_bytes_for(const network::host_layout& hosts) {
  return std::size_t{hosts.one_host() ? 64U : 8192U} << 20;
}
// Users' memory grows by at least this: mapping takes time per call, not per byte.
constexpr std::size_t user_step = std::size_t{32} << 20;
constexpr std::size_t launch_bytes = std::size_t{64} << 20;  // addresses for the words of plain launches

std::vector<device_info> infos_of(const std::vector<gpu>& gpus) {
  std::vector<device_info> infos;
  for (const gpu& g : gpus) infos.push_back(g.info);
  return infos;
}

// The same on every PE, so the smallest GPU decides; a multiple of any granularity.
std::size_t capacity_of(const std::vector<gpu>& gpus) {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const gpu& g : gpus) least = std::min(least, g.info.memory_bytes);
  return (least + user_step - 1) / user_step * user_step;
}

// The name of a type, as people write it.
std::string readable(const char* name) {
  int problem = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &problem);
  const std::string given = problem == 0 ? text : name;
  std::free(text);
  return given;
}

// "PEs 0 and 1 share device 0"; empty: none share any.
std::string sharers(const std::vector<gpu>& gpus) {
  std::string text;
  for (const gpu& g : gpus)
    if (g.shared() && g.pe == g.first_pe)
      text += message(text.empty() ? "" : ", ", list_of_pes(sharing(gpus, g)), " share device ", g.info.id);
  return text;
}

// How processes share the machine, in words; empty: there is one.
std::string together(const process_group* processes, const std::vector<gpu>& gpus) {
  if (processes == nullptr) return {};
  const bool slow = any_shared(gpus) && value_of(environment_variables(), "CUDA_MPS_PIPE_DIRECTORY").empty();
  return message(
      summary(machine_kind::cuda, infos_of(gpus)), " in ", processes->size(), " processes, this is process ",
      processes->rank(), " of ", processes->place().source,
      slow ? "; they share GPUs, which without MPS (nvidia-cuda-mps-control) run one of them at a time" : "");
}

symmetric_heap::layout part_of(const symmetric_range& range, const std::vector<gpu>& gpus, std::size_t begin,
                               std::size_t bytes) {
  return {range.start() + begin, range.stride(), static_cast<int>(gpus.size()), bytes, sharers(gpus)};
}

// All symmetric memory of each PE, users' and the runtime's.
std::vector<reached_range> memory_of_pes(const symmetric_range& range, const std::vector<gpu>& gpus) {
  std::vector<reached_range> all;
  const auto stride = static_cast<std::size_t>(range.stride());
  for (std::size_t pe = 0; pe < gpus.size(); ++pe) all.push_back({range.start() + pe * stride, stride});
  return all;
}

}  // namespace

cuda_backend::cuda_backend(const cuda_setting& s, std::unique_ptr<process_group> processes, engine_group* by_messages)
    : default_deadline_(s.deadline),
      processes_(std::move(processes)),
      hosts_(s.hosts),
      driver_(driver_api::load()),
      gpus_(processes_ ? open_gpus(s.placement, driver_, *processes_, hosts_) : open_gpus(s.placement, s.how, driver_)),
      infos_(infos_of(gpus_)),
      capacity_(capacity_of(gpus_)),
      mapper_(gpus_, driver_, processes_ != nullptr),
      exchange_(processes_ ? std::make_unique<memory_exchange>(
                                 gpus_, mapper_, *processes_,
                                 by_messages != nullptr ? by_messages->of_host() : *processes_, s.meeting_deadline)
                           : nullptr),
      range_(gpus_, mapper_, capacity_ + control_bytes_for(hosts_) + launch_bytes, exchange_.get()),
      user_area_(range_, 0, capacity_, user_step),
      control_area_(range_, capacity_, control_bytes_for(hosts_), range_.granularity()),
      launch_area_(range_, capacity_ + control_bytes_for(hosts_), launch_bytes, range_.granularity(),
                   symmetric_range::whose::driven),
      heap_(part_of(range_, gpus_, 0, capacity_), [this](std::size_t end) { user_area_.grow_to(end); }),
      control_heap_(part_of(range_, gpus_, capacity_, control_bytes_for(hosts_)),
                    [this](std::size_t end) { control_area_.grow_to(end); }),
      launch_heap_(part_of(range_, gpus_, capacity_ + control_bytes_for(hosts_), launch_bytes),
                   [this](std::size_t end) { launch_area_.grow_to(end); }),
      agreed_(processes_ ? std::make_unique<agreed_memory>(heap_, *processes_) : nullptr),
      // Twice what there is, so that gaps between allocations seldom matter.
      local_(gpus_, mapper_, 2 * gpus_.size() * capacity_),
      kernels_(gpus_),
      parts_{gpus_, kernels_, heap_, control_heap_, launch_heap_},
      faults_(parts_),
      runner_(parts_, driver_, s.deadline, processes_.get(), ended_) {
  if (by_messages != nullptr) join_hosts(*by_messages);
  if (!hosts_.one_host())
    cards_ = std::make_unique<gpu_cards>(gpus_, driver_, control_heap_, hosts_, s.card, s.queue_depth,
                                         memory_of_pes(range_, gpus_),
                                         reached_range{local_.heap().start(), local_.heap().bytes()}, others_.get());
  if (processes_) processes_->when_lost([this] { runner_.lose_process(); });
  add_remark(together(processes_.get(), gpus_));
  add_remark(left_over(gpus_));
  add_remark(loaded_late(any_shared(gpus_) && loads_late(driver_)));
}

cuda_backend::~cuda_backend() {
  if (!processes_) return;
  processes_->leave();
  processes_->when_lost({});
  // What the engine's thread uses goes before it does.
  cards_.reset();
  far_.reset();
}

void cuda_backend::join_hosts(engine_group& by_messages) {
  const std::span<const gpu> own = driven_here(gpus_);
  near_ = std::make_unique<device_access>(driver_, own.front());
  far_ = std::make_unique<far_memory>(by_messages, *near_, range_.start(), range_.stride(),
                                      static_cast<int>(own.size()), nullptr, ended_);
  others_ = std::make_unique<other_hosts>(other_hosts{*far_, *near_, by_messages.messages(), traffic_});
}

void cuda_backend::add_remark(const std::string& text) {
  if (!text.empty()) remark_ += (remark_.empty() ? "" : "; ") + text;
}

void cuda_backend::try_sharing() {
  if (!any_shared(gpus_)) return;
  require_answers(parts_, runner_);
  // What a stream of a partition has to do beside launching programs; a driver that refuses it says so here.
  for (const gpu& g : driven_here(gpus_)) {
    if (!g.own) continue;
    const auto work = new_stream(g.pe, 0);
    const auto reached = new_event(g.pe, event_use::ordering);
    const auto recording = start_recording(*work);
    work->launch(1, empty_kernel(), {});
    recording->finish()->launch(*work);
    work->record(*reached);
    work->wait(*reached);
    work->synchronize();
  }
}

kernel cuda_backend::as_run(kernel k) const {
  const bool traced = trace() != nullptr;
  if (hosts_.one_host()) {
    if (traced) k.on_gpu = k.on_gpu_traced;
    return k;
  }
  expect<unsupported_error>(
      k.on_gpu == nullptr || k.on_gpu_networked != nullptr, "machine::run: the kernel ", readable(k.name),
      " is not built for machines of several hosts, whose network cards it would not know; name its source in "
      "starling_kernels(<target> <source>... NETWORK) in CMake, or, if it is one of Starling's own, build Starling "
      "with "
      "-DSTARLING_NETWORK=ON; or use one host (cuda_options::hosts, STARLING_HOSTS)");
  k.on_gpu = traced ? k.on_gpu_networked_traced : k.on_gpu_networked;
  return k;
}

std::vector<program> cuda_backend::as_run(std::vector<program> programs) const {
  for (program& p : programs) {
    expect<unsupported_error>(!p.launches || hosts_.one_host(),
                              "machine::run: a kernel that launches others, on a machine of several hosts; what is "
                              "launched would not know its network cards: do without launches");
    expect<unsupported_error>(!p.copies || !far_,
                              "machine::run: a program that sets off copies, on a machine of several hosts; streams do "
                              "not reach the others: do without copies");
    p.k = as_run(std::move(p.k));
  }
  return programs;
}

void cuda_backend::run(const std::vector<program>& programs) {
  expect<unsupported_error>(
      !far_ || trace() == nullptr,
      "machine::run: GPUs of several hosts are not traced in several processes; end the trace, or "
      "use machine::cuda with hosts, or virtual devices");
  runner_.run(as_run(programs), trace().get(), cards_.get());
}

int cuda_backend::blocks_that_fit(const kernel& given, const launch_options& options) const {
  const kernel k = as_run(given);
  int least = std::numeric_limits<int>::max();
  if (cards_) {
    program alone;
    alone.k = k;
    alone.options = options;
    alone.roles.add("all", 1);
    const std::vector<program> both = cards_->with_cards({alone});
    // The card's block is one of those that fit.
    for (const gpu& g : driven_here(gpus_))
      least = std::min(least, residency_on(g, kernels_, both).blocks_that_fit - 1);
    return std::max(least, 0);
  }
  for (const gpu& g : driven_here(gpus_))
    least = std::min(least, kernels_.facts(k, options, g.pe).blocks_per_multiprocessor * g.info.multiprocessors);
  return least;
}

void cuda_backend::check_residency(const std::vector<program>& programs) const {
  const std::vector<program> run = as_run(programs);
  require_residency(driven_here(gpus_), kernels_, cards_ ? cards_->with_cards(run) : run);
}

void cuda_backend::check_bytes(const char* call, const void* address, std::size_t bytes) const {
  if (bytes == 0) return;
  expect<argument_error>(address != nullptr, call, ": null address for ", bytes, " bytes");
  const bool local = local_.heap().in_range(address);
  if (!local && !heap_.in_range(address)) return;
  if (local && local_.heap().contains(address, bytes)) return;
  for (const gpu& g : gpus_)
    if (heap_.contains(address, bytes, g.pe)) return;
  throw range_error(message(call, ": ", bytes, " bytes at ", address, " are not inside one live ",
                            local ? "local" : "symmetric", " allocation; check the size and whether ",
                            (local ? "it" : "the array"), " is still allocated"));
}

backend::pinning cuda_backend::pin(void* start, std::size_t bytes) {
  const auto pinned = [](const void* address) {
    cudaPointerAttributes a{};
    const cudaError_t error = cudaPointerGetAttributes(&a, address);
    if (error != cudaSuccess) ignore(error);
    return error == cudaSuccess && a.type != cudaMemoryTypeUnregistered;
  };
  const device_guard guard(driven_here(gpus_).front().id);
  if (pinned(start) && pinned(static_cast<std::byte*>(start) + bytes - 1)) return pinning::needless;
  const cudaError_t error = cudaHostRegister(start, bytes, cudaHostRegisterPortable);
  if (error == cudaSuccess) return pinning::done;
  ignore(error);
  return pinning::refused;
}

const gpu& cuda_backend::home_of(const void* address) {
  const int pe = home_of_address(address);
  if (pe >= 0 && parts_.on(pe).driven) return parts_.on(pe);
  return driven_here(gpus_).front();
}

void cuda_backend::expect_reached(const char* call, const void* address) const {
  expect<unsupported_error>(!is_far(address), call, ": the memory is of PE ",
                            is_far(address) ? far_->pe_of(address) : 0,
                            ", which is on another host; use machine::copy, or a put or get of a kernel");
}

void cuda_backend::count_copy(int from, int to, std::size_t bytes) {
  traffic_table::pair_bytes moved;
  moved.add(carried::by_engine, bytes);
  traffic_.add(from, to, moved);
}

// What is on another host passes through memory of this one.
void cuda_backend::copy(void* dest, const void* source, std::size_t bytes, where) {
  require_idle("machine::copy");
  check_bytes("machine::copy (dest)", dest, bytes);
  check_bytes("machine::copy (source)", source, bytes);
  if (bytes == 0) return;
  if (!is_far(dest) && !is_far(source)) return copy_here(dest, source, bytes);
  count_copy(home_of_address(source), home_of_address(dest), bytes);
  std::vector<std::byte> between(bytes);
  if (is_far(source))
    far_->read({between.data(), bytes, static_cast<const std::byte*>(source), bytes, bytes, 1});
  else
    copy_here(between.data(), source, bytes);
  if (is_far(dest))
    far_->write({static_cast<std::byte*>(dest), bytes, between.data(), bytes, bytes, 1});
  else
    copy_here(dest, between.data(), bytes);
}

void cuda_backend::copy_here(void* dest, const void* source, std::size_t bytes) {
  const gpu& g = home_of_address(dest) >= 0 ? home_of(dest) : home_of(source);
  const device_guard guard(g.id);
  check(cudaMemcpyAsync(dest, source, bytes, cudaMemcpyDefault, g.service.get()), "cudaMemcpyAsync (machine::copy)",
        g.pe);
  check(cudaStreamSynchronize(g.service.get()), "cudaStreamSynchronize (machine::copy)", g.pe);
}

void cuda_backend::fill(void* dest, unsigned char byte, std::size_t bytes) {
  require_idle("machine::fill");
  check_bytes("machine::fill", dest, bytes);
  if (bytes == 0) return;
  if (is_far(dest)) {
    count_copy(host_place, home_of_address(dest), bytes);
    const std::vector<std::byte> all(bytes, std::byte{byte});
    return far_->write({static_cast<std::byte*>(dest), bytes, all.data(), bytes, bytes, 1});
  }
  const gpu& g = home_of(dest);
  const device_guard guard(g.id);
  if (home_of_address(dest) < 0) {
    cudaPointerAttributes a{};
    check(cudaPointerGetAttributes(&a, dest), "cudaPointerGetAttributes (machine::fill)");
    if (a.type == cudaMemoryTypeUnregistered || a.type == cudaMemoryTypeHost) {
      std::memset(dest, byte, bytes);
      return;
    }
  }
  check(cudaMemsetAsync(dest, byte, bytes, g.service.get()), "cudaMemsetAsync (machine::fill)", g.pe);
  check(cudaStreamSynchronize(g.service.get()), "cudaStreamSynchronize (machine::fill)", g.pe);
}

index_range cuda_backend::local_pes() const {
  const std::span<const gpu> own = driven_here(gpus_);
  return {own.front().pe, own.back().pe + 1};
}

void cuda_backend::meet(const char* call) {
  if (processes_) processes_->meet(call);
}

double cuda_backend::agree(double mine) {
  if (!processes_) return mine;
  return processes_->collect_all("machine::agree", std::vector<double>{mine}).front();
}

std::size_t cuda_backend::allocate(std::size_t bytes) {
  require_idle("machine::allocate");  // what has been freed may still be written by a program that was left alone
  if (!agreed_) return backend::allocate(bytes);
  (void)agreed_->agree(bytes, 0);
  const std::size_t offset = backend::allocate(bytes);
  // Others may write there from now on, and what is not mapped here CUDA takes for addresses of the host.
  meet("machine::allocate");
  return offset;
}

void cuda_backend::free(std::size_t offset) noexcept {
  if (agreed_)
    agreed_->free(offset);
  else
    backend::free(offset);
}

std::byte* cuda_backend::allocate_local(const std::vector<placed_bytes>& pieces) {
  require_idle("machine::allocate_on");
  try {
    return local_.allocate(pieces);
  } catch (const memory_error&) {
    reclaim();
    return local_.allocate(pieces);
  }
}

void cuda_backend::free_local(std::byte* start) noexcept {
  local_.retire(start);
  reclaim();
}

// Waiting for a GPU is not allowed while one of its streams is recorded, and endless while a program is left alone.
void cuda_backend::reclaim() noexcept {
  if (!becomes_idle()) return;
  recordings_.when_none([this] { local_.reclaim(); });
}

std::shared_ptr<stream_backend> cuda_backend::new_stream(int pe, int priority) {
  require_idle("machine::new_stream");
  return std::make_shared<cuda_stream>(shared_from_this(), pe, priority);
}

std::shared_ptr<event_backend> cuda_backend::new_event(int pe, event_use use) {
  return std::make_shared<cuda_event>(shared_from_this(), pe, use);
}

std::unique_ptr<recording_backend> cuda_backend::start_recording(stream_backend& origin) {
  return start_cuda_recording(shared_from_this(), as_cuda<cuda_stream>(origin, "machine::record"));
}

}  // namespace starling::on_cuda
