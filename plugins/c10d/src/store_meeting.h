#pragma once

#include "net/meeting.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace cohort::c10d_plugin {

/// A meeting (net/meeting.h) through the store of a process group: each card is the value of a key.
///
/// Threads: one at a time.
/// Failure: kTimedOut names the ranks that are missing; kIo carries the store's message.
/// Cost: one key for each rank and round; keys are not deleted.
class StoreMeeting final : public net::Meeting {
 public:
  explicit StoreMeeting(c10::intrusive_ptr<::c10d::Store> store) : store_(std::move(store)) {}

  Result<std::vector<std::string>> gather(const net::Round& round, const std::string& card) override;

 private:
  Error missing(const std::vector<std::string>& keys, const net::Round& round, const std::string& why);

  const c10::intrusive_ptr<::c10d::Store> store_;
};

}  // namespace cohort::c10d_plugin
