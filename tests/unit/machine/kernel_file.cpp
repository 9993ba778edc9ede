// GPU code in a file that is not there, or is none: an error that names the file, and says what to do where CUDA is
// missing. CUDA may load a file only when it looks for a kernel in it; then there is none.
#include "starling/machine/kernel_file.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "starling/base/error.hpp"

namespace starling::test::kernel_file_tests {
namespace {

std::string refusal(const std::string& path) {
  try {
    const kernel_file file(path);
  } catch (const argument_error& e) {
    return e.what();
  } catch (const unsupported_error& e) {
    return e.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a file that is not there is named") {
  const std::string text = refusal("/nowhere/program.cubin");
  CHECK(text.find("/nowhere/program.cubin") != std::string::npos);
  CHECK(text.find("; ") != std::string::npos);
}

TEST_CASE("a file without GPU code is named, or has no kernel") {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "starling_no_kernels.cubin";
  std::ofstream(path) << "no kernels in here";
  const std::string text = refusal(path);
  if (text.empty())
    CHECK(kernel_file(path).find("kernel") == nullptr);
  else
    CHECK(text.find(path.string()) != std::string::npos);
  std::filesystem::remove(path);
}

}  // namespace starling::test::kernel_file_tests
