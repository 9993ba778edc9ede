// The memory of PEs of other hosts: what is written to it, read from it and changed in it goes as messages to the
// process that has it, whose engine's thread carries it out (near_memory.hpp). Messages to one process keep their
// order, so what is sent later is seen later. What a card puts or gets, if it is large, goes apart from them, without a
// copy, where an engine reaches the memory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "distributed/engine_group.hpp"
#include "near_memory.hpp"
#include "network/entry_name.hpp"
#include "starling/base/index.hpp"

namespace starling {

// Rows of bytes, as stream::copy_rows has them.
struct copied_rows {
  std::byte* to;
  std::size_t to_pitch;
  const std::byte* from;
  std::size_t from_pitch;
  std::size_t row_bytes;
  std::size_t rows;
};

// An atomic operation on a word of 4 or 8 bytes.
struct word_order {
  word_change what;
  std::size_t bytes;
  std::uint64_t operand;
  std::uint64_t compare = 0;
};

class far_memory {
 public:
  // Data of one message, at most; from how much on a card's goes apart, and in pieces of how much, so that others get
  // their turn.
  static constexpr std::size_t most_bytes = std::size_t{128} << 10;
  static constexpr std::size_t apart_bytes = std::size_t{16} << 10;
  static constexpr std::size_t most_apart_bytes = std::size_t{4} << 20;

  // PE p has the addresses from start + p * stride, in every process at a start of its own; each process has `pes` of
  // them; its own are `own`. `memory` keeps them, and whatever else cards reach. `ended`: the word of end_flag, which
  // all hosts raise together.
  far_memory(engine_group& group, near_memory& own, std::byte* start, index_t stride, int pes,
             std::shared_ptr<const void> memory, std::atomic<std::uint64_t>& ended);
  ~far_memory();
  far_memory(const far_memory&) = delete;
  far_memory& operator=(const far_memory&) = delete;

  // Whether an address is of a PE of another host.
  bool holds(const void* address) const;

  // By the engine's thread. An entry is settled when all that was put for it is in its memory: from `apart_bytes` on it
  // may be read until then, and lies in memory of the machine; so does what is got. Where no engine reaches the memory,
  // both are in memory of the host, and what was put has been read when the call returns.
  void put(const network::entry_name& of, void* to, const void* from, std::size_t bytes);
  bool settled(const network::entry_name& of);
  void get(void* to, const void* from, std::size_t bytes);
  std::uint64_t change(void* word, const network::order& what);
  // Tells others what has been done for them and that runs have ended; whether there was anything to tell.
  bool tell();

  // By another thread: returns when the others have confirmed all puts so far, a process is lost, or the time is over.
  void await_confirmed(double seconds);

  // By other threads, to or from one PE; done when they return. `call`: who asks. Throw process_error when a process is
  // lost, or does not answer within the group's deadline.
  void write(const copied_rows& c);
  void read(const copied_rows& c, const char* call = copy_call);
  // What the word held.
  std::uint64_t change(void* word, const word_order& o, const char* call);
  // The same, done after what this process has posted to the PE before; what they read may be used again at once.
  void post(const copied_rows& c);
  void post_change(void* word, const word_order& o);
  // Returns when all that was posted to these PEs is done.
  void finish(const std::vector<int>& pes, const char* call);

  // The PE whose memory it is.
  int pe_of(const void* address) const { return place_of(address).pe; }

  std::string carrier() const { return messages_.carrier().name(); }
  // Bytes of data sent to each process, by rank.
  std::vector<std::uint64_t> sent_bytes() const;

 private:
  static constexpr const char* copy_call = "machine::copy";

  struct place {
    int process;
    std::int32_t pe;
    std::uint64_t offset;
  };
  // What waits for an answer.
  struct question {
    void* to = nullptr;
    std::uint64_t value = 0;
    bool answered = false;
  };
  struct sent_put {
    int process = 0;
    std::uint64_t number = 0;
  };

  place place_of(const void* address) const;
  std::byte* own_at(const message_head& h) const { return start_ + h.pe * stride_ + h.offset; }
  message_head head_for(message_kind kind, const place& where, std::size_t bytes) const;
  message_head head_for(const place& where, const word_order& o, std::uint64_t number) const;
  std::uint64_t ask(question& q);
  void answer(std::uint64_t number, const message_view& m);
  void send_put(const message_head& h, int process, const std::byte* data);
  void send_apart(int process, const message_head& h, const std::byte* data);
  std::size_t most_at_once() const { return own_.engine_reaches() ? most_apart_bytes : most_bytes; }
  bool goes_apart(std::size_t bytes) const { return own_.engine_reaches() && bytes >= apart_bytes; }
  void answer_get(int from, message_head h);
  data_range place_of_answer(std::uint64_t number, std::size_t bytes);
  void wait_here(const question& q, int process);
  void wait(const question& q, int process, const char* call);
  void wait_for_all(const std::deque<std::pair<question, int>>& asked, const char* call);
  std::chrono::steady_clock::time_point limit() const;
  void forget(const question& q);  // with mutex_
  void count(int process, std::size_t bytes, std::uint64_t puts);
  void handle_all();
  void handle_puts();
  void handle_questions();

  engine_group& group_;
  messenger& messages_;
  near_memory& own_;
  std::byte* start_;
  index_t stride_;
  int pes_;
  std::shared_ptr<const void> memory_;
  std::atomic<std::uint64_t>& ended_;
  std::uint64_t told_ended_ = 0;
  std::vector<int> others_;  // the processes of other hosts

  // Of the engine's thread. By process: puts sent and known to be done; puts done and told.
  std::vector<std::uint64_t> sent_, known_, done_, told_;
  std::unordered_map<std::uint64_t, sent_put> puts_;  // the last put of an entry

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable answered_;
  std::uint64_t next_ = 0;
  std::map<std::uint64_t, question*> questions_;
  std::vector<std::uint64_t> bytes_;
  std::uint64_t unconfirmed_ = 0;  // puts
};

}  // namespace starling
