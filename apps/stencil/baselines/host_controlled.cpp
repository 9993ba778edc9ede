#include "stencil/baselines/host_controlled.hpp"

#include <thread>

namespace starling::stencil {

template <class T>
host_controlled<T>::host_controlled(machine& m, const fields<T>& f, std::vector<stream>& main,
                                    std::vector<stream>& side, const run_options& options, const launch_shape& launch)
    : f_(f), main_(main), side_(side), options_(options), launch_(launch), issued_(static_cast<std::size_t>(m.size())) {
  for (int pe = 0; pe < m.size(); ++pe) {
    boxes_.push_back(box_of(f.shape, pe));
    sent_.push_back({m.new_event(pe), m.new_event(pe)});
    interior_done_.push_back(m.new_event(pe));
  }
}

template <class T>
void host_controlled<T>::issue(index_t first, index_t last, bool check) {
  for (auto& time_level : issued_) time_level.store(first);
  std::vector<std::thread> threads;
  for (int pe = 0; pe < static_cast<int>(boxes_.size()); ++pe)
    threads.emplace_back([this, pe, first, last, check] { issue_for(pe, first, last, check); });
  for (std::thread& t : threads) t.join();
  if (failure_) std::rethrow_exception(failure_);
}

template <class T>
void host_controlled<T>::issue_for(int pe, index_t first, index_t last, bool check) {
  try {
    for (index_t time_level = first + 1; time_level <= last && !failed_; ++time_level) {
      const bool check_now = check && time_level == last;
      if (options_.how == variant::copy)
        step_in_order(pe, time_level, check_now);
      else
        step_overlapped(pe, time_level, check_now);
      issued_[static_cast<std::size_t>(pe)].store(time_level);
    }
  } catch (...) {
    const std::lock_guard lock(failure_mutex_);
    if (!failure_) failure_ = std::current_exception();
    failed_ = true;
  }
}

template <class T>
void host_controlled<T>::await_issue(int pe, index_t time_level) const {
  while (issued_[static_cast<std::size_t>(pe)].load() < time_level && !failed_) std::this_thread::yield();
}

// Step g needs the neighbours' faces of g - 1. That they were sent also means that the neighbours have read g - 2, so
// the slot that g overwrites, of g - 3, is free.
template <class T>
void host_controlled<T>::wait_for_neighbours(stream& s, int pe, index_t time_level) {
  for (const int from : boxes_[static_cast<std::size_t>(pe)].neighbour)
    if (from != no_neighbour && from != pe) {
      await_issue(from, time_level - 1);
      s.wait(sent(from, time_level - 1));
    }
}

template <class T>
void host_controlled<T>::copy_faces(stream& s, int pe, index_t time_level) {
  const box& own = boxes_[static_cast<std::size_t>(pe)];
  for (int face = 0; face < faces; ++face) {
    const int to = own.neighbour[face];
    if (to == no_neighbour) continue;
    s.copy((f_.receive_buffer + f_.receive_slot(time_level) + f_.face_start[opposite(face)]).on(to),
           f_.send_buffer.on(pe) + f_.face_start[face], static_cast<std::size_t>(own.face_size(face / 2)) * sizeof(T));
  }
}

template <class T>
void host_controlled<T>::step_in_order(int pe, index_t time_level, bool check) {
  const step_arguments<T> a{f_, time_level, options_.compute, check, false, launch_.interior};
  stream& s = main_[static_cast<std::size_t>(pe)];
  wait_for_neighbours(s, pe, time_level);
  s.launch_kernel(launch_.blocks, step_kernel(a, step_part::whole, 0),
                  {launch_.threads, scratch_bytes, options_.deadline});
  copy_faces(s, pe, time_level);
  s.record(sent(pe, time_level));
}

template <class T>
void host_controlled<T>::step_overlapped(int pe, index_t time_level, bool check) {
  const auto i = static_cast<std::size_t>(pe);
  const step_arguments<T> a{f_, time_level, options_.compute, check, options_.how == variant::p2p, launch_.interior};
  const launch_options shape{launch_.threads, scratch_bytes, options_.deadline};
  const int for_boundary = f_.shape.exchanged_faces() > 0 ? launch_.blocks_of_boundary() : 1;
  const int boundary_blocks = check ? launch_.blocks : for_boundary;
  stream& boundary = side_[i];
  stream& interior = main_[i];
  interior.wait(sent(pe, time_level - 1));  // the faces of the step before are what the interior reads now
  wait_for_neighbours(boundary, pe, time_level);
  boundary.wait(interior_done_[i]);  // of the step before
  boundary.launch_kernel(boundary_blocks, step_kernel(a, step_part::boundary, 0), shape);
  if (options_.how == variant::overlap) copy_faces(boundary, pe, time_level);
  boundary.record(sent(pe, time_level));

  interior.launch_kernel(launch_.blocks, step_kernel(a, step_part::interior, launch_.blocks), shape);
  interior.record(interior_done_[i]);
}

template class host_controlled<float>;
template class host_controlled<double>;

}  // namespace starling::stencil
