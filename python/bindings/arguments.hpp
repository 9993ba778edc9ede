// Arguments of calls that users make on native classes, checked so that what is wrong gets an error of Starling, which
// says the value and what is expected, and not nanobind's list of signatures. With the interpreter lock.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

namespace starling::python {

// Throws the type_error of an argument of another kind than is expected.
[[noreturn]] void refuse(const char* name, nanobind::handle value, const char* expected);
// As starling._arguments.whole_number: any kind of whole number of Python and NumPy.
int whole_number(const char* name, nanobind::handle value, int least, int most);
// A PE, of which the machine says whether it has it.
int pe_number(const char* name, nanobind::handle value);
// A device of a machine that is not known yet. `call` is for the error: "exec_place::device".
int device_number(const char* call, nanobind::handle value);
std::vector<int> device_numbers(const char* call, nanobind::handle values);
double floating_number(const char* name, nanobind::handle value);
// A text, or what os.fspath takes.
std::string file_name(const char* name, nanobind::handle value);
nanobind::object text_of_file_name(const std::string& name);

}  // namespace starling::python
