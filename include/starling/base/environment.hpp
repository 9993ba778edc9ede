// The environment variables that Starling reads: one field each, read once, when a machine is made.
// An empty or absent variable leaves the default; a value that cannot be read is an argument_error that quotes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace starling {

struct environment {
  // STARLING_MACHINE: host, cuda, distributed or auto; what machine::best() takes.
  std::string machine = "auto";
  // STARLING_DEVICES: how many devices machine::best() takes; 0 means all GPUs, or 4 virtual devices. Distributed: in
  // all processes together; 0 means one in each.
  int devices = 0;
  // STARLING_PES_PER_GPU: how many PEs share a GPU where a program does not say; see machine::cuda.
  int pes_per_gpu = 1;
  // STARLING_GPU_SHARING: how they divide its multiprocessors where a program does not say: auto, partitions or plain.
  std::string gpu_sharing = "auto";
  // STARLING_DEADLINE: seconds that a wait in a kernel may last before the program is ended with a stall_error.
  double deadline = 10.0;
  // STARLING_MEETING_DEADLINE: seconds that a process of a distributed machine waits for the others on the host.
  double meeting_deadline = 120.0;
  // STARLING_TRANSPORT: how processes of a distributed machine reach each other: direct, by memory that they share;
  // mpi or nvshmem, by messages of that, also on one host; auto: direct on one host, mpi between hosts.
  std::string transport = "auto";
  bool messages_alone() const { return transport == "mpi" || transport == "nvshmem"; }
  // STARLING_NVSHMEM_LIBRARY: the host library of NVSHMEM, as dlopen takes it.
  std::string nvshmem_library = "libnvshmem_host.so.3";
  // STARLING_DISTRIBUTED: what a distributed machine is of: host, virtual devices; cuda, GPUs; auto: GPUs where this
  // host has enough for the PEs of all processes.
  std::string distributed = "auto";
  // STARLING_HOST_MEMORY: bytes of memory of one virtual device; suffixes K, M, G (powers of 1024).
  std::size_t host_memory = std::size_t{1} << 30;
  // STARLING_HOST_BLOCKS: how many blocks one virtual device holds at once.
  int host_blocks = 64;
  // STARLING_HOSTS: on how many hosts PEs are where a program does not say; see host_options::hosts.
  int hosts = 1;
  // STARLING_CARD: the network cards between them: model or, of GPUs, proxy.
  std::string card = "model";
  // STARLING_CHECK: how many schedules check mode explores in each run on virtual devices; 0: check mode is off.
  int check_seeds = 0;
  // STARLING_CHECK_SEED: the first of their seeds.
  std::uint64_t check_first_seed = 1;
  // STARLING_CHECK_THREADS: how many threads a block has in check mode; 0: as the seed says.
  int check_threads = 0;
  // STARLING_CHECK_REPORT: file to which check mode adds a line of JSON for each run.
  std::string check_report;
  // STARLING_TRACE: where machines write their traces; empty: no trace. A file is never overwritten: the second machine
  // takes this name with .1 behind it, and so on.
  std::string trace;
  // STARLING_TRACE_RECORDS: how many records of a block a trace keeps, the newest.
  int trace_records = 8192;

  static environment read();
};

// A line per variable for `starling doctor` and the reference: name, meaning, default as text.
struct environment_variable {
  std::string name;
  std::string meaning;
  std::string value;
};
std::vector<environment_variable> describe(const environment& e);

// "512M" -> 536870912. Throws argument_error that quotes `text` and names `what`.
std::size_t parse_bytes(const std::string& text, const std::string& what);

// 1536 -> "1.5 KiB".
std::string format_bytes(std::size_t bytes);

}  // namespace starling
