#pragma once

#include "base/result.h"
#include "comm/group/work.h"

#include <chrono>
#include <functional>
#include <memory>

namespace cohort::test {

/// Waits for the callback of an asynchronous operation.
///
///     Waiting sent;
///     exchange.send(1, header, payload, sent.callback());
///     COHORT_RETURN_IF_ERROR(sent.wait());
///
/// Lifetime: the callback may outlive it.
class Waiting {
 public:
  std::function<void(const Status&)> callback() const {
    return [completion = completion_](const Status& outcome) { completion->settle(outcome); };
  }
  Status wait(std::chrono::nanoseconds limit = std::chrono::seconds(15)) const {
    return comm::Work(completion_).wait_until(std::chrono::steady_clock::now() + limit);
  }
  bool is_done() const { return completion_->outcome().has_value(); }

 private:
  std::shared_ptr<comm::Completion> completion_ = std::make_shared<comm::Completion>(TimePoint::max());
};

}  // namespace cohort::test
