#include "errors.hpp"

#include <atomic>
#include <cstdio>
#include <new>
#include <string>

#include "world.hpp"

namespace starling::openshmem {
namespace {

struct known_error {
  shmemx_error_t what = SHMEMX_ERROR_NONE;
  std::string text;
};

std::atomic<shmemx_error_handler_t> handler{nullptr};

known_error& last() {
  thread_local known_error e;
  return e;
}

const char*& current() {
  thread_local const char* name = "";
  return name;
}

// Names the PE and the call, unless the text begins with it.
std::string told(const char* what) {
  const std::string text = what;
  const std::string name = call();
  const world* w = world::now();
  const std::string who = w != nullptr ? message("PE ", w->me(), ": ") : std::string();
  return who + (text.rfind(name, 0) == 0 ? "" : name + ": ") + text;
}

known_error caught() {
  try {
    throw;
  } catch (const late_error& e) {
    return {SHMEMX_ERROR_STALL, told(e.what())};
  } catch (const process_error& e) {
    return {SHMEMX_ERROR_PROCESS, told(e.what())};
  } catch (const argument_error& e) {
    return {SHMEMX_ERROR_ARGUMENT, told(e.what())};
  } catch (const range_error& e) {
    return {SHMEMX_ERROR_RANGE, told(e.what())};
  } catch (const memory_error& e) {
    return {SHMEMX_ERROR_MEMORY, told(e.what())};
  } catch (const std::bad_alloc&) {
    return {SHMEMX_ERROR_MEMORY, told("the process has no memory left for it")};
  } catch (const unsupported_error& e) {
    return {SHMEMX_ERROR_UNSUPPORTED, told(e.what())};
  } catch (const std::exception& e) {
    return {SHMEMX_ERROR_OTHER, told(e.what())};
  }
}

void write(const std::string& text) { (void)std::fprintf(stderr, "starling: %s\n", text.c_str()); }

}  // namespace

const char* call() { return current(); }
void enter(const char* name) { current() = name; }

void tell() {
  last() = caught();
  write(last().text);
}

void hand_over() {
  last() = caught();
  if (const shmemx_error_handler_t own = handler.load()) return own(last().what, last().text.c_str());
  write(last().text);
  end_job(1);
}

}  // namespace starling::openshmem

using namespace starling::openshmem;

extern "C" shmemx_error_handler_t shmemx_set_error_handler(shmemx_error_handler_t h) { return handler.exchange(h); }
extern "C" shmemx_error_t shmemx_last_error() { return last().what; }
extern "C" const char* shmemx_last_error_text() { return last().text.c_str(); }
