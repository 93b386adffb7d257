#pragma once

#include "comm/group/engine.h"
#include "comm/shared_memory/messages.h"
#include "comm/shared_memory/neighbours.h"

#include <memory>

namespace cohort::comm {

/// The engine of a generation on one host.
///
/// Threads, lifetime: as every Engine.
class HostEngine final : public Engine {
 public:
  HostEngine(std::shared_ptr<Neighbours> neighbours, std::shared_ptr<HostMessages> messages)
      : neighbours_(std::move(neighbours)), messages_(std::move(messages)) {}

  void end(const Error& why) override {
    messages_->end(why, Ending::kTold);
    neighbours_->end(why);
  }
  Status close(const Error& why, TimePoint deadline) override {
    messages_->end(why, Ending::kQuiet);
    return neighbours_->close(why, deadline, [this] { messages_->close(); });
  }
  std::vector<Loss> losses() const override { return neighbours_->losses(); }

 private:
  const std::shared_ptr<Neighbours> neighbours_;
  const std::shared_ptr<HostMessages> messages_;
};

}  // namespace cohort::comm
