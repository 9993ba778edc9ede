// The trace file of one machine. What programs and the host did is appended as it comes, so that the file is usable
// whenever the process ends. docs/trace.md describes the format. Thread-safe.
#pragma once

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "program_log.hpp"
#include "starling/base/index.hpp"
#include "starling/machine/device_info.hpp"
#include "starling/machine/roles.hpp"
#include "starling/machine/trace_options.hpp"

namespace starling {

// Something that the host did or ordered, as it stands in the file. Times are nanoseconds of its steady clock.
struct host_activity {
  enum class what : std::uint16_t { none, run, launch, copy, fill, allocate, free, graph, call };

  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;  // per PE
  what kind = what::none;
  std::uint16_t failed = 0;
  std::int16_t pe = -1;    // of the stream; -1: a call of the host
  std::int16_t from = -1;  // copies: the PE whose memory; -1: memory of the host
  std::int16_t to = -1;
  std::uint16_t unused = 0;
  std::uint32_t stream = 0;  // numbered from 1
};
static_assert(sizeof(host_activity) == 48);

// How the clocks of a program's PEs stand to each other and to the host's.
struct clock_alignment {
  struct to_first {
    std::int64_t offset = 0;  // this PE's nanoseconds less PE 0's
    std::int64_t error = 0;   // the offset is right to +- this
    double ticks_per_ns = 1;  // of its blocks' clocks, roughly; for blocks that did not return
  };
  std::vector<to_first> pes;
  std::int64_t host_offset = 0;  // PE 0's nanoseconds less the host's
  std::int64_t host_error = 0;
  std::int64_t resolution = 0;  // of the PEs' timers
};

class recorder {
 public:
  struct facts {
    machine_kind kind;
    std::vector<device_info> devices;
    std::string job;  // of several processes that have the machine together: see backend::job
    index_range own;  // the PEs whose blocks this process records
  };

  // Makes the file, which must not be there yet. `numbered`: takes the first free of path, path.1, path.2, ...
  recorder(const std::string& path, bool numbered, int records, const facts& machine);
  ~recorder();
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  // Of a block's ring.
  std::uint32_t capacity() const { return capacity_; }
  const std::string& path() const { return path_; }

  // A failure to write is kept for check().
  void add(const role_plan& roles, program_log& log, std::uint64_t start, std::uint64_t end,
           const clock_alignment& clocks);
  void add(const host_activity& a);
  void flush();

  // Throws device_error when something could not be written; nothing is recorded since.
  void check() const;

 private:
  // The lock is held in these.
  void flush_activities();
  void begin_chunk(std::uint32_t kind, std::uint64_t bytes);
  void write(const void* data, std::size_t bytes);
  void write_text(std::string text);

  struct closer {
    void operator()(std::FILE* f) const { (void)std::fclose(f); }
  };

  std::string path_;
  std::uint32_t capacity_;
  mutable std::mutex mutex_;
  std::unique_ptr<std::FILE, closer> file_;
  std::vector<host_activity> activities_;  // not written yet
  std::string problem_;
};

}  // namespace starling
