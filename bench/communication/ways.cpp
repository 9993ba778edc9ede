// Messages between devices by size and way, and meetings of devices: what `starling bench comm` measures, without
// Python. Prints one JSON object a line.
//
//   ways [--devices N] [--machine best|host|cuda] [--bytes 8,64,...] [--ways packets,...] [--repetitions 5]
//        [--seconds 0.01] [--blocks 16] [--pairs all|one]
#include "comm/measure.hpp"
#include "command_line.hpp"
#include "json_line.hpp"
#include "starling/starling.hpp"

namespace st = starling;

namespace {

st::machine machine_of(const std::string& kind, int devices) {
  if (kind == "host") return st::machine::host(devices == 0 ? 2 : devices);
  std::vector<int> ids;
  for (int i = 0; i < devices; ++i) ids.push_back(i);
  if (kind == "cuda") return st::machine::cuda(ids);
  st::expect<st::argument_error>(kind == "best", "--machine ", kind, "; must be best, host or cuda");
  return st::machine::best(devices);
}

}  // namespace

int main(int argc, char** argv) try {
  const st::bench::command_line given(argc, argv,
                                      {"--devices", "--machine", "--bytes", "--ways", "--repetitions", "--seconds",
                                       "--blocks", "--pairs", "--meetings"});
  st::machine m = machine_of(given.text("--machine", "best"), static_cast<int>(given.number("--devices", 0)));
  st::comm::bench_options o;
  for (const int bytes : given.numbers("--bytes", "")) o.bytes.push_back(bytes);
  for (const std::string& name : given.list("--ways", "")) o.ways.push_back(st::comm::way_named(name));
  o.repetitions = static_cast<int>(given.number("--repetitions", 5));
  o.seconds = given.number("--seconds", 0.01);
  o.blocks = static_cast<int>(given.number("--blocks", 0));
  if (given.text("--pairs", "all") == "one") o.pairs = {{0, m.size() - 1}};
  o.meetings = given.text("--meetings", "yes") == "yes";
  st::comm::measure_all(m, o, [&](const st::comm::measurement& r) {
    st::bench::json_line(r.what)
        .add("measure", st::comm::name(r.of))
        .add("machine", name(m.kind()))
        .add("devices", m.size())
        .add("from", r.from)
        .add("to", r.to)
        .add("bytes", r.bytes)
        .add("blocks", r.blocks)
        .add("threads", r.threads)
        .add("iterations", r.iterations)
        .add("us", r.us)
        .print();
  });
  return 0;
} catch (const st::error& e) {
  std::fprintf(stderr, "ways: %s\n", e.what());
  return 1;
}
