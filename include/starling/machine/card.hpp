// Network cards between PEs that are on different hosts: what stands in for them here, and what is thrown when one says
// that it could not do what a block asked for.
#pragma once

#include <string>
#include <vector>

#include "starling/base/error.hpp"
#include "starling/device/report.hpp"

namespace starling {

// What a card is.
enum class card {
  model,  // of virtual devices a thread of this process for each host, of GPUs a kernel beside the program
  proxy   // of GPUs alone: a thread of the host, which reads queues in its own memory and has the driver copy the data
};

// A card has answered with an error: it could not carry out a call of a block, which ends the program (Python:
// NetworkError).
class network_error : public error {
 public:
  // `injected`: the faults that have happened.
  network_error(const block_report& r, const std::string& role, const std::string& status_text,
                const std::vector<std::string>& injected);

  // The block, the PE at the far side, and the call whose entry failed.
  int pe() const { return report_.pe; }
  int block() const { return report_.block; }
  int peer() const { return report_.peer; }
  starling::operation operation() const { return report_.op; }
  std::string file() const { return report_.file; }
  int line() const { return report_.line; }
  // The card's status, a number and in words.
  int status() const { return static_cast<int>(report_.wanted); }
  const std::string& status_text() const { return status_text_; }

 private:
  block_report report_;
  std::string status_text_;
};

}  // namespace starling
