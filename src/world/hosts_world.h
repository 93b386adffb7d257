#pragma once

#include "comm/communicator.h"
#include "comm/shared_memory/arena.h"
#include "net/job_key.h"
#include "net/meeting.h"
#include "net/station.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace cohort::world {

struct HostsOptions {
  int rank = 0;
  int world = 1;
  std::chrono::nanoseconds limit = std::chrono::seconds(30);           ///< of a call that has none
  std::chrono::nanoseconds liveness = std::chrono::milliseconds(500);  ///< of ranks on this host
  std::chrono::nanoseconds link_limit = std::chrono::seconds(5);  ///< how long a host may be out of reach
  std::chrono::nanoseconds meeting_limit = std::chrono::seconds(30);
  net::Secrecy secrecy = net::Secrecy::kTls;
  std::vector<std::string> interfaces{};  ///< empty: all but loopback
  std::string algorithm{};                ///< see comm::PlanOptions
  int lanes = 1;                          ///< see net::TcpOptions::num_lanes
};

/// All ranks of a job on several hosts, as one of them sees them: shared memory inside a host, TCP between
/// hosts. Who shares a host is found out, not told.
///
/// Threads: one at a time; what form() returns as every communicator.
/// Lifetime: arena and meeting must outlive it and every communicator it formed.
/// Failure: kTimedOut names the ranks that did not come.
/// Cost: two rounds of the meeting for each generation; three threads for each that lives.
class HostsWorld {
 public:
  HostsWorld(net::Meeting& meeting, Arena& arena, const net::JobKey& key, HostsOptions options)
      : meeting_(meeting), arena_(arena), key_(key), options_(std::move(options)) {}

  /// The group of all ranks in a generation of its own. The communicators of an earlier one must be gone.
  Result<std::unique_ptr<Communicator>> form(std::uint32_t generation);

 private:
  struct Listening;
  struct Foundation;

  Result<std::vector<std::string>> gather(std::uint32_t generation, const char* what, const std::string& card,
                                          TimePoint deadline);
  Result<Listening> listen() const;

  net::Meeting& meeting_;
  Arena& arena_;
  const net::JobKey key_;
  const HostsOptions options_;
};

}  // namespace cohort::world
