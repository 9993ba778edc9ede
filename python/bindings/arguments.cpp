#include "arguments.hpp"

#include <limits>

#include "starling/base/error.hpp"

namespace nb = nanobind;

namespace starling::python {
namespace {

constexpr int least_int = std::numeric_limits<int>::min();
constexpr int most_int = std::numeric_limits<int>::max();

}  // namespace

void refuse(const char* name, nb::handle value, const char* expected) {
  throw type_error(message(name, " = ", nb::repr(value).c_str(), " is a ", nb::type_name(value.type()).c_str(),
                           "; pass ", expected));
}

int whole_number(const char* name, nb::handle value, int least, int most) {
  return nb::cast<int>(nb::module_::import_("starling._arguments").attr("whole_number")(name, value, least, most));
}

int pe_number(const char* name, nb::handle value) { return whole_number(name, value, least_int, most_int); }

int device_number(const char* call, nb::handle value) {
  const int number = whole_number("number of a device", value, least_int, most_int);
  expect<range_error>(number >= 0, call, ": device ", number,
                      "; devices are numbered from 0, so it must be at least 0");
  return number;
}

std::vector<int> device_numbers(const char* call, nb::handle values) {
  if (!nb::isinstance<nb::iterable>(values)) refuse("numbers", values, "the numbers of devices, such as [0, 1]");
  std::vector<int> all;
  for (const nb::handle each : nb::borrow<nb::iterable>(values)) all.push_back(device_number(call, each));
  return all;
}

double floating_number(const char* name, nb::handle value) {
  double number = 0;
  if (!nb::try_cast(value, number)) refuse(name, value, "a number");
  return number;
}

std::string file_name(const char* name, nb::handle value) {
  const nb::module_ os = nb::module_::import_("os");
  const bool known =
      nb::isinstance<nb::str>(value) || nb::isinstance<nb::bytes>(value) || nb::isinstance(value, os.attr("PathLike"));
  if (!known) refuse(name, value, "a text or a pathlib.Path");
  const auto encoded = nb::cast<nb::bytes>(os.attr("fsencode")(value));  // as the system has it: names need not be text
  return {encoded.c_str(), encoded.size()};
}

nb::object text_of_file_name(const std::string& name) {
  return nb::module_::import_("os").attr("fsdecode")(nb::bytes(name.data(), name.size()));
}

}  // namespace starling::python
