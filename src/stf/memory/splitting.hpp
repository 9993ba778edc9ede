// splitting: one logical data that is used as parts for a while. The whole's instance is held where it is; each part is
// logical data whose original memory is its piece of that instance.
#pragma once

#include <memory>
#include <vector>

#include "starling/stf/split_data.hpp"
#include "stf/context_state.hpp"

namespace starling::stf {

// One part, without where the whole lies.
struct part_description {
  data_description what;
  std::vector<memory_part> pieces;    // of the whole: where `start` is null, see in_whole
  std::vector<std::size_t> in_whole;  // by piece: how many bytes into the whole it starts
};

class splitting {
 public:
  splitting(const std::shared_ptr<context_state>& context, const std::shared_ptr<data_state>& whole,
            const data_place& where, std::vector<part_description> parts);

  const std::shared_ptr<context_state>& context() const { return context_; }
  const std::shared_ptr<data_state>& part(int i) const { return parts_[static_cast<std::size_t>(i)]; }

  // Not joined yet.
  bool open() const { return open_; }
  // Puts the parts' values into the whole. Within a submission, or while nobody submits. Throws argument_error, and
  // changes nothing, when a part is in use outside of tasks, or is split itself; with `strict` also when some parts
  // have no value and others have: otherwise the whole has none then. Again: nothing.
  void join(bool strict);

 private:
  void make_parts(std::vector<part_description> parts, const sync_point_list& ready, const sync_point_list& used);
  void check_parts(bool strict) const;

  std::shared_ptr<context_state> context_;
  std::shared_ptr<data_state> whole_;
  std::shared_ptr<data_hold> hold_;
  bool has_value_ = false;  // the whole, before
  std::atomic<bool> open_{true};
  std::vector<std::shared_ptr<data_state>> parts_;
};

}  // namespace starling::stf
