// What a machine wrote into its trace file, for tests: read here independently of the writer, by the format in
// docs/trace.md.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "starling/device/trace_record.hpp"
#include "starling/machine/machine.hpp"

namespace starling::test {

// A folder that goes with its scope.
class temporary_folder {
 public:
  temporary_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "starling_test_XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  int files() const { return static_cast<int>(std::distance(std::filesystem::directory_iterator(path_), {})); }

 private:
  std::filesystem::path path_;
};

struct traced_activity {
  std::uint64_t start, end, bytes, blocks;
  std::uint16_t kind, failed;
  std::int16_t pe, from, to;
  std::uint16_t unused;
  std::uint32_t stream;
};
enum activity_kind : std::uint16_t {
  traced_run = 1,
  traced_launch,
  traced_copy,
  traced_fill,
  traced_allocate,
  traced_free
};

struct traced_block {
  trace_ring head;
  std::vector<trace_record> records;  // oldest first

  std::vector<trace_record> of(trace_operation op) const {
    std::vector<trace_record> some;
    for (const trace_record& r : records)
      if (r.op() == op) some.push_back(r);
    return some;
  }
};

struct traced_program {
  std::string facts;
  int pes = 0;
  int n_blocks = 0;
  int capacity = 0;
  std::vector<traced_block> blocks;  // by PE, then block

  const traced_block& at(int pe, int block) const { return blocks.at(static_cast<std::size_t>(pe * n_blocks + block)); }
};

class trace_file {
 public:
  explicit trace_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    REQUIRE_MESSAGE(in.good(), "no trace file ", path);
    data_.assign(std::istreambuf_iterator<char>(in), {});
    REQUIRE(text(8) == "starling");
    REQUIRE(take<std::uint32_t>() == 1);
    REQUIRE(take<std::uint32_t>() == sizeof(trace_record));
    while (at_ < data_.size()) {
      const auto kind = take<std::uint32_t>();
      REQUIRE(take<std::uint32_t>() == 0);
      const auto bytes = take<std::uint64_t>();
      const std::size_t end = at_ + bytes;
      REQUIRE(end <= data_.size());
      if (kind == 1) machine = text(bytes);
      if (kind == 2) programs.push_back(program_up_to(end));
      while (kind == 3 && at_ < end) activities.push_back(take<traced_activity>());
      REQUIRE(at_ == end);
    }
  }

  std::vector<traced_activity> of(activity_kind kind) const {
    std::vector<traced_activity> some;
    for (const traced_activity& a : activities)
      if (a.kind == kind) some.push_back(a);
    return some;
  }

  std::string machine;
  std::vector<traced_program> programs;
  std::vector<traced_activity> activities;

 private:
  template <class T>
  T take() {
    T value;
    REQUIRE(at_ + sizeof value <= data_.size());
    std::memcpy(static_cast<void*>(&value), data_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text(std::size_t bytes) {
    REQUIRE(at_ + bytes <= data_.size());
    at_ += bytes;
    return std::string(data_.data() + at_ - bytes, bytes);
  }

  static int number(const std::string& facts, const std::string& name) {
    const std::size_t at = facts.find("\"" + name + "\": ");
    REQUIRE_MESSAGE(at != std::string::npos, "no ", name, " in ", facts);
    return std::stoi(facts.substr(at + name.size() + 4));
  }

  traced_program program_up_to(std::size_t end) {
    traced_program p;
    p.facts = text(take<std::uint64_t>());
    p.pes = number(p.facts, "pes");
    p.n_blocks = number(p.facts, "blocks");
    p.capacity = number(p.facts, "capacity");
    p.blocks.resize(static_cast<std::size_t>(p.pes * p.n_blocks));
    for (traced_block& b : p.blocks) b.head = take<trace_ring>();
    for (traced_block& b : p.blocks)
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(b.head.written, static_cast<std::uint64_t>(p.capacity));
           ++i)
        b.records.push_back(take<trace_record>());
    REQUIRE(at_ == end);
    return p;
  }

  std::vector<char> data_;
  std::size_t at_ = 0;
};

// Runs on a machine that is traced meanwhile.
template <class F>
trace_file traced(machine& m, const F& work, int records = 0) {
  const temporary_folder folder;
  m.trace_to(folder.file("t"), {.records = records});
  try {
    work();
  } catch (...) {
    m.end_trace();
    throw;
  }
  m.end_trace();
  return trace_file(folder.file("t"));
}

}  // namespace starling::test
