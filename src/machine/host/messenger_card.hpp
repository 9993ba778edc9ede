// A card of which an engine's thread is the thread: what it sends leaves without being handed on.
#pragma once

#include "../distributed/messenger.hpp"
#include "host_card.hpp"

namespace starling::host {

class messenger_card final : public host_card {
 public:
  messenger_card(parking& lot, far_memory& far, messenger& thread) : host_card(lot, &far), thread_(thread) {
    thread_.work_too([this, &far] {
      const bool told = far.tell();
      return serve() || told;
    });
  }
  ~messenger_card() override { thread_.work_too({}); }

  void ring() override { thread_.ring(); }

 private:
  messenger& thread_;
};

}  // namespace starling::host
