// per_stream: what context::per_stream returns. A thing of the user for each stream that tasks of the context work in,
// such as a library's handle with a workspace of its own: made before any of the tasks is recorded, and gone after the
// last of their work, before the stream.
//
//   auto blas = ctx.per_stream([](stream& s) { return blas_handle(s); });
//   ctx.task(a.read(), c.rw())->*[&](stream& s, ...) { blas.on(s).multiply(...); };
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <utility>

#include "starling/machine/stream.hpp"

namespace starling::stf {

namespace detail {

// By stream. Does not change until the context ends, which clears it.
class per_stream_things {
 public:
  void add(const stream& s, std::shared_ptr<void> thing) { all_[&s.impl()] = std::move(thing); }
  void clear() { all_.clear(); }
  // Throws argument_error when there is none.
  void* of(const stream& s) const;
  // Whether somebody has asked for a stream that was being recorded since this was called last.
  bool take_recorded() { return recorded_.exchange(false); }

 private:
  std::map<const stream_backend*, std::shared_ptr<void>> all_;
  mutable std::atomic<bool> recorded_{false};
};

}  // namespace detail

template <class T>
class per_stream {
 public:
  explicit per_stream(std::shared_ptr<const detail::per_stream_things> things) : things_(std::move(things)) {}

  // That of a stream which the body of a task got, in the body; work that uses it goes into that stream. Several
  // threads that submit tasks may have the same one at a time when there are more of them than streams of a device for
  // tasks, which are 4. Throws argument_error for other streams: of the user, of the host, of other contexts, those
  // within an algorithm too, or of tasks with a higher priority than was asked for.
  T& on(const stream& s) const { return *static_cast<T*>(things_->of(s)); }

 private:
  std::shared_ptr<const detail::per_stream_things> things_;
};

}  // namespace starling::stf
