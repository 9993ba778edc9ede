#include "frames.hpp"

#include <algorithm>

namespace starling::nvshmem {
namespace {

constexpr std::size_t piece_bytes = std::size_t{64} << 10;  // of data, so that messages come between

}  // namespace

std::uint32_t frames::open() {
  const std::lock_guard lock(mutex_);
  return ++opened_;
}

void frames::close(std::uint32_t engine) {
  const std::lock_guard lock(mutex_);
  mailboxes_[engine] = {};
  mailboxes_[engine].closed = true;
}

void frames::send(std::uint32_t engine, int to, message_bytes message) {
  const std::lock_guard lock(mutex_);
  ++mailboxes_[engine].unsent;
  const head first{kind::message, engine, message.size()};
  with(to).messages.push_back({first, std::move(message), {}});
  write_out(to);
}

bool frames::receive(std::uint32_t engine, int& from, message_bytes& message) {
  const std::lock_guard lock(mutex_);
  move();
  auto& messages = mailboxes_[engine].messages;
  if (messages.empty()) return false;
  from = messages.front().first;
  message = std::move(messages.front().second);
  messages.pop_front();
  return true;
}

bool frames::sent(std::uint32_t engine) {
  const std::lock_guard lock(mutex_);
  move();
  return mailboxes_[engine].unsent == 0;
}

void frames::send_data(std::uint32_t engine, int to, const data_range& data) {
  const std::lock_guard lock(mutex_);
  mailbox& box = mailboxes_[engine];
  ++box.unsent;
  if (box.places[to] == 0) return box.unwanted[to].push_back(data);
  --box.places[to];
  start_data(engine, to, data);
}

void frames::receive_data(std::uint32_t engine, int from, const data_range& place) {
  const std::lock_guard lock(mutex_);
  mailboxes_[engine].wanted[from] = {place};
  with(from).messages.push_back({{kind::place_known, engine, 0}, {}, {}});
  write_out(from);
}

bool frames::data_received(std::uint32_t engine, int from) {
  const std::lock_guard lock(mutex_);
  auto& wanted = mailboxes_[engine].wanted;
  const auto found = wanted.find(from);
  if (found == wanted.end() || found->second.came < found->second.place.bytes) return false;
  wanted.erase(found);
  return true;
}

void frames::move() {
  for (int p = 0; p < static_cast<int>(peers_.size()); ++p) {
    read_in(p);
    write_out(p);
  }
}

void frames::start_data(std::uint32_t engine, int to, data_range data) {
  with(to).data.push_back({{kind::data, engine, 0}, {}, std::move(data)});
  write_out(to);
}

bool frames::next_frame(peer& p) {
  if (!p.messages.empty()) {
    outgoing& o = p.messages.front();
    p.out = {o.first, o.message.data()};
  } else if (!p.data.empty()) {
    outgoing& o = p.data.front();
    o.first.bytes = std::min(piece_bytes, o.data.bytes - o.at);
    p.out = {o.first, o.data.start + o.at};
  } else {
    return false;
  }
  p.writes = true;
  return true;
}

// As much as there is room for.
void frames::write_out(int to) {
  peer& p = with(to);
  while (p.writes || next_frame(p)) {
    under_way& o = p.out;
    const bool in_head = o.at < sizeof o.first;
    const std::byte* from =
        in_head ? reinterpret_cast<const std::byte*>(&o.first) + o.at : o.rest + (o.at - sizeof o.first);
    const std::size_t n = streams_.write(to, from, in_head ? sizeof o.first - o.at : o.left());
    o.at += n;
    if (o.left() == 0)
      written(p);
    else if (n == 0)
      break;
  }
  streams_.send(to);
}

void frames::written(peer& p) {
  p.writes = false;
  const head& h = p.out.first;
  auto& queue = h.what == kind::data ? p.data : p.messages;
  queue.front().at += h.bytes;
  if (h.what == kind::data && queue.front().at < queue.front().data.bytes) return;
  queue.pop_front();
  mailbox& box = mailboxes_[h.engine];
  if (h.what != kind::place_known && !box.closed) --box.unsent;
}

void frames::read_in(int from) {
  under_way& i = with(from).in;
  for (;;) {
    const bool in_head = i.at < sizeof i.first;
    std::byte* to = in_head ? reinterpret_cast<std::byte*>(&i.first) + i.at : i.rest + (i.at - sizeof i.first);
    const std::size_t n = streams_.read(from, to, in_head ? sizeof i.first - i.at : i.left());
    if (n == 0) return;
    i.at += n;
    if (in_head && i.at == sizeof i.first) begin_rest(from);
    if (i.at >= sizeof i.first && i.left() == 0) read_whole(from);
  }
}

void frames::begin_rest(int from) {
  peer& p = with(from);
  const head& h = p.in.first;
  auto& wanted = mailboxes_[h.engine].wanted;
  const auto found = wanted.find(from);
  if (h.what == kind::data && found != wanted.end()) {
    p.in.rest = found->second.place.start + found->second.came;
    p.kept = found->second.place.memory;
    return;
  }
  p.came.resize(h.bytes);  // also data for an engine that has been closed, which nobody gets
  p.in.rest = p.came.data();
}

void frames::read_whole(int from) {
  peer& p = with(from);
  const head h = p.in.first;
  p.in = {};
  p.kept.reset();
  mailbox& box = mailboxes_[h.engine];
  if (box.closed) return;
  if (h.what == kind::message) {
    box.messages.emplace_back(from, std::exchange(p.came, {}));
  } else if (h.what == kind::data) {
    if (const auto found = box.wanted.find(from); found != box.wanted.end()) found->second.came += h.bytes;
  } else if (auto& waits = box.unwanted[from]; !waits.empty()) {
    const data_range data = waits.front();
    waits.pop_front();
    start_data(h.engine, from, data);
  } else {
    ++box.places[from];
  }
}

}  // namespace starling::nvshmem
