// Virtual devices: threads of this process with a bounded memory each. See backend.hpp for what is promised.
#pragma once

#include "../agreed_memory.hpp"
#include "../backend.hpp"
#include "../check/checker.hpp"
#include "../distributed/engine_group.hpp"
#include "../end_flag.hpp"
#include "../far_memory.hpp"
#include "../network/host_layout.hpp"
#include "../traffic_table.hpp"
#include "arena.hpp"
#include "fault_session.hpp"
#include "landing.hpp"
#include "parking.hpp"
#include "shared_words.hpp"

namespace starling::host {

class cards;
class deferred_work;
class host_card;
struct run_group;
class running;

struct host_settings {
  int devices;
  std::size_t memory_bytes;
  int max_blocks;
  bool poison;
  double deadline;
  network::host_layout hosts;  // which PE is on which
  int queue_depth;             // of the rings of queue pairs
};

class host_backend final : public backend, public std::enable_shared_from_this<host_backend> {
 public:
  // `processes`: which share the machine; null: this one has it alone.
  explicit host_backend(const host_settings& s, std::unique_ptr<process_group> processes = nullptr);
  // Its processes are on several hosts.
  host_backend(const host_settings& s, std::unique_ptr<engine_group> processes);
  ~host_backend() override;

  // How much memory processes share.
  static std::size_t shared_bytes(const host_settings& s);

  machine_kind kind() const override { return machine_kind::host; }
  const std::vector<device_info>& devices() const override { return devices_; }
  peer_link link(int from_pe, int to_pe) const override {
    return from_pe == to_pe ? peer_link::self : hosts_.apart(from_pe, to_pe) ? peer_link::card : peer_link::direct;
  }
  symmetric_heap& heap() override { return heap_; }
  std::size_t allocate(std::size_t bytes) override;
  void free(std::size_t offset) noexcept override;
  int processes() const override { return processes_ ? processes_->size() : 1; }
  int process() const override { return processes_ ? processes_->rank() : 0; }
  index_range local_pes() const override { return own_; }
  std::string job() const override { return processes_ ? processes_->name() : std::string(); }
  std::string remark() const override;
  std::string transport() const override;
  int host_of(int pe) const override { return hosts_.host_of(pe); }
  std::vector<std::uint64_t> sent_bytes() const override;
  std::vector<pair_traffic> traffic() const override;
  void meet(const char* call) override;
  double agree(double mine) override;
  memory_info memory() override;
  const local_heap& local() const override { return local_; }
  std::byte* allocate_local(const std::vector<placed_bytes>& pieces) override;
  void free_local(std::byte* start) noexcept override;
  std::size_t page_bytes() const override;
  std::size_t free_bytes(int place) const override;
  double default_deadline() const override { return deadline_; }

  int blocks_that_fit(const kernel& k, const launch_options& options) const override;
  void check_residency(const std::vector<program>& programs) const override;
  void run(const std::vector<program>& programs) override;
  void enter_check_mode(const check_options& options) override;
  check_summary checked() const override;
  bool checking() const override { return checker_ != nullptr; }
  std::uint64_t name_memory(const std::byte* start, std::size_t bytes, std::string name) override;
  void forget_name(std::uint64_t number) noexcept override { checker_->names().remove(number); }
  std::shared_ptr<const access_scope> declare_accesses(std::string who, where at,
                                                       std::vector<declared_range> ranges) override;

  void inject(const fault_plan& plan) override;
  std::vector<fired_fault> faults_fired() const override;
  // The faults for a run or launch that starts now; null when there are none.
  std::shared_ptr<fault_session> faults() const;

  void copy(void* dest, const void* source, std::size_t bytes, where at) override;
  void fill(void* dest, unsigned char byte, std::size_t bytes) override;

  std::shared_ptr<stream_backend> new_stream(int pe, int priority) override;
  std::shared_ptr<event_backend> new_event(int pe, event_use use) override;
  std::unique_ptr<recording_backend> start_recording(stream_backend& origin) override;

  // Of control words of plain launches; programs have another one, which all processes hand out alike.
  symmetric_heap& launch_heap() { return launch_heap_; }
  parking& lot() { return lot_; }
  // The processes that share the machine; null: this one has it alone.
  process_group* group() { return processes_.get(); }
  // The memory of other hosts; null: processes share theirs, or there is one.
  far_memory* far() const { return far_.get(); }
  // The cards between hosts; null when all PEs are on one.
  const std::shared_ptr<cards>& network() const { return network_; }
  traffic_table& moved() { return traffic_; }
  // In check mode; null otherwise.
  check::checker* checker() { return checker_.get(); }
  const std::shared_ptr<deferred_work>& deferred() const { return deferred_; }
  // Throws launch_error unless so many blocks run at once on a PE.
  void check_resident(const char* call, int blocks) const;
  int n_pes() const { return static_cast<int>(devices_.size()); }
  // What copies and fills of the host and of streams do once they are checked; also of PEs of other hosts.
  void copy_rows(const copied_rows& c) const;
  void fill_bytes(std::byte* dest, unsigned char byte, std::size_t bytes) const;
  // Throws range_error when the bytes begin in symmetric or local memory but are not in one live allocation.
  void check_bytes(const char* call, const void* address, std::size_t bytes) const;

 private:
  // Counts a copy that reaches a PE of another process, or is between two PEs.
  void count_copy(const copied_rows& c, carried how) const;
  // What memory holds when it is handed out.
  void fill_fresh(std::byte* start, std::size_t bytes) const;
  void open_cards(std::vector<std::unique_ptr<host_card>> of_hosts);
  // The blocks' reports of other hosts, into this one's memory at the same addresses.
  void fetch_reports(const std::vector<std::unique_ptr<running>>& runs);
  std::size_t take_symmetric(std::size_t bytes, std::size_t local);
  std::string run_blocks(const std::vector<program>& programs, const std::vector<std::unique_ptr<running>>& runs);
  // All blocks of all processes have returned: throws what went wrong in any of them.
  void end_together(run_group& group, const std::vector<std::unique_ptr<running>>& runs, const std::string& problem);

  std::vector<device_info> devices_;
  int max_blocks_;
  bool poison_;
  double deadline_;
  std::size_t host_bytes_;  // of host_place
  std::shared_ptr<const arena> arena_;
  symmetric_heap heap_;              // the users'
  symmetric_heap control_heap_;      // behind it on each PE: no array comes to lie where a program's control words were
  symmetric_heap launch_heap_;       // behind that
  shared_words& shared_;             // behind the parts of all PEs
  local_heap local_;                 // behind those, of this process alone
  mutable std::mutex memory_mutex_;  // held while memory is handed out: what one PE has is shared by both kinds
  parking lot_;
  // The memory that cards reach, first that of each PE.
  std::vector<network::memory_region> regions() const;

  network::host_layout hosts_;
  std::uint32_t queue_depth_;
  mutable traffic_table traffic_;
  landing landing_;                  // what far_ does here
  std::unique_ptr<far_memory> far_;  // of other hosts; null: there are none
  std::shared_ptr<cards> network_;
  std::unique_ptr<check::checker> checker_;  // in check mode
  std::shared_ptr<deferred_work> deferred_;  // of streams made since
  mutable std::mutex faults_mutex_;
  std::shared_ptr<fault_session> faults_;
  std::atomic<bool> has_faults_{false};  // so that launches of a machine without faults take no lock

  index_range own_;                           // the PEs of this process
  std::uint64_t runs_ = 0;                    // of all processes together
  std::unique_ptr<agreed_memory> agreed_;     // of them too
  std::unique_ptr<process_group> processes_;  // null: one; the last member, so that it calls nobody who is gone
};

}  // namespace starling::host
