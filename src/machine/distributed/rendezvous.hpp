// How the processes of a job find each other: process 0 waits at a name that all derive from the job, the others come
// there, and when all are in agreement get the memory that they will share.
#pragma once

#include <string>
#include <vector>

#include "local_socket.hpp"
#include "process_place.hpp"

namespace starling {

// The name at which process 0 of a job waits for the others.
std::string meeting_name(const process_place& p);

struct rendezvous_request {
  process_place place;
  std::string build;                // the same in all
  std::string terms;                // what the machine is to be, in words, the same in all
  std::vector<std::size_t> memory;  // bytes of each shared memory
  double deadline = 0;              // seconds until all have come
};

struct rendezvous_result {
  std::vector<file> memory;
  // Open for as long as a process lives: process 0 has one to each, by rank, the others have one to process 0.
  std::vector<file> lines;
};

// Throws process_error that names who has not come or has died, argument_error when processes disagree.
rendezvous_result meet_first(const rendezvous_request& r);

}  // namespace starling
