// Contexts of OpenSHMEM: streams of puts, gets, atomics and signals whose order and completion are apart. quiet() and
// fence() of a context are for what was issued on it; calls on a block, a warp or a thread themselves are on the
// default context, whose quiet() and fence() leave the others alone.
//
//   shmem::context c(b);                       // of a block, a warp or a thread, whose threads make it together
//   shmem::put_nbi(c, box, mine, n, right);    // in g's place in every call
//   c.quiet();
//
// A context is a group of the same threads, so all calls of groups are there too. It costs no memory that a kernel has
// to ask for, and there may be any number of them. It ends with its scope, which completes what was issued on it, as
// shmem_ctx_destroy does; end it before the group it was made of.
#pragma once

#include "starling/device/block.hpp"

namespace starling::shmem {

// What the program promises of a context, as shmem_ctx_create takes it. Promises: a library may use them, and is right
// without. Contexts here belong to the threads that made them, so that all are serialized and private.
struct context_options {
  bool serialized = false;      // SHMEM_CTX_SERIALIZED: no two threads call it at the same time
  bool private_to_one = false;  // SHMEM_CTX_PRIVATE: only the thread that made it calls it
  bool nostore = false;         // SHMEM_CTX_NOSTORE: its quiet and fence need not order the PE's own stores
};

template <class Group>
class context;

namespace detail {
// Blocks cannot be copied; their threads can.
template <class Group>
struct threads_of {
  using type = Group;
  static STARLING_HD const Group& of(const Group& g) { return g; }
};
// What a context of a context is of.
template <class Group>
struct threads_of<context<Group>> {
  using type = typename context<Group>::threads;
  static STARLING_HD const type& of(const context<Group>& c) { return c.all_threads(); }
};
template <>
struct threads_of<block> {
  using type = block_threads;
  static STARLING_HD block_threads of(const block& b) { return b.all_threads(); }
};
}  // namespace detail

template <class Group>
class context : public group<context<Group>> {
 public:
  using threads = typename detail::threads_of<Group>::type;

  STARLING_HD explicit context(const Group& g, context_options = {})
      : group<context>(g), threads_(detail::threads_of<Group>::of(g)) {
    if constexpr (!target::on_gpu)
      number_ = this->port().open_context();
    else if (this->networked())
      number_ = first(member() == 0 ? network::open_context(*this->state().network) : 0);
  }
  context(const context&) = delete;
  context& operator=(const context&) = delete;
  // Completes what was issued on it; not when the program is being ended.
  STARLING_HD ~context() noexcept(false) {
    if (target::unwinding()) return;
    this->quiet();
    if constexpr (!target::on_gpu)
      this->port().close_context(number_);
    else if (this->networked() && member() == 0)
      network::close_context(number_);
  }

  // On a GPU a fence is of all that its threads have stored, whatever the context: a number tells of cards alone.
  STARLING_HD int context_number() const { return number_; }

  // ---- the threads it was made of ----

  STARLING_HD const threads& all_threads() const { return threads_; }
  STARLING_HD int member() const { return threads_.member(); }
  STARLING_HD int members() const { return threads_.members(); }
  STARLING_HD void sync(where at = where::current()) const { threads_.sync(at); }
  STARLING_HD int votes(bool value, where at = where::current()) const { return threads_.votes(value, at); }
  template <class T>
  STARLING_HD T first(const T& value, where at = where::current()) const {
    if constexpr (std::is_same_v<threads, thread>)
      return value;
    else
      return threads_.first(value, at);
  }

 private:
  threads threads_;
  int number_ = 0;
};

template <class Group>
context(const Group&) -> context<Group>;
template <class Group>
context(const Group&, context_options) -> context<Group>;

}  // namespace starling::shmem
