#include "starling/base/environment.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "starling/base/error.hpp"
#include "starling/base/index.hpp"

namespace starling {
namespace {

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

int read_count(const char* name, int otherwise, int least) {
  const std::string text = variable(name);
  if (text.empty()) return otherwise;
  int value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  expect<argument_error>(problem == std::errc() && end == text.data() + text.size() && value >= least, name, "=\"",
                         text, "\": must be a whole number of at least ", least, "; correct or unset it");
  return value;
}

std::uint64_t read_seed(const char* name, std::uint64_t otherwise) {
  const std::string text = variable(name);
  if (text.empty()) return otherwise;
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  expect<argument_error>(problem == std::errc() && end == text.data() + text.size(), name, "=\"", text,
                         "\": must be a whole number from 0 to 2^64 - 1; correct or unset it");
  return value;
}

double read_seconds(const char* name, double otherwise) {
  const std::string text = variable(name);
  if (text.empty()) return otherwise;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  expect<argument_error>(*end == 0 && value > 0 && value < 1e6, name, "=\"", text,
                         "\": must be a number of seconds, more than 0 and less than 1e6; correct or unset it");
  return value;
}

}  // namespace

environment environment::read() {
  environment e;
  if (const std::string text = variable("STARLING_MACHINE"); !text.empty()) {
    expect<argument_error>(text == "host" || text == "cuda" || text == "distributed" || text == "auto",
                           "STARLING_MACHINE=\"", text,
                           "\": must be host, cuda, distributed or auto; correct or unset it");
    e.machine = text;
  }
  e.devices = read_count("STARLING_DEVICES", e.devices, 0);
  e.pes_per_gpu = read_count("STARLING_PES_PER_GPU", e.pes_per_gpu, 1);
  if (const std::string text = variable("STARLING_GPU_SHARING"); !text.empty()) {
    expect<argument_error>(text == "auto" || text == "partitions" || text == "plain", "STARLING_GPU_SHARING=\"", text,
                           "\": must be auto, partitions or plain; correct or unset it");
    e.gpu_sharing = text;
  }
  e.deadline = read_seconds("STARLING_DEADLINE", e.deadline);
  e.meeting_deadline = read_seconds("STARLING_MEETING_DEADLINE", e.meeting_deadline);
  if (const std::string text = variable("STARLING_TRANSPORT"); !text.empty()) {
    expect<argument_error>(text == "auto" || text == "direct" || text == "mpi" || text == "nvshmem",
                           "STARLING_TRANSPORT=\"", text,
                           "\": must be direct, mpi, nvshmem or auto; correct or unset it");
    e.transport = text;
  }
  if (const std::string text = variable("STARLING_NVSHMEM_LIBRARY"); !text.empty()) e.nvshmem_library = text;
  if (const std::string text = variable("STARLING_DISTRIBUTED"); !text.empty()) {
    expect<argument_error>(text == "auto" || text == "host" || text == "cuda", "STARLING_DISTRIBUTED=\"", text,
                           "\": must be host, cuda or auto; correct or unset it");
    e.distributed = text;
  }
  if (const std::string text = variable("STARLING_HOST_MEMORY"); !text.empty())
    e.host_memory = parse_bytes(text, "STARLING_HOST_MEMORY");
  e.host_blocks = read_count("STARLING_HOST_BLOCKS", e.host_blocks, 1);
  e.hosts = read_count("STARLING_HOSTS", e.hosts, 1);
  if (const std::string text = variable("STARLING_CARD"); !text.empty()) {
    expect<argument_error>(text == "model" || text == "proxy", "STARLING_CARD=\"", text,
                           "\": must be model or proxy; correct or unset it");
    e.card = text;
  }
  e.check_seeds = read_count("STARLING_CHECK", e.check_seeds, 0);
  e.check_first_seed = read_seed("STARLING_CHECK_SEED", e.check_first_seed);
  e.check_threads = read_count("STARLING_CHECK_THREADS", e.check_threads, 0);
  e.check_report = variable("STARLING_CHECK_REPORT");
  e.trace = variable("STARLING_TRACE");
  e.trace_records = read_count("STARLING_TRACE_RECORDS", e.trace_records, 32);
  return e;
}

std::vector<environment_variable> describe(const environment& e) {
  return {
      {"STARLING_MACHINE", "the kind of machine that is taken by default: host, cuda, distributed or auto", e.machine},
      {"STARLING_DEVICES", "how many devices are taken by default; 0: all GPUs, or 4 virtual devices",
       message(e.devices)},
      {"STARLING_PES_PER_GPU", "how many PEs share each GPU by default", message(e.pes_per_gpu)},
      {"STARLING_GPU_SHARING",
       "how PEs of one GPU divide its multiprocessors: partitions, plain, or auto, which is partitions if the driver "
       "has "
       "them",
       e.gpu_sharing},
      {"STARLING_DEADLINE", "seconds that a wait in a kernel may last before the program is ended",
       message(e.deadline)},
      {"STARLING_MEETING_DEADLINE", "seconds that a process of a distributed machine waits for the others on the host",
       message(e.meeting_deadline)},
      {"STARLING_TRANSPORT", "how processes of a distributed machine reach each other: direct, mpi, nvshmem or auto",
       e.transport},
      {"STARLING_NVSHMEM_LIBRARY", "the host library of NVSHMEM, for the transport nvshmem", e.nvshmem_library},
      {"STARLING_DISTRIBUTED", "what a distributed machine is of: host (virtual devices), cuda (GPUs) or auto",
       e.distributed},
      {"STARLING_HOST_MEMORY", "memory of one virtual device; suffixes K, M, G", format_bytes(e.host_memory)},
      {"STARLING_HOST_BLOCKS", "how many blocks one virtual device holds at once", message(e.host_blocks)},
      {"STARLING_HOSTS", "on how many hosts, with network cards between them, devices are by default",
       message(e.hosts)},
      {"STARLING_CARD", "the network cards between hosts: model, or on GPUs proxy", e.card},
      {"STARLING_CHECK", "how many schedules check mode explores in each run on virtual devices; 0: off",
       message(e.check_seeds)},
      {"STARLING_CHECK_SEED", "the first of their seeds", message(e.check_first_seed)},
      {"STARLING_CHECK_THREADS", "how many threads a block has in check mode; 0: as the seed says",
       message(e.check_threads)},
      {"STARLING_CHECK_REPORT", "file to which check mode adds a line of JSON for each run",
       e.check_report.empty() ? "none" : e.check_report},
      {"STARLING_TRACE", "the file that a machine writes its trace to", e.trace.empty() ? "no trace" : e.trace},
      {"STARLING_TRACE_RECORDS", "how many records of a block a trace keeps", message(e.trace_records)},
  };
}

std::size_t parse_bytes(const std::string& text, const std::string& what) {
  std::size_t value = 0;
  const char* last = text.data() + text.size();
  auto [end, problem] = std::from_chars(text.data(), last, value);
  int shift = 0;
  if (problem == std::errc() && end != last) {
    const char suffix = static_cast<char>(std::toupper(static_cast<unsigned char>(*end)));
    shift = suffix == 'K' ? 10 : suffix == 'M' ? 20 : suffix == 'G' ? 30 : -1;
    ++end;
  }
  const bool fits = shift >= 0 && value > 0 && value <= (std::size_t{1} << 50 >> shift);
  expect<argument_error>(problem == std::errc() && end == last && fits, what, "=\"", text,
                         "\": must be a number of bytes from 1 to 2^50, with K, M or G behind it for powers of 1024");
  return value << shift;
}

std::string format_bytes(std::size_t bytes) {
  constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  std::ostringstream out;
  out.precision(unit == 0 ? 15 : 4);
  out << value << ' ' << units[unit];
  return out.str();
}

}  // namespace starling
