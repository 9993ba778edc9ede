// The engine `mpi`: a library of its own, which alone is linked to MPI.
//
// MPI belongs to the process and cannot be begun again once it has ended, so it is begun with the first engine and
// ended when the process ends, unless somebody else has begun it. Each engine sends with a tag of its own, so that what
// is meant for the next one waits for it.
#include <mpi.h>

#include <cstdio>
#include <deque>
#include <mutex>

#include "../distributed/engine_library.hpp"

namespace starling {
namespace {

// MPI of this process.
class session {
 public:
  static session& of_process() {
    static session s;
    return s;
  }
  ~session() {
    int ended = 1;
    (void)MPI_Finalized(&ended);
    if (begun_here_ && ended == 0) (void)MPI_Finalize();
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  const char* problem() const { return problem_; }
  MPI_Comm all() const { return all_; }
  int next_tag() { return 1 + tags_++ % 32000; }
  std::mutex& calls() { return calls_; }

 private:
  session() {
    int begun = 0;
    int ended = 0;
    (void)MPI_Initialized(&begun);
    (void)MPI_Finalized(&ended);
    if (ended != 0) {
      problem_ = "MPI has been ended in this process; make the machine before";
      return;
    }
    int level = MPI_THREAD_SINGLE;
    if (begun != 0) {
      (void)MPI_Query_thread(&level);
    } else {
      begun_here_ = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level) == MPI_SUCCESS;
      if (!begun_here_) problem_ = "MPI_Init_thread has failed";
    }
    // The engine calls from a thread of its own, between the calls of whoever else uses MPI here.
    if (problem_ == nullptr && level < (begun_here_ ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE))
      problem_ = "MPI was begun without MPI_THREAD_MULTIPLE; begin it with that, or let Starling begin it";
    if (problem_ == nullptr && MPI_Comm_dup(MPI_COMM_WORLD, &all_) != MPI_SUCCESS)
      problem_ = "MPI gives no communicator";
    if (problem_ == nullptr) (void)MPI_Comm_set_errhandler(all_, MPI_ERRORS_RETURN);
  }

  bool begun_here_ = false;
  const char* problem_ = nullptr;
  MPI_Comm all_ = MPI_COMM_NULL;
  int tags_ = 0;
  std::mutex calls_;  // of the engines of this process
};

class mpi_engine final : public engine {
 public:
  explicit mpi_engine(session& s) : session_(s), tag_(s.next_tag()) {
    (void)MPI_Comm_rank(s.all(), &rank_);
    (void)MPI_Comm_size(s.all(), &size_);
  }
  ~mpi_engine() override {
    const std::lock_guard lock(session_.calls());
    for (under_way& u : out_) (void)MPI_Request_free(&u.request);
    // MPI may still read what was not received: it is kept until the process ends.
    if (!out_.empty()) new std::deque<under_way>(std::move(out_));
  }
  mpi_engine(const mpi_engine&) = delete;
  mpi_engine& operator=(const mpi_engine&) = delete;

  std::string name() const override { return "mpi"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(int to, message_bytes message) override {
    const std::lock_guard lock(session_.calls());
    under_way& u = out_.emplace_back();
    u.message = std::move(message);
    if (MPI_Isend(u.message.data(), static_cast<int>(u.message.size()), MPI_BYTE, to, tag_, session_.all(),
                  &u.request) != MPI_SUCCESS)
      out_.pop_back();  // the deadline of whoever waits for it says so
    reap();
  }

  bool receive(int& from, message_bytes& message) override {
    const std::lock_guard lock(session_.calls());
    reap();
    int there = 0;
    MPI_Message m = MPI_MESSAGE_NULL;
    MPI_Status about = {};
    if (MPI_Improbe(MPI_ANY_SOURCE, tag_, session_.all(), &there, &m, &about) != MPI_SUCCESS || there == 0)
      return false;
    int bytes = 0;
    (void)MPI_Get_count(&about, MPI_BYTE, &bytes);
    from = about.MPI_SOURCE;
    message.resize(static_cast<std::size_t>(bytes));
    return MPI_Mrecv(message.data(), bytes, MPI_BYTE, &m, &about) == MPI_SUCCESS;
  }

  bool sent() override {
    const std::lock_guard lock(session_.calls());
    reap();
    return out_.empty();
  }

 private:
  struct under_way {
    message_bytes message;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  // Forgets what has been sent, oldest first.
  void reap() {
    int done = 1;
    while (!out_.empty() && MPI_Test(&out_.front().request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done != 0)
      out_.pop_front();
  }

  session& session_;
  int tag_;
  int rank_ = 0;
  int size_ = 1;
  std::deque<under_way> out_;
};

}  // namespace
}  // namespace starling

extern "C" __attribute__((visibility("default"))) starling::made_engine starling_make_engine() {
  starling::made_engine e;
  starling::session& s = starling::session::of_process();
  if (s.problem() == nullptr)
    e.made = new starling::mpi_engine(s);
  else
    (void)std::snprintf(e.problem, sizeof e.problem, "%s", s.problem());
  return e;
}
