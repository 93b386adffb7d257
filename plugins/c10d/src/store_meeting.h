#pragma once

#include "net/meeting.h"

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace cohort::c10d_plugin {

/// A meeting at the store that torch gives to a process group: every card is a key.
///
/// Threads: one at a time.
/// Failure: kTimedOut names the ranks that have not come; kIo with the words of the store.
/// Cost: one key for each rank and round, which nobody takes away.
class StoreMeeting final : public net::Meeting {
 public:
  explicit StoreMeeting(c10::intrusive_ptr<::c10d::Store> store) : store_(std::move(store)) {}

  Result<std::vector<std::string>> gather(const net::Round& round, const std::string& card) override;

 private:
  Error missing(const std::vector<std::string>& keys, const net::Round& round, const std::string& why);

  const c10::intrusive_ptr<::c10d::Store> store_;
};

}  // namespace cohort::c10d_plugin
