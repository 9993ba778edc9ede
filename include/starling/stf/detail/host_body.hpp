// host_body: marks the thread that runs a body of the host (host_launch, a loop of the host) while it does, so that
// calls of a context in there are refused: they would wait for the stream that runs the body.
#pragma once

#include <memory>
#include <utility>

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

// f, as what such a thread runs. Its end is marked, too: where the last handles to data go with it, they are not to
// wait for the stream either.
template <class F>
auto as_host_body(F f) {
  std::shared_ptr<F> held(new F(std::move(f)), [](F* last) {
    const host_body here;
    delete last;
  });
  return [held = std::move(held)] {
    const host_body here;
    (*held)();
  };
}

}  // namespace starling::stf
