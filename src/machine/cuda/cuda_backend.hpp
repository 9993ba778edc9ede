// The back end of machine::cuda: owns the GPUs' parts of a machine and hands out streams, events and graphs on them.
// Thread-safe, like machine; a stream, event or graph belongs to one thread at a time.
#pragma once

#include "../agreed_memory.hpp"
#include "../backend.hpp"
#include "../distributed/engine_group.hpp"
#include "gpu_cards.hpp"
#include "launch_faults.hpp"
#include "local_store.hpp"
#include "parts.hpp"
#include "program_runner.hpp"
#include "recordings.hpp"
#include "symmetric_range.hpp"

namespace starling::on_cuda {

// What a machine of GPUs is made of.
struct cuda_setting {
  std::vector<int> placement;  // the GPU of each PE of this process
  gpu_sharing how = gpu_sharing::plain;
  double deadline = 0;         // of waits in kernels, where a program does not say
  network::host_layout hosts;  // which PE is on which
  starling::card card = card::model;
  int queue_depth = 64;         // of the rings of queue pairs
  double meeting_deadline = 0;  // of processes
};

class cuda_backend final : public backend, public std::enable_shared_from_this<cuda_backend> {
 public:
  // A CUDA driver and at least one GPU are known to be there. `processes`: which share the machine, each with its own
  // PEs; null: this one has it alone. `by_messages`: the same where they are of several hosts.
  explicit cuda_backend(const cuda_setting& s, std::unique_ptr<process_group> processes = nullptr,
                        engine_group* by_messages = nullptr);
  ~cuda_backend() override;

  // Throws unless PEs that share a GPU can work as PEs must, or none does.
  void try_sharing();
  void add_remark(const std::string& text);

  machine_kind kind() const override { return machine_kind::cuda; }
  const std::vector<device_info>& devices() const override { return infos_; }
  peer_link link(int from_pe, int to_pe) const override {
    if (from_pe == to_pe) return peer_link::self;
    if (hosts_.apart(from_pe, to_pe)) return peer_link::card;
    // The constructor has refused all else.
    return infos_[static_cast<std::size_t>(from_pe)].gpu == infos_[static_cast<std::size_t>(to_pe)].gpu
               ? peer_link::same_device
               : peer_link::direct;
  }
  std::string transport() const override { return far_ ? far_->carrier() : "direct"; }
  int host_of(int pe) const override { return hosts_.host_of(pe); }
  std::vector<std::uint64_t> sent_bytes() const override {
    return far_ ? far_->sent_bytes() : std::vector<std::uint64_t>();
  }
  std::vector<pair_traffic> traffic() const override { return traffic_.all(transport()); }
  std::string remark() const override { return remark_; }
  symmetric_heap& heap() override { return heap_; }
  std::size_t allocate(std::size_t bytes) override;
  void free(std::size_t offset) noexcept override;
  int processes() const override { return processes_ ? processes_->size() : 1; }
  int process() const override { return processes_ ? processes_->rank() : 0; }
  index_range local_pes() const override;
  std::string job() const override { return processes_ ? processes_->name() : std::string(); }
  void meet(const char* call) override;
  double agree(double mine) override;
  const local_heap& local() const override { return local_.heap(); }
  std::byte* allocate_local(const std::vector<placed_bytes>& pieces) override;
  void free_local(std::byte* start) noexcept override;
  std::size_t page_bytes() const override { return mapper_.granularity(); }
  std::size_t free_bytes(int place) const override { return local_.free_bytes(place); }
  pinning pin(void* start, std::size_t bytes) override;
  void unpin(void* start) noexcept override { ignore(cudaHostUnregister(start)); }
  double default_deadline() const override { return default_deadline_; }

  int blocks_that_fit(const kernel& k, const launch_options& options) const override;
  void run(const std::vector<program>& programs) override;
  void check_residency(const std::vector<program>& programs) const override;

  void copy(void* dest, const void* source, std::size_t bytes, where at) override;
  void fill(void* dest, unsigned char byte, std::size_t bytes) override;

  std::shared_ptr<stream_backend> new_stream(int pe, int priority) override;
  std::shared_ptr<event_backend> new_event(int pe, event_use use) override;
  std::unique_ptr<recording_backend> start_recording(stream_backend& origin) override;

  // Throws device_error while a program that was left alone still runs; see program_runner.
  void require_idle(const char* call) { runner_.require_idle(call); }
  bool becomes_idle() noexcept { return runner_.becomes_idle(); }

  // ---- for streams, events and graphs ----

  const parts& machine() const { return parts_; }
  fault_pool& faults() { return faults_; }
  recordings& recorded() { return recordings_; }
  const driver_api& driver() const { return driver_; }

  // Throws argument_error for a null address, range_error for symmetric or local memory outside one live allocation.
  void check_bytes(const char* call, const void* address, std::size_t bytes) const;
  // Throws unsupported_error for memory of a PE of another host, which streams do not reach.
  void expect_reached(const char* call, const void* address) const;
  // Whether a GPU fills this memory, as the machine knows: its own of the GPUs and of the host.
  bool is_own(const void* address) const {
    return heap_.in_range(address) || local_.heap().in_range(address) || local_.is_outside(address);
  }

 private:
  // The machine is of processes of several hosts.
  void join_hosts(engine_group& by_messages);
  void count_copy(int from, int to, std::size_t bytes);
  void copy_here(void* dest, const void* source, std::size_t bytes);
  bool is_far(const void* address) const { return far_ && far_->holds(address); }
  // With the kernels that record, while there is a trace, and those that know cards, where there are several hosts.
  // Throws unsupported_error for a kernel that does not.
  kernel as_run(kernel k) const;
  std::vector<program> as_run(std::vector<program> programs) const;
  // Gives back local memory that was freed, once nothing can use it.
  void reclaim() noexcept;
  // The GPU that should touch this address: the one whose symmetric or local memory it is, else PE 0.
  const gpu& home_of(const void* address);

  double default_deadline_;
  std::unique_ptr<process_group> processes_;  // null: one; what uses it goes first
  network::host_layout hosts_;
  std::string remark_;
  driver_api driver_;
  std::vector<gpu> gpus_;
  std::vector<device_info> infos_;
  std::size_t capacity_;
  device_mapper mapper_;
  std::unique_ptr<memory_exchange> exchange_;  // null: one process
  symmetric_range range_;
  growing_area user_area_;
  growing_area control_area_;
  growing_area launch_area_;
  symmetric_heap heap_;
  symmetric_heap control_heap_;
  symmetric_heap launch_heap_;
  std::unique_ptr<agreed_memory> agreed_;  // null: one process
  local_store local_;
  mutable kernel_table kernels_;
  parts parts_;
  fault_pool faults_;
  recordings recordings_;
  // Of processes of other hosts; null: there are none.
  traffic_table traffic_;
  std::atomic<std::uint64_t> ended_{0};
  std::unique_ptr<device_access> near_;
  std::unique_ptr<far_memory> far_;
  std::unique_ptr<other_hosts> others_;
  std::unique_ptr<gpu_cards> cards_;  // null: all PEs are on one host
  program_runner runner_;
};

// What a stream, event or graph that the user passed must be. Throws argument_error that names `call`.
template <class Wanted, class Given>
Wanted& as_cuda(Given& given, const char* call) {
  auto* wanted = dynamic_cast<Wanted*>(&given);
  expect<argument_error>(wanted != nullptr, call,
                         ": the stream or event belongs to a machine of another kind; make it "
                         "with new_stream or new_event of this machine");
  return *wanted;
}

}  // namespace starling::on_cuda
