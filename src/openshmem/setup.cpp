#include "setup.hpp"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "job.hpp"
#include "machine/variables.hpp"
#include "meeting.hpp"
#include "starling/base/environment.hpp"
#include "teams.hpp"
#include "world.hpp"

namespace starling::openshmem {
namespace {

std::mutex& starting() {
  static std::mutex m;
  return m;
}

int begun = 0;  // how many initialisations are not finalised

// A program that ends without shmem_finalize, and well, has meant to call it. One that ends with an error lets the
// others see that it has: those of other hosts by the launcher, for which it must not wait for them in MPI.
void at_exit(int status, void*) {
  world* w = world::now();
  if (w == nullptr || begun == 0) return;
  if (w->is_ending()) {
    (void)std::fflush(nullptr);
    return w->end_engine(status);
  }
  if (status != 0) {
    if (!w->has_far()) return;
    (void)std::fflush(nullptr);
    ::_exit(status);
  }
  enter("exit");
  try {
    begun = 1;
    finalize();
  } catch (...) {
    tell();
  }
}

void say_what_is_asked() {
  const world& w = *world::now();
  const variables v = environment_variables();
  if (w.me() != 0) return;
  if (v.count("SHMEM_VERSION") > 0)
    (void)std::fprintf(stderr, "%s, OpenSHMEM %d.%d\n", SHMEM_VENDOR_STRING, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
  if (v.count("SHMEM_INFO") > 0)
    (void)std::fprintf(stderr,
                       "SHMEM_SYMMETRIC_SIZE: bytes of the symmetric heap; now %s\n"
                       "SHMEM_VERSION: tells the version at the start\nSHMEM_INFO: tells these variables\n",
                       format_bytes(heap_bytes()).c_str());
}

void begin_once() {
  const std::lock_guard lock(starting());
  if (begun == 0) {
    world::begin();
    say_what_is_asked();
  }
  // After an engine has begun, so that it is called before what ends that.
  static const bool registered = ::on_exit(&at_exit, nullptr) == 0;
  (void)registered;
  ++begun;
}

}  // namespace

void init(int requested) {
  int provided = 0;
  (void)init_thread(requested, &provided);
}

int init_thread(int requested, int* provided) {
  expect<argument_error>(requested >= SHMEM_THREAD_SINGLE && requested <= SHMEM_THREAD_MULTIPLE, call(),
                         ": requested = ", requested, "; must be from SHMEM_THREAD_SINGLE to SHMEM_THREAD_MULTIPLE");
  begin_once();
  *provided = SHMEM_THREAD_MULTIPLE;
  return 0;
}

// It may be called again, and nothing undoes it but the end of the program.
void start_once(int) {
  if (world::now() == nullptr) begin_once();
}

void finalize() {
  (void)world::here();
  meet(everyone(), {operation::finalize});
  const std::lock_guard lock(starting());
  if (--begun == 0) world::end();
}

void query_thread(int* provided) {
  (void)world::here();
  *provided = SHMEM_THREAD_MULTIPLE;
}

void query_initialized(int* initialized) { *initialized = world::now() != nullptr ? 1 : 0; }

int my_pe() { return world::here().me(); }
int n_pes() { return world::here().size(); }

int pe_accessible(int pe) { return pe >= 0 && pe < world::here().size() ? 1 : 0; }

int addr_accessible(const void* address, int pe) {
  std::size_t at = 0;
  return pe_accessible(pe) != 0 && world::here().find(address, 1, at) ? 1 : 0;
}

void* ptr(const void* address, int pe) {
  world& w = world::here();
  w.check_pe(pe);
  std::size_t at = 0;
  if (!w.find(address, 1, at)) return nullptr;
  if (!w.is_near(pe)) return nullptr;
  return pe == w.me() ? const_cast<void*>(address) : w.on(pe, at);
}

void* team_ptr(shmem_team_t handle, const void* address, int pe) {
  world& w = world::here();
  if (handle == SHMEM_TEAM_INVALID) return nullptr;
  const team t = w.all_teams().find(handle);
  expect<range_error>(pe >= 0 && pe < t.size, call(), ": pe = ", pe, "; must be from 0 to ", t.size - 1);
  return ptr(address, t.start + pe * t.stride);
}

void info_get_version(int* major, int* minor) {
  *major = SHMEM_MAJOR_VERSION;
  *minor = SHMEM_MINOR_VERSION;
}

void info_get_name(char* name) { std::strcpy(name, SHMEM_VENDOR_STRING); }

void cache() { (void)world::here(); }
void cache_line(const void* address) { (void)world::here().place(address, 1, "dest"); }

}  // namespace starling::openshmem

extern "C" {

void pshmem_global_exit(int status) {
  starling::openshmem::enter("shmem_global_exit");
  starling::openshmem::end_job(status);
}
__attribute__((weak, alias("pshmem_global_exit"), noreturn)) void shmem_global_exit(int status);

// Profilers take its place; here it does nothing.
void pshmem_pcontrol(int, ...) {}
__attribute__((weak, alias("pshmem_pcontrol"))) void shmem_pcontrol(int level, ...);
}
