#include "world/locality.h"

#include "comm/shared_memory/packet_socket.h"
#include "launch/variables.h"

#include <fmt/format.h>
#include <map>
#include <unistd.h>

namespace cohort::world {
namespace {

Result<bool> is_here(const std::string& door) {
  COHORT_ASSIGN_OR_RETURN(const std::optional<Descriptor> socket, comm::try_connect(door));
  if (!socket) return false;
  COHORT_ASSIGN_OR_RETURN(const comm::PeerCredentials peer, comm::credentials_of(*socket));
  return peer.process > 0 && peer.user == ::geteuid();
}

}  // namespace

Result<Door> Door::open() {
  COHORT_ASSIGN_OR_RETURN(const std::string name, launch::fresh_unix_name());
  COHORT_ASSIGN_OR_RETURN(Descriptor listener, comm::listen_at(name));
  return Door(name, std::move(listener));
}

Result<std::vector<int>> ranks_here(const std::vector<std::string>& doors, int rank) {
  std::vector<int> here;
  for (std::size_t other = 0; other < doors.size(); ++other) {
    const auto number = static_cast<int>(other);
    if (number != rank) {
      COHORT_ASSIGN_OR_RETURN(const bool found, is_here(doors[other]));
      if (!found) continue;
    }
    here.push_back(number);
  }
  return here;
}

std::string ranks_to_text(const std::vector<int>& ranks) {
  return fmt::format("{}", fmt::join(ranks, ","));
}

Result<std::vector<int>> hosts_of_ranks(const std::vector<std::string>& found) {
  std::map<std::string, int> numbers;
  std::vector<int> hosts;
  for (std::size_t rank = 0; rank < found.size(); ++rank) {
    const auto [host, is_new] = numbers.try_emplace(found[rank], static_cast<int>(numbers.size()));
    hosts.push_back(host->second);
  }
  // All ranks in a set must have reported exactly that set.
  for (const auto& [text, host] : numbers) {
    std::vector<int> members;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      if (hosts[rank] == host) members.push_back(static_cast<int>(rank));
    }
    if (ranks_to_text(members) != text) {
      return Error(ErrorCode::kUnsupported, fmt::format("ranks {} report that ranks {} are on their host",
                                                        fmt::join(members, ", "), text))
          .with_remedy("Start the ranks of a host in the same container, as the same user.");
    }
  }
  return hosts;
}

}  // namespace cohort::world
