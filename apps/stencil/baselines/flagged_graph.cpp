#include "stencil/baselines/flagged_graph.hpp"

#include <algorithm>

#include "stencil/halo/face_chunks.hpp"

namespace starling::stencil {
namespace {

// Long enough that launching a graph costs little per step, short enough that several of them make up a run.
index_t length_of(const run_options& options) {
  const index_t between_checks = options.check_every > 0 ? options.check_every - 1 : options.steps;
  if (between_checks == 0) return 0;
  return std::clamp<index_t>(between_checks / 4, 1, 64);
}

}  // namespace

template <class T>
flagged_graph<T>::flagged_graph(machine& m, const fields<T>& f, std::vector<stream>& streams,
                                const run_options& options, const launch_shape& launch)
    : streams_(streams),
      options_(options),
      launch_(launch),
      reached_(m.template allocate<index_t>(1)),
      length_(length_of(options)) {
  arguments_.a.f = f;
  arguments_.a.compute = options.compute;
  arguments_.a.first = -1;  // the receive buffers of every step are awaited
  arguments_.a.interior = launch.interior;
  cut_faces(arguments_.a, launch);
  arguments_.reached = reached_.data();
  arguments_.boundary_blocks = launch.boundary_blocks;
  for (std::size_t pe = 0; pe < streams.size() && length_ > 0; ++pe)
    graphs_.push_back(m.record(streams[pe], [&] { this->launch(static_cast<int>(pe), length_, false); }));
}

template <class T>
void flagged_graph<T>::launch(int pe, index_t n, bool check) {
  stream& s = streams_[static_cast<std::size_t>(pe)];
  const launch_options shape{launch_.threads, scratch_of(arguments_.a.chunks_per_block), options_.deadline};
  flagged_step_arguments<T> a = arguments_;
  for (a.ahead = 1; a.ahead <= n; ++a.ahead) {
    a.check = check && a.ahead == n;
    s.launch_kernel(launch_.blocks, flagged_step_kernel(a), shape);
  }
  s.launch_kernel(1, count_kernel(arguments_.reached, n), {.threads = 32, .deadline = options_.deadline});
}

template <class T>
void flagged_graph<T>::announce(index_t time_level) {
  for (std::size_t pe = 0; pe < streams_.size(); ++pe) {
    const launch_options shape{launch_.threads, scratch_of(arguments_.a.chunks_per_block), options_.deadline};
    streams_[pe].launch_kernel(launch_.blocks, announce_kernel(arguments_, time_level), shape);
  }
  for (stream& s : streams_) s.synchronize();
}

template <class T>
void flagged_graph<T>::issue(index_t steps, bool check) {
  index_t left = steps;
  // A step that checks for convergence is not part of a graph.
  for (; length_ > 0 && left - (check ? 1 : 0) >= length_; left -= length_)
    for (std::size_t pe = 0; pe < streams_.size(); ++pe) graphs_[pe].launch(streams_[pe]);
  if (left == 0) return;
  for (std::size_t pe = 0; pe < streams_.size(); ++pe) launch(static_cast<int>(pe), left, check);
}

template class flagged_graph<float>;
template class flagged_graph<double>;

}  // namespace starling::stencil
