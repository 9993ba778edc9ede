// What the engines of a process send each other, as frames in the streams between processes: messages, which go first,
// and data, which goes in pieces between them, when the receiver has said that its place is known.
//
// A process has one NVSHMEM, and perhaps several engines one after the other: they are numbered, alike in all
// processes, and what comes for one that is not there yet waits for it.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "../distributed/engine.hpp"
#include "byte_streams.hpp"

namespace starling::nvshmem {

class frames {
 public:
  frames(const host_library& by, const gpu_context& gpu, std::byte* memory, int rank, int processes)
      : streams_(by, gpu, memory, rank, processes), peers_(static_cast<std::size_t>(processes)) {}

  // By engine, as the class engine has them; from any thread.
  std::uint32_t open();
  void close(std::uint32_t engine);
  void send(std::uint32_t engine, int to, message_bytes message);
  bool receive(std::uint32_t engine, int& from, message_bytes& message);
  bool sent(std::uint32_t engine);
  void send_data(std::uint32_t engine, int to, const data_range& data);
  void receive_data(std::uint32_t engine, int from, const data_range& place);
  bool data_received(std::uint32_t engine, int from);

 private:
  enum class kind : std::uint32_t { message, place_known, data };
  struct head {
    kind what = kind::message;
    std::uint32_t engine = 0;
    std::uint64_t bytes = 0;  // that follow
  };
  struct outgoing {
    head first;
    message_bytes message;
    data_range data;
    std::size_t at = 0;  // of the data
  };
  // A frame that is being written or read; `at`: bytes of the head and of what follows.
  struct under_way {
    head first;
    std::byte* rest = nullptr;
    std::size_t at = 0;
    std::size_t left() const { return sizeof first + first.bytes - at; }
  };
  struct peer {
    std::deque<outgoing> messages;
    std::deque<outgoing> data;
    bool writes = false;
    under_way out;
    under_way in;
    message_bytes came;                // of the frame that is read, where it goes nowhere else,
    std::shared_ptr<const void> kept;  // or what keeps the place that it goes to
  };
  struct wanted_data {
    data_range place;
    std::size_t came = 0;
  };
  struct mailbox {
    bool closed = false;
    std::size_t unsent = 0;
    std::deque<std::pair<int, message_bytes>> messages;
    std::map<int, wanted_data> wanted;               // by process
    std::map<int, std::deque<data_range>> unwanted;  // to send, the place is not known yet
    std::map<int, std::size_t> places;               // are known, nothing is to be sent yet
  };

  peer& with(int process) { return peers_[static_cast<std::size_t>(process)]; }
  void move();
  bool next_frame(peer& p);
  void write_out(int to);
  void written(peer& p);
  void read_in(int from);
  void begin_rest(int from);
  void read_whole(int from);
  void start_data(std::uint32_t engine, int to, data_range data);

  std::mutex mutex_;
  byte_streams streams_;
  std::vector<peer> peers_;
  std::map<std::uint32_t, mailbox> mailboxes_;
  std::uint32_t opened_ = 0;
};

}  // namespace starling::nvshmem
