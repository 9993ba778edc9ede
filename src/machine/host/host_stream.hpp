// A stream of a virtual device: a thread that runs operations one after the other.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "host_backend.hpp"
#include "host_event.hpp"

namespace starling::host {

// What an operation does.
enum class step_kind { launch, copy, fill, call };

class host_stream final : public stream_backend, public std::enable_shared_from_this<host_stream> {
 public:
  using operation = std::function<void()>;

  host_stream(std::shared_ptr<host_backend> device, int pe);
  ~host_stream() override;  // runs what is queued

  int pe() const override { return pe_; }
  void launch(int blocks, const kernel& k, const launch_options& options) override;
  void launch_with(int blocks, const kernel& k, const launch_options& options,
                   const std::shared_ptr<const launch_copies>& copies) override;
  void copy_rows(void* dest, std::size_t dest_pitch, const void* source, std::size_t source_pitch,
                 std::size_t row_bytes, std::size_t rows) override;
  void fill(void* dest, unsigned char byte, std::size_t bytes) override;
  void call(std::function<void()> f) override;
  void record(event_backend& e) override;
  void wait(const event_backend& e) override;
  void synchronize() override;
  bool keep_with_recording(std::shared_ptr<void> what) override;
  void begin_scope(std::shared_ptr<const access_scope> scope) override;
  void end_scope(const access_scope* scope) noexcept override;

  // Queues an operation. After one has thrown, later ones are skipped until synchronize() has thrown its exception;
  // `always` runs regardless, so that nobody waits for ever. `completes`: the record of an event that it completes, for
  // check mode.
  void push(operation op, bool always = false, check::host_ranges touched = {},
            std::shared_ptr<event_record> completes = nullptr);

  // Throws what an operation so far has thrown, and forgets it; does not wait for operations that are queued.
  void rethrow_failure();

  // What has been queued; in check mode, where no thread runs it.
  check::checker::stream_work take_operations();
  bool has_operations();

  // While set, operations are recorded instead of queued.
  std::shared_ptr<recording> recorder;
  const std::shared_ptr<host_backend>& device() const { return device_; }

 private:
  struct entry {
    operation run;
    bool always;
    check::host_ranges touched;  // in check mode
  };
  // The operation, in the trace when it runs.
  operation traced(const host_activity& a, operation op);
  void submit(step_kind kind, operation op, check::host_ranges touched = {}, bool always = false);
  void launch_copies_beside(const std::shared_ptr<const launch_copies>& copies);
  // The operation, as work of what the calling thread has said.
  operation scoped(operation op);
  // What of these bytes is not the machine's, in check mode.
  check::host_ranges beside(const void* start, std::size_t bytes) const;
  void work();

  std::shared_ptr<host_backend> device_;
  std::shared_ptr<deferred_work> deferred_;  // in check mode
  int pe_;
  std::uint32_t number_;  // in the trace
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<entry> queue_;
  bool busy_ = false;
  bool closing_ = false;
  std::exception_ptr failure_;
  struct said {
    std::thread::id by;
    const access_scope* what;
    std::shared_ptr<const access_scope> scope;  // the same, with the names of the last operation's time
  };
  std::vector<said> scopes_;             // in check mode
  std::shared_ptr<host_stream> beside_;  // for copies that launches set off
  std::thread worker_;
};

}  // namespace starling::host
