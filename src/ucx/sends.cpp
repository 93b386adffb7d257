#include "ucx/sends.h"

#include <utility>

namespace cohort::ucx {

Outgoing& Sends::begin() {
  if (free_.empty()) {
    all_.push_back(std::make_unique<Outgoing>());
    return *all_.back();
  }
  Outgoing* const reused = free_.back();
  free_.pop_back();
  return *reused;
}

void Sends::finish(Outgoing& outgoing, const Status& outcome) {
  finish(outgoing.header, std::exchange(outgoing.sent, nullptr), outcome);
  free_.push_back(&outgoing);
}

void Sends::finish(const comm::FrameHeader& header, comm::Transport::Sent sent, const Status& outcome) {
  if (sent) finished_.push_back({header, std::move(sent), outcome});
}

Finished Sends::take_finished() {
  Finished next = std::move(finished_.front());
  finished_.pop_front();
  return next;
}

void Sends::forget(std::uint32_t group, std::uint32_t generation) {
  std::erase_if(finished_, [&](const Finished& each) {
    return each.header.group == group && each.header.generation <= generation;
  });
}

}  // namespace cohort::ucx
