// What lets kernels of one GPU run one after the other though there is room for all, and what is done about it before
// CUDA starts. PEs that share a GPU wait for each other, so their kernels must run at the same time. Nothing here asks
// a driver.
#pragma once

#include <string>

#include "variables.hpp"

namespace starling {

// Hardware queues (CUDA calls them connections) through which a context's streams reach the GPU: streams of one queue
// may wait for each other. Each PE of a GPU gets as many as a GPU that one PE has alone, as far as CUDA goes.
constexpr int usual_queues = 8;
constexpr int most_queues = 32;
int queues_needed(int pes_on_gpu);

// How many a context that is made now gets.
int queues_set(const variables& v);

// Sets, where the user has not, what CUDA reads when it starts: the number of queues; and that modules are loaded
// whole, since a kernel that is loaded when it is first launched may wait for those that run, which may wait for it.
// Where several processes share a GPU each takes no more queues than its own PEs need: under MPS all processes together
// have only so many, and who comes when they are used up is told that memory is.
void prepare_to_share(int queues = most_queues);

// What to say of a context that was there before and may have too few queues; empty: nothing.
std::string too_few_queues(int queues, int pes_on_gpu, bool context_was_there);

// What to say where kernels are loaded when they are first met; empty: nothing.
std::string loaded_late(bool late);

// What to say where each of the PEs of a GPU has so many streams that wait for words of memory: at most half of the
// hardware queues may wait, since programs, and what ends them, come through the others. Empty: nothing.
std::string too_many_waiting(int streams_of_a_pe, int pes_on_gpu, int queues);

// What is set that may let kernels run one after the other, in words: for the error of PEs that do not answer. Empty:
// nothing is known.
std::string serialising_settings(const variables& v, int pes_on_gpu);

// The text of that error.
std::string no_answer(const std::string& machine, double seconds, const std::string& settings);

}  // namespace starling
