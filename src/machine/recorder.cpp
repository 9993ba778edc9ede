#include "recorder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "json_text.hpp"
#include "starling/base/error.hpp"
#include "starling/device/target.hpp"

namespace starling {
namespace {

enum chunk : std::uint32_t { machine_chunk = 1, program_chunk = 2, host_chunk = 3 };
constexpr std::uint32_t version = 1;
constexpr std::size_t most_unwritten = 512;  // activities

std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

template <class Items, class F>
std::string list_of(const Items& items, const F& text) {
  std::string all = "[";
  for (const auto& i : items) all += (all.size() > 1 ? ", " : "") + text(i);
  return all + "]";
}

std::FILE* make_file(std::string& path, bool numbered) {
  constexpr int most = 10000;
  const std::string asked = path;
  for (int i = 0;; ++i) {
    if (i > 0) path = message(asked, ".", i);
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0) return ::fdopen(file, "wb");
    if (errno == EEXIST && numbered && i < most) continue;
    expect<argument_error>(errno != EEXIST, "trace: the file ", path,
                           " is there already, and a trace never overwrites one; remove it or choose another name");
    throw argument_error(message("trace: the file ", path, " cannot be made (", std::strerror(errno),
                                 "); choose another place (STARLING_TRACE or machine::trace_to)"));
  }
}

std::uint32_t capacity_for(int records) {
  constexpr int most = 1 << 24;
  expect<argument_error>(records >= clock_pairs && records <= most, "trace: records = ", records, "; must be from ",
                         clock_pairs, " to ", most, " per block (STARLING_TRACE_RECORDS or trace_options::records)");
  return std::bit_ceil(static_cast<std::uint32_t>(records));
}

std::string text_of(const recorder::facts& machine) {
  const auto device = [](const device_info& d) {
    const std::string shared = d.pes_on_gpu > 1 ? message(", \"pes_on_gpu\": ", d.pes_on_gpu) : std::string();
    return message("{\"name\": ", json_string(d.name), ", \"id\": ", d.id, shared, "}");
  };
  const index_range own = machine.own;
  const std::string job = machine.job.empty() ? std::string()
                                              : message(", \"job\": ", json_string(machine.job), ", \"own_pes\": [",
                                                        own.begin, ", ", own.end, "]");
  return message("{\"kind\": \"", name(machine.kind),
                 "\", \"machine\": ", json_string(summary(machine.kind, machine.devices)),
                 ", \"process\": ", ::getpid(), ", \"start\": ", target::now_ns(), job,
                 ", \"devices\": ", list_of(machine.devices, device), "}");
}

std::string text_of(const role_plan& roles, const program_log& log, std::uint64_t start, std::uint64_t end,
                    const clock_alignment& clocks) {
  const role_table table = roles.resolve();
  std::vector<int> numbers;
  for (int r = 0; r < table.count; ++r) numbers.push_back(r);
  const auto role = [&](int r) {
    return message("{\"name\": ", json_string(roles.name(r)), ", \"first\": ", table.first[r], "}");
  };
  const auto clock = [](const clock_alignment::to_first& c) {
    return message("{\"offset\": ", c.offset, ", \"error\": ", c.error, ", \"rate\": ", c.ticks_per_ns, "}");
  };
  return message("{\"start\": ", start, ", \"end\": ", end, ", \"pes\": ", log.n_pes(),
                 ", \"blocks\": ", log.n_blocks(), ", \"capacity\": ", log.capacity(),
                 ", \"roles\": ", list_of(numbers, role), ", \"clocks\": ", list_of(clocks.pes, clock),
                 ", \"host_offset\": ", clocks.host_offset, ", \"host_error\": ", clocks.host_error,
                 ", \"resolution\": ", clocks.resolution, "}");
}

}  // namespace

recorder::recorder(const std::string& path, bool numbered, int records, const facts& machine)
    : path_(path), capacity_(capacity_for(records)), file_(make_file(path_, numbered)) {
  const std::lock_guard lock(mutex_);
  const std::uint32_t head[2] = {version, sizeof(trace_record)};
  write("starling", 8);
  write(head, sizeof head);
  const std::string text = text_of(machine);
  begin_chunk(machine_chunk, padded(text.size()));
  write_text(text);
  flush_activities();
}

recorder::~recorder() { flush(); }

void recorder::add(const role_plan& roles, program_log& log, std::uint64_t start, std::uint64_t end,
                   const clock_alignment& clocks) {
  const std::string text = text_of(roles, log, start, end, clocks);
  std::uint64_t records = 0;
  for (int pe = 0; pe < log.n_pes(); ++pe)
    for (int b = 0; b < log.n_blocks(); ++b) records += log.kept(pe, b);
  const std::lock_guard lock(mutex_);
  const std::uint64_t length = padded(text.size());
  begin_chunk(program_chunk,
              sizeof length + length + log.heads().size() * sizeof(trace_ring) + records * sizeof(trace_record));
  write(&length, sizeof length);
  write_text(text);
  write(log.heads().data(), log.heads().size() * sizeof(trace_ring));
  for (int pe = 0; pe < log.n_pes(); ++pe) {
    for (int b = 0; b < log.n_blocks(); ++b) {
      // Oldest first: in a ring that has come round, from where the next record would have gone.
      const trace_record* slots = log.slots(pe, b);
      const std::uint32_t kept = log.kept(pe, b);
      const auto oldest = kept < log.capacity() ? 0 : log.head(pe, b).written % log.capacity();
      write(slots + oldest, (kept - oldest) * sizeof(trace_record));
      write(slots, oldest * sizeof(trace_record));
    }
  }
  flush_activities();
}

void recorder::add(const host_activity& a) {
  const std::lock_guard lock(mutex_);
  activities_.push_back(a);
  if (activities_.size() >= most_unwritten) flush_activities();
}

void recorder::flush() {
  const std::lock_guard lock(mutex_);
  flush_activities();
}

void recorder::check() const {
  const std::lock_guard lock(mutex_);
  expect<device_error>(problem_.empty(), "trace: writing ", path_, " failed (", problem_,
                       "), and nothing is recorded since; free space or choose another place");
}

void recorder::flush_activities() {
  if (!activities_.empty()) {
    begin_chunk(host_chunk, activities_.size() * sizeof(host_activity));
    write(activities_.data(), activities_.size() * sizeof(host_activity));
    activities_.clear();
  }
  if (problem_.empty() && std::fflush(file_.get()) != 0) problem_ = std::strerror(errno);
}

void recorder::begin_chunk(std::uint32_t kind, std::uint64_t bytes) {
  const std::uint32_t head[2] = {kind, 0};
  write(head, sizeof head);
  write(&bytes, sizeof bytes);
}

void recorder::write(const void* data, std::size_t bytes) {
  if (bytes == 0 || !problem_.empty()) return;
  if (std::fwrite(data, 1, bytes, file_.get()) != bytes) problem_ = std::strerror(errno);
}

// Chunks have multiples of 8 bytes; blanks at the end of a text mean nothing.
void recorder::write_text(std::string text) {
  text.resize(padded(text.size()), ' ');
  write(text.data(), text.size());
}

}  // namespace starling
