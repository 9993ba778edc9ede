// One thread of a block in check mode, for block_threads and the threads' ports.
#pragma once

#include <memory>

#include "block_threads.hpp"
#include "thread_port.hpp"

namespace starling::check {

struct block_threads::member {
  enum class state { ready, resting, done };

  member(block_threads& all, int i, int threads)
      : number(i),
        alone(all, *this, thread_port::whose::thread, threads),
        of_warp(all, *this, thread_port::whose::warp, threads),
        of_block(all, *this, thread_port::whose::block, threads),
        scope(all.block_.scope) {}

  int number;
  thread_port alone;
  thread_port of_warp;
  thread_port of_block;
  std::unique_ptr<thread_fibers::one> on;
  state now = state::ready;
  bool begun = false;
  const access_scope* scope;  // of the work that it does
  const request* pending = nullptr;
  std::uint64_t answer = 0;
  // Calls that one makes for all to which it has come since the threads of its warp, or of the block, last met.
  std::size_t common_of_warp = 0;
  std::size_t common_of_block = 0;
  std::size_t loops = 0;          // to which it has come since the last barrier
  loop_accesses* loop = nullptr;  // in which it is

  std::size_t& common_of(const company& c) { return c.is_block ? common_of_block : common_of_warp; }
  bool in_part(const request& r) const {
    return now == state::resting && pending->how == request::kind::part && pending->first == r.first &&
           pending->count == r.count;
  }
  bool asks(request::kind how) const { return now == state::resting && pending->how == how; }
};

}  // namespace starling::check
