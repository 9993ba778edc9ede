// host_pe: the host in the place of a PE's blocks, for generated programs whose time loop the host runs. A thread of
// the host for each PE executes the statements that its block would: computations are launches, puts are copies in the
// PE's stream, signals are points of that stream. What a thread needs as a number, it fetches and waits for.
//
// The order is that of the persistent program: a copy comes after what its PE was given before, and what is given after
// wait() comes after the copy that the signal tells of.
#pragma once

#include "starling/program/exchange.hpp"
#include "starling/program/meeting.hpp"

namespace starling::generated {

// `rows` rows of `bytes`, whose starts are so far apart.
struct strip_copy {
  void* to;
  std::size_t to_pitch;
  const void* from;
  std::size_t from_pitch;
  std::size_t bytes;
  std::size_t rows;
};

class host_pe {
 public:
  host_pe(int pe, int n_pes) : pe_(pe), n_pes_(n_pes) {}
  host_pe(const host_pe&) = delete;
  host_pe& operator=(const host_pe&) = delete;

  // As of a block: the only one of its PE.
  STARLING_HD int pe() const { return pe_; }
  STARLING_HD int n_pes() const { return n_pes_; }
  STARLING_HD int index() const { return 0; }
  STARLING_HD int blocks_per_pe() const { return 1; }

  // Launches a phase of the program, by its number, with its data: all blocks of the PE, or one.
  template <class Phase>
  void launch(int number, bool all, const Phase& phase) {
    start(number, all, &phase, sizeof phase);
  }

  // ---- puts: copies in this PE's stream ----

  template <class T>
  void put(sym<T> to, const T* from, index_t n, int pe, where at = where::current()) {
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    copy({on(to, pe, at), bytes, from, bytes, bytes, 1});
  }
  template <class T>
  void put_signal(sym<T> to, const T* from, index_t n, index_t sig, std::uint64_t value, int pe,
                  where at = where::current()) {
    put(to, from, n, pe, at);
    signal_set(sig, value, pe);
  }
  template <class T>
  void iput(sym<T> to, index_t to_stride, const T* from, index_t from_stride, index_t n, int pe,
            where at = where::current()) {
    copy({on(to, pe, at), pitch<T>(to_stride), from, pitch<T>(from_stride), sizeof(T), static_cast<std::size_t>(n)});
  }
  template <class T>
  void p(sym<T> to, const std::type_identity_t<T>& value, int pe, where at = where::current()) {
    store(on(to, pe, at), value);
  }
  template <class T>
  void get(T* to, sym<T> from, index_t n, int pe, where at = where::current()) {
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    copy({to, bytes, on(from, pe, at), bytes, bytes, 1});
  }
  // Copies of a stream end in their order.
  void fence() {}
  void quiet() {}

  // ---- signals, by number ----

  // This PE's signal holds `value` when what its stream was given so far is done.
  virtual void signal_set(index_t sig, std::uint64_t value, int pe) = 0;
  // What this PE's stream is given from here on comes after that point of PE `pe`.
  virtual void wait(index_t sig, std::uint64_t value, int pe, where at = where::current()) = 0;

  // ---- all PEs ----

  // What the streams are given from here on comes after all that they were given before.
  virtual void barrier_all(where at = where::current()) = 0;

  template <class T, class Op>
  T all_reduce(const T& value, Op op, where at = where::current()) {
    slot mine{};
    as<T>(mine) = value;
    const slot* of_pes = gather(mine, at);
    T sum = value_of<T>(of_pes[0]);
    for (int pe = 1; pe < n_pes_; ++pe) sum = op(sum, value_of<T>(of_pes[pe]));
    return sum;
  }
  template <class T>
  T broadcast(const T& value, int root, where at = where::current()) {
    expect_pe(root, at);
    slot mine{};
    as<T>(mine) = value;
    return value_of<T>(gather(mine, at)[root]);
  }
  // What the blocks of this PE left with leave_part, combined in their order; of all PEs with `all`.
  template <class T, class Op>
  T combined(sym<slot> slots, Op op, bool all, where at = where::current()) {
    const slot* of_blocks = parts(slots.on(pe_));
    T sum = value_of<T>(of_blocks[0]);
    for (int i = 1; i < blocks(); ++i) sum = op(sum, value_of<T>(of_blocks[i]));
    return all ? all_reduce(sum, op, at) : sum;
  }

  // ---- numbers in memory of the machine; returns when all that the stream was given is done ----

  template <class T>
  T fetch(const T* from) {
    T value;
    read(&value, from, sizeof value);
    return value;
  }
  template <class T>
  void store(T* to, const std::type_identity_t<T>& value) {
    write(to, &value, sizeof value);
  }

  virtual void copy(const strip_copy& c) = 0;

 protected:
  ~host_pe() = default;

  virtual void start(int phase, bool all, const void* data, std::size_t bytes) = 0;
  virtual int blocks() const = 0;
  virtual void read(void* to, const void* from, std::size_t bytes) = 0;
  virtual void write(void* to, const void* from, std::size_t bytes) = 0;
  // Those of all blocks of this PE, until the next call.
  virtual const slot* parts(const slot* from) = 0;
  // What every PE passes, in their order, until the call after the next; all have come here then.
  virtual const slot* gather(const slot& mine, where at) = 0;
  [[noreturn]] virtual void refuse(int pe, where at) const = 0;

 private:
  void expect_pe(int pe, where at) const {
    if (pe < 0 || pe >= n_pes_) refuse(pe, at);
  }
  template <class T>
  T* on(sym<T> data, int pe, where at) const {
    expect_pe(pe, at);
    return data.on(pe);
  }
  template <class T>
  static std::size_t pitch(index_t stride) {
    return static_cast<std::size_t>(stride) * sizeof(T);
  }
  template <class T>
  static T value_of(slot s) {
    return as<T>(s);
  }

  int pe_;
  int n_pes_;
};

// In a phase: leaves the part of this block for host_pe::combined.
template <class T, class Op>
STARLING_HD void leave_part(block& b, sym<slot> slots, const T& value, Op op, where at = where::current()) {
  const T mine = b.reduce(value, op, at);
  if (b.member() == 0) as<T>(slots.on(b.pe())[b.index()]) = mine;
}

// An array as the host sees it: its elements are fetched.
template <class T, int Rank>
class host_array : public array<T, Rank> {
 public:
  using typename array<T, Rank>::place;

  host_array(host_pe& b, sym<T> data, const place& first, const place& extents)
      : array<T, Rank>(data, b.pe(), first, extents), host_(&b) {}

  template <class... Indices>
  T operator()(Indices... indices) const {
    return host_->fetch(this->address({static_cast<index_t>(indices)...}));
  }

 private:
  host_pe* host_;
};

// As put_box of a block: one copy for each piece along the first axes but two.
template <int Last, class T, int Rank>
void put_box(host_pe& b, const array<T, Rank>& a, const box<Rank>& x, const index_t (&first)[Rank], index_t sig,
             std::uint64_t value, int pe) {
  constexpr int rows_axis = Last > 0 ? Last - 1 : 0;
  const std::size_t bytes = static_cast<std::size_t>(x.count[Last] * a.stride(Last)) * sizeof(T);
  const std::size_t pitch = static_cast<std::size_t>(a.stride(rows_axis)) * sizeof(T);
  const std::size_t rows = Last > 0 ? static_cast<std::size_t>(x.count[rows_axis]) : 1;
  const sym<T> to = a.at_part(first, x.from);
  const T* from = a.address(x.from);
  detail::for_each_piece<rows_axis>(a, x, [&](index_t k) {
    b.copy({(to + k).on(pe), Last > 0 ? pitch : bytes, from + k, Last > 0 ? pitch : bytes, bytes, rows});
  });
  b.signal_set(sig, value, pe);
}

template <class T, int Rank>
void put_columns(host_pe& b, const array<T, Rank>& a, const box<Rank>& x, const index_t (&first)[Rank], index_t sig,
                 std::uint64_t value, int pe) {
  put_box<Rank - 1>(b, a, x, first, sig, value, pe);
}

// The signals of a PE's blocks are one.
inline void wait_blocks(host_pe& b, index_t sig, std::uint64_t value, int pe, int, where at = where::current()) {
  b.wait(sig, value, pe, at);
}

}  // namespace starling::generated

// The entry of a program whose time loop the host runs: what the thread of a PE does.
#define STARLING_HOST_PROGRAM(Program)                                                                    \
  extern "C" [[gnu::visibility("default")]] void starling_host_program(const void* data,                  \
                                                                       starling::generated::host_pe& b) { \
    (*static_cast<const Program*>(data))(b);                                                              \
  }
