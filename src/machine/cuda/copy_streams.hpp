// Carries out what programs have as triggered copies: each queue is a stream, into which the host thread of the run
// puts steps ahead of time (copy_feed). A step is a wait for a word, copies of the data, a word that says how far the
// stream is, and copies of the word that tells of the data. The stream writes the word between with the fence that
// cuStreamWriteValue64 makes, so that whoever sees what follows sees the data.
//
// Programs are launched before anything waits. Waits are let go by stores of the host, without a stream: after
// release() none of these streams is in the way of the copy that raises an abort word, whatever hardware queue they
// share.
#pragma once

#include <memory>
#include <vector>

#include "../copy_feed.hpp"
#include "handles.hpp"
#include "parts.hpp"
#include "starling/machine/machine.hpp"

namespace starling::on_cuda {

class copy_streams {
 public:
  copy_streams(const parts& machine, const driver_api& driver) : machine_(machine), driver_(driver) {}

  // Makes what the programs' copies need; nothing of them is under way. Throws unsupported_error when a GPU has no
  // waits for words, launch_error when too many hardware queues would wait.
  void prepare(const std::vector<program>& programs);
  bool active() const { return !feed_.queues().empty(); }

  // Puts in what may be put in now.
  void step();
  // Lets the waits go that are left: kernels are over, or are being ended.
  void release() noexcept { feed_.release(); }
  // When all kernels are over: makes the copies that are still to be made, and returns when all streams are done.
  void finish();

 private:
  void require_waits() const;
  void make_streams(const gpu& g, int on_pe);
  void make_words(const gpu& g, int on_pe);
  std::size_t number_on_pe(const fed_queue& q) const;
  cudaStream_t stream_of(const fed_queue& q) const;
  std::uint64_t* arrival_word(const fed_queue& q) const;
  void put(fed_queue& q);
  void synchronize();
  void expect_no_failure();

  const parts& machine_;
  const driver_api& driver_;
  std::vector<std::vector<unique_stream>> streams_;  // by PE; kept between runs
  std::vector<unique_memory> arrival_words_;         // by PE, a word for each queue
  pinned_array<std::uint64_t> reached_;              // by queue
  std::vector<std::shared_ptr<triggered_copies>> copies_;
  copy_feed feed_;
};

}  // namespace starling::on_cuda
