#include "train/trainer_trace.h"

#include "train/replica.h"

namespace cohort::train {
namespace {

double seconds(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

ActionRecord record_of(const TracedAction& traced) {
  const Action& action = traced.action;
  return {.step = traced.step,
          .verb = std::string(name(action.verb)),
          .lane = action.lane,
          .stage = action.stage,
          .micro_batch = action.micro_batch,
          .unit = action.unit,
          .bucket = action.bucket,
          .peer = action.peer,
          .begin_seconds = seconds(traced.begin),
          .end_seconds = seconds(traced.end)};
}

CallRecord record_of(const comm::TracedCall& traced) {
  return {.group = traced.group,
          .operation = std::string(name(traced.operation)),
          .bytes = traced.bytes,
          .begin_seconds = seconds(traced.begin),
          .end_seconds = seconds(traced.end)};
}

}  // namespace

TrainerTrace::TrainerTrace(Replica& replica, std::size_t capacity)
    : actions_(replica.lanes().num_lanes(), capacity), calls_(std::make_shared<comm::CallTrace>(capacity)) {
  replica.set_trace(&actions_);
  replica.lanes().set_trace(calls_);
}

void TrainerTrace::leave(Communicator& group) const {
  if (group.trace() == calls_) group.set_trace(nullptr);
}

Trace TrainerTrace::records() const {
  Trace trace;
  for (const TracedAction& traced : actions_.whole_steps()) trace.actions.push_back(record_of(traced));
  for (const comm::TracedCall& traced : calls_->calls()) trace.calls.push_back(record_of(traced));
  return trace;
}

}  // namespace cohort::train
