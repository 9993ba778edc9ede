#include "stencil/host_controlled.hpp"

namespace starling::stencil {

template <class T>
host_controlled<T>::host_controlled(machine& m, const fields<T>& f, std::vector<stream>& main,
                                    std::vector<stream>& side, const run_options& options, const launch_shape& launch)
    : f_(f), main_(main), side_(side), options_(options), launch_(launch) {
  for (int pe = 0; pe < m.size(); ++pe) {
    boxes_.push_back(box_of(f.shape, pe));
    sent_.push_back({m.new_event(pe), m.new_event(pe)});
    inside_done_.push_back(m.new_event(pe));
  }
}

template <class T>
void host_controlled<T>::step(index_t generation, bool check) {
  if (options_.how == variant::copy)
    step_in_order(generation, check);
  else
    step_overlapped(generation, check);
}

// Step g needs the neighbours' faces of g - 1. That they were sent also means that the neighbours have read g - 2, so
// the slot that g overwrites, of g - 3, is free.
template <class T>
void host_controlled<T>::wait_for_neighbours(stream& s, int pe, index_t generation) {
  for (const int from : boxes_[static_cast<std::size_t>(pe)].neighbour)
    if (from != no_neighbour && from != pe) s.wait(sent(from, generation - 1));
}

template <class T>
void host_controlled<T>::copy_faces(stream& s, int pe, index_t generation) {
  const box& own = boxes_[static_cast<std::size_t>(pe)];
  for (int face = 0; face < faces; ++face) {
    const int to = own.neighbour[face];
    if (to == no_neighbour) continue;
    s.copy((f_.inbox + f_.inbox_slot(generation) + f_.face_start[opposite(face)]).on(to),
           f_.outbox.on(pe) + f_.face_start[face], static_cast<std::size_t>(own.face_size(face / 2)) * sizeof(T));
  }
}

template <class T>
void host_controlled<T>::step_in_order(index_t generation, bool check) {
  const step_arguments<T> a{f_, generation, options_.compute, check, false};
  const kernel whole = step_kernel(a, step_part::whole, 0);
  for (std::size_t pe = 0; pe < boxes_.size(); ++pe) {
    stream& s = main_[pe];
    wait_for_neighbours(s, static_cast<int>(pe), generation);
    s.launch_kernel(launch_.blocks, whole, {launch_.threads, scratch_bytes, options_.deadline});
    copy_faces(s, static_cast<int>(pe), generation);
    s.record(sent(static_cast<int>(pe), generation));
  }
}

template <class T>
void host_controlled<T>::step_overlapped(index_t generation, bool check) {
  const step_arguments<T> a{f_, generation, options_.compute, check, options_.how == variant::p2p};
  const kernel outside = step_kernel(a, step_part::border, 0);
  const kernel inside = step_kernel(a, step_part::inside, launch_.blocks);
  const launch_options shape{launch_.threads, scratch_bytes, options_.deadline};
  const int face_blocks = launch_.face_blocks > 0 ? launch_.face_blocks : 1;
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    const int pe = static_cast<int>(i);
    stream& border = side_[i];
    wait_for_neighbours(border, pe, generation);
    border.wait(inside_done_[i]);  // of the step before
    border.launch_kernel(check ? launch_.blocks : face_blocks, outside, shape);
    if (options_.how == variant::overlap) copy_faces(border, pe, generation);

    stream& middle = main_[i];
    middle.wait(sent(pe, generation - 1));  // the faces of the step before are what the inside reads now
    middle.launch_kernel(launch_.blocks, inside, shape);
    middle.record(inside_done_[i]);
    border.record(sent(pe, generation));
  }
}

template class host_controlled<float>;
template class host_controlled<double>;

}  // namespace starling::stencil
