#include "task_graph.hpp"

#include <sstream>

namespace starling::stf {
namespace {

std::string escaped(const std::string& text, const std::string& quote) {
  std::string result;
  for (const char c : text) {
    if (c == '"')
      result += quote;
    else if (c == '\\' && quote[0] == '\\')
      result += "\\\\";  // Graphviz takes it for the start of an escape
    else
      result += c;
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
    out << "  t" << number << " [label=\"" << escaped(n.name, "\\\"") << "\\n" << n.place << "\"];\n";
  for (const auto& [ends, data] : edges_)
    out << "  t" << ends.first << " -> t" << ends.second << " [label=\"" << escaped(joined(data), "\\\"") << "\"];\n";
  out << "}\n";
  return out.str();
}

std::string task_graph::mermaid() const {
  const std::lock_guard lock(mutex_);
  std::ostringstream out;
  out << "flowchart TD\n";
  for (const auto& [number, n] : nodes_)
    out << "  t" << number << "[\"" << escaped(n.name, "#quot;") << "<br/>" << n.place << "\"]\n";
  for (const auto& [ends, data] : edges_)
    out << "  t" << ends.first << " -->|\"" << escaped(joined(data), "#quot;") << "\"| t" << ends.second << "\n";
  return out.str();
}

}  // namespace starling::stf
