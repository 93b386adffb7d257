#include "comm/scheduled/message_flight.h"

#include <fmt/format.h>

namespace cohort::comm {

MessageFlight::MessageFlight(Facts facts) : Flight(std::move(facts)) {}

MessageName MessageFlight::name(int part) const {
  return {.channel = Channel::kMessage,
          .number = facts().number,
          .tag = std::uint64_t{call().tag} * 2 + static_cast<std::uint64_t>(part)};
}

void MessageFlight::begin(Line& line) {
  if (is_send(kNumbers)) {
    description_ = encode(announcement_of(call(), line.world()));
    line.send(call().peer, name(kDescription), description_, {facts().id, kDescription});
    line.send(call().peer, name(kNumbers), {call().input.data, call().input.size_bytes()},
              {facts().id, kNumbers});
  } else {
    line.receive(call().peer, name(kDescription), description_, {facts().id, kDescription});
  }
}

Status MessageFlight::landed(Line& line, int ticket) {
  if (ticket == kNumbers) {
    moved_ = true;
    return {};
  }
  if (!is_send(ticket)) {
    COHORT_RETURN_IF_ERROR(compare());
    line.receive(call().peer, name(kNumbers), {call().output.data, call().output.size_bytes()},
                 {facts().id, kNumbers});
  }
  described_ = true;
  return {};
}

Status MessageFlight::compare() const {
  COHORT_ASSIGN_OR_RETURN(const Announcement sent, decode_announcement(description_));
  if (sent.length == call().output.count && sent.dtype == call().output.dtype) return {};
  return Error(ErrorCode::kUsage, fmt::format("rank {} made a send of {} {}", call().peer, sent.length,
                                              cohort::name(sent.dtype)))
      .with_remedy("Receive as many numbers as were sent, of the same type.");
}

}  // namespace cohort::comm
