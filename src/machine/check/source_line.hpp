// The source line of a place in machine code.
#pragma once

#include <string>

namespace starling::check {

// "file.cpp:12" of the call that returns to `code`, or the module and offset when there is no debug information or no
// addr2line (binutils) to read it. Lines of Starling's own headers are skipped for those of their callers.
std::string source_line(const void* code);

}  // namespace starling::check
