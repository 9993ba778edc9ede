// A context of task flow and its tasks as Python's starling.stf uses them: logical data is bytes with extents, Python
// knows the element types; a task is begun and ended by two calls, between which Python computes.
//
// The order of locks is: those of the library first, the interpreter's last. So the interpreter lock is released before
// anything here calls the library, destructors too, and threads of streams may take it.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "starling/stf/context.hpp"
#include "stf_memory.hpp"

namespace starling::python {

// The layout of an array. Composite places partition its bytes: those of an element count as part of the fastest
// dimension.
struct array_shape {
  std::vector<index_t> extents;
  std::size_t element_bytes = 1;

  std::size_t bytes() const;
};

// An array of the user. Rows of arrays of two dimensions may be `pitch` bytes apart; 0: all in one piece.
struct array_view {
  std::byte* start = nullptr;
  array_shape shape;
  std::size_t pitch = 0;
};

}  // namespace starling::python

template <>
struct starling::stf::data_interface<starling::python::array_view> {
  using view_type = starling::python::array_view;
  using read_type = view_type;
  using shape_type = starling::python::array_shape;

  static shape_type shape(const view_type& v) { return v.shape; }
  static std::size_t bytes(const shape_type& s) { return s.bytes(); }
  static view_type view(const shape_type& s, std::byte* start) { return {start, s, 0}; }
  static std::vector<memory_part> parts(const view_type& v);
  static std::vector<index_t> extents(const shape_type& s);
  static constexpr std::size_t element_bytes = 1;
};

namespace starling::python {

// A handle to logical data, which goes without the interpreter lock.
class bound_data {
 public:
  explicit bound_data(std::shared_ptr<stf::data_state> state) : state_(std::move(state)) {}
  bound_data(bound_data&&) noexcept = default;
  bound_data(const bound_data&) = delete;
  bound_data& operator=(const bound_data&) = delete;
  ~bound_data();

  const std::shared_ptr<stf::data_state>& state() const { return state_; }
  void set_name(const std::string& name);

 private:
  std::shared_ptr<stf::data_state> state_;
};

// Runs Python functions by number, on threads of streams. The number is all that work in streams knows of a function:
// Python's objects stay where its garbage collector sees them.
struct function_runner {
  nanobind::object run;  // takes the number, and throws nothing
};

// What keeps the memory in place that views of tasks show: of virtual devices the machine's, of GPUs the context's own.
// It leads to no object of Python: NumPy's arrays hold on to it, and the garbage collector does not see what they hold.
class bound_memory {
 public:
  explicit bound_memory(const stf::context& c);
  bound_memory(const bound_memory&) = delete;
  bound_memory& operator=(const bound_memory&) = delete;
  ~bound_memory();

 private:
  std::optional<machine> machine_;
  std::optional<stf::context> context_;
};

// Logical data that is split, as bytes with extents.
class bound_parts {
 public:
  using range = std::pair<index_t, index_t>;

  // How many parts along each dimension, and rows of neighbours.
  bound_parts(const stf::context& c, const bound_data& whole, const std::vector<index_t>& shape,
              std::size_t element_bytes, const std::vector<index_t>& counts, const stf::halo& around,
              const stf::data_place& where);
  bound_parts(const bound_parts&) = delete;
  bound_parts& operator=(const bound_parts&) = delete;
  ~bound_parts();

  int size() const { return static_cast<int>(parts_->plan().parts.size()); }
  std::vector<range> box(int i) const;
  range rows_with_halo(int i) const;
  bound_data part(int i) const { return bound_data(parts_->part(i)); }
  const std::shared_ptr<const stf::ghost_rows>& ghosts(int i) const;
  void join();

 private:
  stf::context context_;
  std::unique_ptr<stf::detail::split_handle> parts_;
};

// One access of a task: data, "read", "write" or "rw", and where; what it is the part of, if it is to be read with its
// halo, and the number of the part; whether it is the copy's last use in a while.
using bound_access = std::tuple<bound_data*, std::string, stf::data_place, std::optional<bound_parts*>, int, bool>;

// Data outside of tasks, with a stream of its own.
class bound_frozen {
 public:
  bound_frozen(const stf::context& c, const bound_access& access);
  bound_frozen(const bound_frozen&) = delete;
  bound_frozen& operator=(const bound_frozen&) = delete;
  ~bound_frozen();

  // The device, -1 for the host, and the cudaStream_t, 0 on virtual devices.
  int device() const { return pe_; }
  std::uintptr_t stream() const { return reinterpret_cast<std::uintptr_t>(stream_.native()); }
  std::uintptr_t get();
  void synchronize();
  void unfreeze();

 private:
  bound_frozen(const stf::context& c, const stf::data_access& access);

  machine machine_;
  int pe_;
  starling::stream stream_;
  std::optional<stf::frozen_instance> frozen_;
};

class bound_task {
 public:
  bound_task(const stf::context& c, const std::shared_ptr<function_runner>& runner, const stf::exec_place& where,
             const std::vector<bound_access>& accesses, const std::string& name, int priority);
  bound_task(const bound_task&) = delete;
  bound_task& operator=(const bound_task&) = delete;
  ~bound_task();

  // Until its data is there. Not while a graph is recorded.
  void wait_for_data();
  // Of a copy on each device, that of device number `place` of the task.
  std::uintptr_t address(std::size_t access, int place);
  // The devices it runs on, -1 for the host, and a cudaStream_t of each, 0 on virtual devices.
  std::vector<int> devices();
  std::vector<std::uintptr_t> streams();
  // Its work is this function.
  void call(std::uint64_t function);
  void finish();
  void fail();

 private:
  stf::task_run& open();

  std::weak_ptr<function_runner> runner_;  // the context's: the garbage collector follows that one alone
  std::optional<stf::task_run> run_;
};

// Tasks that were recorded.
class bound_recording {
 public:
  explicit bound_recording(stf::recorded_tasks tasks) : tasks_(std::move(tasks)) {}
  bound_recording(const bound_recording&) = delete;
  bound_recording& operator=(const bound_recording&) = delete;
  ~bound_recording();

  void launch(std::uint64_t n);
  std::size_t operations() const { return tasks_.operations(); }

 private:
  stf::recorded_tasks tasks_;
};

class bound_context {
 public:
  // The allocators are those of the options.
  bound_context(const machine& m, const stf::context_options& options, nanobind::object runner,
                std::vector<std::shared_ptr<python_allocator>> allocators);
  bound_context(const bound_context&) = delete;
  bound_context& operator=(const bound_context&) = delete;
  ~bound_context();

  // None after Python's garbage collector has cleared it.
  nanobind::object& runner() { return runner_->run; }
  const std::vector<std::shared_ptr<python_allocator>>& allocators() const { return allocators_; }

  bound_data adopt(std::uintptr_t address, const std::vector<index_t>& shape, std::size_t element_bytes,
                   std::size_t pitch, const stf::data_place& place, bool write_back, bool secret);
  bound_data new_data(const std::vector<index_t>& shape, std::size_t element_bytes, bool secret);
  bound_data token();
  std::unique_ptr<bound_memory> memory() { return std::make_unique<bound_memory>(get()); }
  std::unique_ptr<bound_task> begin(const stf::exec_place& where, const std::vector<bound_access>& accesses,
                                    const std::string& name, int priority);
  std::unique_ptr<bound_parts> split(const bound_data& whole, const std::vector<index_t>& shape,
                                     std::size_t element_bytes, const std::vector<index_t>& counts, index_t halo,
                                     bool periodic, const stf::data_place& where);
  std::unique_ptr<bound_frozen> freeze(const bound_access& access);
  void prefetch(const bound_data& data, const stf::data_place& where);
  // The body is a function of Python without arguments.
  std::unique_ptr<bound_recording> record(nanobind::handle body);
  void repeat(std::uint64_t n, nanobind::handle body);
  void repeat_while(const bound_data& flag, nanobind::handle body, std::uint64_t most);
  void run_if(const bound_data& flag, nanobind::handle body, nanobind::handle otherwise);  // may be none
  stf::context& get() { return *context_; }

 private:
  std::shared_ptr<function_runner> runner_;
  std::vector<std::shared_ptr<python_allocator>> allocators_;
  std::optional<stf::context> context_;
};

}  // namespace starling::python
