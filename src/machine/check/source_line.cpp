#include "source_line.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "starling/base/error.hpp"

namespace starling::check {
namespace {

// What addr2line prints, a line for each function that was inlined, innermost first.
std::string ask_addr2line(const std::string& module, std::size_t offset) {
  if (module.find('\'') != std::string::npos) return "";  // would end the quoted name
  std::array<char, 64> address{};
  std::snprintf(address.data(), address.size(), "0x%zx", offset);
  const std::string command = message("addr2line -i -e '", module, "' ", address.data(), " 2>/dev/null");
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  std::string all;
  std::array<char, 512> part{};
  while (pipe && std::fgets(part.data(), part.size(), pipe.get()) != nullptr) all += part.data();
  return all;
}

bool in_library(const std::string& line) {
  for (const char* own : {"include/starling/", "/usr/", "cuda/std/", "cccl/"})
    if (line.find(own) != std::string::npos) return true;
  return false;
}

// The innermost line that is not the library's; the innermost of all if every one is.
std::string choose(const std::string& lines) {
  std::string first;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    std::string line = lines.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty() || line[0] == '?') continue;
    line = line.substr(0, line.find(" (discriminator"));
    if (line.rfind("./", 0) == 0) line.erase(0, 2);
    if (first.empty()) first = line;
    if (!in_library(line)) return line;
  }
  return first;
}

// What addr2line is to read. The system knows the program itself by the name it was started with, which need not lead
// to it from here.
std::string file_of(const Dl_info& module, const link_map* loaded) {
  std::error_code unreadable;
  if (loaded == nullptr || loaded->l_name[0] != 0) return module.dli_fname;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unreadable);
  return unreadable ? module.dli_fname : program.string();
}

}  // namespace

std::string source_line(const void* code) {
  Dl_info module{};
  void* loaded = nullptr;
  if (code == nullptr || dladdr1(code, &module, &loaded, RTLD_DL_LINKMAP) == 0 || module.dli_fname == nullptr)
    return "an unknown place";
  const std::string file = file_of(module, static_cast<const link_map*>(loaded));
  // One byte back: the address that a call returns to may belong to the next line.
  const std::size_t offset =
      static_cast<std::size_t>(static_cast<const char*>(code) - static_cast<const char*>(module.dli_fbase)) - 1;
  std::string line = choose(ask_addr2line(file, offset));
  if (line.empty())  // a program that is not position-independent has absolute addresses
    line = choose(ask_addr2line(file, reinterpret_cast<std::size_t>(code) - 1));
  if (!line.empty()) return line;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "+0x%zx", offset);
  return message(module.dli_fname, text.data(), " (compile with -g1 to see the line)");
}

}  // namespace starling::check
