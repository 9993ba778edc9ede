#include "starling/machine/access_scope.hpp"

#include "backend.hpp"

namespace starling {

named_memory::named_memory(const machine& m, const std::byte* start, std::size_t bytes, std::string name) {
  number_ = m.impl()->name_memory(start, bytes, std::move(name));
  if (number_ != 0) machine_ = m.impl();
}

named_memory::~named_memory() {
  if (machine_) machine_->forget_name(number_);
}

std::shared_ptr<const access_scope> declare_accesses(const machine& m, std::string who, where at,
                                                     std::vector<declared_range> ranges) {
  return m.impl()->declare_accesses(std::move(who), at, std::move(ranges));
}

scoped_stream::scoped_stream(const stream& s, std::shared_ptr<const access_scope> scope)
    : stream_(s), scope_(std::move(scope)) {
  stream_->impl().begin_scope(scope_);
}

scoped_stream::~scoped_stream() {
  if (stream_) stream_->impl().end_scope(scope_.get());
}

}  // namespace starling
