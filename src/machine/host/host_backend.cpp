#include "host_backend.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "../fault_rules.hpp"
#include "card_thread.hpp"
#include "cards.hpp"
#include "deferred.hpp"
#include "host_graph.hpp"
#include "host_stream.hpp"
#include "messenger_card.hpp"
#include "starling/base/error.hpp"

namespace starling {

std::shared_ptr<backend> make_host_backend(int devices, const host_options& options) {
  constexpr int most = 256;
  expect<argument_error>(devices >= 1 && devices <= most, "machine::host: devices = ", devices, "; must be from 1 to ",
                         most);
  expect<argument_error>(options.max_blocks >= 0, "machine::host: max_blocks = ", options.max_blocks,
                         "; must be at least 1, or 0 for STARLING_HOST_BLOCKS");
  constexpr std::size_t most_memory = std::size_t{1} << 50;
  expect<argument_error>(options.memory_bytes <= most_memory, "machine::host: memory_bytes = ", options.memory_bytes,
                         "; must be at most 2^50, or 0 for STARLING_HOST_MEMORY");
  check_faults(options.faults, devices);
  network::check_queue_depth("machine::host", options.queue_depth);
  const environment e = environment::read();
  network::host_layout hosts = network::layout_of("machine::host", options.hosts, devices, e);
  expect<argument_error>(
      hosts.one_host() || network::card_of(options.card, e) == card::model,
      "machine::host: the network cards are to be proxy, which is for GPUs; those of virtual devices "
      "are threads anyway: card::model (STARLING_CARD=model)");
  auto made = std::make_shared<host::host_backend>(
      host::host_settings{devices, options.memory_bytes > 0 ? options.memory_bytes : e.host_memory,
                          options.max_blocks > 0 ? options.max_blocks : e.host_blocks, options.poison, e.deadline,
                          std::move(hosts), options.queue_depth});
  made->inject(options.faults);
  return made;
}

namespace host {
namespace {

constexpr std::size_t page = 4096;
// Addresses for control words, per PE; a program takes 32 bytes a block and some, and its reports.
constexpr std::size_t control_bytes = std::size_t{64} << 20;
constexpr std::size_t launch_bytes = std::size_t{16} << 20;  // those of plain launches
std::size_t pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

std::size_t all_pages(const host_settings& s) { return pages(s.memory_bytes) * static_cast<std::size_t>(s.devices); }

// As much as the devices have.
std::size_t host_bytes_beside(const host_settings& s) { return std::max(std::size_t{1} << 30, all_pages(s)); }

// Addresses of local memory: of the devices twice what there can be, so that gaps between allocations seldom matter.
std::size_t local_bytes(const host_settings& s) { return 2 * all_pages(s) + host_bytes_beside(s); }

std::size_t stride_of(const host_settings& s) { return pages(s.memory_bytes) + control_bytes + launch_bytes; }
std::size_t symmetric_bytes(const host_settings& s) { return stride_of(s) * static_cast<std::size_t>(s.devices); }

std::size_t arena_bytes(const host_settings& s) {
  return host_backend::shared_bytes(s) + local_bytes(s) + check::scratch_area::all_bytes;
}

symmetric_heap heap_in(const arena& all, const host_settings& s, std::size_t begin, std::size_t bytes) {
  return {{all.start() + begin, static_cast<index_t>(stride_of(s)), s.devices, bytes}, [](std::size_t) {}};
}

index_range pes_of(const process_group* processes, int devices) {
  return processes == nullptr ? index_range{0, devices} : share(devices, processes->size(), processes->rank());
}

}  // namespace

std::size_t host_backend::shared_bytes(const host_settings& s) {
  return symmetric_bytes(s) + pages(sizeof(shared_words));
}

host_backend::host_backend(const host_settings& s, std::unique_ptr<process_group> processes)
    : max_blocks_(s.max_blocks),
      poison_(s.poison),
      deadline_(s.deadline),
      host_bytes_(host_bytes_beside(s)),
      arena_(std::make_shared<arena>(arena_bytes(s), all_pages(s), processes ? &processes->memory() : nullptr,
                                     shared_bytes(s))),
      heap_(heap_in(*arena_, s, 0, pages(s.memory_bytes))),
      control_heap_(heap_in(*arena_, s, pages(s.memory_bytes), control_bytes)),
      launch_heap_(heap_in(*arena_, s, pages(s.memory_bytes) + control_bytes, launch_bytes)),
      shared_(*reinterpret_cast<shared_words*>(arena_->start() + symmetric_bytes(s))),
      local_(arena_->start() + shared_bytes(s), local_bytes(s), page),
      lot_(shared_.lots, arena_->start()),
      hosts_(s.hosts),
      queue_depth_(static_cast<std::uint32_t>(s.queue_depth)),
      landing_(lot_),
      own_(pes_of(processes.get(), s.devices)),
      processes_(std::move(processes)) {
  for (int i = 0; i < s.devices; ++i) {
    device_info d;
    d.name = message("virtual device ", i);
    d.id = i;
    d.memory_bytes = pages(s.memory_bytes);
    d.scratch_bytes = std::size_t{1} << 20;
    devices_.push_back(d);
  }
  if (!processes_) {
    std::vector<std::unique_ptr<host_card>> threads;
    for (int h = 0; h < hosts_.n_hosts(); ++h) threads.push_back(std::make_unique<card_thread>(lot_));
    open_cards(std::move(threads));
    return;
  }
  agreed_ = std::make_unique<agreed_memory>(heap_, *processes_);
  processes_->when_lost([this] {
    end_flag::raise(shared_.ended);
    lot_.wake_all();
  });
}

host_backend::host_backend(const host_settings& s, std::unique_ptr<engine_group> processes)
    : host_backend(s, std::unique_ptr<process_group>(std::move(processes))) {
  auto& group = static_cast<engine_group&>(*processes_);
  far_ = std::make_unique<far_memory>(group, landing_, arena_->start(), heap_.where().stride,
                                      static_cast<int>(own_.end - own_.begin), arena_, shared_.ended);
  std::vector<std::unique_ptr<host_card>> own(static_cast<std::size_t>(hosts_.n_hosts()));
  own[static_cast<std::size_t>(hosts_.host_of(static_cast<int>(own_.begin)))] =
      std::make_unique<messenger_card>(lot_, *far_, group.messages());
  open_cards(std::move(own));
}

// What the processes' threads use goes before they do.
host_backend::~host_backend() {
  if (processes_) {
    processes_->leave();
    processes_->when_lost({});
  }
  network_.reset();
  far_.reset();
}

void host_backend::open_cards(std::vector<std::unique_ptr<host_card>> of_hosts) {
  if (hosts_.one_host()) return;
  network_ = std::make_shared<cards>(hosts_, regions(), n_pes(), queue_depth_, std::move(of_hosts));
}

std::vector<network::memory_region> host_backend::regions() const {
  std::vector<network::memory_region> reached;
  const auto add = [&](const std::byte* start, std::size_t bytes) {
    const auto key = static_cast<std::uint32_t>(reached.size()) + 1;
    reached.push_back({reinterpret_cast<std::uintptr_t>(start), bytes, key, network::all_rights});
  };
  const auto stride = static_cast<std::size_t>(heap_.where().stride);  // the users' memory and control words
  for (int pe = 0; pe < n_pes(); ++pe) add(arena_->start() + static_cast<std::size_t>(pe) * stride, stride);
  add(local_.start(), local_.bytes());
  return reached;
}

std::size_t host_backend::allocate(std::size_t bytes) {
  if (const auto faults = this->faults()) faults->at_allocation(bytes, "symmetric memory", n_pes());
  const std::size_t local = agreed_ ? agreed_->agree(bytes, local_.most_in_use()) : local_.most_in_use();
  const std::size_t offset = take_symmetric(bytes, local);
  for (auto pe = static_cast<int>(own_.begin); pe < own_.end; ++pe) fill_fresh(heap_.on(offset, pe), bytes);
  meet("machine::allocate");  // what is written to it from now on is not covered by another process's filling
  return offset;
}

std::size_t host_backend::take_symmetric(std::size_t bytes, std::size_t local) {
  const std::lock_guard lock(memory_mutex_);
  if (local > 0) {
    const std::size_t all = devices_[0].memory_bytes;
    const std::size_t in_use = heap_.info().in_use;
    expect<memory_error>(bytes <= all - std::min(all, local + in_use), "symmetric memory: ", format_bytes(bytes),
                         " asked for on each of ", n_pes(), " PEs, but one of them has ", format_bytes(local),
                         " of local and ", format_bytes(in_use), " of symmetric memory in use, of ", format_bytes(all),
                         "; free some, use more devices, or raise STARLING_HOST_MEMORY");
  }
  return heap_.allocate(bytes);
}

void host_backend::fill_fresh(std::byte* start, std::size_t bytes) const {
  if (checker_)
    check::fill_with_poison(start, bytes);
  else if (poison_)
    std::memset(start, 0xff, bytes);
}

memory_info host_backend::memory() {
  memory_info i = heap_.info();
  i.largest_free =
      std::min(i.largest_free, i.capacity - i.in_use - std::min(local_.most_in_use(), i.capacity - i.in_use));
  return i;
}

std::size_t host_backend::page_bytes() const { return page; }

std::size_t host_backend::free_bytes(int place) const {
  if (place == managed_place) return free_bytes(host_place);
  const std::size_t all = place == host_place ? host_bytes_ : devices_[0].memory_bytes - heap_.info().in_use;
  return all - std::min(all, local_.in_use(place));
}

std::byte* host_backend::allocate_local(const std::vector<placed_bytes>& pieces) {
  // All memory of the process is managed.
  if (pieces.front().pe == managed_place) return allocate_local({{host_place, pieces.front().bytes}});
  std::map<int, std::size_t> wanted;
  std::size_t bytes = 0;
  for (const placed_bytes& p : pieces) {
    wanted[p.pe] += p.bytes;
    bytes += p.bytes;
  }
  if (const auto faults = this->faults()) faults->at_allocation(bytes, "local memory", static_cast<int>(wanted.size()));
  const std::lock_guard lock(memory_mutex_);
  for (const auto& [place, needed] : wanted) {
    const std::size_t there = free_bytes(place);
    expect<memory_error>(needed <= there, "local memory: ", format_bytes(needed), " (", needed, " bytes) asked for on ",
                         place == host_place ? std::string("the host") : message("PE ", place), ", which has ",
                         format_bytes(there), " (", there,
                         " bytes) free; free some, use more devices, or raise STARLING_HOST_MEMORY");
  }
  std::byte* start = local_.allocate(pieces);
  fill_fresh(start, bytes);
  return start;
}

void host_backend::free_local(std::byte* start) noexcept {
  if (deferred_)
    deferred_->free(local_, start);
  else
    (void)local_.free(start);
}

void host_backend::enter_check_mode(const check_options& options) {
  expect<unsupported_error>(!processes_,
                            "machine::check: check mode is for one process; make the machine with machine::host(n)");
  expect<argument_error>(!faults(), "machine::check: faults are injected into this machine; take them out first");
  if (checker_) return checker_->set_options(options);
  constexpr std::size_t guard = 256;
  constexpr std::size_t most_local_guard = std::size_t{64} << 10;
  heap_.set_guard(guard);
  local_.set_guard(guard, most_local_guard);
  if (heap_.info().in_use == 0) (void)heap_.allocate(0);  // what lies before the first array is no array's
  std::unique_ptr<check::card_setting> between;
  if (!hosts_.one_host())
    between = std::make_unique<check::card_setting>(check::card_setting{hosts_, regions(), queue_depth_, n_pes()});
  checker_ = std::make_unique<check::checker>(heap_, control_heap_, local_, options, environment::read().check_report,
                                              std::move(between));
  deferred_ = std::make_shared<deferred_work>(*checker_);
}

check_summary host_backend::checked() const { return checker_ ? checker_->summary() : check_summary{}; }

std::uint64_t host_backend::name_memory(const std::byte* start, std::size_t bytes, std::string name) {
  if (!checker_ || bytes == 0 || !owns(start)) return 0;
  return checker_->names().add(start, bytes, std::move(name));
}

std::shared_ptr<const access_scope> host_backend::declare_accesses(std::string who, where at,
                                                                   std::vector<declared_range> ranges) {
  if (!checker_) return nullptr;
  return std::make_shared<const access_scope>(std::move(who), at, std::move(ranges), checker_->names().now());
}

int host_backend::blocks_that_fit(const kernel&, const launch_options& options) const {
  expect<launch_error>(options.scratch_bytes <= devices_[0].scratch_bytes,
                       "launch_options: scratch_bytes = ", options.scratch_bytes,
                       "; a block of a virtual device has at most ", devices_[0].scratch_bytes);
  return max_blocks_;
}

void host_backend::check_resident(const char* call, int blocks) const {
  expect<launch_error>(blocks <= max_blocks_, call, ": ", blocks, " blocks per PE wanted, a virtual device holds ",
                       max_blocks_, " at once; ask for fewer blocks or raise STARLING_HOST_BLOCKS");
}

void host_backend::check_residency(const std::vector<program>& programs) const {
  int wanted = 0;
  for (const program& p : programs) {
    (void)blocks_that_fit(p.k, p.options);
    wanted += p.roles.blocks();
  }
  check_resident("machine::run", wanted);
}

void host_backend::inject(const fault_plan& plan) {
  expect<unsupported_error>(!processes_ || plan.faults.empty(),
                            "machine::inject: faults are injected into virtual devices of one process; make the "
                            "machine with machine::host(n)");
  expect<argument_error>(!checker_ || plan.faults.empty(),
                         "machine::inject: this machine is in check mode, whose schedules have no faults but the "
                         "program's own; inject into a machine without it");
  auto fresh = plan.faults.empty() ? nullptr : std::make_shared<fault_session>(plan);
  const std::lock_guard lock(faults_mutex_);
  faults_ = std::move(fresh);
  has_faults_.store(faults_ != nullptr);
}

std::shared_ptr<fault_session> host_backend::faults() const {
  if (!has_faults_.load()) return nullptr;
  const std::lock_guard lock(faults_mutex_);
  return faults_;
}

std::vector<fired_fault> host_backend::faults_fired() const {
  const auto now = faults();
  return now ? now->fired() : std::vector<fired_fault>();
}

void host_backend::check_bytes(const char* call, const void* address, std::size_t bytes) const {
  if (bytes == 0) return;
  expect<argument_error>(address != nullptr, call, ": null address for ", bytes, " bytes");
  const bool local = local_.in_range(address);
  if (!local && !heap_.in_range(address)) return;
  if (local && local_.contains(address, bytes)) return;
  for (int pe = 0; pe < n_pes(); ++pe)
    if (heap_.contains(address, bytes, pe)) return;
  throw range_error(message(call, ": ", bytes, " bytes at ", address, " are not inside one live ",
                            local ? "local" : "symmetric", " allocation; check the size and whether ",
                            (local ? "it" : "the array"), " is still allocated"));
}

void host_backend::copy(void* dest, const void* source, std::size_t bytes, where at) {
  check_bytes("machine::copy (dest)", dest, bytes);
  check_bytes("machine::copy (source)", source, bytes);
  const auto of_machine = [&](const void* a) { return heap_.in_range(a) || local_.in_range(a); };
  if (checker_ && of_machine(source) && !of_machine(dest))
    checker_->host_reads(static_cast<const std::byte*>(source), bytes, at);
  copy_rows({static_cast<std::byte*>(dest), bytes, static_cast<const std::byte*>(source), bytes, bytes, 1});
}

void host_backend::count_copy(const copied_rows& c, carried how) const {
  const symmetric_heap::layout& where = heap_.where();
  const auto place_of = [&](const std::byte* address) {
    return heap_.in_range(address) ? static_cast<int>((address - where.start) / where.stride) : host_place;
  };
  const auto is_here = [&](int place) { return place == host_place || (place >= own_.begin && place < own_.end); };
  const int from = place_of(c.from);
  const int to = place_of(c.to);
  if (from == to || ((from == host_place || to == host_place) && is_here(from) && is_here(to))) return;
  traffic_table::pair_bytes moved;
  moved.add(how, c.row_bytes * c.rows);
  traffic_.add(from, to, moved);
}

void host_backend::copy_rows(const copied_rows& c) const {
  if (c.row_bytes == 0 || c.rows == 0) return;
  const bool from_far = far_ != nullptr && far_->holds(c.from);
  const bool to_far = far_ != nullptr && far_->holds(c.to);
  count_copy(c, from_far || to_far ? carried::by_engine : carried::directly);
  if (from_far && to_far) {
    std::vector<std::byte> between(c.row_bytes * c.rows);
    far_->read({between.data(), c.row_bytes, c.from, c.from_pitch, c.row_bytes, c.rows});
    far_->write({c.to, c.to_pitch, between.data(), c.row_bytes, c.row_bytes, c.rows});
  } else if (from_far) {
    far_->read(c);
  } else if (to_far) {
    far_->write(c);
  } else {
    for (std::size_t i = 0; i < c.rows; ++i) std::memcpy(c.to + i * c.to_pitch, c.from + i * c.from_pitch, c.row_bytes);
  }
}

void host_backend::fill_bytes(std::byte* dest, unsigned char byte, std::size_t bytes) const {
  if (bytes == 0) return;
  const std::vector<std::byte> all(far_ != nullptr && far_->holds(dest) ? bytes : 0, std::byte{byte});
  const copied_rows c{dest, bytes, all.data(), bytes, bytes, 1};
  count_copy(c, all.empty() ? carried::directly : carried::by_engine);
  if (all.empty()) return void(std::memset(dest, byte, bytes));
  far_->write(c);
}

void host_backend::fill(void* dest, unsigned char byte, std::size_t bytes) {
  check_bytes("machine::fill", dest, bytes);
  fill_bytes(static_cast<std::byte*>(dest), byte, bytes);
}

std::shared_ptr<stream_backend> host_backend::new_stream(int pe, int) {
  return std::make_shared<host_stream>(shared_from_this(), pe);
}

std::shared_ptr<event_backend> host_backend::new_event(int, event_use) { return std::make_shared<host_event>(); }

std::unique_ptr<recording_backend> host_backend::start_recording(stream_backend& origin) {
  return start_host_recording(static_cast<host_stream&>(origin));
}

}  // namespace host
}  // namespace starling
