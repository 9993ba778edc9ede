#include "task_graph.hpp"

#include <sstream>

namespace starling::stf {
namespace {

// A label of Graphviz, between quotes.
std::string in_dot(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

// A label of Mermaid, which reads HTML between quotes.
std::string in_mermaid(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '"':
        result += "#quot;";
        break;
      case '<':
        result += "#lt;";
        break;
      case '>':
        result += "#gt;";
        break;
      case '#':
        result += "#35;";
        break;
      default:
        result += c == '\n' ? ' ' : c;
    }
  }
  return result;
}

std::string joined(const std::set<std::string>& names) {
  std::string all;
  for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
  return all;
}

}  // namespace

void task_graph::add_task(std::uint64_t number, const std::string& name, const std::string& place) {
  const std::lock_guard lock(mutex_);
  nodes_[number] = {name.empty() ? "task " + std::to_string(number) : name, place};
}

void task_graph::add_edge(std::uint64_t earlier, std::uint64_t later, const std::string& data) {
  const std::lock_guard lock(mutex_);
  edges_[{earlier, later}].insert(data);
}

std::string task_graph::dot() const {
  const std::lock_guard lock(mutex_);
  std::ostringstream out;
  out << "digraph tasks {\n  node [shape=box];\n";
  for (const auto& [number, n] : nodes_)
    out << "  t" << number << " [label=\"" << in_dot(n.name) << "\\n" << n.place << "\"];\n";
  for (const auto& [ends, data] : edges_)
    out << "  t" << ends.first << " -> t" << ends.second << " [label=\"" << in_dot(joined(data)) << "\"];\n";
  out << "}\n";
  return out.str();
}

std::string task_graph::mermaid() const {
  const std::lock_guard lock(mutex_);
  std::ostringstream out;
  out << "flowchart TD\n";
  for (const auto& [number, n] : nodes_)
    out << "  t" << number << "[\"" << in_mermaid(n.name) << "<br/>" << n.place << "\"]\n";
  for (const auto& [ends, data] : edges_)
    out << "  t" << ends.first << " -->|\"" << in_mermaid(joined(data)) << "\"| t" << ends.second << "\n";
  return out.str();
}

}  // namespace starling::stf
