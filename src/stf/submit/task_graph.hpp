// The tasks of a context and which waits for which, for drawings. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace starling::stf {

class task_graph {
 public:
  void add_task(std::uint64_t number, const std::string& name, const std::string& place);
  // `later` waits for `earlier` because of the data of that name.
  void add_edge(std::uint64_t earlier, std::uint64_t later, const std::string& data);

  // For Graphviz, and for Markdown pages.
  std::string dot() const;
  std::string mermaid() const;

 private:
  struct node {
    std::string name;
    std::string place;
  };
  mutable std::mutex mutex_;
  std::map<std::uint64_t, node> nodes_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::set<std::string>> edges_;
};

}  // namespace starling::stf
