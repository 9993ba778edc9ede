// host_region: a region whose parts the host says to be written, for producers that are not kernels of this library:
// NumPy, CuPy, a vendor's library, a launch in a stream. Owns the copies, and the streams that carry them.
//
// A producer writes some elements of its part of the next epoch, and commits them; every chunk that is whole then goes
// to the other PEs by copies, behind the producer's work so far and beside its work from then on. A reader waits for
// an epoch and reads its PE's own copy. Commits and waits of different PEs may come from different host threads.
//
//   st::host_region x(m, n, sizeof(float));
//   x.load(values);                                   // epoch 0, on every PE
//   for (std::uint64_t e = 1; e <= steps; ++e)
//     for (int pe = 0; pe < m.size(); ++pe) {
//       x.wait(pe, e - 1);                            // x.work(pe) goes on when PE pe has all of it
//       x.work(pe).launch(...);                       // reads x.data(pe, e - 1), writes its part of x.data(pe, e)
//       x.commit(pe, x.part(pe));
//     }
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "starling/machine/machine.hpp"
#include "starling/region/options.hpp"

namespace starling {

struct region_layout;

struct host_region_options {
  // Copies of the region that epochs take in turn, 2 to 8.
  int buffers = 2;
  // Of a chunk, a multiple of 128; the last chunk of a part may be shorter.
  std::size_t chunk_bytes = 1024 * 1024;
  // Where the parts of PEs 1, 2, ... begin: whole 128 bytes. Empty: parts of about the same size.
  std::vector<index_t> bounds = {};
  // Seconds that wait waits on the host for commits of other threads; 0: STARLING_DEADLINE.
  double deadline = 0;
};

class host_region {
 public:
  // n elements of 1, 2, 4, 8 or 16 bytes. Throws argument_error that names the option, memory_error as
  // machine::allocate does.
  host_region(machine& m, index_t n, std::size_t element_bytes, const host_region_options& options = {});
  host_region(const host_region&) = delete;
  host_region& operator=(const host_region&) = delete;
  // Waits for its copies.
  ~host_region();

  index_t size() const { return size_; }
  std::size_t element_bytes() const { return element_; }
  int buffers() const { return buffers_; }
  int chunks() const;  // of all PEs
  // The elements that PE `pe` writes.
  index_range part(int pe) const;
  // The stream for a PE's work; commits without a stream of their own mean what is in it.
  stream& work(int pe);

  // Where PE `pe` has element 0 of an epoch: of one that it has waited for, or of the next, of which it writes its
  // part.
  std::byte* data(int pe, std::uint64_t epoch) const;

  // Epoch 0, on every PE, and no other. Nobody may use the region meanwhile.
  void load(const std::byte* values);

  // These elements of the part of PE `pe` have been written for the next epoch: on virtual devices by the host before
  // this call or by work(pe), on GPUs by work(pe) or by `native`, a cudaStream_t of the PE's GPU. A commit comes after
  // the wait for the epoch before, and each element is committed once an epoch. Throws region_error otherwise,
  // range_error for elements of another part.
  void commit(int pe, index_range elements, void* native = nullptr);

  // Later work in work(pe), or in `native`, may read epoch `epoch` of this PE's copy. Waits on the host until all PEs
  // have committed it, as other threads may; region_error names who has not, and what.
  void wait(int pe, std::uint64_t epoch, void* native = nullptr);
  // The same, and returns when it is there: for hosts that read a virtual device's copy themselves.
  void wait_on_host(int pe, std::uint64_t epoch);

  // The last epoch that a PE, or every PE, has committed.
  std::uint64_t committed(int pe) const;
  std::uint64_t epoch() const;
  // An epoch as PE `pe` has it, once it is there; argument_error for one that it has no longer or not yet.
  void read(int pe, std::uint64_t epoch, std::byte* values) const;

  // Bytes that have been put on their way, [from * PEs + to].
  std::vector<std::uint64_t> bytes_sent() const;

 private:
  struct pe_state;

  pe_state& on(int pe, const char* call) const;
  std::size_t bytes(index_t elements) const { return static_cast<std::size_t>(elements) * element_; }
  bool all_committed(std::uint64_t epoch) const;
  std::string missing(std::uint64_t epoch) const;
  void check_commit(int pe, const pe_state& p, index_range elements) const;
  void send(int pe, pe_state& p, int chunk);
  void complete(int pe, pe_state& p);
  void wait_for_arrivals(int pe, std::uint64_t epoch) const;

  mutable machine machine_;
  index_t size_;
  std::size_t element_;
  index_t pitch_;
  int buffers_;
  double deadline_;
  std::unique_ptr<region_layout> layout_;
  symmetric_array<std::byte> values_;
  std::vector<std::unique_ptr<pe_state>> pes_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace starling
