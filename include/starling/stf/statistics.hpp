// What a context has done so far, as numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "starling/stf/context_options.hpp"

namespace starling::stf {

struct place_usage {
  int pe = 0;                // or host_place, managed_place
  std::size_t reserved = 0;  // bytes taken from the machine
  std::size_t in_use = 0;    // bytes of them in instances
  std::size_t most_in_use = 0;
  std::size_t largest_free = 0;  // bytes in one piece
  std::size_t cap = 0;           // 0: none
};

// Tasks of one name, or of one type of body if they have none, that touch about as many bytes; of contexts in which
// tasks have left their place to the context.
struct task_class_usage {
  struct on_device {
    int pe = 0;
    std::uint64_t chosen = 0;    // tasks there, those too whose place the program gave
    std::uint64_t explored = 0;  // of these, to learn how long they take there
    std::uint64_t samples = 0;   // measured tasks
    double seconds = 0;          // their mean
  };
  std::string name;
  std::size_t most_bytes = 0;  // a task touches up to so many, and more than half of them
  std::vector<on_device> devices;
};

// Epochs of the same tasks; of contexts that choose between streams and graphs.
struct epoch_class_usage {
  struct times {
    std::uint64_t epochs = 0;
    std::uint64_t samples = 0;
    double seconds = 0;  // the shortest that counts; 0: none yet
  };
  std::uint64_t tasks = 0;
  times on_streams;
  times as_graph;
  bool settled = false;                        // both are known
  backend_kind chosen = backend_kind::stream;  // for the next such epoch
  std::string refused;                         // why it cannot become a graph; empty: it can
};

struct statistics {
  std::uint64_t tasks = 0;
  std::uint64_t copies = 0;
  std::uint64_t copied_bytes = 0;
  std::uint64_t evictions = 0;
  // Epochs of graph contexts and of those that choose, and how many of them found an executable graph that could be
  // updated.
  std::uint64_t epochs = 0;
  std::uint64_t graphs_reused = 0;
  // Of tasks that were recorded: the recordings, and how often one was done, rounds of loops not counted.
  std::uint64_t recordings = 0;
  std::uint64_t launches = 0;
  std::vector<place_usage> places;  // devices in order, then the host, and managed memory if there was any
  std::vector<task_class_usage> classes;
  std::vector<epoch_class_usage> epoch_classes;  // in the order in which they were first seen
};

// What the context has learned and how it chooses, as text: a line for each class of tasks and of epochs.
std::string explain(const statistics& s);

}  // namespace starling::stf
