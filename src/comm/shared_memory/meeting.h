#pragma once

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/result.h"
#include "comm/group/communicator.h"
#include "comm/shared_memory/arena.h"
#include "comm/shared_memory/witness.h"

#include <functional>
#include <string>
#include <vector>

namespace cohort::comm {

/// Another member on this host: its arena, and the control socket to it.
struct Neighbour {
  Mapping arena;
  Descriptor socket;  ///< the kernel closes it when the process ends; carries ControlMessage packets
  Witness witness;

  pid_t process() const { return witness.process(); }
  ArenaHeader& header() const { return *reinterpret_cast<ArenaHeader*>(arena.data()); }
};

struct MeetingOptions {
  std::string name{};         ///< a name that all ranks of the job share, and no other job uses
  GroupFacts facts{};         ///< the group of the ranks of this host
  std::uint64_t members = 0;  ///< a checksum of the list of members, which all of them must have
  TimePoint deadline{};
  /// Asked again and again while ranks are missing: an error ends the meeting.
  std::function<std::optional<Error>()> hopeless{};
};

/// Connects to every other rank over abstract unix sockets named `<name>.<generation>.<rank>` and exchanges
/// arenas. Connections of other users, and those that do not send a valid hello, are closed and ignored.
///
/// Returns one entry per rank; the entry of the own rank is empty.
/// Failure: kTimedOut names the ranks that did not connect; kUsage a rank with another list of members. Errors name
/// global ranks.
Result<std::vector<std::optional<Neighbour>>> meet(const MeetingOptions& options, Arena& arena);

}  // namespace cohort::comm
