// host_body: marks the thread that runs a body of the host (host_launch, a loop of the host) while it does, so that
// calls of a context in there are refused: they would wait for the stream that runs the body.
#pragma once

namespace starling::stf {

class host_body {
 public:
  host_body();
  host_body(const host_body&) = delete;
  host_body& operator=(const host_body&) = delete;
  ~host_body();

  // Throws argument_error when the calling thread runs such a body.
  static void expect_none(const char* call);

 private:
  bool outer_;
};

}  // namespace starling::stf
