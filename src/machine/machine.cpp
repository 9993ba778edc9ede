#include "starling/machine/machine.hpp"

#include <limits>

#include "activity_span.hpp"
#include "backend.hpp"
#include "distributed/process_place.hpp"
#include "fault_rules.hpp"
#include "gpu_placement.hpp"
#include "launch_rules.hpp"
#include "starling/base/error.hpp"

namespace starling {

namespace {

std::shared_ptr<recorder> new_recorder(const backend& b, const std::string& path, bool numbered, int records) {
  return std::make_shared<recorder>(path, numbered, records,
                                    recorder::facts{b.kind(), b.devices(), b.job(), b.local_pes()});
}

}  // namespace

machine::machine(std::shared_ptr<backend> impl, std::string choice)
    : impl_(std::move(impl)), choice_(std::move(choice)) {
  const environment e = environment::read();
  if (!e.trace.empty()) impl_->set_trace(new_recorder(*impl_, e.trace, true, e.trace_records));
}

machine machine::host(int devices, const host_options& options) {
  machine m(make_host_backend(devices, options), message(devices, " virtual devices, as asked for"));
  const environment e = environment::read();
  if (e.check_seeds == 0) return m;
  return m.check({.first_seed = e.check_first_seed,
                  .seeds = static_cast<std::uint64_t>(e.check_seeds),
                  .threads = e.check_threads});
}

void backend::enter_check_mode(const check_options&) {
  throw unsupported_error("machine::check: check mode is for virtual devices; make the machine with machine::host(n)");
}

check_summary backend::checked() const { return {}; }

namespace {

void check_costs(const simulation_costs& c) {
  expect<argument_error>(c.call > 0, "machine::check: clock.call = ", c.call,
                         " ns; must be above 0, or a block that looks again and again stops the time");
  const auto check_rate = [](const char* what, double rate) {
    expect<argument_error>(rate > 0, "machine::check: clock.", what, " = ", rate, " bytes per ns; must be above 0");
  };
  check_rate("memory_rate", c.memory_rate);
  check_rate("host.rate", c.host.rate);
  check_rate("between.rate", c.between.rate);
  for (const double ns : {c.own.packet, c.own.signal, c.host.packet, c.host.signal, c.host.message, c.between.packet,
                          c.between.signal, c.between.message, c.packet_call, c.next_sender, c.meeting})
    expect<argument_error>(ns >= 0, "machine::check: a cost of the clock is ", ns, " ns; none may be below 0");
  expect<argument_error>(c.pes_per_host >= 0, "machine::check: clock.pes_per_host = ", c.pes_per_host,
                         "; must be at least 1, or 0 for one host");
}

}  // namespace

machine machine::check(const check_options& options) const {
  expect<argument_error>(options.seeds >= 1, "machine::check: seeds = 0; at least one schedule must be explored");
  expect<argument_error>(options.threads >= 0 && options.threads <= 1024, "machine::check: threads = ", options.threads,
                         "; a block has 1 to 1024, and 0 leaves it to the seed");
  if (options.clock) check_costs(*options.clock);
  impl_->enter_check_mode(options);
  machine m = *this;
  m.choice_ += ", in check mode";
  return m;
}

check_summary machine::checked() const { return impl_->checked(); }
bool machine::checking() const { return impl_->checking(); }

machine machine::cuda(const std::vector<int>& ids, const cuda_options& options) {
  (void)environment::read();  // an error there comes before one of the driver
  check_cuda_options(ids, options);
  auto impl = make_cuda_backend(ids, options);
  const std::string remark = impl->remark();
  const std::string devices = starling::summary(machine_kind::cuda, impl->devices());
  return machine(std::move(impl), message(devices, ", as asked for", remark.empty() ? "" : "; " + remark));
}

machine machine::best(int devices) {
  expect<argument_error>(devices >= 0, "machine::best: devices = ", devices, "; must be at least 1, or 0 for all");
  const environment e = environment::read();
  const int wanted = devices > 0 ? devices : e.devices;
  const cuda_status status = probe_cuda();
  const int pes = status.devices * e.pes_per_gpu;  // that there could be
  const bool gpus = status.problem.empty() && pes >= (wanted > 0 ? wanted : 1);
  if (e.machine == "cuda" || (e.machine == "auto" && gpus)) {
    std::vector<int> ids;
    for (int i = 0; i < wanted; ++i) ids.push_back(i);
    machine m = cuda(ids);
    const std::string taken = e.pes_per_gpu > 1 ? message(m.summary(), " (STARLING_PES_PER_GPU=", e.pes_per_gpu, ")")
                                                : message(m.size(), " of ", status.devices, " GPUs");
    const std::string remark = m.impl_->remark();
    m.choice_ =
        message(taken, e.machine == "cuda" ? " (STARLING_MACHINE=cuda)" : "", remark.empty() ? "" : "; " + remark);
    return m;
  }
  if (e.machine == "distributed") {
    machine m = distributed({.pes = wanted > 0 ? pes_of_each(wanted) : 0});
    m.choice_ += " (STARLING_MACHINE=distributed)";
    return m;
  }
  machine m = host(wanted > 0 ? wanted : 4);
  const std::string reason = e.machine == "host"       ? "STARLING_MACHINE=host"
                             : !status.problem.empty() ? status.problem
                                                       : message("only ", status.devices, " GPUs for ", wanted,
                                                                 " PEs; STARLING_PES_PER_GPU lets several share one");
  m.choice_ = message(m.size(), " virtual devices (", reason, ")");
  return m;
}

machine::cuda_status machine::probe_cuda() { return probe_cuda_backend(); }

machine machine::distributed(const distributed_options& options) { return over(make_distributed_backend(options)); }

machine machine::over(std::shared_ptr<backend> impl) {
  const std::string remark = impl->remark();
  return machine(std::move(impl), remark);
}

machine_kind machine::kind() const { return impl_->kind(); }

std::string machine::summary() const { return starling::summary(kind(), impl_->devices()); }

int machine::size() const { return static_cast<int>(impl_->devices().size()); }

void machine::check_pe(int pe) const {
  expect<range_error>(pe >= 0 && pe < size(), "machine: PE ", pe, " of ", size(), "; PEs are numbered from 0 to ",
                      size() - 1);
}

void machine::check_local(const char* call, int pe) const {
  expect<range_error>(is_local(pe), call, ": PE ", pe, " is of another process, this one, ", process(), " of ",
                      processes(), ", has PEs ", local_pes().begin, " to ", local_pes().end - 1,
                      "; name one of those, machine::local_pes()");
}

void machine::check_place(const char* call, int pe) const {
  expect<range_error>(pe >= managed_place && pe < size(), call, ": PE ", pe, " of ", size(),
                      "; PEs are numbered from 0 to ", size() - 1, ", host_place is ", host_place,
                      " and managed_place ", managed_place);
}

const device_info& machine::device(int pe) const {
  check_pe(pe);
  return impl_->devices()[static_cast<std::size_t>(pe)];
}

peer_link machine::link(int from_pe, int to_pe) const {
  check_pe(from_pe);
  check_pe(to_pe);
  return impl_->link(from_pe, to_pe);
}

std::string machine::transport() const { return impl_->transport(); }

int machine::host_of(int pe) const {
  check_pe(pe);
  return impl_->host_of(pe);
}

std::vector<std::uint64_t> machine::sent_bytes() const {
  std::vector<std::uint64_t> sent = impl_->sent_bytes();
  sent.resize(static_cast<std::size_t>(processes()));
  return sent;
}

std::vector<pair_traffic> machine::traffic() const { return impl_->traffic(); }

int machine::processes() const { return impl_->processes(); }
int machine::process() const { return impl_->process(); }
index_range machine::local_pes() const { return impl_->local_pes(); }
void machine::meet() const { impl_->meet("machine::meet"); }
double machine::agree(double mine) const { return impl_->agree(mine); }

void machine::clear(void* on_pe_0, index_t stride, std::size_t bytes) {
  for (auto pe = local_pes().begin; pe < local_pes().end; ++pe)
    fill(static_cast<std::byte*>(on_pe_0) + pe * stride, 0, bytes);
  impl_->meet("machine::allocate");
}

memory_info machine::memory() const { return impl_->memory(); }

int machine::blocks_that_fit(const kernel& k, const launch_options& options) const {
  check_launch_options(options);
  return impl_->blocks_that_fit(k, options);
}

std::size_t machine::bytes_of(index_t n, std::size_t element) {
  const auto most = static_cast<index_t>(static_cast<std::size_t>(std::numeric_limits<index_t>::max()) / element);
  expect<argument_error>(n >= 0 && n <= most, "machine::allocate: ", n, " elements of ", element,
                         " bytes; the number must be from 0 to ", most);
  return static_cast<std::size_t>(n) * element;
}

local_memory machine::allocate_on(int pe, std::size_t bytes) {
  check_place("machine::allocate_on", pe);
  if (pe >= 0) check_local("machine::allocate_on", pe);
  expect<argument_error>(bytes > 0, "machine::allocate_on: bytes = 0; must be at least 1");
  return local_memory(impl_, {{pe, bytes}});
}

pinned_memory machine::pin(void* start, std::size_t bytes) {
  expect<argument_error>(start != nullptr && bytes > 0, "machine::pin: ", bytes, " bytes at ", start,
                         "; name memory that is there, at least one byte");
  return pinned_memory(impl_, start, bytes);
}

local_memory machine::allocate_over(const std::vector<placed_bytes>& pieces) {
  expect<argument_error>(!pieces.empty(), "machine::allocate_over: no pieces; name at least one");
  const std::size_t page = page_bytes();
  constexpr std::size_t most = std::size_t{1} << 60;
  std::size_t all = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const placed_bytes& p = pieces[i];
    expect<range_error>(p.pe >= 0 && p.pe < size(), "machine::allocate_over: piece ", i, " is on PE ", p.pe, " of ",
                        size(), "; PEs are numbered from 0 to ", size() - 1);
    check_local("machine::allocate_over", p.pe);
    expect<argument_error>(p.bytes > 0 && p.bytes % page == 0, "machine::allocate_over: piece ", i, " has ", p.bytes,
                           " bytes; must be a multiple of page_bytes(), which is ", page);
    expect<argument_error>(p.bytes <= most - all, "machine::allocate_over: pieces up to ", i, " have more than ", most,
                           " bytes; ask for less");
    all += p.bytes;
  }
  return local_memory(impl_, pieces);
}

std::size_t machine::page_bytes() const { return impl_->page_bytes(); }

std::size_t machine::free_bytes(int pe) const {
  check_place("machine::free_bytes", pe);
  return impl_->free_bytes(pe);
}

void machine::copy(void* dest, const void* source, std::size_t bytes, where at) {
  const activity_span span(*impl_, copy_activity(*impl_, dest, source, bytes));
  impl_->copy(dest, source, bytes, at);
}

void machine::fill(void* dest, unsigned char byte, std::size_t bytes) {
  const activity_span span(*impl_, fill_activity(*impl_, dest, bytes));
  impl_->fill(dest, byte, bytes);
}

void machine::run(const std::vector<program>& programs) {
  expect<argument_error>(!programs.empty(), "machine::run: no program; pass at least one");
  for (const program& p : programs) {
    (void)p.roles.resolve();
    check_launch_options(p.options);
  }
  expect_launches(programs, kind());
  impl_->check_residency(with_launches(programs));
  for (const program& p : programs)
    if (p.copies) p.copies->begin();
  {
    host_activity a;
    a.kind = host_activity::what::run;
    for (const program& p : programs) a.blocks += static_cast<std::uint64_t>(p.roles.blocks());
    const activity_span span(*impl_, a);
    impl_->run(programs);
  }
  if (const auto trace = impl_->trace()) {
    trace->flush();
    trace->check();
  }
}

void machine::trace_to(const std::string& path, const trace_options& options) {
  const auto now = impl_->trace();
  expect<argument_error>(now == nullptr, "machine::trace_to: this machine is traced to ",
                         now ? now->path() : std::string(), " already; call end_trace first");
  expect<argument_error>(!path.empty(), "machine::trace_to: the path is empty; name a file");
  const int records = options.records != 0 ? options.records : environment::read().trace_records;
  impl_->set_trace(new_recorder(*impl_, path, false, records));
}

void machine::end_trace() {
  const auto trace = impl_->trace();
  if (!trace) return;
  impl_->set_trace(nullptr);
  trace->flush();
  trace->check();
}

std::string machine::trace_path() const {
  const auto trace = impl_->trace();
  return trace ? trace->path() : std::string();
}

void backend::inject(const fault_plan& plan) {
  expect<unsupported_error>(plan.faults.empty(),
                            "machine::inject: faults are injected into virtual devices only, this machine has GPUs; "
                            "use machine::host(n)");
}

void machine::inject(const fault_plan& plan) {
  check_faults(plan, size());
  impl_->inject(plan);
}

std::vector<fired_fault> machine::faults_fired() const { return impl_->faults_fired(); }

stream machine::new_stream(int pe, int priority) {
  check_pe(pe);
  check_local("machine::new_stream", pe);
  expect<range_error>(priority >= 0, "machine::new_stream: priority = ", priority, "; must be at least 0");
  return stream(impl_->new_stream(pe, priority));
}

event machine::new_event(int pe, event_use use) {
  check_pe(pe);
  check_local("machine::new_event", pe);
  return event(impl_->new_event(pe, use), use);
}

graph machine::record(stream& origin, const std::function<void()>& work) {
  recording r = start_recording(origin);
  work();
  return r.finish();
}

recording machine::start_recording(stream& origin) { return recording(impl_->start_recording(origin.impl())); }

}  // namespace starling
