// The engine `mpi`: a library of its own, which alone is linked to MPI.
//
// MPI belongs to the process and cannot be begun again once it has ended, so it is begun with the first engine and
// ended when the process ends, unless somebody else has begun it. Each engine sends with tags of its own, one for
// messages and one for data, so that what is meant for the next one waits for it.
#include <mpi.h>

#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

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
  ~session() { end(); }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  void end() {
    int ended = 1;
    (void)MPI_Finalized(&ended);
    if (begun_here_ && ended == 0) (void)MPI_Finalize();
  }

  const char* problem() const { return problem_; }
  MPI_Comm all() const { return all_; }
  int next_tags() { return 1 + 2 * (tags_++ % 16000); }
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
  explicit mpi_engine(session& s) : session_(s), tag_(s.next_tags()), data_tag_(tag_ + 1) {
    (void)MPI_Comm_rank(s.all(), &rank_);
    (void)MPI_Comm_size(s.all(), &size_);
  }
  ~mpi_engine() override {
    const std::lock_guard lock(session_.calls());
    for (auto& [from, u] : in_) data_out_.push_back(std::move(u));
    // MPI may still touch what has not come or was not received: it is kept until the process ends.
    for (auto* left : {&out_, &data_out_}) {
      for (under_way& u : *left) (void)MPI_Request_free(&u.request);
      if (!left->empty()) new std::deque<under_way>(std::move(*left));
    }
  }
  mpi_engine(const mpi_engine&) = delete;
  mpi_engine& operator=(const mpi_engine&) = delete;

  std::string name() const override { return "mpi"; }
  void end_process() override { session_.end(); }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(int to, message_bytes message) override {
    const std::lock_guard lock(session_.calls());
    under_way& u = out_.emplace_back();
    u.message = std::move(message);
    start(out_, to, tag_, u.message.data(), u.message.size());
  }

  void send_data(int to, const data_range& data) override {
    const std::lock_guard lock(session_.calls());
    data_out_.emplace_back().memory = data.memory;
    start(data_out_, to, data_tag_, data.start, data.bytes);
  }

  void receive_data(int from, const data_range& place) override {
    const std::lock_guard lock(session_.calls());
    under_way& u = in_[from];
    u.memory = place.memory;
    (void)MPI_Irecv(place.start, static_cast<int>(place.bytes), MPI_BYTE, from, data_tag_, session_.all(), &u.request);
  }

  // One whose request could not be made never comes.
  bool data_received(int from) override {
    const std::lock_guard lock(session_.calls());
    const auto found = in_.find(from);
    if (found == in_.end() || found->second.request == MPI_REQUEST_NULL || !done(found->second)) return false;
    in_.erase(found);
    return true;
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
    return out_.empty() && data_out_.empty();
  }

 private:
  struct under_way {
    message_bytes message;
    std::shared_ptr<const void> memory;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  static bool done(under_way& u) {
    int yes = 0;
    return MPI_Test(&u.request, &yes, MPI_STATUS_IGNORE) == MPI_SUCCESS && yes != 0;
  }

  // Sends for the last of a queue; what MPI refuses is dropped, and the deadline of whoever waits for it says so.
  void start(std::deque<under_way>& queue, int to, int tag, const void* start, std::size_t bytes) {
    if (MPI_Isend(start, static_cast<int>(bytes), MPI_BYTE, to, tag, session_.all(), &queue.back().request) !=
        MPI_SUCCESS)
      queue.pop_back();
    reap();
  }

  // Forgets what has been sent, oldest first.
  void reap() {
    for (auto* queue : {&out_, &data_out_})
      while (!queue->empty() && done(queue->front())) queue->pop_front();
  }

  session& session_;
  int tag_;
  int data_tag_;
  int rank_ = 0;
  int size_ = 1;
  std::deque<under_way> out_;
  std::deque<under_way> data_out_;
  std::map<int, under_way> in_;  // data, by the process that it comes from
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
