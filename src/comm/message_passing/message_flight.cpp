#include "comm/message_passing/message_flight.h"

#include <fmt/format.h>

namespace cohort::comm {
namespace {

// Longer messages wait for clearance. A shorter one is sent at once: if no receive is waiting, keeping it
// costs a copy, which is cheaper than a round trip.
constexpr std::size_t kUnaskedBytes = std::size_t{256} << 10;

bool waits_for_clearance(std::size_t size_bytes) {
  return size_bytes > kUnaskedBytes;
}

}  // namespace

MessageFlight::MessageFlight(Facts facts)
    : Flight(std::move(facts)), peer_(call().peer), number_(this->facts().number) {}

std::vector<int> MessageFlight::pending_peers() const {
  return peer_ == kAnyRank ? std::vector<int>{} : std::vector<int>{peer_};
}

void MessageFlight::begin(Line& line) {
  if (facts().matcher) return;
  if (!is_send(kDescriptionPart)) {
    return line.recv(peer_, name(kDescriptionPart), description_, {facts().id, kDescriptionPart});
  }
  description_ = encode(announcement_of(call(), line.size()));
  line.send(peer_, name(kDescriptionPart), description_, {facts().id, kDescriptionPart});
  if (!waits_for_clearance(call().input.size_bytes())) return send_numbers(line);
  line.recv(peer_, name(kClearancePart), {}, {facts().id, kClearancePart});
}

Status MessageFlight::begins(Line& line, const AnyRankMatcher::Announced& announced) {
  peer_ = announced.rank;
  number_ = announced.number;
  description_ = announced.description;
  if (call().source != nullptr) *call().source = peer_;
  return landed(line, kDescriptionPart);
}

Status MessageFlight::landed(Line& line, int ticket) {
  switch (ticket) {
    case kDescriptionPart:
      described_ = true;
      return is_send(ticket) ? Status() : described(line);
    case kClearancePart:
      if (is_send(ticket)) send_numbers(line);
      return {};
    default:
      moved_ = true;
      return {};
  }
}

void MessageFlight::send_numbers(Line& line) {
  line.send(peer_, name(kNumbersPart), {call().input.data, call().input.size_bytes()},
            {facts().id, kNumbersPart});
}

Status MessageFlight::described(Line& line) {
  COHORT_ASSIGN_OR_RETURN(const Announcement sent, decode_announcement(description_));
  const Numbers room = call().output;
  const bool fits = sent.length == room.count || (call().takes_fewer && sent.length < room.count);
  if (fits && sent.dtype == room.dtype) {
    receive_numbers(line, sent.length);
    return {};
  }
  return Error(ErrorCode::kUsage, fmt::format("rank {} made a send of {} {}", line.member(peer_), sent.length,
                                              cohort::name(sent.dtype)))
      .with_remedy("Receive as many numbers as were sent, of the same type.");
}

void MessageFlight::receive_numbers(Line& line, std::size_t count) {
  const Numbers into = call().output.slice(0, count);
  line.recv(peer_, name(kNumbersPart), {into.data, into.size_bytes()}, {facts().id, kNumbersPart});
  if (waits_for_clearance(into.size_bytes())) {
    line.send(peer_, name(kClearancePart), {}, {facts().id, kClearancePart});
  }
}

}  // namespace cohort::comm
