#include "nvshmem_engine.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../distributed/local_socket.hpp"
#include "frames.hpp"
#include "starling/base/environment.hpp"
#include "starling/base/error.hpp"

namespace starling::nvshmem {
namespace {

constexpr const char* call = "machine::distributed";

// Each process takes a step, and learns what it has come to in all of them. Where it fails in one, all get that error.
std::vector<std::string> together(process_group& group, const std::function<std::string()>& step) {
  std::string mine;
  try {
    mine = message("=", step());
  } catch (const memory_error& e) {
    mine = message("m", e.what());
  } catch (const error& e) {
    mine = message("u", e.what());
  }
  std::vector<std::string> all = group.collect(call, mine);
  for (std::size_t r = 0; r < all.size(); ++r) {
    const char how = all[r].front();
    all[r].erase(0, 1);
    if (how == '=') continue;
    const std::string text = message(all[r], " (process ", r, " of ", all.size(), ")");
    expect<memory_error>(how != 'm', text);
    throw unsupported_error(text);
  }
  return all;
}

// Whether the system, and so any thread of the host, can read memory: that of GPUs has addresses, too.
bool host_can_read(const void* memory) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  const file out(ends[0]);
  const file in(ends[1]);
  return ::write(in.number(), memory, 1) == 1;
}

std::string new_id(const host_library& by) {
  unique_id id;
  const int problem = by.get_unique_id(&id);
  expect<unsupported_error>(problem == 0, call, ": nvshmemx_get_uniqueid returns ", problem,
                            "; NVSHMEM_DEBUG=INFO says more");
  return {reinterpret_cast<const char*>(&id), sizeof id};
}

void begin(const host_library& by, const std::string& id_bytes, int rank, int processes) {
  unique_id id;
  std::memcpy(&id, id_bytes.data(), sizeof id);
  init_attributes attributes;
  const int refused = by.set_unique_id(rank, processes, &id, &attributes);
  const int problem = refused != 0 ? refused : by.init(with_unique_id, &attributes);
  const int status = problem != 0 ? 0 : by.init_status();
  expect<unsupported_error>(status >= is_initialized, call, ": NVSHMEM does not begin (it returns ", problem,
                            ", its status is ", status,
                            "); each process needs a GPU for it, and NVSHMEM_DEBUG=INFO "
                            "says more; or set STARLING_TRANSPORT=mpi");
  expect<unsupported_error>(by.my_pe() == rank && by.n_pes() == processes, call, ": NVSHMEM calls this process ",
                            by.my_pe(), " of ", by.n_pes(), ", the launcher calls it ", rank, " of ", processes,
                            "; let Starling begin NVSHMEM");
}

std::byte* memory_for(const host_library& by, int processes) {
  const std::size_t bytes = byte_streams::bytes_for(processes);
  const auto memory = static_cast<std::byte*>(by.malloc(bytes));
  expect<memory_error>(memory != nullptr, call, ": NVSHMEM's heap has no ", format_bytes(bytes), " (", bytes,
                       " bytes) for the messages of ", processes, " processes; set NVSHMEM_SYMMETRIC_SIZE=", 2 * bytes,
                       " or more");
  expect<unsupported_error>(host_can_read(memory), call,
                            ": NVSHMEM's heap is in the memory of a GPU, where virtual devices have no messages; set "
                            "NVSHMEM_HEAP_KIND=SYSMEM, or STARLING_TRANSPORT=mpi");
  return memory;
}

// NVSHMEM of this process.
class session {
 public:
  static session& of_process(process_group& group, const std::string& file) {
    static session s(group, file);
    return s;
  }
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  frames& all() { return *frames_; }

 private:
  session(process_group& group, const std::string& file) {
    host_library by;
    const std::string id = together(group, [&] {
      by = load_host_library(file);
      return group.rank() == 0 ? new_id(by) : std::string();
    })[0];
    (void)together(group, [&] {
      const gpu_context gpu = gpu_context::of_process(group.rank());
      begin(by, id, group.rank(), group.size());
      frames_.emplace(by, gpu, memory_for(by, group.size()), group.rank(), group.size());
      return std::string();
    });
  }

  std::optional<frames> frames_;
};

class nvshmem_engine final : public engine {
 public:
  nvshmem_engine(frames& all, int rank, int size) : all_(all), number_(all.open()), rank_(rank), size_(size) {}
  ~nvshmem_engine() override { all_.close(number_); }
  nvshmem_engine(const nvshmem_engine&) = delete;
  nvshmem_engine& operator=(const nvshmem_engine&) = delete;

  std::string name() const override { return "nvshmem"; }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(int to, message_bytes message) override { all_.send(number_, to, std::move(message)); }
  bool receive(int& from, message_bytes& message) override { return all_.receive(number_, from, message); }
  bool sent() override { return all_.sent(number_); }
  void send_data(int to, const data_range& data) override { all_.send_data(number_, to, data); }
  void receive_data(int from, const data_range& place) override { all_.receive_data(number_, from, place); }
  bool data_received(int from) override { return all_.data_received(number_, from); }

 private:
  frames& all_;
  std::uint32_t number_;
  int rank_;
  int size_;
};

}  // namespace

std::unique_ptr<engine> make_engine(process_group& group, const std::string& file) {
  return std::make_unique<nvshmem_engine>(session::of_process(group, file).all(), group.rank(), group.size());
}

}  // namespace starling::nvshmem
