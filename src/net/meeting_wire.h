#pragma once

#include "net/meeting.h"
#include "net/station.h"

namespace cohort::net {

// A meeting is a transport of its own: the place is member 0, rank r is member r + 1, and ranks talk to the
// place only.
inline constexpr int kMeetingMember = 0;
inline constexpr std::size_t kRequestCap = 2 * Meeting::kCardCap;

inline TcpOptions meeting_options() {
  return {.secrecy = Secrecy::kTls,
          .first_limit = std::chrono::hours(24 * 365),
          .listen_first = false,
          .leave_limit = std::chrono::milliseconds(100)};
}

/// `addresses`: those of the place, for a rank.
inline TcpFacts meeting_facts(const JobKey& key, int member, int world,
                              const std::vector<SocketAddress>& addresses) {
  TcpFacts facts{.member = member, .members = {}, .key = JobKey(key.derive("meeting"))};
  facts.members.resize(static_cast<std::size_t>(world) + 1);
  facts.members[kMeetingMember].addresses = addresses;
  for (std::size_t other = 1; other < facts.members.size(); ++other) {
    facts.members[other].is_apart = member != kMeetingMember;
  }
  return facts;
}

}  // namespace cohort::net
