// The globals and statics of the executable as symmetric memory: the writable segments of its file, behind what the
// loader makes read-only, are copied into memory that all processes share, which is then mapped over them.
#pragma once

#include <cstddef>
#include <vector>

namespace starling {
class file;
}

namespace starling::openshmem {

class globals {
 public:
  // A range of whole pages of the executable, and where its copy begins among the bytes of all.
  struct range {
    std::byte* start;
    std::size_t bytes;
    std::size_t at;
  };

  // Finds them. Nothing is mapped yet.
  globals();

  std::size_t bytes() const { return bytes_; }
  static std::size_t page();

  // Maps them to `bytes()` bytes of a file from `offset` on, a multiple of page(), which this process has mapped at
  // `copy`. Nobody else writes to them meanwhile: only this thread may run. Throws memory_error.
  void share(const file& memory, std::size_t offset, std::byte* copy);
  // Gives them back memory of this process alone, with what is in them. Throws memory_error.
  void take_back();

  // How far into all of them an address lies; false: elsewhere, or the bytes reach out of them.
  bool find(const void* address, std::size_t bytes, std::size_t& at) const;

 private:
  std::vector<range> ranges_;
  std::size_t bytes_ = 0;
};

}  // namespace starling::openshmem
