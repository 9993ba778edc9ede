// machine: an ordered set of devices that run one program. A device is a processing element (PE), numbered from 0.
// Devices are GPUs of this host or virtual devices, which are threads of this process; programs cannot tell them apart.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "starling/base/environment.hpp"
#include "starling/machine/card.hpp"
#include "starling/machine/check.hpp"
#include "starling/machine/cuda_options.hpp"
#include "starling/machine/device_info.hpp"
#include "starling/machine/faults.hpp"
#include "starling/machine/kernel.hpp"
#include "starling/machine/local_memory.hpp"
#include "starling/machine/pinned_memory.hpp"
#include "starling/machine/roles.hpp"
#include "starling/machine/stall_error.hpp"
#include "starling/machine/stream.hpp"
#include "starling/machine/symmetric_array.hpp"
#include "starling/machine/symmetric_channel.hpp"
#include "starling/machine/trace_options.hpp"
#include "starling/machine/triggered_copies.hpp"

namespace starling {

struct host_options {
  std::size_t memory_bytes = 0;  // of each virtual device, symmetric and local; 0: STARLING_HOST_MEMORY
  int max_blocks = 0;            // resident on each virtual device; 0: STARLING_HOST_BLOCKS
  bool poison = true;            // fill fresh memory with 0xff bytes (NaN as floating point)
  fault_plan faults = {};        // as by machine::inject
  // On which host each PE is: blocks reach PEs of other hosts by way of a network card, see docs/queue_pairs.md. Empty:
  // STARLING_HOSTS hosts with as many PEs each.
  std::vector<int> hosts = {};
  std::optional<starling::card> card = {};  // nothing said: STARLING_CARD
  int queue_depth = 64;                     // entries in the ring of a queue pair, a power of two from 2 to 32768
};

// Of a machine of several processes.
struct distributed_options {
  int pes = 0;  // of each process; 0: STARLING_DEVICES divided among the processes, or 1
  std::size_t memory_bytes = 0;
  int max_blocks = 0;
  bool poison = true;  // these as in host_options, of virtual devices; all of them the same in every process
  std::optional<machine_kind> kind = {};  // nothing said: STARLING_DISTRIBUTED
};

// Data that has moved from one PE to another, in bytes: what was put, got and copied, signals and words of atomic
// operations.
struct pair_traffic {
  int source;  // host_place: this process's own memory, to or from a PE of another process
  int destination;
  std::string engine;  // "direct": by loads and stores; else as machine::transport, "card" of hosts that are played
  std::uint64_t bytes;
};

// A persistent program: one kernel on every PE, its blocks partitioned among roles.
struct program {
  role_plan roles;
  kernel k;
  launch_options options;
  std::shared_ptr<triggered_copies> copies = {};  // that it sets off; null: none
  // What its blocks launch (thread::launch), one kernel; null: nothing. So many of its blocks as the roles say are
  // certain to run at the same time beside the others, and on a virtual device no more do.
  std::shared_ptr<const program> launches = {};
  int most_pending = 0;  // launches on a PE that have not begun, at most
};

class machine {
 public:
  // `devices` virtual devices.
  static machine host(int devices = 4, const host_options& options = {});
  // This machine of virtual devices in check mode: from now on each run explores seeded schedules and throws
  // check_error for what they find; when none finds anything, the results are those of seed 0. Also turned on by
  // STARLING_CHECK. Kernels must keep what they change in symmetric or local memory: between schedules that alone is
  // set back.
  machine check(const check_options& options = {}) const;
  // What check mode has explored so far.
  check_summary checked() const;
  // Whether it is in check mode.
  bool checking() const;
  // GPUs by CUDA ordinal; none: all of them. A GPU that is named several times has so many PEs, which share it; options
  // say it for all. Every pair must reach each other's memory. Throws unsupported_error that says what is missing: the
  // build, the driver, a device, a link; launch_error when kernels of PEs that share a GPU do not run at the same time.
  // STARLING_PES_PER_GPU=n, where neither ids nor options say who shares: every GPU counts n times, so ordinals 0 to
  // n - 1 are GPU 0.
  static machine cuda(const std::vector<int>& ids = {}, const cuda_options& options = {});
  // GPUs or virtual devices in several processes, which `starling launch`, mpirun, srun or torchrun has started: every
  // process calls it, and owns local_pes(). allocate, run and meet are collective: every process makes the same calls
  // in the same order. See docs/processes.md. Throws process_error that names who does not come, unsupported_error
  // without a launcher, in check mode, and for GPUs that are missing or unlike each other;
  // argument_error when processes disagree.
  static machine distributed(const distributed_options& options = {});
  // GPUs when they can be used, else virtual devices; STARLING_MACHINE and STARLING_DEVICES decide otherwise. choice()
  // says what was taken and why. devices = 0: all GPUs, or 4 virtual devices.
  static machine best(int devices = 0);

  // Whether machine::cuda can work here, and if not, why; counts GPUs.
  struct cuda_status {
    bool built = false;
    int devices = 0;
    std::string driver;   // version, if there is one
    std::string runtime;  // version of the toolkit it was built with
    std::string problem;  // empty: none
    std::string remedy;
  };
  static cuda_status probe_cuda();

  // ---- what there is ----

  machine_kind kind() const;
  int size() const;
  const device_info& device(int pe) const;
  peer_link link(int from_pe, int to_pe) const;
  memory_info memory() const;
  const std::string& choice() const { return choice_; }
  // "4 virtual devices", "2 GPUs", "4 PEs on 1 GPU".
  std::string summary() const;

  // ---- processes: one, unless it is distributed ----

  int processes() const;
  int process() const;  // the number of this one, from 0
  // The PEs of this process: those with streams, events and local memory here, and whose blocks run here.
  index_range local_pes() const;
  bool is_local(int pe) const { return pe >= local_pes().begin && pe < local_pes().end; }
  // What carries data between processes of different hosts: "mpi" or "nvshmem"; "direct" where all are on one.
  std::string transport() const;
  // The host that a PE is on, from 0.
  int host_of(int pe) const;
  // Bytes of data that this process has sent to each process as messages, since the machine was made; those that it has
  // stored straight into memory do not count, and there are none to processes of its own host.
  std::vector<std::uint64_t> sent_bytes() const;
  // What calls of this process have moved between PEs, since the machine was made; in order of PEs, without pairs that
  // have moved nothing. Virtual devices count what runs have done when they end, but not loads and stores of a kernel
  // at ptr(); check mode counts nothing. GPUs, whose blocks store by themselves, count what goes to other hosts.
  std::vector<pair_traffic> traffic() const;
  // Collective: returns when every process has come here, with what it has written into memory of any PE.
  void meet() const;
  // Collective: the value that process 0 passes, for what all must decide alike.
  double agree(double mine) const;

  // How many blocks of a kernel one PE holds at once.
  template <kernel_function F>
  int blocks_that_fit(const F& f, const launch_options& options = {}) const {
    return blocks_that_fit(make_kernel(f), options);
  }
  int blocks_that_fit(const kernel& k, const launch_options& options) const;

  // ---- symmetric memory ----

  // n objects on every PE, not initialised, but signals: those are 0. One call for the whole machine, of several
  // processes a collective one: the memory is free again when all have freed it. Throws memory_error with the sizes
  // when it does not fit.
  template <class T>
  symmetric_array<T> allocate(index_t n) {
    symmetric_array<T> fresh(symmetric_memory(impl_, bytes_of(n, sizeof(T))), n);
    if constexpr (std::is_same_v<T, signal>) clear(fresh.on(0), fresh.data().stride_bytes(), bytes_of(n, sizeof(T)));
    return fresh;
  }

  // A channel for messages of up to `capacity` elements. Throws argument_error, and memory_error as allocate does.
  template <class T>
  symmetric_channel<T> allocate_channel(index_t capacity, const channel_options& options = {}) {
    return {*this, capacity, options};
  }

  // ---- local memory ----

  // Memory of one PE, of host_place or of managed_place, that is in no symmetric array: fresh and not initialised, at
  // least 256-aligned. Throws memory_error with the bytes needed and free when it does not fit, unsupported_error for
  // managed_place on GPUs that cannot use such memory while the host does. On virtual devices that is as host_place.
  local_memory allocate_on(int pe, std::size_t bytes);
  // One range of addresses whose pieces lie on these PEs, in this order. Every piece is a multiple of page_bytes().
  local_memory allocate_over(const std::vector<placed_bytes>& pieces);
  // What pieces of allocate_over are multiples of: 2 MiB on GPUs of today, 4096 bytes on virtual devices.
  std::size_t page_bytes() const;
  // What allocate_on could still give at a place, if addresses and memory were in one piece.
  std::size_t free_bytes(int pe) const;

  // Pins a user's memory of the host for as long as the result lives. It must be there as long.
  pinned_memory pin(void* start, std::size_t bytes);

  // Copies at once, between any two places; returns when done. `at` is where the call stands, for check mode.
  void copy(void* dest, const void* source, std::size_t bytes, where at = where::current());
  void fill(void* dest, unsigned char byte, std::size_t bytes);

  // ---- work ----

  // Runs one persistent program on every PE and returns when all its blocks have; of several processes collective.
  // Proves before that all blocks fit at once (launch_error with the numbers). Throws stall_error when a wait passed
  // its deadline, range_error when a block named a PE or memory that does not exist, on virtual devices also what the
  // kernel threw. The machine is usable afterwards in every case.
  template <kernel_function F>
  void run(const role_plan& roles, const F& f, const launch_options& options = {}) {
    run(std::vector<program>{{roles, make_kernel(f), options}});
  }
  template <kernel_function F>
  void run(int blocks, const F& f, const launch_options& options = {}) {
    run_kernel(blocks, make_kernel(f), options);
  }
  void run_kernel(int blocks, const kernel& k, const launch_options& options = {}) {
    role_plan all;
    all.add("all", blocks);
    run({program{all, k, options}});
  }
  // Several programs at the same time on every PE; sync_pe and the like join the blocks of one program.
  void run(const std::vector<program>& programs);

  // ---- faults on purpose, on virtual devices ----

  // From the next run, launch or allocation on, this plan is in force instead of the one before, its calls counted from
  // here; an empty plan removes all faults. Throws argument_error for a plan that makes no sense, unsupported_error on
  // GPUs.
  void inject(const fault_plan& plan);
  // What of the plan in force has happened so far, in the plan's order.
  std::vector<fired_fault> faults_fired() const;

  // Of streams with work that is ready, a GPU starts that of the higher priority first: from 0, as all streams have it
  // otherwise; a GPU has a few levels, and takes what is above them for its highest. Kernels keep it when they are
  // recorded. Virtual devices take no account of it.
  stream new_stream(int pe, int priority = 0);
  event new_event(int pe, event_use use = event_use::timing);

  // Records what `work` puts into `origin`, and into streams that come to wait for events of it, instead of running it.
  graph record(stream& origin, const std::function<void()>& work);
  // The same for what the host does from here until it finishes the recording.
  recording start_recording(stream& origin);

  // ---- trace ----

  // From here on records what programs, streams and allocations do into a new file, which `starling trace` and Python's
  // starling.trace read. STARLING_TRACE does the same from the start. Throws argument_error when the file is there or
  // cannot be made, or when the machine is traced already. A file that can no longer be written is a device_error of
  // the run that finds it.
  void trace_to(const std::string& path, const trace_options& options = {});
  // Ends the recording; nothing when there is none.
  void end_trace();
  // Where the trace goes; empty: there is none.
  std::string trace_path() const;

  const std::shared_ptr<backend>& impl() const { return impl_; }
  // With a back end that the library's own code, or its tests, has made.
  static machine over(std::shared_ptr<backend> impl);

 private:
  explicit machine(std::shared_ptr<backend> impl, std::string choice);
  void check_pe(int pe) const;
  void check_local(const char* call, int pe) const;
  // Zeros on every PE, collective.
  void clear(void* on_pe_0, index_t stride, std::size_t bytes);
  void check_place(const char* call, int pe) const;
  static std::size_t bytes_of(index_t n, std::size_t element);

  std::shared_ptr<backend> impl_;
  std::string choice_;
};

}  // namespace starling
