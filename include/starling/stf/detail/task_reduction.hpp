// task_reduction: what a context has to know of an operator by which tasks reduce into data: how an instance of a task
// gets the identity, and how the instances of several tasks are combined. typed_reduction makes one of an operator of
// starling/stf/reducer.hpp or one like them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "starling/base/index.hpp"
#include "starling/machine/stream.hpp"
#include "starling/stf/reducer.hpp"

namespace starling::stf {

class task_reduction {
 public:
  virtual ~task_reduction() = default;
  // Values of both may be combined in one go.
  virtual bool same(const task_reduction& other) const = 0;
  // Elements of `bytes` bytes become the identity. `on_host`: by a thread of the host.
  virtual void fill(stream& s, bool on_host, std::byte* start, std::size_t bytes) const = 0;
  // The values, in their order, into what is there; or with keep = false instead of it.
  virtual void combine(stream& s, bool on_host, std::byte* into, const std::vector<const std::byte*>& values,
                       std::size_t bytes, bool keep) const = 0;
};

namespace detail {

template <class T, class Op>
struct fill_elements {
  T* into;
  index_t n;
  Op op;

  STARLING_HD void operator()(block& b) const {
    const T x = reducer::identity_of<Op, T>(op);
    b.for_each(b.my_share(n), [&](index_t i) { into[i] = x; });
  }
  void operator()() const {
    const T x = reducer::identity_of<Op, T>(op);
    for (index_t i = 0; i < n; ++i) into[i] = x;
  }
};

template <class T, class Op>
struct combine_elements {
  static constexpr int at_once = 8;
  T* into;
  index_t n;
  Op op;
  const T* values[at_once];
  int count;
  bool keep;

  STARLING_HD T combined(index_t i) const {
    T x = keep ? op(into[i], values[0][i]) : values[0][i];
    for (int k = 1; k < count; ++k) x = op(x, values[k][i]);
    return x;
  }
  STARLING_HD void operator()(block& b) const {
    b.for_each(b.my_share(n), [&](index_t i) { into[i] = combined(i); });
  }
  void operator()() const {
    for (index_t i = 0; i < n; ++i) into[i] = combined(i);
  }
};

}  // namespace detail

template <class T, class Op>
class typed_reduction final : public task_reduction {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_copyable_v<Op>,
                "tasks reduce elements that are trivially copyable, by operators that are");

 public:
  explicit typed_reduction(const Op& op) : op_(op) {}

  bool same(const task_reduction& other) const override {
    const auto* o = dynamic_cast<const typed_reduction*>(&other);
    if (o == nullptr || std::is_empty_v<Op>) return o != nullptr;
    return std::memcmp(&op_, &o->op_, sizeof op_) == 0;
  }
  void fill(stream& s, bool on_host, std::byte* start, std::size_t bytes) const override {
    run(s, on_host, detail::fill_elements<T, Op>{reinterpret_cast<T*>(start), elements(bytes), op_});
  }
  void combine(stream& s, bool on_host, std::byte* into, const std::vector<const std::byte*>& values, std::size_t bytes,
               bool keep) const override {
    using kernel_type = detail::combine_elements<T, Op>;
    for (std::size_t first = 0; first < values.size(); first += kernel_type::at_once) {
      kernel_type k{reinterpret_cast<T*>(into), elements(bytes), op_, {}, 0, keep || first > 0};
      k.count = static_cast<int>(std::min<std::size_t>(kernel_type::at_once, values.size() - first));
      for (int i = 0; i < k.count; ++i)
        k.values[i] = reinterpret_cast<const T*>(values[first + static_cast<std::size_t>(i)]);
      run(s, on_host, k);
    }
  }

 private:
  static index_t elements(std::size_t bytes) { return static_cast<index_t>(bytes / sizeof(T)); }
  template <class Kernel>
  static void run(stream& s, bool on_host, const Kernel& k) {
    if (k.n == 0) return;
    if (on_host) return s.call([k] { k(); });
    constexpr index_t each = 1024;
    constexpr index_t most = 512;
    s.launch(static_cast<int>(std::clamp<index_t>(ceil_div(k.n, each), 1, most)), k);
  }

  Op op_;
};

}  // namespace starling::stf
